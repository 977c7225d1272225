"""Quantities: percentages, temperatures, sizes and measurements with a unit, flags, plain numbers.

A number with a unit is recognised from the value, and the unit decides the dimension. A bare number whose unit
stands in the header has that dimension and the column type Number. Other bare numbers weakly support many column
types at once, with the shares counted on labelled web columns.
"""

import re

from aegir.readers.rules.gazetteers import words
from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import (
    COLON,
    DASH,
    DIGIT,
    DOT,
    LETTER,
    NUMERIC,
    SPACE,
    UPPER,
    Reading,
)
from aegir.readers.rules.rule import Rule

_NUMBER = r"[-+−~<>≈]?\s?\d[\d.,'\s\u00a0]*(?:\s?/\s?\d+|[½¼¾])?"
_PERCENTAGE = Pattern(rf"{_NUMBER}\s?(?:%|percent|per cent|prozent)", re.I)
_TEMPERATURE = Pattern(
    rf"{_NUMBER}\s?(?:°\s?[CFK]?|º\s?[CF]|℃|℉|deg(?:rees)?\s?[CF]?|[CF](?=$))(?:elsius|ahrenheit)?",
    re.I,
)
_FILE_SIZE = Pattern(r"\d+(?:[.,]\d+)?\s?(?:B|[KMGTP]i?B|bytes?|[kmg]b)", re.ASCII)
_MASS = r"(?:kg|kgs|kilograms?|kilos?|g|gr|grm|grams?|grammes?|mg|mcg|µg|lbs?|pounds?|oz|ounces?|tons?|tonnes?|st(?=\.?$)|stone)"
_MASS_VALUE = Pattern(rf"{_NUMBER}\s?{_MASS}\.?(?:\s\S.{{0,40}})?(?:\s?\(.*\))?", re.I)
_LENGTH = r"(?:mm|cm|dm|m|km|meters?|metres?|kilomet(?:er|re)s?|centimet(?:er|re)s?|in|inch(?:es)?|ft|feet|foot|yd|yards?|mi|miles?|\"|”|″|''|'|′|’)"
_LENGTH_VALUE = Pattern(
    rf"{_NUMBER}\s?{_LENGTH}(?!/[hs])\.?(?:(?:\s?[x×]\s?|\s|(?<=['’′]))\d+(?:[.,]\d+)?\s?{_LENGTH}?\\?\.?){{0,2}}(?:\s?/\s?.*|\s?\(.*\)?)?\\?",
    re.I,
)
_ENERGY_VALUE = Pattern(
    rf"{_NUMBER}\s?(?:k?cal|calories|kilocalories|kalorien|kilojoules?|kj|joules?)\.?(?:\s.*)?",
    re.I,
)
_VOLUME_VALUE = Pattern(
    rf"{_NUMBER}\s?(?:ml|cl|dl|l|ltr|lit(?:er|re)s?|gal(?:lons?)?|fl\.?\s?oz|cups?|tbsp|tsp|m3|m³|ccm?|qt|pints?)\.?",
    re.I,
)
_OTHER_UNIT = Pattern(
    rf"{_NUMBER}\s?(?:k?W|kWh|MWh|HP|PS|bhp|V|mV|A|mAh|Ah|Hz|kHz|MHz|GHz|rpm|km/h|kmh|mph|m/s|kn|knots|bar|psi|Pa|hPa|kPa|N|Nm|lm|lx|dB|dpi|px|fps|sq\.?\s?(?:ft|m)|m2|m²|ft²|km2|km²|ha|acres?|mol|mmol/L|mg/dL|ppm|bps|[kMG]bps|mmHg|bpm)\.?"
)
_SERVINGS = Pattern(
    r"\d\s?(?:servings?|portions?|people|persons?|pers|personnes|personen|porciones|pcs|pieces|units?|cookies|muffins)\b|serves\s.*\d",
    re.I,
)
_TRUE_FALSE = frozenset(("true", "false"))
_YES_AND_NO = words(
    "yes/no y/n ja/nein j/n oui/non sí/no si/no sim/não tak/nie да/нет on/off t/f wahr/falsch vrai/faux vero/falso"
    " verdadero/falso pass/fail passed/failed ok/fail ok/failed ok/nok ok/error enabled/disabled active/inactive"
)
_FLAG_PAIRS = frozenset(frozenset(pair.split("/")) for pair in _YES_AND_NO)
_FLAG_WORDS = frozenset().union(*_FLAG_PAIRS) | words("0 1 true false x ✓ ✗ ✔")
_PLAIN = Pattern(
    r"[-+−]?(?:\d+|\d{1,3}(?:[,\s\u00a0']\d{3})+)(?:[.,]\d+)?(?:e[-+]?\d+)?", re.I | re.ASCII
)
_RATING = Pattern(
    r"\d{1,3}(?:[.,]\d{1,2})?(?:\s?(?:/|out of|von|sur|de)\s?(?:5|10|100))?(?:\s?(?:stars?|★+))?|★{1,5}☆{0,4}",
    re.I,
)
_OUT_OF = Pattern(
    r"\d{1,3}(?:[.,]\d{1,2})?\s?(?:/\s?(?:5|10|100)|(?:out of|von|sur)\s(?:5|10|100)|stars?)(?:\sstars?)?|[★⭐]{1,5}☆{0,4}",
    re.I,
)
_ROMAN = Pattern(r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ORDINAL = Pattern(r"\d+(?:st|nd|rd|th)", re.I)
_INTEGER = Pattern(r"\d{1,9}(?:\.0)?", re.ASCII)


def share_of_true_false(reading: Reading) -> float:
    """Return the share of `true` and `false`, perhaps repeated in a cell (`True True`)."""
    return reading.share_of(
        lambda value: (
            value[0] in "tTfF,"
            and _TRUE_FALSE.issuperset(value.casefold().replace(",", " ").split())
        )
    )


def share_of_yes_no(reading: Reading) -> float:
    """Return 1 where both words of a yes/no pair occur; nothing but `no` may be a number or a language."""
    if len(reading.values) > 3:  # Yes, YES and no at most
        return 0.0
    seen = {value.casefold() for value in reading.values}
    if seen == {"0", "1"}:  # a dummy variable if there are many, a short list of numbers otherwise
        return 1.0 if reading.total >= 20 else 0.0
    return 1.0 if seen in _FLAG_PAIRS else 0.0


def is_flag_word(value: str) -> bool:
    """Return whether a value is one word of a yes/no pair: enough under a header such as `brakes_ok`."""
    return value.casefold() in _FLAG_WORDS


# The header says what is measured; the confidence is below that of narrower types (body_height, age).
_BARE_MEASURES = tuple(
    Rule(
        name,
        "numbers",
        _PLAIN.fullmatch,
        needs=NUMERIC,
        length=(1, 20),
        confidence_with_header=confidence,
        column_type="Number",
    )
    for name, confidence in (
        ("temperature", 0.9),
        ("file_size", 0.84),
        ("length", 0.84),
        ("mass", 0.84),
        ("volume", 0.84),
        ("energy", 0.84),
        ("measurement", 0.84),
    )
)

RULES = (
    Rule(
        "percentage",
        "percentages",
        _PERCENTAGE.fullmatch,
        confidence=0.96,
        needs=DIGIT,
        excludes=NUMERIC,
        length=(1, 24),
    ),
    Rule(
        "percentage",
        "numbers",
        _PLAIN.fullmatch,
        needs=NUMERIC,
        length=(1, 20),
        confidence_with_header=0.86,
    ),
    Rule(
        "temperature",
        "temperatures",
        _TEMPERATURE.fullmatch,
        confidence=0.88,
        min_distinct=2,  # a lone 24F is a code
        needs=DIGIT,
        excludes=NUMERIC,
        length=(2, 24),
    ),
    Rule(
        "file_size",
        "file sizes",
        _FILE_SIZE.fullmatch,
        confidence=0.92,
        needs=DIGIT | LETTER,
        excludes=COLON,
        length=(2, 16),
    ),
    Rule(
        "energy",
        "amounts of energy",
        _ENERGY_VALUE.fullmatch,
        confidence=0.92,
        needs=DIGIT | LETTER,
        length=(1, 40),
        support=(("Energy", 0.96),),  # 22 of 22 labelled columns
    ),
    Rule(
        "mass",
        "masses",
        _MASS_VALUE.fullmatch,
        confidence=0.9,
        needs=DIGIT | LETTER,
        length=(1, 60),
        support=(("Mass", 0.6), ("weight", 0.4)),  # 42 and 28 of 70 labelled columns
    ),
    Rule(
        "length",
        "lengths",
        _LENGTH_VALUE.fullmatch,
        confidence=0.88,
        needs=DIGIT,
        excludes=NUMERIC,
        length=(1, 60),
        support=(("Distance", 0.94),),  # 16 of 16 labelled columns
    ),
    Rule(
        "volume",
        "volumes",
        _VOLUME_VALUE.fullmatch,
        confidence=0.88,
        needs=DIGIT | LETTER,
        length=(1, 24),
    ),
    Rule(
        "measurement",
        "measurements with a unit",
        _OTHER_UNIT.fullmatch,
        confidence=0.88,
        min_distinct=2,
        needs=DIGIT | LETTER,
        length=(1, 30),
    ),
    Rule(
        "servings",
        "numbers of servings",
        _SERVINGS.search,
        confidence=0.85,
        needs=DIGIT | LETTER,
        length=(1, 80),
        support=(("QuantitativeValue", 0.6),),  # 2 of 3 labelled columns
    ),
    Rule(
        "boolean_flag",
        "true or false",
        measure=share_of_true_false,
        confidence=0.97,
        needs=LETTER,
        excludes=DIGIT,
        length=(4, 60),
        support=(("Boolean", 0.97),),  # 29 of 29 labelled columns
    ),
    Rule(
        "boolean_flag",
        "yes or no",
        measure=share_of_yes_no,
        confidence=0.9,
        length=(1, 5),
        support=(("Boolean", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "boolean_flag",
        "words for yes or no",
        is_flag_word,
        length=(1, 9),
        confidence_with_header=0.92,
    ),
    Rule("rating", "ratings on a scale", _OUT_OF.fullmatch, confidence=0.9, length=(1, 24)),
    Rule("rating", "numbers on a scale", _RATING.fullmatch, needs=DIGIT, length=(1, 24)),
    Rule(
        "roman_numeral",
        "Roman numerals",
        _ROMAN.fullmatch,
        confidence=0.88,
        min_distinct=4,
        needs=UPPER,
        excludes=DIGIT | SPACE | DASH | DOT,
        length=(1, 15),
    ),
    Rule(
        "ordinal",
        "ordinal numbers",
        _ORDINAL.fullmatch,
        confidence=0.9,
        min_distinct=2,
        needs=DIGIT | LETTER,
        excludes=SPACE,
        length=(1, 8),
    ),
    Rule(
        "count",
        "whole numbers",
        _INTEGER.fullmatch,
        needs=DIGIT,
        excludes=LETTER,
        length=(1, 11),
        confidence_with_header=0.88,
    ),
    *_BARE_MEASURES,
    Rule(
        "plain_number",
        "numbers",
        _PLAIN.fullmatch,
        needs=NUMERIC,
        length=(1, 30),
        support=(
            ("price", 0.18),
            ("Number", 0.17),
            ("postalCode", 0.15),
            ("CoordinateAT", 0.11),
            ("QuantitativeValue", 0.08),
        ),  # 49, 46, 42, 31 and 22 of 275 labelled columns
    ),
)
