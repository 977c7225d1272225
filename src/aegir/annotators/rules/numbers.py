"""Quantities: percentages, temperatures, sizes and measurements with a unit, flags, plain numbers.

A number with its unit is recognised from the value; the unit decides the dimension. Bare numbers speak
weakly for many column types at once, with the shares seen on labelled web columns.
"""

import re

from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.annotators.rules.reading import (
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
from aegir.annotators.rules.rule import Rule

_NUMBER = r"[-+−~<>≈]?\s?\d[\d.,'\s\u00a0]*(?:\s?/\s?\d+|[½¼¾])?"
_PERCENTAGE = re.compile(rf"{_NUMBER}\s?(?:%|percent|per cent|prozent)", re.I)
_TEMPERATURE = re.compile(
    rf"{_NUMBER}\s?(?:°\s?[CFK]?|º\s?[CF]|℃|℉|deg(?:rees)?\s?[CF]?|[CF](?=$))(?:elsius|ahrenheit)?",
    re.I,
)
_FILE_SIZE = re.compile(r"\d+(?:[.,]\d+)?\s?(?:B|[KMGTP]i?B|bytes?|[kmg]b)", re.ASCII)
_MASS = r"(?:kg|kgs|kilograms?|kilos?|g|gr|grm|grams?|grammes?|mg|mcg|µg|lbs?|pounds?|oz|ounces?|tons?|tonnes?|st|stone)"
_MASS_VALUE = re.compile(rf"{_NUMBER}\s?{_MASS}\.?(?:\s\S.{{0,40}})?(?:\s?\(.*\))?", re.I)
_LENGTH = r"(?:mm|cm|dm|m|km|meters?|metres?|kilomet(?:er|re)s?|centimet(?:er|re)s?|in|inch(?:es)?|ft|feet|foot|yd|yards?|mi|miles?|\"|”|″|''|'|′|’)"
_LENGTH_VALUE = re.compile(
    rf"{_NUMBER}\s?{_LENGTH}\.?(?:\s?(?:x|×)?\s?{_NUMBER}\s?{_LENGTH}?\\?\.?)*(?:\s?/\s?.*|\s?\(.*\)?)?\\?",
    re.I,
)
_ENERGY_VALUE = re.compile(
    rf"{_NUMBER}\s?(?:k?cal|calories|kilocalories|kalorien|kilojoules?|kj|joules?)\.?(?:\s.*)?",
    re.I,
)
_VOLUME_VALUE = re.compile(
    rf"{_NUMBER}\s?(?:ml|cl|dl|l|ltr|lit(?:er|re)s?|gal(?:lons?)?|fl\.?\s?oz|cups?|tbsp|tsp|m3|m³|ccm?|qt|pints?)\.?",
    re.I,
)
_OTHER_UNIT = re.compile(
    rf"{_NUMBER}\s?(?:k?W|kWh|MWh|HP|PS|bhp|V|mV|A|mAh|Ah|Hz|kHz|MHz|GHz|rpm|km/h|kmh|mph|m/s|kn|knots|bar|psi|Pa|hPa|kPa|N|Nm|lm|lx|dB|dpi|px|fps|sq\.?\s?(?:ft|m)|m2|m²|ft²|km2|km²|ha|acres?|mol|mmol/L|mg/dL|ppm|bps|[kMG]bps|mmHg|bpm)\.?"
)
_SERVINGS = re.compile(
    rf".*{_NUMBER}\s?(?:servings?|portions?|people|persons?|pers|personnes|personen|porciones|pcs|pieces|units?|cookies|muffins)\b.*|serves\s.*\d.*",
    re.I,
)
_WEEK_HOURS = re.compile(
    r".*\b\d+(?:[.,]\d+)?\+?\s?(?:hours|hrs|h|stunden)\s?(?:per|a|/|pro)\s?(?:week|wk|woche)\b.*",
    re.I,
)
_DAY_NAME = r"(?:m|t|w|f|mo|tu|we|th|fr|sa|su|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_OPENING = re.compile(
    rf"(?:.*\b(?:{_DAY_NAME}|daily|weekdays|everyday)\b.*(?:\d{{1,2}}[:.]?\d{{0,2}}\s?(?:[ap]\.?m\.?)?\s?(?:-|–|—|to|until)\s?\d{{1,2}}|closed|open|noon|24).*)|24/7",
    re.I | re.S,
)
_CLOCK = r"\d{1,2}(?:[:.h]\d{2})?(?::\d{2})?\s?(?:[ap]\.?m\.?)?"
_CLOCK_RANGE = re.compile(
    rf"(?:\d{{1,2}}[:.h]\d{{2}}(?::\d{{2}})?\s?(?:[ap]\.?m\.?)?|\d{{1,2}}\s?[ap]\.?m\.?)\s?(?:-|–|—|to|bis|~|～)\s?{_CLOCK}",
    re.I,
)
_FLAGS = words(
    "true false yes no y n t f ja nein oui non si sí no on off wahr falsch vrai faux verdadero falso"
)
_SURE_FLAGS = frozenset(("true", "false"))
_PLAIN = re.compile(
    r"[-+−]?(?:\d+|\d{1,3}(?:[,\s\u00a0']\d{3})+)(?:[.,]\d+)?(?:e[-+]?\d+)?", re.I | re.ASCII
)
_RATING = re.compile(
    r"\d{1,3}(?:[.,]\d{1,2})?(?:\s?(?:/|out of|von|sur|de)\s?(?:5|10|100))?(?:\s?(?:stars?|★+))?|★{1,5}☆{0,4}",
    re.I,
)
_OUT_OF = re.compile(
    r"\d{1,3}(?:[.,]\d{1,2})?\s?(?:/\s?(?:5|10|100)|(?:out of|von|sur)\s(?:5|10|100)|stars?)(?:\sstars?)?|[★⭐]{1,5}☆{0,4}",
    re.I,
)
_ROMAN = re.compile(r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.I)
_INTEGER = re.compile(r"\d{1,9}(?:\.0)?", re.ASCII)


def is_flag(value: str) -> bool:
    return value.casefold() in _FLAGS


def share_of_true_false(reading: Reading) -> float:
    """Every cell is `true` or `false`, or the pair 0/1 in words of the publisher (`True True`)."""
    good = sum(
        count
        for value, count in zip(reading.values, reading.counts, strict=True)
        if all(word in _SURE_FLAGS for word in value.casefold().replace(",", " ").split())
    )
    return good / reading.total


def share_of_words_for_yes_and_no(reading: Reading) -> float:
    """Both sides of a yes/no pair occur; a column of nothing but `no` may be a number or a language."""
    words = {value.casefold() for value in reading.values}
    pairs = (
        {"yes", "no"},
        {"y", "n"},
        {"ja", "nein"},
        {"oui", "non"},
        {"sí", "no"},
        {"si", "no"},
        {"on", "off"},
        {"t", "f"},
        {"0", "1"},
    )
    return 1.0 if words in pairs else 0.0


RULES = (
    Rule(
        "percentage",
        "percentages",
        _PERCENTAGE.fullmatch,
        sure=0.96,
        needs=DIGIT,
        bars=NUMERIC,
        longest=24,
    ),
    Rule(
        "percentage", "numbers", _PLAIN.fullmatch, needs=NUMERIC, longest=20, sure_with_header=0.86
    ),
    Rule(
        "temperature", "numbers", _PLAIN.fullmatch, needs=NUMERIC, longest=10, sure_with_header=0.9
    ),
    Rule(
        "temperature",
        "temperatures",
        _TEMPERATURE.fullmatch,
        sure=0.88,
        needs=DIGIT,
        bars=NUMERIC,
        longest=24,
        shortest=2,
    ),
    Rule(
        "file_size",
        "file sizes",
        _FILE_SIZE.fullmatch,
        sure=0.92,
        needs=DIGIT | LETTER,
        bars=COLON,
        longest=16,
        shortest=2,
    ),
    Rule(
        "file_size",
        "whole numbers",
        _INTEGER.fullmatch,
        needs=NUMERIC,
        longest=15,
        sure_with_header=0.84,
    ),
    Rule(
        "opening_hours",
        "opening hours",
        _OPENING.fullmatch,
        sure=0.88,
        needs=LETTER,
        shortest=4,
        support=(("openingHours", 0.9),),
    ),
    Rule(
        "time_range",
        "times from – to",
        _CLOCK_RANGE.fullmatch,
        sure=0.85,
        needs=DIGIT,
        shortest=5,
        longest=40,
        support=(("openingHours", 0.5), ("workHours", 0.2)),
    ),
    Rule(
        "weekly_hours",
        "hours per week",
        _WEEK_HOURS.fullmatch,
        sure=0.9,
        needs=DIGIT | LETTER,
        shortest=8,
        longest=120,
        support=(("workHours", 0.95),),
    ),
    Rule(
        "energy",
        "amounts of energy",
        _ENERGY_VALUE.fullmatch,
        sure=0.92,
        needs=DIGIT | LETTER,
        longest=40,
        support=(("Energy", 0.95),),
    ),
    Rule(
        "mass",
        "masses",
        _MASS_VALUE.fullmatch,
        sure=0.9,
        needs=DIGIT | LETTER,
        longest=60,
        support=(("Mass", 0.6), ("weight", 0.35)),
    ),
    Rule(
        "length",
        "lengths",
        _LENGTH_VALUE.fullmatch,
        sure=0.88,
        needs=DIGIT,
        bars=NUMERIC,
        longest=60,
        support=(("Distance", 0.7),),
    ),
    Rule("volume", "volumes", _VOLUME_VALUE.fullmatch, sure=0.88, needs=DIGIT | LETTER, longest=24),
    Rule(
        "measurement",
        "measurements with a unit",
        _OTHER_UNIT.fullmatch,
        sure=0.88,
        needs=DIGIT | LETTER,
        longest=30,
    ),
    Rule(
        "servings",
        "numbers of servings",
        _SERVINGS.fullmatch,
        sure=0.85,
        needs=DIGIT | LETTER,
        longest=80,
        support=(("QuantitativeValue", 0.8),),
    ),
    Rule(
        "boolean_flag",
        "true or false",
        measure=share_of_true_false,
        sure=0.97,
        needs=LETTER,
        bars=DIGIT,
        shortest=4,
        longest=60,
        support=(("Boolean", 0.95),),
    ),
    Rule(
        "boolean_flag",
        "yes or no",
        measure=share_of_words_for_yes_and_no,
        sure=0.9,
        longest=5,
        support=(("Boolean", 0.6),),
    ),
    Rule("rating", "ratings on a scale", _OUT_OF.fullmatch, sure=0.9, longest=24),
    Rule("rating", "numbers on a scale", _RATING.fullmatch, needs=DIGIT, longest=24),
    Rule(
        "roman_numeral",
        "Roman numerals",
        _ROMAN.fullmatch,
        sure=0.88,
        distinct=4,
        needs=UPPER,
        bars=DIGIT | SPACE | DASH | DOT,
        longest=15,
    ),
    Rule(
        "ordinal",
        "ordinal numbers",
        _ORDINAL.fullmatch,
        sure=0.9,
        distinct=2,
        needs=DIGIT | LETTER,
        bars=SPACE,
        longest=8,
    ),
    Rule(
        "quantity",
        "whole numbers",
        _INTEGER.fullmatch,
        needs=DIGIT,
        bars=LETTER,
        longest=11,
        sure_with_header=0.88,
    ),
    Rule(
        "plain_number",
        "numbers",
        _PLAIN.fullmatch,
        needs=NUMERIC,
        longest=30,
        support=(("Number", 0.15), ("price", 0.15), ("QuantitativeValue", 0.1)),
    ),
)
