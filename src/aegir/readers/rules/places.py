"""Places by name or code: countries, regions, postal codes, airports, addresses.

US ZIP codes are five-digit numbers, so alone they support postalCode without naming the fine type; British,
Canadian and Dutch codes, and Japanese ones after their sign 〒, have a pattern of their own. Two-letter codes that are also US states support the state.
"""

import re

from aegir.readers.rules.gazetteers import (
    country_alpha2,
    country_alpha3,
    country_names,
    word_set,
)
from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import (
    AT,
    COMMA,
    DIGIT,
    DOT,
    LETTER,
    LOWER,
    NON_ASCII,
    SPACE,
    UPPER,
)
from aegir.readers.rules.rule import Rule

_AIRPORTS = word_set("airports")
_CONTINENTS = word_set("continents")
_STATE_NAMES = word_set("us_state_names")
_STATES = word_set("us_states")
_UNIT_CODES = word_set("unit_codes")
_A = re.ASCII
_UK_CODE = r"(?:GIR 0AA|[A-PR-UWYZ](?:\d{1,2}|[A-HK-Y]\d|[A-HK-Y]\d\d|\d[A-HJKS-UW]|[A-HK-Y]\d[ABEHMNPRV-Y])\s?\d[ABD-HJLNP-UW-Z]{2})"
_CANADA = r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d"
_NETHERLANDS = r"[1-9]\d{3}\s?(?!BC|AD|SA|SD|SS)[A-Z]{2}"
_IRELAND = r"(?:[AC-FHKNPRTV-Y]\d\d|D6W)\s[0-9AC-FHKNPRTV-Y]{4}"
_PREFIXED = r"(?:A|CH|DK|FL|L|LV|MD|SI)-\d{4}|(?:D|DE|FIN|HR|LT)-\d{5}"
# One letter and a number is more often a code of another kind: these need a header.
_PREFIXED_WITH_HEADER = r"(?:B|H|N|AT|BE|BG)-\d{4}|(?:E|F|FI|FR|I|IT|ES|UA)-\d{5}|(?:S|SE|CZ|SK)-\d{3}\s?\d{2}|PL-\d{2}-\d{3}"
_POSTCODE_WITH_LETTERS = Pattern(
    rf"{_UK_CODE}|{_CANADA}|{_NETHERLANDS}|{_IRELAND}|{_PREFIXED}|NL-{_NETHERLANDS}", _A
)
_JAPAN_WITH_SIGN = r"〒\s?\d{3}[-‐–ー−]?\d{4}"
_WITH_SEPARATOR = r"\d{5}-\d{4}|\d{2}-\d{3}|\d{5}-\d{3}|\d{4}-\d{3}|\d{3}-\d{4}|\d{3}\s\d{2}"
_POSTCODE_WITH_SEPARATOR = Pattern(_WITH_SEPARATOR, _A)
_ANY_POSTCODE = Pattern(
    rf"\d{{3,7}}(?:\.0)?|{_WITH_SEPARATOR}|{_JAPAN_WITH_SIGN}|{_UK_CODE}|{_CANADA}|[1-9]\d{{3}}\s?[A-Z]{{2}}|(?:[A-Z]\d\d|D6W)\s?[A-Z0-9]{{4}}|{_PREFIXED}"
    rf"|{_PREFIXED_WITH_HEADER}|[A-Z]\d{{4}}[A-Z]{{3}}|[A-Z]{{2}}\d{{3,4}}|[A-Z]{{1,2}}\d{{1,2}}[A-Z]?",
    re.I | _A,
)
_FIVE_DIGITS = Pattern(r"\d{5}(?:-\d{4})?", _A)
_LOCODE = Pattern(r"([A-Z]{2}) ?[A-Z2-9]{3}")
_STREET = Pattern(
    r"\d+[\w/-]*,?\s+\S.*|.*\S,?\s+\d+\s?[a-zA-Z]?(?:[-/]\d+\s?[a-zA-Z]?)?|.*\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|blvd|rue|via|calle|straße|strasse|platz|weg)\b.*",
    re.I,
)
_STREET_WORDS = Pattern(
    r"\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|blvd|boulevard|highway|hwy|way|court|ct|place|pl|parkway|pkwy|suite|p\.?o\.? box"
    r"|rue|avenida|avda|av|via|viale|calle|carrer|rua|plaza|platz|weg|allee|gasse|\w+stra(?:ß|ss)e|\w+weg|\w+str\.)(?=\W|$)",
    re.I,
)
_ADDRESS_END = Pattern(
    r"\b[A-Z]{2},?\s\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[\dA-Z]?\s?\d[A-Z]{2}\b|,\s?\d{4,5}\s[^\W\d]|\b[A-Z]\d[A-Z]\s?\d[A-Z]\d\b"
)
_PLACE_WORDS = Pattern(r"[^\W\d_][^\d@/\\<>{}]{1,60}")


def is_country_name(value: str) -> bool:
    return value.casefold() in country_names()


def is_street(value: str) -> bool:
    """Return whether a value has a house number and a word for street, but no town or postal code."""
    return (
        any(c.isdigit() for c in value)
        and bool(_STREET_WORDS.search(value))
        and not is_full_address(value)
    )


def is_full_address(value: str) -> bool:
    """Return whether a value has street and town: it ends in a postal code with its place, or in a country."""
    if "," not in value and " " not in value:
        return False
    last = value.rpartition(",")[2].strip().casefold()
    return bool(_ADDRESS_END.search(value)) or (
        value.count(",") >= 2 and last in country_names() and any(c.isdigit() for c in value)
    )


def is_place(value: str) -> bool:
    """Return whether a value can name a place; `yes` and `no` cannot."""
    return bool(_PLACE_WORDS.fullmatch(value)) and value.casefold() not in ("yes", "no")


def is_us_state(value: str) -> bool:
    return value in _STATES or value.casefold() in _STATE_NAMES


def is_locode(value: str) -> bool:
    match = _LOCODE.fullmatch(value)
    return match is not None and match[1] in country_alpha2()


RULES = (
    Rule(
        "country_name",
        "names of countries",
        is_country_name,
        confidence=0.95,
        needs=LETTER,
        excludes=DIGIT,
        length=(2, 60),
        support=(("Country", 0.9), ("SportsTeam", 0.08)),  # 46 and 4 of 50 labelled columns
    ),
    Rule(
        "country_code_alpha3",
        "three-letter country codes",
        lambda v: v in country_alpha3() and v not in _UNIT_CODES,
        confidence=0.85,
        min_distinct=3,
        support_when_few=0.85,
        needs=UPPER,
        excludes=DIGIT | LOWER | SPACE,
        length=(3, 3),
        support=(("Country", 0.9),),  # 8 of 8 labelled columns
        by_chance=True,
    ),
    Rule(
        "country_code_alpha2",
        "two-letter country codes",
        lambda v: v in country_alpha2(),
        confidence=0.8,
        min_distinct=8,
        needs=UPPER,
        excludes=DIGIT | LOWER | SPACE,
        length=(2, 2),
        support=(("Country", 0.3),),  # 26 of 37, but 10 were states: kept below the rule for states
        support_when_few=1.0,
        by_chance=True,
    ),
    Rule(
        "foreign_country_code",
        "two-letter country codes that are no US state",
        lambda v: v in country_alpha2() and v not in _STATES,
        needs=UPPER,
        excludes=DIGIT | LOWER | SPACE,
        length=(2, 2),
        support=(("Country", 0.9),),  # 26 of 28 labelled columns
        by_chance=True,
    ),
    Rule(
        "us_state",
        "US states",
        is_us_state,
        confidence=0.86,
        min_distinct=4,
        support_when_few=1.0,
        needs=LETTER,
        excludes=DIGIT,
        length=(2, 20),
        support=(("addressRegion", 0.94),),  # 33 of 34 labelled columns
        by_chance=True,
    ),
    Rule(
        "continent",
        "continents",
        lambda v: v.casefold() in _CONTINENTS,
        confidence=0.9,
        min_distinct=2,
        needs=LETTER,
        excludes=DIGIT,
        length=(4, 14),
    ),
    Rule(
        "airport_code",
        "airport codes",
        lambda v: v in _AIRPORTS,
        confidence=0.85,
        min_distinct=4,
        needs=UPPER,
        excludes=DIGIT | LOWER | SPACE,
        length=(3, 3),
        by_chance=True,
    ),
    Rule("un_locode", "UN/LOCODE places", is_locode, needs=UPPER, excludes=LOWER, length=(5, 6)),
    Rule(
        "postal_code",
        "postal codes",
        _POSTCODE_WITH_LETTERS.fullmatch,
        confidence=0.93,
        weak=True,
        needs=DIGIT | LETTER,
        length=(5, 9),
        support=(("postalCode", 0.89),),  # 7 of 7 labelled columns
    ),
    Rule(
        "postal_code",
        "Japanese postal codes",
        Pattern(_JAPAN_WITH_SIGN, _A).fullmatch,
        confidence=0.97,
        needs=DIGIT | NON_ASCII,
        excludes=LETTER,
        length=(8, 10),
    ),
    Rule(
        "postal_code",
        "postal codes",
        _POSTCODE_WITH_SEPARATOR.fullmatch,
        weak=True,
        needs=DIGIT,
        excludes=LETTER | DOT,
        length=(5, 10),
        support=(("postalCode", 0.75),),  # 2 of 2 labelled columns
    ),
    Rule(
        "postal_code",
        "postal codes of some country",
        _ANY_POSTCODE.fullmatch,
        needs=DIGIT,
        length=(2, 11),
    ),
    Rule(
        "five_digits",
        "five-digit numbers",
        _FIVE_DIGITS.fullmatch,
        weak=True,
        needs=DIGIT,
        excludes=LETTER | DOT | SPACE,
        length=(5, 10),
        support=(("postalCode", 0.89), ("IdentifierAT", 0.06)),  # 32 of 35 labelled columns
    ),
    Rule(
        "street_address",
        "street addresses",
        is_street,
        confidence=0.85,
        needs=LETTER | SPACE | DIGIT,
        excludes=AT,
        length=(6, 120),
        support=(
            ("streetAddress", 0.87),
            ("PostalAddress", 0.08),
        ),  # 34 and 3 of 38 labelled columns
        by_chance=True,
    ),
    Rule(
        "postal_address",
        "full postal addresses",
        is_full_address,
        confidence=0.88,
        needs=LETTER | SPACE | DIGIT,
        excludes=AT,
        length=(12, 200),
        support=(("PostalAddress", 0.7), ("Place/name", 0.11)),  # 13 and 2 of 18 labelled columns
    ),
    Rule(
        "street_address",
        "addresses",
        _STREET.fullmatch,
        needs=LETTER | SPACE,
        excludes=AT,
        length=(5, 120),
        confidence_with_header=0.9,
    ),
    Rule(
        "city",
        "names of places",
        is_place,
        needs=LETTER,
        excludes=AT,
        length=(2, 60),
        confidence_with_header=0.9,
    ),
    Rule(
        "region",
        "names of places",
        is_place,
        needs=LETTER,
        excludes=AT | COMMA,
        length=(2, 60),
        confidence_with_header=0.82,
    ),
)
