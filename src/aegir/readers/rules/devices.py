"""Vehicles and devices: chassis and serial numbers, SIM cards, licence plates.

They identify the owner. Check digits are tested where they are compulsory; plates and European chassis numbers
have none and need a header.
"""

import re

from aegir.readers.rules.matching import Pattern, has_luhn_digit
from aegir.readers.rules.reading import DASH, DIGIT, DOT, LETTER, NUMERIC, SPACE, UPPER
from aegir.readers.rules.rule import Rule

_A = re.ASCII
_VIN = Pattern(r"(?=.*[A-Z])(?=.*\d)[A-HJ-NPR-Z0-9]{17}")
_IMEI = Pattern(r"\d{2}-?\d{6}-?\d{6}-?\d", _A)
_ICCID = Pattern(r"89\d{17,18}", _A)
_PLATE = Pattern(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9]{1,4}(?:[- ·][A-Z0-9]{1,4}){0,3}")
_VIN_VALUES = dict(
    zip(
        "ABCDEFGHJKLMNPRSTUVWXYZ",
        (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9),
        strict=True,
    )
)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def is_vin(value: str) -> bool:
    """Return whether a value has 17 characters, the ninth being the North American check digit."""
    if not _VIN.fullmatch(value):
        return False
    total = sum(
        (int(c) if c.isdigit() else _VIN_VALUES[c]) * weight
        for c, weight in zip(value, _VIN_WEIGHTS, strict=True)
    )
    return "0123456789X"[total % 11] == value[8]


def is_imei(value: str) -> bool:
    return bool(_IMEI.fullmatch(value)) and has_luhn_digit(value.replace("-", ""))


def is_iccid(value: str) -> bool:
    return bool(_ICCID.fullmatch(value)) and has_luhn_digit(value)


RULES = (
    Rule(
        "vin",
        "vehicle identification numbers",
        is_vin,
        confidence=0.95,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(17, 17),
        min_distinct=2,
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    # Only North America requires the check digit; elsewhere seventeen characters and a header are enough.
    Rule(
        "vin",
        "vehicle identification numbers",
        _VIN.fullmatch,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(17, 17),
        confidence_with_header=0.92,
    ),
    Rule(
        "imei", "IMEI numbers", is_imei, needs=DIGIT, excludes=LETTER | DOT | SPACE, length=(15, 18)
    ),
    Rule(
        "iccid",
        "SIM card numbers (ICCID)",
        is_iccid,
        confidence=0.9,
        min_distinct=3,
        needs=NUMERIC,
        excludes=DOT | DASH,
        length=(19, 20),
    ),
    Rule("licence_plate", "licence plates", _PLATE.fullmatch, needs=UPPER | DIGIT, length=(4, 12)),
)
