"""Identifiers of things: books, articles, goods, substances, classes, vehicles and devices.

Where a check digit is compulsory it is tested; licence plates and European chassis numbers have none and need a
header. One in ten random numbers passes a single check digit, so such rules need
several distinct values (`min_distinct`) to name a fine type without a header.
"""

import re

from aegir.readers.rules.rule import (
    Pattern,
    checked_by,
    has_luhn_digit,
    matched_and_checked,
    read_rules,
)

_A = re.ASCII
_DOI = Pattern(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s?)?10\.\d{4,9}(?:\.\d+)*/\S+", re.I)
_ORCID = Pattern(r"(?:https?://orcid\.org/)?((?:\d{4}-){3}\d{3}[\dX])", _A)
_ISSN = Pattern(r"(?:ISSN:?\s?)?(\d{4}-\d{3}[\dXx])", _A)
_ISBN = Pattern(
    r"(?:ISBN(?:-1[03])?:?\s?)?((?:97[89][- ]?)?\d(?:[- ]?\d){8}[- ]?[\dXx])(?:\.0)?", _A | re.I
)
_BARE_ISBN10 = Pattern(r"\d{9}[\dXx]", _A)
_GTIN = Pattern(r"\d{8}|\d{12,14}", _A)
_ASIN = Pattern(r"B0[0-9A-Z]{8}")
_OCCUPATION = Pattern(r"\b\d{2}-\d{4}\.\d{2}\b", _A)
_ITEM_CODE = Pattern(r"[A-Z]{1,6}-?\d{3,12}[A-Z]{0,2}")
_CAS = Pattern(r"\d{2,7}-\d{2}-\d", _A)
_ISRC = Pattern(r"[A-Z]{2}-?[A-Z0-9]{3}-?\d{2}-?\d{5}")
_ICD10 = Pattern(r"[A-TV-Z]\d[0-9AB](?:\.[0-9A-Z]{1,4})?")
_LOINC = Pattern(r"\d{3,5}-\d", _A)
_SKU = Pattern(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*", _A)
_SCIENTIFIC_GTIN = Pattern(r"9\.7[89]\d*e\+12", re.I)
_check_issn, _check_orcid = checked_by("issn"), checked_by("isni")
is_cas_number = matched_and_checked(_CAS, "casrn")


def is_isbn(value: str) -> bool:
    match = _ISBN.fullmatch(value)
    return match is not None and has_isbn_digit(match[1].replace("-", "").replace(" ", ""))


def has_isbn_digit(number: str) -> bool:
    """Return whether the last of ten characters, or of thirteen digits, is the check digit of a book's number."""
    if len(number) == 10:
        total = sum((position + 1) * int(digit) for position, digit in enumerate(number[:-1])) % 11
        return number[-1].upper() == ("X" if total == 10 else str(total))
    return number.isdigit() and _has_gtin_digit(number)


def is_marked_isbn(value: str) -> bool:
    """Return whether a value is an ISBN and not just ten digits: 978 or 979 before it, hyphens, or "ISBN"."""
    return not _BARE_ISBN10.fullmatch(value) and is_isbn(value)


def is_issn(value: str) -> bool:
    match = _ISSN.fullmatch(value)
    return match is not None and _check_issn(match[1])


def is_orcid(value: str) -> bool:
    match = _ORCID.fullmatch(value)
    return match is not None and _check_orcid(match[1].replace("-", ""))


def is_gtin(value: str) -> bool:
    """Return whether a value is an EAN-8, UPC-A, EAN-13 or GTIN-14: weights 3 and 1 from the right."""
    if not _GTIN.fullmatch(value) or value.count("0") == len(value):
        return False
    return _has_gtin_digit(value)


def _has_gtin_digit(digits: str) -> bool:
    return (sum(map(int, digits[-1::-2])) + 3 * sum(map(int, digits[-2::-2]))) % 10 == 0


def is_loinc(value: str) -> bool:
    return bool(_LOINC.fullmatch(value)) and has_luhn_digit(value.replace("-", ""))


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


RULES = read_rules("identifiers", globals())
