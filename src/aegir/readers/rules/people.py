"""People: names, forms of address, gender, age, and the numbers of their documents.

Almost everything here depends on the header: "Paris" is a first name under `first_name` and a city under `city`.
From values alone the rules name only full names and given names that are mostly in the list, and words for gender and
marital status.
Identity numbers with check digits are in money.py, telephones in phones.py.
"""

import re

from aegir.readers.rules.column_summary import (
    ColumnSummary,
)
from aegir.readers.rules.gazetteers import country_names, first_names, word_set
from aegir.readers.rules.rule import Pattern, read_rules

_DEMONYMS = word_set("demonyms")
_GENDERS = word_set("genders")
_UNAMBIGUOUS_GENDERS = word_set("unambiguous_genders")
_MARITAL_STATUSES = word_set("marital_statuses")
_TITLES = word_set("titles")
_NAME_WORD = r"[^\W\d_][^\W\d_]*(?:['’-][^\W\d_]+)*\.?"
_ONE_NAME = Pattern(rf"{_NAME_WORD}(?: {_NAME_WORD}){{0,2}}")
_FULL_NAME = Pattern(rf"{_NAME_WORD},? {_NAME_WORD}(?: {_NAME_WORD}){{0,3}}")
_AGE = Pattern(
    r"(?:1[01]\d|\d{1,2})(?:\.\d{1,2})?(?:\s?(?:years?|yrs?|y|jahre|ans))?(?: old)?",
    re.ASCII | re.I,
)
_PASSPORT = Pattern(r"(?=.*\d)[A-Z0-9]{6,9}|\d{2} ?\d{2} \d{6}")
_LICENCE = Pattern(r"(?=.*\d)[A-Z0-9](?:[ -]?[A-Z0-9]){4,19}")
_USERNAME = Pattern(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{1,38}[A-Za-z0-9_])?", re.ASCII)
_HEIGHT = Pattern(
    r"(?:1[0-9]{2}|2[0-4]\d|[5-9]\d)(?:\.\d+)?(?:\s?cm)?|[12][.,]\d{1,2}\s?m?|[3-8]\s?(?:'|′|ft|feet)\s?\d{0,2}.*",
    re.I,
)
_BODY_WEIGHT = Pattern(r"\d{1,3}(?:[.,]\d+)?(?:\s?(?:kg|kgs|lb|lbs|pounds)\.?)?", re.I)


def is_name_word(value: str) -> bool:
    """Return whether a value is one to three words of letters, as given and family names are."""
    return bool(_ONE_NAME.fullmatch(value))


def is_known_first_name(value: str) -> bool:
    return value.casefold() in first_names()


def is_full_name(value: str) -> bool:
    """Return whether a value is two to five words of letters, capitalised."""
    return bool(_FULL_NAME.fullmatch(value)) and value[0].isupper()


def share_of_known_people(summary: ColumnSummary) -> float:
    """Return the share of full names; 0 where fewer than half begin with a known given name.

    The given name is the first word, or the second after a comma. The list holds only some names, so half of the
    values are enough for all.
    """
    names = first_names()
    known = shaped = 0
    for value, count in zip(summary.values, summary.counts, strict=True):
        if not is_full_name(value):
            continue
        shaped += count
        words = value.casefold().replace(".", " ").split()
        if words[0] in _TITLES and len(words) > 2:
            words = words[1:]
        first = words[1] if words[0].endswith(",") else words[0]
        known += count if first.split("-")[0] in names else 0
    if known * 2 < summary.total:
        return 0.0
    return shaped / summary.total


def is_title(value: str) -> bool:
    return all(word in _TITLES for word in value.casefold().replace(".", " ").split())


def is_gender(value: str) -> bool:
    return value.casefold() in _GENDERS


def is_unambiguous_gender(value: str) -> bool:
    return (
        value.casefold().removeprefix("http://schema.org/").removeprefix("https://schema.org/")
        in _UNAMBIGUOUS_GENDERS
    )


def is_nationality(value: str) -> bool:
    word = value.casefold()
    return (
        word in _DEMONYMS or word in country_names() or (len(value) in (2, 3) and value.isupper())
    )


def is_marital_status(value: str) -> bool:
    return value.casefold() in _MARITAL_STATUSES


RULES = read_rules("people", globals())
