"""Header names as text a model can learn from: 'customerEmail', 'Customer e-mail' and 'CUSTOMER_EMAIL' are one.

'billing_addressZIP2' --> 'billing address zip'
"""

import re

from aegir.annotators.ngrams.features import View

MOST_CHARACTERS = 60
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_A_LETTER = re.compile(r"[\W\d_]+")


def header_view(name: str | None) -> View | None:
    """The header's words, lower case, without digits and punctuation; None when nothing is left."""
    if name is None:
        return None
    spaced = _CAMEL.sub(" ", name[: 4 * MOST_CHARACTERS])
    words = _NOT_A_LETTER.sub(" ", spaced).strip().lower()[:MOST_CHARACTERS]
    return (words,) if words else None
