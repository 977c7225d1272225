"""docs/vocabulary.md is what the code says."""

from pathlib import Path

from aegir.vocabulary.page import page
from aegir.vocabulary.terms import TYPE_NAMES

PAGE = Path(__file__).parents[3] / "docs" / "vocabulary.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "regenerate it with: python -m aegir.vocabulary.page > docs/vocabulary.md"
    )


def test_every_table_row_has_four_cells():
    rows = [line for line in page().splitlines() if line.startswith("|")]
    assert len(rows) > len(TYPE_NAMES)
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}
