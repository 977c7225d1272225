"""Money: accounts, cards, tax, currencies, amounts and price ranges.

Account and card formats carry check digits; amounts need a currency sign or code, because a bare number
is a price only when the header says so (`item_price`, `salary`).
"""

import re

from aegir.annotators.rules.checksums import checked_by, luhn, shaped_and_checked
from aegir.annotators.rules.gazetteers import country_alpha2, currency_codes
from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.annotators.rules.headers import hints_of
from aegir.annotators.rules.reading import (
    DASH,
    DIGIT,
    DOT,
    LETTER,
    NUMERIC,
    SPACE,
    UPPER,
    Reading,
)
from aegir.annotators.rules.rule import FEWEST_MATCHES, Rule
from aegir.annotators.rules.shapes import Shape

_A = re.ASCII
_IBAN = Shape(r"[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}", _A)
_BIC = Shape(r"[A-Z]{4}([A-Z]{2})[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
_CARD = Shape(r"(?:3[47]|[3456]|2[2-7])\d{2,3}[ -]?\d{4,6}[ -]?\d{4,5}[ -]?\d{0,4}", _A)
_VAT = Shape(
    r"(?:AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|GR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|XI)[ ]?[A-Z0-9. +*-]{7,14}"
)
_SYMBOL = r"(?:US\$|A\$|C\$|NZ\$|HK\$|R\$|S\$|[$€£¥₹₽₩₺₴₪฿]|Rs\.?|kr\.?|zł|Kč|Ft|CHF)"
_NUMBER = r"\d{1,3}(?:[.,'\s\u00a0]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,4})?"
_AMOUNT = Shape(
    rf"[-+(]?{_SYMBOL}\s?-?(?:{_NUMBER})(?:[.,]-)?(?:\s?[kKmMbB](?:n|illion)?)?\)?|[-+]?(?:{_NUMBER})(?:\s?(?:[kKmM]|[Mm]illion))?\s?{_SYMBOL}"
)
_CODED_AMOUNT = Shape(rf"(?:([A-Z]{{3}})\s?(?:{_NUMBER})|(?:{_NUMBER})\s?([A-Z]{{3}}))")
_SIGNS = Shape(r"([$€£¥₹₽₩₺₴₪฿])\1{0,4}(?:\s?-\s?\1{1,5})?")
_RANGE = Shape(
    rf"(?:from\s)?{_SYMBOL}?\s?(?:{_NUMBER})\s?{_SYMBOL}?\s?(?:-|–|to|bis|à|~)\s?{_SYMBOL}?\s?(?:{_NUMBER})\s?(?:{_SYMBOL}|[A-Z]{{3}})?",
    re.I,
)
_PAY = Shape(
    r"\bper\s(?:hour|day|week|month|year|annum)\b|(?<![A-Za-z])/\s?(?:h|hr|hour|day|week|month|year)\b|\b(?:YEAR|HOUR|MONTH|WEEK|DAY)\b"
)
_FREQUENCY = Shape(r"\d{1,2}(?:\s?(?:-|to)\s?\d{1,2})?\s?(?:x|times)?\s(?:per|a)\s\w+", re.I)
_PLAIN_AMOUNT = Shape(rf"-?(?:{_SYMBOL}\s?)?(?:{_NUMBER})(?:\s?{_SYMBOL})?")
_WORDS_FOR_SUMS = words("total subtotal gross net sales payment")
_ACCOUNT = Shape(r"[A-Z0-9]{0,4}\d[\dX* -]{4,24}\d", _A)
_check_iban, _check_vat = checked_by("iban"), checked_by("eu.vat")


def is_bic(value: str) -> bool:
    match = _BIC.fullmatch(value)
    return match is not None and match[1] in country_alpha2()


def is_card(value: str) -> bool:
    """13 to 19 digits with an issuer's prefix and a valid check digit."""
    if not _CARD.fullmatch(value):
        return False
    digits = value.replace(" ", "").replace("-", "")
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and luhn(digits)


def is_currency_code(value: str) -> bool:
    """`EUR`, also repeated as publishers do: `EUR EUR EUR`."""
    codes = currency_codes()
    return all(part.strip(",;") in codes for part in value.split())


def is_amount(value: str) -> bool:
    if _AMOUNT.fullmatch(value):
        return True
    coded = _CODED_AMOUNT.fullmatch(value)
    return coded is not None and (coded[1] or coded[2]) in currency_codes()


def is_money_range(value: str) -> bool:
    """`$$`, `€10-€20`, `50.00 - 60.00 INR`; a bare `3-5` has no sign of money."""
    if _SIGNS.fullmatch(value):
        return True
    if not _RANGE.fullmatch(value):
        return False
    return (
        any((not c.isascii() and c not in "–à\u00a0") or c == "$" for c in value)
        or value[-3:] in currency_codes()
    )


def is_pay(value: str) -> bool:
    """Pay for a period; `40 hours per week` is working time, `3 per day` a frequency."""
    return (
        bool(_PAY.search(value))
        and "hours" not in value
        and "hrs" not in value
        and not _FREQUENCY.fullmatch(value)
    )


def is_vat_number(value: str) -> bool:
    return bool(_VAT.fullmatch(value)) and _check_vat(value)


def share_of_cents(reading: Reading) -> float:
    """Numbers with exactly two decimals: how prices are written (0 and whole ones aside)."""
    good = sum(
        count
        for value, count in zip(reading.values, reading.counts, strict=True)
        if len(value) > 3 and value[-3] in ".," and value[-2:].isdigit() and value[0] != "-"
    )
    return good / reading.total


def share_of_amounts(reading: Reading) -> float:
    """Numbers under a header for money; a `total` of whole numbers may count anything."""
    word = hints_of(reading.header).get("currency_amount") if reading.header else None
    if word in _WORDS_FOR_SUMS and share_of_cents(reading) < FEWEST_MATCHES:
        return 0.0
    good = sum(
        count
        for value, count in zip(reading.values, reading.counts, strict=True)
        if _PLAIN_AMOUNT.fullmatch(value)
    )
    return good / reading.total


RULES = (
    Rule(
        "iban",
        "IBANs",
        lambda v: _IBAN.fullmatch(v) and _check_iban(v),
        sure=0.99,
        needs=UPPER | DIGIT,
        shortest=15,
        longest=42,
    ),
    Rule(
        "bic",
        "bank identifier codes",
        is_bic,
        sure=0.0,
        needs=UPPER,
        bars=SPACE,
        shortest=8,
        longest=11,
    ),
    Rule(
        "payment_card",
        "payment card numbers",
        is_card,
        sure=0.9,
        distinct=3,
        needs=DIGIT,
        bars=LETTER | DOT,
        shortest=13,
        longest=23,
    ),
    Rule(
        "card_security_code",
        "card security codes",
        Shape(r"\d{3,4}", _A).fullmatch,
        needs=NUMERIC,
        bars=DOT,
        shortest=3,
        longest=4,
    ),
    Rule(
        "account_number",
        "account numbers",
        _ACCOUNT.fullmatch,
        needs=DIGIT,
        bars=DOT,
        shortest=6,
        longest=34,
    ),
    Rule(
        "bank_routing_number",
        "bank routing numbers",
        shaped_and_checked(Shape(r"\d{9}", _A).fullmatch, "us.rtn"),
        needs=NUMERIC,
        shortest=9,
        longest=9,
    ),
    Rule(
        "vat_number",
        "EU VAT numbers",
        is_vat_number,
        sure=0.95,
        distinct=2,
        needs=UPPER | DIGIT,
        shortest=9,
        longest=17,
    ),
    Rule(
        "currency_code",
        "ISO currency codes",
        is_currency_code,
        sure=0.95,
        needs=UPPER,
        bars=DIGIT,
        shortest=3,
        longest=512,
        support=(("currency", 0.98),),  # 60 of 60 labelled columns
        by_chance=True,
    ),
    Rule(
        "currency_amount",
        "amounts with a currency",
        is_amount,
        sure=0.95,
        distinct=2,  # one NAD83 in every row is a name
        few=1.0,
        needs=DIGIT,
        bars=NUMERIC,
        shortest=2,
        longest=30,
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
        longest=24,
        sure_with_header=0.84,
    ),
    Rule(
        "price_range",
        "price ranges",
        is_money_range,
        sure=0.92,
        longest=40,
        bars=0,
        support=(("priceRange", 0.87), ("currency", 0.11)),  # 40 and 5 of 45 labelled columns
    ),
    Rule(
        "pay_rate",
        "pay for a period",
        is_pay,
        sure=0.85,
        needs=DIGIT | LETTER,
        shortest=6,
        longest=80,
        support=(("MonetaryAmount", 0.94),),  # 14 of 14 labelled columns
    ),
    Rule("item_price", "amounts", _PLAIN_AMOUNT.fullmatch, needs=DIGIT, longest=24),
    Rule("salary", "amounts", _PLAIN_AMOUNT.fullmatch, needs=DIGIT, longest=24),
    Rule(
        "cents",
        "numbers with two decimals",
        measure=share_of_cents,
        needs=NUMERIC,
        bars=DASH | SPACE,
        shortest=1,
        longest=12,
        support=(
            ("price", 0.71),
            ("Number", 0.09),
            ("weight", 0.09),
        ),  # 16, 2 and 2 of 22 labelled columns
    ),
)
