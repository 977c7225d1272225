"""Words in a header, in several languages, and the fine types they hint at.

    "customerDOB" --words--> ("customer", "dob") --hints--> {"date_of_birth": "dob"}

Promises: case, snake_case, camelCase, dots and dashes do not matter; of two overlapping phrases the
longer one wins ("date of birth" is not a hint at a plain date). A hint is evidence, never proof: the
judge believes it only where the values agree.
"""

import re
from functools import cache, lru_cache

from aegir.annotators.rules.header_words import PHRASES

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"[(\[][^)\]]*[)\]]")
_UNITS = frozenset(
    ("usd", "eur", "gbp", "cm", "mm", "km", "kg", "lbs", "celsius", "fahrenheit", "approx", "utc")
)
_LONGEST_PHRASE = 4


def words_of(header: str) -> tuple[str, ...]:
    """Lower-case words of a header, without what stands in brackets and without a unit at the end."""
    text = _BRACKETS.sub(" ", header[:200]) if "(" in header or "[" in header else header[:200]
    words = _WORD.findall(_BOUNDARY.sub(" ", text).casefold())
    while len(words) > 1 and (words[-1] in _UNITS or words[-1].isdigit()):
        words.pop()
    return tuple(words)


@lru_cache(maxsize=4096)
def hints_of(header: str) -> dict[str, str]:
    """Fine type → the phrase in the header that hints at it."""
    words = words_of(header)
    found: dict[str, str] = {}
    taken: set[int] = set()
    table = _phrase_table()
    for name in table.get("=" + "".join(words), ()):
        found[name] = " ".join(words)
    for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = range(start, start + length)
            # The last words say what the column holds ("customer city"); earlier ones only qualify.
            key = "".join(words[start : start + length])
            names = table.get(key) or table.get(key.rstrip("0123456789"))  # email2
            if names and not taken.intersection(span):
                taken.update(span)
                if span.stop == len(words) or len(words) <= 2:
                    for name in names:
                        found.setdefault(name, " ".join(words[start : start + length]))
    return found


@cache
def _phrase_table() -> dict[str, tuple[str, ...]]:
    """Phrase without spaces → fine types, in the order of PHRASES."""
    table: dict[str, tuple[str, ...]] = {}
    for name, phrases in PHRASES.items():
        for phrase in phrases.casefold().split("|"):
            key = phrase.replace(" ", "")
            table[key] = (*table.get(key, ()), name)
    return table
