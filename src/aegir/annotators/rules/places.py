"""Places by name or code: countries, regions, postal codes, airports, addresses.

US ZIP codes are five-digit numbers, so alone they only lend support; British, Canadian and Dutch codes
have a shape of their own. Two-letter codes that are US states too speak for the state.
"""

import re

from aegir.annotators.rules.gazetteers import country_alpha2, country_alpha3, country_names
from aegir.annotators.rules.gazetteers.word_sets import (
    AIRPORTS,
    CONTINENTS,
    STATE_NAMES,
    STATES,
    UNIT_CODES,
)
from aegir.annotators.rules.reading import (
    AT,
    COMMA,
    DIGIT,
    DOT,
    LETTER,
    LOWER,
    SPACE,
    UPPER,
)
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_A = re.ASCII
_UK_CODE = r"(?:GIR 0AA|[A-PR-UWYZ](?:\d{1,2}|[A-HK-Y]\d|[A-HK-Y]\d\d|\d[A-HJKS-UW]|[A-HK-Y]\d[ABEHMNPRV-Y])\s?\d[ABD-HJLNP-UW-Z]{2})"
_CANADA = r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d"
_NETHERLANDS = r"[1-9]\d{3}\s?(?!BC|AD|SA|SD|SS)[A-Z]{2}"
_IRELAND = r"(?:[AC-FHKNPRTV-Y]\d\d|D6W)\s[0-9AC-FHKNPRTV-Y]{4}"
_PREFIXED = r"(?:A|CH|DK|FL|L|LV|MD|SI)-\d{4}|(?:D|DE|FIN|HR|LT)-\d{5}"
# One letter and a number is more often somebody's own code: these need a header.
_PREFIXED_WITH_HEADER = r"(?:B|H|N|AT|BE|BG)-\d{4}|(?:E|F|FI|FR|I|IT|ES|UA)-\d{5}|(?:S|SE|CZ|SK)-\d{3}\s?\d{2}|PL-\d{2}-\d{3}"
_LETTERED_POSTCODE = Shape(
    rf"{_UK_CODE}|{_CANADA}|{_NETHERLANDS}|{_IRELAND}|{_PREFIXED}|NL-{_NETHERLANDS}", _A
)
_SHAPED = r"\d{5}-\d{4}|\d{2}-\d{3}|\d{5}-\d{3}|\d{4}-\d{3}|\d{3}-\d{4}|\d{3}\s\d{2}"
_SHAPED_POSTCODE = Shape(_SHAPED, _A)
_ANY_POSTCODE = Shape(
    rf"\d{{3,7}}(?:\.0)?|{_SHAPED}|{_UK_CODE}|{_CANADA}|[1-9]\d{{3}}\s?[A-Z]{{2}}|(?:[A-Z]\d\d|D6W)\s?[A-Z0-9]{{4}}|{_PREFIXED}"
    rf"|{_PREFIXED_WITH_HEADER}|[A-Z]\d{{4}}[A-Z]{{3}}|[A-Z]{{2}}\d{{3,4}}|[A-Z]{{1,2}}\d{{1,2}}[A-Z]?",
    re.I | _A,
)
_FIVE_DIGITS = Shape(r"\d{5}(?:-\d{4})?", _A)
_LOCODE = Shape(r"([A-Z]{2}) ?[A-Z2-9]{3}")
_STREET = Shape(
    r"\d+[\w/-]*,?\s+\S.*|.*\S,?\s+\d+\s?[a-zA-Z]?(?:[-/]\d+\s?[a-zA-Z]?)?|.*\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|blvd|rue|via|calle|straße|strasse|platz|weg)\b.*",
    re.I,
)
_STREET_WORDS = Shape(
    r"\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|blvd|boulevard|highway|hwy|way|court|ct|place|pl|parkway|pkwy|suite|p\.?o\.? box"
    r"|rue|avenida|avda|av|via|viale|calle|carrer|rua|plaza|platz|weg|allee|gasse|\w+stra(?:ß|ss)e|\w+weg|\w+str\.)(?=\W|$)",
    re.I,
)
_ADDRESS_END = Shape(
    r"\b[A-Z]{2},?\s\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[\dA-Z]?\s?\d[A-Z]{2}\b|,\s?\d{4,5}\s[^\W\d]|\b[A-Z]\d[A-Z]\s?\d[A-Z]\d\b"
)
_PLACE_WORDS = Shape(r"[^\W\d_][^\d@/\\<>{}]{1,60}")


def is_country_name(value: str) -> bool:
    return value.casefold() in country_names()


def is_street(value: str) -> bool:
    """A house number and a word for street, and not yet a town or a postal code."""
    return (
        any(c.isdigit() for c in value)
        and bool(_STREET_WORDS.search(value))
        and not is_full_address(value)
    )


def is_full_address(value: str) -> bool:
    """Street and town on one line: ends in a postal code with its place, or in a country."""
    if "," not in value and " " not in value:
        return False
    last = value.rpartition(",")[2].strip().casefold()
    return bool(_ADDRESS_END.search(value)) or (
        value.count(",") >= 2 and last in country_names() and any(c.isdigit() for c in value)
    )


def is_place(value: str) -> bool:
    """Words that can name a place; an answer to a question about places cannot."""
    return bool(_PLACE_WORDS.fullmatch(value)) and value.casefold() not in ("yes", "no")


def is_us_state(value: str) -> bool:
    return value in STATES or value.casefold() in STATE_NAMES


def is_locode(value: str) -> bool:
    match = _LOCODE.fullmatch(value)
    return match is not None and match[1] in country_alpha2()


RULES = (
    Rule(
        "country_name",
        "names of countries",
        is_country_name,
        sure=0.95,
        needs=LETTER,
        bars=DIGIT,
        shortest=2,
        longest=60,
        support=(("Country", 0.9), ("SportsTeam", 0.08)),  # 46 and 4 of 50 labelled columns
    ),
    Rule(
        "country_code_alpha3",
        "three-letter country codes",
        lambda v: v in country_alpha3() and v not in UNIT_CODES,
        sure=0.85,
        distinct=3,
        few=0.85,
        needs=UPPER,
        bars=DIGIT | LOWER | SPACE,
        shortest=3,
        longest=3,
        support=(("Country", 0.9),),  # 8 of 8 labelled columns
        by_chance=True,
    ),
    Rule(
        "country_code_alpha2",
        "two-letter country codes",
        lambda v: v in country_alpha2(),
        sure=0.8,
        distinct=8,
        needs=UPPER,
        bars=DIGIT | LOWER | SPACE,
        shortest=2,
        longest=2,
        support=(("Country", 0.3),),  # 26 of 37, but 10 were states: kept below the rule for states
        few=1.0,
        by_chance=True,
    ),
    Rule(
        "foreign_country_code",
        "two-letter country codes that are no US state",
        lambda v: v in country_alpha2() and v not in STATES,
        needs=UPPER,
        bars=DIGIT | LOWER | SPACE,
        shortest=2,
        longest=2,
        support=(("Country", 0.9),),  # 26 of 28 labelled columns
        by_chance=True,
    ),
    Rule(
        "us_state",
        "US states",
        is_us_state,
        sure=0.86,
        distinct=4,
        few=1.0,
        needs=LETTER,
        bars=DIGIT,
        shortest=2,
        longest=20,
        support=(("addressRegion", 0.94),),  # 33 of 34 labelled columns
        by_chance=True,
    ),
    Rule(
        "continent",
        "continents",
        lambda v: v.casefold() in CONTINENTS,
        sure=0.9,
        distinct=2,
        needs=LETTER,
        bars=DIGIT,
        shortest=4,
        longest=14,
    ),
    Rule(
        "airport_code",
        "airport codes",
        lambda v: v in AIRPORTS,
        sure=0.85,
        distinct=4,
        needs=UPPER,
        bars=DIGIT | LOWER | SPACE,
        shortest=3,
        longest=3,
        by_chance=True,
    ),
    Rule(
        "un_locode",
        "UN/LOCODE places",
        is_locode,
        sure=0.0,
        needs=UPPER,
        bars=LOWER,
        shortest=5,
        longest=6,
    ),
    Rule(
        "postal_code",
        "postal codes",
        _LETTERED_POSTCODE.fullmatch,
        sure=0.93,
        shy=True,
        needs=DIGIT | LETTER,
        shortest=5,
        longest=9,
        support=(("postalCode", 0.89),),  # 7 of 7 labelled columns
    ),
    Rule(
        "postal_code",
        "postal codes",
        _SHAPED_POSTCODE.fullmatch,
        sure=0.0,
        shy=True,
        needs=DIGIT,
        bars=LETTER | DOT,
        shortest=5,
        longest=10,
        support=(("postalCode", 0.75),),  # 2 of 2 labelled columns
    ),
    Rule(
        "postal_code",
        "postal codes of some country",
        _ANY_POSTCODE.fullmatch,
        needs=DIGIT,
        shortest=2,
        longest=11,
    ),
    Rule(
        "five_digits",
        "five-digit numbers",
        _FIVE_DIGITS.fullmatch,
        shy=True,
        needs=DIGIT,
        bars=LETTER | DOT | SPACE,
        shortest=5,
        longest=10,
        support=(("postalCode", 0.89), ("IdentifierAT", 0.06)),  # 32 of 35 labelled columns
    ),
    Rule(
        "street_address",
        "street addresses",
        is_street,
        sure=0.85,
        needs=LETTER | SPACE | DIGIT,
        bars=AT,
        shortest=6,
        longest=120,
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
        sure=0.88,
        needs=LETTER | SPACE,
        bars=AT,
        shortest=12,
        longest=200,
        support=(("PostalAddress", 0.7), ("Place/name", 0.11)),  # 13 and 2 of 18 labelled columns
    ),
    Rule(
        "street_address",
        "addresses",
        _STREET.fullmatch,
        needs=LETTER | SPACE,
        bars=AT,
        shortest=5,
        longest=120,
        sure_with_header=0.9,
    ),
    Rule(
        "city",
        "names of places",
        is_place,
        needs=LETTER,
        bars=AT,
        shortest=2,
        longest=60,
        sure_with_header=0.9,
    ),
    Rule(
        "region",
        "names of places",
        is_place,
        needs=LETTER,
        bars=AT | COMMA,
        shortest=2,
        longest=60,
        sure_with_header=0.82,
    ),
)
