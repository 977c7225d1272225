"""Identifiers of things: books, articles, goods, substances, classes.

Where a check digit exists it is tested. One in ten random numbers passes a single check digit, so such rules need
several distinct values (`min_distinct`) to name a fine type without a header.
"""

import re

from aegir.readers.rules.matching import Pattern, checked_by, has_luhn_digit, matched_and_checked
from aegir.readers.rules.reading import DASH, DIGIT, DOT, LETTER, NUMERIC, SLASH, SPACE, UPPER
from aegir.readers.rules.rule import Rule

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


def is_isbn(value: str) -> bool:
    match = _ISBN.fullmatch(value)
    return match is not None and has_isbn_digit(match[1].replace("-", "").replace(" ", ""))


def has_isbn_digit(number: str) -> bool:
    """Return whether the last of ten characters, or of thirteen digits, is the check digit of a book's number."""
    if len(number) == 10:
        total = sum((place + 1) * int(digit) for place, digit in enumerate(number[:-1])) % 11
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


RULES = (
    Rule(
        "doi",
        "DOIs",
        _DOI.fullmatch,
        confidence=0.98,
        needs=DOT | SLASH | DIGIT,
        length=(9, 512),
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "orcid", "ORCID identifiers", is_orcid, confidence=0.97, needs=DASH | DIGIT, length=(19, 37)
    ),
    Rule(
        "isbn",
        "ISBNs",
        is_marked_isbn,
        confidence=0.97,
        needs=DIGIT,
        length=(10, 30),
        min_distinct=2,
        support=(("IdentifierAT", 0.9),),  # 8 of 8 labelled columns
    ),
    # One bare ten-digit number in eleven passes, hence four distinct values.
    Rule(
        "isbn",
        "ISBNs",
        is_isbn,
        confidence=0.9,
        needs=DIGIT,
        length=(10, 30),
        min_distinct=4,
        support=(("IdentifierAT", 0.9),),  # 8 of 8 labelled columns, the same as above
    ),
    Rule(
        "issn",
        "ISSNs",
        is_issn,
        confidence=0.93,
        needs=DASH | DIGIT,
        length=(9, 15),
        min_distinct=3,
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "gtin",
        "GTIN bar codes (EAN, UPC)",
        is_gtin,
        confidence=0.88,
        needs=NUMERIC,
        excludes=DOT | DASH | SPACE,
        length=(8, 14),
        min_distinct=4,
        support=(("IdentifierAT", 0.67),),  # 1 of 1 labelled column
    ),
    Rule(
        "rounded_gtin",
        "bar codes rounded by a spreadsheet",
        _SCIENTIFIC_GTIN.fullmatch,
        needs=NUMERIC | DOT,
        length=(8, 512),
        support=(("IdentifierAT", 0.9),),  # 8 of 8 labelled columns
    ),
    Rule(
        "asin",
        "Amazon product codes (ASIN)",
        _ASIN.fullmatch,
        confidence=0.9,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(10, 10),
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "cas_number",
        "CAS registry numbers",
        matched_and_checked(_CAS, "casrn"),
        confidence=0.92,
        min_distinct=3,
        needs=DASH | DIGIT,
        excludes=LETTER,
        length=(7, 12),
    ),
    Rule(
        "isrc",
        "sound recording codes (ISRC)",
        _ISRC.fullmatch,
        confidence=0.85,
        min_distinct=3,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(12, 15),
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "diagnosis_code",
        "ICD-10 diagnosis codes",
        _ICD10.fullmatch,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(3, 8),
    ),
    Rule("loinc_code", "LOINC codes", is_loinc, needs=DASH | DIGIT, excludes=LETTER, length=(5, 7)),
    Rule("sku", "stock codes", _SKU.fullmatch, needs=DIGIT, excludes=SPACE, length=(3, 40)),
    Rule(
        "occupation_code",
        "occupation codes (O*NET-SOC)",
        _OCCUPATION.search,
        confidence=0.93,
        needs=DIGIT | DASH | DOT,
        length=(10, 512),
        support=(("CategoryCode", 0.93),),  # 12 of 12 labelled columns
    ),
    Rule(
        "item_code",
        "codes of letters and digits",
        _ITEM_CODE.fullmatch,
        needs=UPPER | DIGIT,
        excludes=SPACE | DOT,
        min_distinct=2,
        support_when_few=0.5,
        length=(4, 20),
        support=(("IdentifierAT", 0.77), ("ProductModel", 0.14)),  # 6 and 1 of 7 labelled columns
    ),
)
