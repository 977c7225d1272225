"""Words and codes from closed lists: languages, colours, time zones, units, content ratings, blood types.

Two-letter codes overlap (`de` is German, Germany and Delaware), so they ask for several values or a
header before a fine type is named; the coarse support says how often the guess was right.
"""

import re
from functools import cache

from aegir.annotators.rules.gazetteers import country_alpha2, language_codes, language_names
from aegir.annotators.rules.gazetteers.word_sets import (
    COLOURS,
    CONTENT_RATINGS,
    SHADES,
    UNIT_CODES,
    UNIT_WORDS,
)
from aegir.annotators.rules.reading import (
    COLON,
    DASH,
    DIGIT,
    LETTER,
    LOWER,
    NON_ASCII,
    SLASH,
    SPACE,
    UPPER,
    Reading,
)
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_SEPARATOR = re.compile(r"\s*[,;/|&]\s*|\s+(?:and|und|et|y)\s+")
_LOCALE = Shape(r"([a-z]{2,3})[-_](?:[A-Z][a-z]{3}[-_])?([A-Z]{2}|\d{3})")
_HEX_COLOUR = Shape(
    r"#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})|rgba?\([\d\s.,%/]+\)|hsla?\([\d\s.,%/a-z]+\)", re.I
)
_BLOOD = Shape(r"(?:A|B|AB|O|0)\s?(?:[+\-−]|pos(?:itive)?|neg(?:ative)?|Rh[+-])", re.I)
_UTC_OFFSET = Shape(r"(?:UTC|GMT)?\s?[+\-−](?:0?\d|1[0-4]):?(?:[0-5]\d)?", re.ASCII)


def is_language_name(value: str) -> bool:
    names = language_names()
    return (
        all(part.strip().casefold() in names for part in _SEPARATOR.split(value) if part)
        and len(value) > 2
    )


def is_language_code(value: str) -> bool:
    """Lower case, as ISO 639 writes it: upper-case pairs are countries and states, `kg` is a unit."""
    return (value in language_codes() and value not in UNIT_WORDS) or is_locale(value)


def is_locale(value: str) -> bool:
    match = _LOCALE.fullmatch(value)
    return (
        match is not None
        and (len(match[1]) == 3 or match[1] in language_codes())
        and (match[2].isdigit() or match[2] in country_alpha2())
    )


def is_colour_name(value: str) -> bool:
    """`red`, `Dark Blue`, `black/white`."""
    words = [word for word in re.split(r"[\s,/&-]+", value.casefold()) if word]
    return (
        bool(words)
        and len(words) <= 4
        and words[-1] in COLOURS
        and all(word in COLOURS or word in SHADES for word in words)
    )


@cache
def _zones() -> frozenset[str]:
    from zoneinfo import available_timezones

    return frozenset(available_timezones())


def is_time_zone(value: str) -> bool:
    """An IANA zone such as `Europe/Vienna`."""
    return "/" in value and value in _zones()


def is_content_rating(value: str) -> bool:
    return value.upper() in CONTENT_RATINGS


def share_of_spelt_ratings(reading: Reading) -> float:
    """Ratings of which one at least has two characters: A and T alone are letters of anything."""
    if reading.longest < 2:
        return 0.0
    good = sum(
        count
        for value, count in zip(reading.values, reading.counts, strict=True)
        if is_content_rating(value)
    )
    return good / reading.total


def is_unit_code(value: str) -> bool:
    """Codes of UN/CEFACT; MON is a month there, and a Monday nearly everywhere else."""
    return value != "MON" and all(part in UNIT_CODES for part in value.split())


def is_unit_word(value: str) -> bool:
    return len(value) > 1 and value.casefold().rstrip(".") in UNIT_WORDS


RULES = (
    Rule(
        "language_name",
        "names of languages",
        is_language_name,
        sure=0.93,
        needs=LETTER,
        bars=DIGIT,
        shortest=3,
        longest=60,
        support=(("Language", 0.95),),  # 20 of 20 labelled columns
    ),
    Rule(
        "locale_code",
        "locale codes",
        is_locale,
        sure=0.93,
        needs=LOWER,
        bars=SPACE,
        shortest=5,
        longest=11,
        support=(("Language", 0.8),),  # 3 of 3 labelled columns
    ),
    Rule(
        "language_code",
        "ISO language codes",
        is_language_code,
        sure=0.0,
        needs=LETTER,
        bars=DIGIT | SPACE,
        shortest=2,
        longest=11,
        support=(("Language", 0.92),),  # 11 of 11 labelled columns
        by_chance=True,
    ),
    Rule(
        "colour_code",
        "colour codes",
        _HEX_COLOUR.fullmatch,
        sure=0.93,
        needs=DIGIT,
        shortest=4,
        longest=40,
        distinct=2,
    ),
    Rule(
        "colour_name",
        "colour names",
        is_colour_name,
        sure=0.9,
        distinct=3,
        needs=LETTER,
        bars=DIGIT,
        shortest=3,
        longest=30,
    ),
    Rule(
        "blood_type",
        "blood types",
        _BLOOD.fullmatch,
        sure=0.9,
        distinct=2,
        bars=DIGIT,
        shortest=2,
        longest=11,
    ),
    Rule(
        "time_zone",
        "time zones",
        is_time_zone,
        sure=0.97,
        needs=SLASH | LETTER,
        shortest=5,
        longest=40,
    ),
    Rule(
        "utc_offset",
        "offsets from UTC",
        _UTC_OFFSET.fullmatch,
        sure=0.0,
        needs=DIGIT,
        shortest=2,
        longest=10,
    ),
    Rule(
        "content_rating",
        "content ratings",
        is_content_rating,
        sure=0.0,
        distinct=2,
        few=0.5,
        needs=UPPER | LETTER,
        longest=14,
        support=(("Rating", 0.92),),  # 34 of 36 labelled columns
        by_chance=True,
    ),
    Rule(
        "content_rating",
        "content ratings",
        measure=share_of_spelt_ratings,
        sure=0.85,
        distinct=2,
        needs=UPPER | LETTER,
        longest=14,
        by_chance=True,
    ),
    Rule(
        "unit_code",
        "UN/CEFACT unit codes",
        is_unit_code,
        sure=0.88,
        needs=UPPER,
        bars=LOWER | NON_ASCII | DASH | COLON,
        shortest=2,
        longest=60,
        support=(("unitCode", 0.83), ("unitText", 0.15)),  # 28 and 5 of 33 labelled columns
        by_chance=True,
    ),
    Rule(
        "unit_name",
        "units of measurement",
        is_unit_word,
        sure=0.85,
        shy=True,
        needs=LETTER,
        bars=DIGIT,
        longest=12,
        support=(("unitText", 0.95),),  # 20 of 20 labelled columns
        by_chance=True,
    ),
)
