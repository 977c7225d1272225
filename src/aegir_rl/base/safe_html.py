"""What pages share that need nothing beside them and obey nothing that they show.

page_style(path)                           a page's style sheet behind the colours of all pages, light and dark
escape_text("<b>")                         text inside an element, or inside an attribute in quotes
content_policy(style, script)              the page may load nothing, and run no style or script but these
"""

import base64
import hashlib
from functools import cache
from html import escape
from pathlib import Path

from aegir_rl.base.text import escape_controls

COLOURS = Path(__file__).parent / "page_colours.css"


@cache
def page_style(path: Path) -> str:
    """Return the style of a page: the colours that all pages have, then its own style sheet."""
    return COLOURS.read_text(encoding="utf-8") + path.read_text(encoding="utf-8")


def escape_text(text: str) -> str:
    """Text that is shown as it stands and never obeyed."""
    return escape(escape_controls(text, keep="\n\t"))


def content_policy(style: str, script: str | None = None) -> str:
    """A content security policy that allows this style and this script, by their hashes, and nothing else."""
    allowed = "" if script is None else f"script-src {_hash_of(script)}; "
    return (
        f"default-src 'none'; style-src {_hash_of(style)}; {allowed}"
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash_of(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
