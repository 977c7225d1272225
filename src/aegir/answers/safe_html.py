"""What pages share that need nothing beside them and obey nothing that they show.

escape_text("<b>")                         text inside an element, or inside an attribute in quotes
content_policy(style, script)              the page may load nothing, and run no style or script but these
"""

import base64
import hashlib
from html import escape

from aegir.answers.printable import escape_controls


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
