"""Money: accounts, cards, tax, currencies, amounts and price ranges.

Account and card formats have check digits; amounts need a currency sign or code, because a bare number is a price
only where the header says so (`item_price`, `salary`).
"""

import re

from aegir.readers.rules.gazetteers import country_alpha2, currency_codes, words
from aegir.readers.rules.headers import hints_of
from aegir.readers.rules.matching import Pattern, checked_by, has_luhn_digit, matched_and_checked
from aegir.readers.rules.reading import (
    DASH,
    DIGIT,
    DOT,
    LETTER,
    MIN_SHARE,
    MONEY,
    NUMERIC,
    SPACE,
    UPPER,
    Reading,
)
from aegir.readers.rules.rule import Rule

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
_check_iban, _check_vat = checked_by("iban"), checked_by("eu.vat")


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


def is_vat_number(value: str) -> bool:
    return bool(_VAT.fullmatch(value)) and _check_vat(value)


def share_of_cents(reading: Reading) -> float:
    """Return the share of numbers with exactly two decimals, as prices have."""
    return reading.share_of(
        lambda value: (
            len(value) > 3 and value[-3] in ".," and value[-2:].isdigit() and value[0] != "-"
        )
    )


def share_of_amounts(reading: Reading) -> float:
    """Return the share of amounts under a header for money; a `total` of whole numbers may count anything."""
    word = hints_of(reading.header).get("currency_amount") if reading.header else None
    if word in _TOTAL_WORDS and share_of_cents(reading) < MIN_SHARE:
        return 0.0
    return reading.share_of(_PLAIN_AMOUNT.fullmatch)


RULES = (
    Rule(
        "iban",
        "IBANs",
        lambda v: _IBAN.fullmatch(v) and _check_iban(v),
        confidence=0.99,
        needs=UPPER | DIGIT,
        length=(15, 42),
    ),
    Rule("bic", "bank identifier codes", is_bic, needs=UPPER, excludes=SPACE, length=(8, 11)),
    Rule(
        "payment_card",
        "payment card numbers",
        is_card,
        confidence=0.9,
        min_distinct=3,
        needs=DIGIT,
        excludes=LETTER | DOT,
        length=(13, 23),
    ),
    Rule(
        "card_security_code",
        "card security codes",
        Pattern(r"\d{3,4}", _A).fullmatch,
        needs=NUMERIC,
        excludes=DOT,
        length=(3, 4),
    ),
    Rule(
        "account_number",
        "account numbers",
        _ACCOUNT.fullmatch,
        needs=DIGIT,
        excludes=DOT,
        length=(6, 34),
    ),
    Rule(
        "bank_routing_number",
        "bank routing numbers",
        matched_and_checked(Pattern(r"\d{9}", _A), "us.rtn"),
        needs=NUMERIC,
        length=(9, 9),
    ),
    Rule(
        "vat_number",
        "EU VAT numbers",
        is_vat_number,
        confidence=0.95,
        min_distinct=2,
        needs=UPPER | DIGIT,
        length=(9, 17),
    ),
    Rule(
        "currency_code",
        "ISO currency codes",
        is_currency_code,
        confidence=0.95,
        needs=UPPER,
        excludes=DIGIT,
        length=(3, 512),
        support=(("currency", 0.98),),  # 60 of 60 labelled columns
        by_chance=True,
    ),
    Rule(
        "currency_amount",
        "amounts with a currency",
        is_amount,
        confidence=0.95,
        min_distinct=2,  # one NAD83 in every row is a name
        support_when_few=1.0,
        needs=DIGIT,
        excludes=NUMERIC,
        length=(2, 30),
        support=(
            ("price", 0.67),
            ("priceRange", 0.2),
            ("MonetaryAmount", 0.1),
        ),  # 7 and 2 of 10 labelled columns
    ),
    Rule(
        "currency_amount",
        "amounts",
        measure=share_of_amounts,
        needs=DIGIT,
        length=(1, 24),
        confidence_with_header=0.84,
    ),
    Rule(
        "price_range",
        "price ranges",
        is_money_range,
        confidence=0.92,
        needs_one=DIGIT | MONEY,
        length=(1, 40),
        support=(("priceRange", 0.87), ("currency", 0.11)),  # 40 and 5 of 45 labelled columns
    ),
    Rule(
        "pay_rate",
        "pay for a period",
        is_pay,
        confidence=0.85,
        needs=DIGIT | LETTER,
        length=(6, 80),
        support=(("MonetaryAmount", 0.94),),  # 14 of 14 labelled columns
    ),
    Rule("item_price", "amounts", _PLAIN_AMOUNT.fullmatch, needs=DIGIT, length=(1, 24)),
    Rule("salary", "amounts", _PLAIN_AMOUNT.fullmatch, needs=DIGIT, length=(1, 24)),
    Rule(
        "cents",
        "numbers with two decimals",
        measure=share_of_cents,
        needs=NUMERIC,
        excludes=DASH | SPACE,
        length=(1, 12),
        support=(
            ("price", 0.71),
            ("Number", 0.09),
            ("weight", 0.09),
        ),  # 16, 2 and 2 of 22 labelled columns
    ),
)
