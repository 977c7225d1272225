"""People: names, forms of address, gender, age, and the documents that carry their number.

Almost everything here is a role: "Paris" is a first name under `first_name` and a city under `city`.
From values alone the rules name only full names and given names that a gazetteer mostly knows, and
gender words. Identity numbers with check digits are in national_ids.py, telephones in phones.py.
"""

import re

from aegir.annotators.rules.gazetteers import country_names, first_names
from aegir.annotators.rules.gazetteers.word_sets import DEMONYMS, GENDERS, SURE_GENDERS, TITLES
from aegir.annotators.rules.reading import (
    AT,
    DIGIT,
    LETTER,
    NUMERIC,
    SLASH,
    SPACE,
    Reading,
)
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_NAME_WORD = r"[^\W\d_][^\W\d_]*(?:['’-][^\W\d_]+)*\.?"
_ONE_NAME = Shape(rf"{_NAME_WORD}(?: {_NAME_WORD}){{0,2}}")
_FULL_NAME = Shape(rf"{_NAME_WORD},? {_NAME_WORD}(?: {_NAME_WORD}){{0,3}}")
_AGE = Shape(
    r"(?:1[01]\d|\d{1,2})(?:\.\d{1,2})?(?:\s?(?:years?|yrs?|y|jahre|ans))?(?: old)?",
    re.ASCII | re.I,
)
_PASSPORT = Shape(r"(?=.*\d)[A-Z0-9]{6,9}")
_LICENCE = Shape(r"(?=.*\d)[A-Z0-9](?:[ -]?[A-Z0-9]){4,19}")
_USERNAME = Shape(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{1,38}[A-Za-z0-9_])?", re.ASCII)
_HEIGHT = Shape(
    r"(?:1[0-9]{2}|2[0-4]\d|[5-9]\d)(?:\.\d+)?(?:\s?cm)?|[12][.,]\d{1,2}\s?m?|[3-8]\s?(?:'|′|ft|feet)\s?\d{0,2}.*",
    re.I,
)
_BODY_WEIGHT = Shape(r"\d{1,3}(?:[.,]\d+)?(?:\s?(?:kg|kgs|lb|lbs|pounds)\.?)?", re.I)


def is_name_word(value: str) -> bool:
    """One to three words of letters, as a given or family name is written."""
    return bool(_ONE_NAME.fullmatch(value))


def is_known_first_name(value: str) -> bool:
    return value.casefold() in first_names()


def is_full_name(value: str) -> bool:
    """Two to five words of letters, capitalised."""
    return bool(_FULL_NAME.fullmatch(value)) and value[0].isupper()


def share_of_known_people(reading: Reading) -> float:
    """Capitalised names whose first word (or, after a comma, second) is a known given name.

    A gazetteer knows only some names, so half of the values stand for all; columns where fewer do say nothing.
    """
    names = first_names()
    known = shaped = 0
    for value, count in zip(reading.values, reading.counts, strict=True):
        if not is_full_name(value):
            continue
        shaped += count
        words = value.casefold().replace(".", " ").split()
        if words[0] in TITLES and len(words) > 2:
            words = words[1:]
        first = words[1] if words[0].endswith(",") else words[0]
        known += count if first.split("-")[0] in names else 0
    if known * 2 < reading.total:
        return 0.0
    return shaped / reading.total


def is_title(value: str) -> bool:
    return all(word in TITLES for word in value.casefold().replace(".", " ").split())


def is_gender(value: str) -> bool:
    return value.casefold() in GENDERS


def is_sure_gender(value: str) -> bool:
    return (
        value.casefold().removeprefix("http://schema.org/").removeprefix("https://schema.org/")
        in SURE_GENDERS
    )


def is_nationality(value: str) -> bool:
    word = value.casefold()
    return word in DEMONYMS or word in country_names() or (len(value) in (2, 3) and value.isupper())


RULES = (
    Rule(
        "gender",
        "genders",
        is_sure_gender,
        sure=0.96,
        needs=LETTER,
        bars=DIGIT,
        shortest=4,
        longest=30,
        support=(("GenderType", 0.97),),  # 35 of 35 labelled columns
    ),
    Rule(
        "gender",
        "genders",
        is_gender,
        sure=0.0,
        needs=LETTER,
        bars=DIGIT,
        longest=12,
        support=(
            ("GenderType", 0.4),
        ),  # 35 of 35, none of them with single letters: a cautious guess for those
        by_chance=True,
    ),
    Rule(
        "full_name",
        "names of people",
        measure=share_of_known_people,
        sure=0.88,
        shy=True,
        distinct=3,
        few=0.8,
        needs=LETTER | SPACE,
        bars=AT,
        shortest=5,
        longest=60,
        support=(
            ("Person/name", 0.55),
            ("Organization", 0.13),
            ("MusicArtistAT", 0.2),
        ),  # 29 of 53 labelled columns
    ),
    Rule(
        "full_name",
        "capitalised names",
        is_full_name,
        sure=0.0,
        sure_with_header=0.88,
        needs=LETTER | SPACE,
        bars=AT | DIGIT,
        shortest=4,
        longest=60,
    ),
    Rule(
        "first_name",
        "known given names",
        is_known_first_name,
        sure=0.86,
        shy=True,
        distinct=5,
        needs=LETTER,
        bars=DIGIT | AT,
        shortest=2,
        longest=20,
    ),
    Rule(
        "first_name",
        "words that can be names",
        is_name_word,
        sure=0.0,
        sure_with_header=0.93,
        needs=LETTER,
        bars=AT | SLASH,
        longest=30,
    ),
    Rule(
        "last_name",
        "words that can be names",
        is_name_word,
        sure=0.0,
        sure_with_header=0.93,
        needs=LETTER,
        bars=AT | SLASH,
        longest=40,
    ),
    Rule(
        "honorific",
        "forms of address",
        is_title,
        sure=0.86,
        distinct=2,
        needs=LETTER,
        bars=DIGIT,
        longest=16,
    ),
    Rule(
        "nationality",
        "nationalities",
        is_nationality,
        sure=0.0,
        needs=LETTER,
        bars=DIGIT,
        longest=40,
    ),
    Rule("age", "ages", _AGE.fullmatch, needs=DIGIT, longest=14),
    Rule(
        "passport_number",
        "passport numbers",
        _PASSPORT.fullmatch,
        needs=DIGIT,
        bars=SPACE,
        shortest=6,
        longest=9,
        sure_with_header=0.9,
    ),
    Rule(
        "driving_licence",
        "driving licence numbers",
        _LICENCE.fullmatch,
        needs=DIGIT,
        shortest=5,
        longest=22,
        sure_with_header=0.88,
    ),
    Rule(
        "user_name",
        "user names",
        _USERNAME.fullmatch,
        needs=LETTER,
        bars=SPACE | SLASH | AT,
        shortest=2,
        longest=40,
        sure_with_header=0.9,
    ),
    Rule(
        "body_height",
        "heights",
        _HEIGHT.fullmatch,
        needs=DIGIT,
        bars=NUMERIC,
        longest=20,
        sure_with_header=0.88,
    ),
    Rule(
        "body_height",
        "heights",
        _HEIGHT.fullmatch,
        needs=NUMERIC,
        longest=20,
        sure_with_header=0.88,
        coarse="Number",
    ),
    Rule(
        "body_weight",
        "weights",
        _BODY_WEIGHT.fullmatch,
        needs=DIGIT,
        longest=14,
        sure_with_header=0.9,
    ),
)
