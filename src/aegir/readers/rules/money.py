"""Money, and numbers that registries assign: to securities, and by states to people, taxpayers and companies.

Account and card formats have check digits; amounts need a currency sign or code, because a bare number is a price
only where the header says so (`item_price`, `salary`).

Registered numbers, all but tickers and register entries, have check digits or a published format. The formats of states
are listed in gazetteers/national_ids.tsv. A *strong* one has letters or separators, or a date and check digits, that
chance does not imitate; several distinct valid values name the fine type. A weak one (nine or eleven bare digits with
one check digit) needs a header that suggests identity, tax or social security. Short security codes match by chance as
well and need several values.
"""

import re

from aegir.readers.rules.column_summary import (
    DIGIT,
    MIN_SHARE,
    ColumnSummary,
)
from aegir.readers.rules.gazetteers import country_alpha2, currency_codes, read_table, words
from aegir.readers.rules.headers import hints_of
from aegir.readers.rules.rule import (
    Pattern,
    ValueRule,
    has_luhn_digit,
    matched_and_checked,
    read_rules,
)

_A = re.ASCII
_IBAN = Pattern(r"[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}", _A)
_BIC = Pattern(r"[A-Z]{4}([A-Z]{2})[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
_CARD = Pattern(r"(?:3[47]|[3456]|2[2-7])\d{2,3}[ -]?\d{4,6}[ -]?\d{4,5}[ -]?\d{0,4}", _A)
_VAT = Pattern(
    r"(?:AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|GR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|XI)[ ]?[A-Z0-9. +*-]{7,14}"
)
_SYMBOL = r"(?:US\$|A\$|C\$|NZ\$|HK\$|R\$|S\$|[$€£¥₹₽₩₺₴₪฿]|Rs\.?|kr\.?|zł|Kč|Ft|CHF)"
_NUMBER = r"\d{1,3}(?:[.,'\s\u00a0]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,4})?"
_AMOUNT = Pattern(
    rf"[-+(]?{_SYMBOL}\s?-?(?:{_NUMBER})(?:[.,]-)?(?:\s?[kKmMbB](?:n|illion)?)?\)?|[-+]?(?:{_NUMBER})(?:\s?(?:[kKmM]|[Mm]illion))?\s?{_SYMBOL}"
)
_CODED_AMOUNT = Pattern(rf"(?:([A-Z]{{3}})\s?(?:{_NUMBER})|(?:{_NUMBER})\s?([A-Z]{{3}}))")
_SIGNS = Pattern(r"([$€£¥₹₽₩₺₴₪฿])\1{0,4}(?:\s?-\s?\1{1,5})?")
_RANGE = Pattern(
    rf"(?:from\s)?{_SYMBOL}?\s?(?:{_NUMBER})\s?{_SYMBOL}?\s?(?:-|–|to|bis|à|~)\s?{_SYMBOL}?\s?(?:{_NUMBER})\s?(?:{_SYMBOL}|[A-Z]{{3}})?",
    re.I,
)
_PAY = Pattern(
    r"\bper\s(?:hour|day|week|month|year|annum)\b|(?<![A-Za-z])/\s?(?:h|hr|hour|day|week|month|year)\b|\b(?:YEAR|HOUR|MONTH|WEEK|DAY)\b"
)
_NUMBERED_PERIOD = Pattern(r"(?:YEAR|HOUR|MONTH|WEEK|DAY)\s?\d+", re.ASCII)
_FREQUENCY = Pattern(r"\d{1,2}(?:\s?(?:-|to)\s?\d{1,2})?\s?(?:x|times)?\s(?:per|a)\s\w+", re.I)
_PLAIN_AMOUNT = Pattern(rf"-?(?:{_SYMBOL}\s?)?(?:{_NUMBER})(?:\s?{_SYMBOL})?")
_TOTAL_WORDS = words("total subtotal gross net sales payment")
_ACCOUNT = Pattern(r"[A-Z0-9]{0,4}\d[\dX* -]{4,24}\d", _A)
_SECURITY_CODE = Pattern(r"\d{3,4}", _A)
is_iban = matched_and_checked(_IBAN, "iban")
is_vat_number = matched_and_checked(_VAT, "eu.vat")
is_routing_number = matched_and_checked(Pattern(r"\d{9}", _A), "us.rtn")


def is_bic(value: str) -> bool:
    match = _BIC.fullmatch(value)
    return match is not None and match[1] in country_alpha2()


def is_card(value: str) -> bool:
    """Return whether a value is 13 to 19 digits with an issuer's prefix and a valid check digit."""
    if not _CARD.fullmatch(value):
        return False
    digits = value.replace(" ", "").replace("-", "")
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and has_luhn_digit(digits)


def is_currency_code(value: str) -> bool:
    """Return whether a value is a currency code, perhaps repeated: `EUR EUR EUR`."""
    codes = currency_codes()
    if value[:3] not in codes and value[:1] not in ",;":
        return False
    return all(part.strip(",;") in codes for part in value.split())


def is_amount(value: str) -> bool:
    """Return whether a value is a number with a currency sign or code."""
    if _AMOUNT.fullmatch(value):
        return True
    coded = _CODED_AMOUNT.fullmatch(value)
    return coded is not None and (coded[1] or coded[2]) in currency_codes()


def is_money_range(value: str) -> bool:
    """Return whether a value is like `$$`, `€10-€20` or `50.00 - 60.00 INR`; a bare `3-5` is not."""
    if _SIGNS.fullmatch(value):
        return True
    if not _RANGE.fullmatch(value):
        return False
    return (
        any((not c.isascii() and c not in "–à\u00a0") or c == "$" for c in value)
        or value[-3:] in currency_codes()
    )


def is_pay(value: str) -> bool:
    """Return whether a value is pay for a period, not working time (`40 hours per week`), a frequency or a `WEEK 4`."""
    return (
        bool(_PAY.search(value))
        and "hours" not in value
        and "hrs" not in value
        and not _FREQUENCY.fullmatch(value)
        and not _NUMBERED_PERIOD.fullmatch(value)
    )


def share_of_cents(summary: ColumnSummary) -> float:
    """Return the share of numbers with exactly two decimals, as prices have."""
    return summary.share_of(
        lambda value: (
            len(value) > 3 and value[-3] in ".," and value[-2:].isdigit() and value[0] != "-"
        )
    )


def share_of_amounts(summary: ColumnSummary) -> float:
    """Return the share of amounts under a header for money; a `total` of whole numbers may count anything."""
    word = hints_of(summary.header).get("currency_amount") if summary.header else None
    if word in _TOTAL_WORDS and share_of_cents(summary) < MIN_SHARE:
        return 0.0
    return summary.share_of(_PLAIN_AMOUNT.fullmatch)


is_lei = matched_and_checked(Pattern(r"[A-Z0-9]{18}\d{2}"), "lei")
is_isin = matched_and_checked(Pattern(r"[A-Z]{2}[A-Z0-9]{9}\d"), "isin")
is_cusip = matched_and_checked(Pattern(r"(?=.*\d)[0-9]{3}[A-Z0-9]{5}\d"), "cusip")
is_sedol = matched_and_checked(Pattern(r"[B-DF-HJ-NP-TV-Z0-9]{6}\d"), "gb.sedol")
is_figi = matched_and_checked(Pattern(r"BBG[B-DF-HJ-NP-TV-Z0-9]{8}\d"), "figi")
_TICKER = Pattern(r"\$?[A-Z]{1,5}(?:[.:-][A-Z]{1,4})?")
_SSN = Pattern(r"(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}", _A)
_NINO = Pattern(
    r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]", _A
)
_NOUNS = {
    "national_id": "identity numbers",
    "tax_number": "tax numbers",
    "company_number": "company register numbers",
}


def _national_rule(
    fine_type: str, country: str, module: str, pattern: str, strong: str
) -> ValueRule:
    """Return the rule for a line of national_ids.tsv; a format without a module has no check digits."""
    matches = Pattern(pattern, _A)
    return ValueRule(
        fine_type,
        f"{country} {_NOUNS[fine_type]}",
        matched_and_checked(matches, module) if module else matches.fullmatch,
        confidence=0.93 if strong == "yes" else 0.0,
        confidence_with_header=0.96,
        min_distinct=3,
        needs=DIGIT,
        length=(5, 24),
        max_values=20,
    )


RULES = (
    *read_rules("money", globals()),
    *(
        _national_rule(*fields)
        for fields in read_table(
            "national_ids.tsv", "fine_type country stdnum_module pattern strong"
        )
    ),
)
