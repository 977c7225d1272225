"""Words and codes from closed lists: languages, colours, time zones, units, content ratings, blood types.

Two-letter codes overlap (`de` is German, Germany and Delaware), so several values or a header are needed before
a fine type is named; the support of the column type says how often it was right.
"""

import re
from functools import cache

from aegir.readers.rules.gazetteers import (
    country_alpha2,
    language_codes,
    language_names,
    word_set,
)
from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import (
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
from aegir.readers.rules.rule import Rule

_COLOURS = word_set("colours")
_CONTENT_RATINGS = word_set("content_ratings")
_SHADES = word_set("colour_shades")
_UNIT_CODES = word_set("unit_codes")
_UNIT_WORDS = word_set("unit_words")
_SEPARATOR = re.compile(r"\s*[,;/|&]\s*|\s+(?:and|und|et|y)\s+")
_LOCALE = Pattern(r"([a-z]{2,3})[-_](?:[A-Z][a-z]{3}[-_])?([A-Z]{2}|\d{3})")
_HEX_COLOUR = Pattern(
    r"#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})|rgba?\([\d\s.,%/]+\)|hsla?\([\d\s.,%/a-z]+\)", re.I
)
_BLOOD = Pattern(r"(?:A|B|AB|O|0)\s?(?:[+\-−]|pos(?:itive)?|neg(?:ative)?|Rh[+-])", re.I)
_UTC_OFFSET = Pattern(r"(?:UTC|GMT)?\s?[+\-−](?:0?\d|1[0-4]):?(?:[0-5]\d)?", re.ASCII)


def is_language_name(value: str) -> bool:
    """Return whether a value is a language or a list of them."""
    names = language_names()
    return (
        all(part.strip().casefold() in names for part in _SEPARATOR.split(value) if part)
        and len(value) > 2
    )


def is_language_code(value: str) -> bool:
    """Return whether a value is a lower-case ISO 639 code: `DE` is a country or a state, `kg` a unit."""
    return (value in language_codes() and value not in _UNIT_WORDS) or is_locale(value)


def is_locale(value: str) -> bool:
    """Return whether a value is a locale such as `pt-BR`."""
    match = _LOCALE.fullmatch(value)
    return (
        match is not None
        and (len(match[1]) == 3 or match[1] in language_codes())
        and (match[2].isdigit() or match[2] in country_alpha2())
    )


def is_colour_name(value: str) -> bool:
    """Return whether a value names colours: `red`, `Dark Blue`, `black/white`."""
    words = [word for word in re.split(r"[\s,/&-]+", value.casefold()) if word]
    return (
        bool(words)
        and len(words) <= 4
        and words[-1] in _COLOURS
        and all(word in _COLOURS or word in _SHADES for word in words)
    )


@cache
def _zones() -> frozenset[str]:
    from zoneinfo import available_timezones

    return frozenset(available_timezones())


def is_time_zone(value: str) -> bool:
    """Return whether a value is an IANA zone such as `Europe/Vienna`."""
    return "/" in value and value in _zones()


def is_content_rating(value: str) -> bool:
    return value.upper() in _CONTENT_RATINGS


def share_of_content_ratings(reading: Reading) -> float:
    """Return the share of ratings where one at least has two characters: A and T alone may be anything."""
    if reading.longest < 2:
        return 0.0
    return reading.share_of(is_content_rating)


def is_unit_code(value: str) -> bool:
    """Return whether a value is a UN/CEFACT code; MON is a month there and a Monday nearly everywhere else."""
    return value != "MON" and all(part in _UNIT_CODES for part in value.split())


def is_unit_word(value: str) -> bool:
    return len(value) > 1 and value.casefold().rstrip(".") in _UNIT_WORDS


RULES = (
    Rule(
        "language_name",
        "names of languages",
        is_language_name,
        confidence=0.93,
        needs=LETTER,
        excludes=DIGIT,
        length=(3, 60),
        support=(("Language", 0.95),),  # 20 of 20 labelled columns
    ),
    Rule(
        "locale_code",
        "locale codes",
        is_locale,
        confidence=0.93,
        needs=LOWER,
        excludes=SPACE,
        length=(5, 11),
        support=(("Language", 0.8),),  # 3 of 3 labelled columns
    ),
    Rule(
        "language_code",
        "ISO language codes",
        is_language_code,
        needs=LETTER,
        excludes=DIGIT | SPACE,
        length=(2, 11),
        support=(("Language", 0.92),),  # 11 of 11 labelled columns
        by_chance=True,
    ),
    Rule(
        "colour_code",
        "colour codes",
        _HEX_COLOUR.fullmatch,
        confidence=0.93,
        needs=DIGIT,
        length=(4, 40),
        min_distinct=2,
    ),
    Rule(
        "colour_name",
        "colour names",
        is_colour_name,
        confidence=0.9,
        min_distinct=3,
        needs=LETTER,
        excludes=DIGIT,
        length=(3, 30),
    ),
    Rule(
        "blood_type",
        "blood types",
        _BLOOD.fullmatch,
        confidence=0.9,
        min_distinct=2,
        excludes=DIGIT,
        length=(2, 11),
    ),
    Rule(
        "time_zone",
        "time zones",
        is_time_zone,
        confidence=0.97,
        needs=SLASH | LETTER,
        length=(5, 40),
    ),
    Rule("utc_offset", "offsets from UTC", _UTC_OFFSET.fullmatch, needs=DIGIT, length=(2, 10)),
    Rule(
        "content_rating",
        "content ratings",
        is_content_rating,
        min_distinct=2,
        support_when_few=0.5,
        needs=UPPER | LETTER,
        length=(1, 14),
        support=(("Rating", 0.92),),  # 34 of 36 labelled columns
        by_chance=True,
    ),
    Rule(
        "content_rating",
        "content ratings",
        measure=share_of_content_ratings,
        confidence=0.85,
        min_distinct=2,
        needs=UPPER | LETTER,
        length=(1, 14),
        by_chance=True,
    ),
    Rule(
        "unit_code",
        "UN/CEFACT unit codes",
        is_unit_code,
        confidence=0.88,
        needs=UPPER,
        excludes=LOWER | NON_ASCII | DASH | COLON,
        length=(2, 60),
        support=(("unitCode", 0.83), ("unitText", 0.15)),  # 28 and 5 of 33 labelled columns
        by_chance=True,
    ),
    Rule(
        "unit_name",
        "units of measurement",
        is_unit_word,
        confidence=0.85,
        weak=True,
        needs=LETTER,
        excludes=DIGIT,
        length=(1, 12),
        support=(("unitText", 0.95),),  # 20 of 20 labelled columns
        by_chance=True,
    ),
)
