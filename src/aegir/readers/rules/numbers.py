"""Quantities: percentages, temperatures, sizes and measurements with a unit, flags, plain numbers.

A number with a unit is recognised from the value, and the unit decides the dimension. A bare number whose unit
stands in the header has that dimension and the column type Number. Other bare numbers weakly support many column
types at once, with the shares counted on labelled web columns.
"""

import re

from aegir.readers.rules.column_summary import (
    ColumnSummary,
)
from aegir.readers.rules.gazetteers import words
from aegir.readers.rules.rule import Pattern, read_rules

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


def share_of_true_false(summary: ColumnSummary) -> float:
    """Return the share of `true` and `false`, perhaps repeated in a cell (`True True`)."""
    return summary.share_of(
        lambda value: (
            value[0] in "tTfF,"
            and _TRUE_FALSE.issuperset(value.casefold().replace(",", " ").split())
        )
    )


def share_of_yes_no(summary: ColumnSummary) -> float:
    """Return 1 where both words of a yes/no pair occur; nothing but `no` may be a number or a language."""
    if len(summary.values) > 3:  # Yes, YES and no at most
        return 0.0
    seen = {value.casefold() for value in summary.values}
    if seen == {"0", "1"}:  # a dummy variable if there are many, a short list of numbers otherwise
        return 1.0 if summary.total >= 20 else 0.0
    return 1.0 if seen in _FLAG_PAIRS else 0.0


def is_flag_word(value: str) -> bool:
    """Return whether a value is one word of a yes/no pair: enough under a header such as `brakes_ok`."""
    return value.casefold() in _FLAG_WORDS


RULES = read_rules("numbers", globals())
