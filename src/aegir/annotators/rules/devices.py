"""Vehicles and devices: chassis and serial numbers, SIM cards, licence plates.

They lead to whoever owns the thing. Check digits are checked where they are compulsory; plates and European
chassis numbers have none and need their header.
"""

import re

from aegir.annotators.rules.checksums import luhn
from aegir.annotators.rules.reading import DASH, DIGIT, DOT, LETTER, NUMERIC, SPACE, UPPER
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_A = re.ASCII
_VIN = Shape(r"(?=.*[A-Z])(?=.*\d)[A-HJ-NPR-Z0-9]{17}")
_IMEI = Shape(r"\d{2}-?\d{6}-?\d{6}-?\d", _A)
_ICCID = Shape(r"89\d{17,18}", _A)
_PLATE = Shape(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9]{1,4}(?:[- ·][A-Z0-9]{1,4}){0,3}")
_VIN_VALUES = dict(
    zip(
        "ABCDEFGHJKLMNPRSTUVWXYZ",
        (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9),
        strict=True,
    )
)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def is_vin(value: str) -> bool:
    """17 characters whose ninth is the North American check digit."""
    if not _VIN.fullmatch(value):
        return False
    total = sum(
        (int(c) if c.isdigit() else _VIN_VALUES[c]) * weight
        for c, weight in zip(value, _VIN_WEIGHTS, strict=True)
    )
    return "0123456789X"[total % 11] == value[8]


def is_imei(value: str) -> bool:
    return bool(_IMEI.fullmatch(value)) and luhn(value.replace("-", ""))


def is_iccid(value: str) -> bool:
    return bool(_ICCID.fullmatch(value)) and luhn(value)


RULES = (
    Rule(
        "vin",
        "vehicle identification numbers",
        is_vin,
        sure=0.95,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=17,
        longest=17,
        distinct=2,
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    # Only North America demands the check digit; elsewhere seventeen characters and a header must do.
    Rule(
        "vin",
        "vehicle identification numbers",
        _VIN.fullmatch,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=17,
        longest=17,
        sure_with_header=0.92,
    ),
    Rule(
        "imei",
        "IMEI numbers",
        is_imei,
        sure=0.0,
        needs=DIGIT,
        bars=LETTER | DOT | SPACE,
        shortest=15,
        longest=18,
    ),
    Rule(
        "iccid",
        "SIM card numbers (ICCID)",
        is_iccid,
        sure=0.9,
        distinct=3,
        needs=NUMERIC,
        bars=DOT | DASH,
        shortest=19,
        longest=20,
    ),
    Rule(
        "licence_plate",
        "licence plates",
        _PLATE.fullmatch,
        sure=0.0,
        needs=UPPER | DIGIT,
        shortest=4,
        longest=12,
    ),
)
