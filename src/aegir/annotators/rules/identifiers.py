"""Identifiers of things: books, articles, goods, substances, classes.

Where a check digit exists it is checked. One in ten random numbers passes a single check digit, so such
rules ask for several distinct values (`distinct`) before they speak without a header.
"""

import re

from aegir.annotators.rules.checksums import checked_by, luhn, shaped_and_checked
from aegir.annotators.rules.reading import (
    DASH,
    DIGIT,
    DOT,
    LETTER,
    NUMERIC,
    SLASH,
    SPACE,
    UPPER,
)
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_A = re.ASCII
_DOI = Shape(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s?)?10\.\d{4,9}(?:\.\d+)*/\S+", re.I)
_ORCID = Shape(r"(?:https?://orcid\.org/)?((?:\d{4}-){3}\d{3}[\dX])", _A)
_ISSN = Shape(r"(?:ISSN:?\s?)?(\d{4}-\d{3}[\dXx])", _A)
_ISBN = Shape(
    r"(?:ISBN(?:-1[03])?:?\s?)?((?:97[89][- ]?)?\d(?:[- ]?\d){8}[- ]?[\dXx])(?:\.0)?", _A | re.I
)
_BARE_ISBN10 = Shape(r"\d{9}[\dXx]", _A)
_GTIN = Shape(r"\d{8}|\d{12,14}", _A)
_ASIN = Shape(r"B0[0-9A-Z]{8}")
_OCCUPATION = Shape(r"\b\d{2}-\d{4}\.\d{2}\b", _A)
_ITEM_CODE = Shape(r"[A-Z]{1,6}-?\d{3,12}[A-Z]{0,2}")
_CAS = Shape(r"\d{2,7}-\d{2}-\d", _A)
_ISRC = Shape(r"[A-Z]{2}-?[A-Z0-9]{3}-?\d{2}-?\d{5}")
_ICD10 = Shape(r"[A-TV-Z]\d[0-9AB](?:\.[0-9A-Z]{1,4})?")
_LOINC = Shape(r"\d{3,5}-\d", _A)
_SKU = Shape(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*", _A)
_SCIENTIFIC_GTIN = Shape(r"9\.7[89]\d*e\+12", re.I)
_check_isbn, _check_issn, _check_orcid = checked_by("isbn"), checked_by("issn"), checked_by("isni")


def is_isbn(value: str) -> bool:
    match = _ISBN.fullmatch(value)
    return match is not None and _check_isbn(match[1])


def is_marked_isbn(value: str) -> bool:
    """An ISBN that cannot be mistaken: 13 digits beginning 978 or 979, hyphenated, or called ISBN."""
    return not _BARE_ISBN10.fullmatch(value) and is_isbn(value)


def is_issn(value: str) -> bool:
    match = _ISSN.fullmatch(value)
    return match is not None and _check_issn(match[1])


def is_orcid(value: str) -> bool:
    match = _ORCID.fullmatch(value)
    return match is not None and _check_orcid(match[1].replace("-", ""))


def is_gtin(value: str) -> bool:
    """EAN-8, UPC-A, EAN-13 or GTIN-14: weights 3 and 1 from the right."""
    if not _GTIN.fullmatch(value) or value.count("0") == len(value):
        return False
    total = sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(reversed(value)))
    return total % 10 == 0


def is_loinc(value: str) -> bool:
    return bool(_LOINC.fullmatch(value)) and luhn(value.replace("-", ""))


RULES = (
    Rule(
        "doi",
        "DOIs",
        _DOI.fullmatch,
        sure=0.98,
        needs=DOT | SLASH | DIGIT,
        shortest=9,
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "orcid",
        "ORCID identifiers",
        is_orcid,
        sure=0.97,
        needs=DASH | DIGIT,
        shortest=19,
        longest=37,
    ),
    Rule(
        "isbn",
        "ISBNs",
        is_marked_isbn,
        sure=0.97,
        needs=DIGIT,
        shortest=10,
        longest=30,
        distinct=2,
        support=(("IdentifierAT", 0.9),),  # 8 of 8 labelled columns
    ),
    # One bare ten-digit number in eleven passes: strength holds for three distinct values and more.
    Rule(
        "isbn",
        "ISBNs",
        is_isbn,
        sure=0.9,
        needs=DIGIT,
        shortest=10,
        longest=30,
        distinct=4,
        support=(("IdentifierAT", 0.9),),  # 8 of 8 labelled columns, the same as above
    ),
    Rule(
        "issn",
        "ISSNs",
        is_issn,
        sure=0.93,
        needs=DASH | DIGIT,
        shortest=9,
        longest=15,
        distinct=3,
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "gtin",
        "GTIN bar codes (EAN, UPC)",
        is_gtin,
        sure=0.88,
        needs=NUMERIC,
        bars=DOT | DASH | SPACE,
        shortest=8,
        longest=14,
        distinct=4,
        support=(("IdentifierAT", 0.67),),  # 1 of 1 labelled column
    ),
    Rule(
        "rounded_gtin",
        "bar codes rounded by a spreadsheet",
        _SCIENTIFIC_GTIN.fullmatch,
        needs=NUMERIC | DOT,
        shortest=8,
        support=(("IdentifierAT", 0.9),),  # 8 of 8 labelled columns
    ),
    Rule(
        "asin",
        "Amazon product codes (ASIN)",
        _ASIN.fullmatch,
        sure=0.9,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=10,
        longest=10,
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "cas_number",
        "CAS registry numbers",
        shaped_and_checked(_CAS.fullmatch, "casrn"),
        sure=0.92,
        distinct=3,
        needs=DASH | DIGIT,
        bars=LETTER,
        shortest=7,
        longest=12,
    ),
    Rule(
        "isrc",
        "sound recording codes (ISRC)",
        _ISRC.fullmatch,
        sure=0.85,
        distinct=3,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=12,
        longest=15,
        support=(("IdentifierAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "diagnosis_code",
        "ICD-10 diagnosis codes",
        _ICD10.fullmatch,
        sure=0.0,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=3,
        longest=8,
    ),
    Rule(
        "loinc_code",
        "LOINC codes",
        is_loinc,
        sure=0.0,
        needs=DASH | DIGIT,
        bars=LETTER,
        shortest=5,
        longest=7,
    ),
    Rule(
        "sku",
        "stock codes",
        _SKU.fullmatch,
        sure=0.0,
        needs=DIGIT,
        bars=SPACE,
        shortest=3,
        longest=40,
    ),
    Rule(
        "occupation_code",
        "occupation codes (O*NET-SOC)",
        _OCCUPATION.search,
        sure=0.93,
        needs=DIGIT | DASH | DOT,
        shortest=10,
        support=(("CategoryCode", 0.93),),  # 12 of 12 labelled columns
    ),
    Rule(
        "item_code",
        "codes of letters and digits",
        _ITEM_CODE.fullmatch,
        needs=UPPER | DIGIT,
        bars=SPACE | DOT,
        distinct=2,
        few=0.5,
        shortest=4,
        longest=20,
        support=(("IdentifierAT", 0.77), ("ProductModel", 0.14)),  # 6 and 1 of 7 labelled columns
    ),
)
