"""The page's own files: text is never made markup, and nothing is asked of anyone else."""

import re
from pathlib import Path

import pytest

import aegir

PAGE = Path(aegir.__file__).parent / "service" / "page"
MAKES_MARKUP = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|srcdoc|setHTML"


@pytest.mark.parametrize("path", sorted(PAGE.iterdir()), ids=lambda path: path.name)
def test_no_text_becomes_markup_and_no_address_is_outside(path: Path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(MAKES_MARKUP, text) == []
    assert re.findall(r"""\son\w+=["']|javascript:""", text) == []
    outside = [
        link for link in re.findall(r"https?://[^\s\"'`)]+", text) if "w3.org/2000/svg" not in link
    ]
    assert outside == []
