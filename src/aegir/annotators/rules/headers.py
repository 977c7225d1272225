"""Words in a header, in several languages, and the fine types they hint at.

    "customerDOB" --words--> ("customer", "dob") --hints--> {"date_of_birth": "dob"}

Promises: case, snake_case, camelCase, dots and dashes do not matter; of two overlapping phrases the
longer one wins ("date of birth" is not a hint at a plain date); a unit wins against a word of another
dimension ("length_mm" is no duration). A hint is evidence, never proof: the judge believes it only where
the values agree.
"""

import re
from functools import cache, lru_cache

from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.annotators.rules.header_units import MEASURES, measure_in
from aegir.annotators.rules.header_words import PHRASES

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"[(\[]([^)\]]*)[)\]]")
_QUALIFIERS = words("usd eur gbp cm mm km kg lbs celsius fahrenheit approx utc")
_LONGEST_PHRASE = 4
_KEY_WORDS = words(
    "id ids uid key keys code codes no nr num number nummer ref reference order invoice batch ticket serial lot case"
)
_FLAG_OPENINGS = words("is has was can did does should are ist hat est")


def words_of(header: str) -> tuple[str, ...]:
    """Lower-case words of a header, without what stands in brackets and without a unit at the end."""
    parts = _split(header)[0]
    while len(parts) > 1 and (parts[-1] in _QUALIFIERS or parts[-1].isdigit()):
        parts.pop()
    return tuple(parts)


@lru_cache(maxsize=4096)
def hints_of(header: str) -> dict[str, str]:
    """Fine type → the phrase in the header that hints at it."""
    parts, bracketed = _split(header)
    measure = measure_in(parts, bracketed or ("%" if "%" in header else ""))
    spoken = words_of(header)
    if measure and len(spoken) > 1 and spoken[-1] == measure[1]:
        spoken = spoken[:-1]
    found = _phrases_in(spoken)
    if len(spoken) > 1 and spoken[0] in _FLAG_OPENINGS:
        found.setdefault("boolean_flag", spoken[0])
    elif header.rstrip().endswith("?"):
        found.setdefault("boolean_flag", "?")
    if measure:
        name, unit = measure
        found = {other: phrase for other, phrase in found.items() if other not in MEASURES}
        found[name] = unit
    return found


@lru_cache(maxsize=4096)
def names_a_key(header: str) -> bool:
    """Whether the header ends in a word for keys and numbers: `order`, `customer_no`, `ref`."""
    spoken = words_of(header)
    return bool(spoken) and spoken[-1] in _KEY_WORDS


def _split(header: str) -> tuple[list[str], str]:
    """The words outside brackets, and what stands in the last bracket."""
    text, bracketed = header[:200], ""
    if "(" in text or "[" in text:
        bracketed = ["", *_BRACKETS.findall(text)][-1]
        text = _BRACKETS.sub(" ", text)
    return _WORD.findall(_BOUNDARY.sub(" ", text).casefold()), bracketed


def _phrases_in(spoken: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    taken: set[int] = set()
    table = _phrase_table()
    for name in table.get("=" + "".join(spoken), ()):
        found[name] = " ".join(spoken)
    for length in range(min(_LONGEST_PHRASE, len(spoken)), 0, -1):
        for start in range(len(spoken) - length + 1):
            span = range(start, start + length)
            # The last words say what the column holds ("customer city"); earlier ones only qualify.
            key = "".join(spoken[start : start + length])
            names = table.get(key) or table.get(key.rstrip("0123456789"))  # email2
            if names and not taken.intersection(span):
                taken.update(span)
                if span.stop == len(spoken) or len(spoken) <= 2:
                    for name in names:
                        found.setdefault(name, " ".join(spoken[start : start + length]))
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
