"""Quantities, money, and numbers that registries assign: to securities, and by states to people, taxpayers and companies.

Account and card formats have check digits; amounts need a currency sign or code, because a bare number is a price
only where the header says so (`item_price`, `salary`).

Registered numbers, all but tickers and register entries, have check digits or a published format. The formats of states
are listed in gazetteers/national_ids.tsv. A *strong* one has letters or separators, or a date and check digits, that
chance does not imitate; several distinct valid values name the fine type. A weak one (nine or eleven bare digits with
one check digit) needs a header that suggests identity, tax or social security. Short security codes match by chance as
well and need several values.

Quantities are percentages, temperatures, sizes and measurements, flags and plain numbers. A number with a unit is recognised from the value, and the unit decides the dimension. A bare number whose unit
stands in the header has that dimension and the column type Number. Other bare numbers weakly support many column
types at once, with the shares counted on labelled web columns.
"""

import re

from aegir.readers.rules.column_summary import DIGIT, MIN_SHARE, ColumnSummary
from aegir.readers.rules.gazetteers import (
    country_alpha2,
    currency_codes,
    read_table,
    word_set,
    words,
)
from aegir.readers.rules.headers import hints_of
from aegir.readers.rules.rule import (
    PATTERNS,
    Family,
    Pattern,
    ValueRule,
    has_luhn_digit,
    matched_and_checked,
    read_rules,
)

_TOTAL_WORDS = words("total subtotal gross net sales payment")
is_iban = matched_and_checked(PATTERNS["iban"], "iban")
is_vat_number = matched_and_checked(PATTERNS["vat"], "eu.vat")
is_routing_number = matched_and_checked(Pattern(r"\d{9}", re.ASCII), "us.rtn")


def is_bic(value: str) -> bool:
    match = PATTERNS["bic"].fullmatch(value)
    return match is not None and match[1] in country_alpha2()


def is_card(value: str) -> bool:
    """Return whether a value is 13 to 19 digits with an issuer's prefix and a valid check digit."""
    if not PATTERNS["card"].fullmatch(value):
        return False
    digits = value.replace(" ", "").replace("-", "")
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and has_luhn_digit(digits)


def has_card_form(value: str) -> bool:
    """Return whether a value is written as a card number is, whatever its issuer and check digit."""
    return 13 <= sum(map(str.isdigit, value)) <= 19 and bool(PATTERNS["card_form"].fullmatch(value))


def is_currency_code(value: str) -> bool:
    """Return whether a value is a currency code, perhaps repeated: `EUR EUR EUR`."""
    codes = currency_codes()
    if value[:3] not in codes and value[:1] not in ",;":
        return False
    return all(part.strip(",;") in codes for part in value.split())


def is_amount(value: str) -> bool:
    """Return whether a value is a number with a currency sign or code."""
    if PATTERNS["amount"].fullmatch(value):
        return True
    coded = PATTERNS["coded_amount"].fullmatch(value)
    return coded is not None and (coded[1] or coded[2]) in currency_codes()


def is_money_range(value: str) -> bool:
    """Return whether a value is like `$$`, `€10-€20` or `50.00 - 60.00 INR`; a bare `3-5` is not."""
    if value.isascii() and "$" not in value and value[-3:] not in currency_codes():
        return False
    if PATTERNS["signs"].fullmatch(value):
        return True
    if not PATTERNS["range"].fullmatch(value):
        return False
    return (
        any((not c.isascii() and c not in "–à\u00a0") or c == "$" for c in value)
        or value[-3:] in currency_codes()
    )


_PAY_WORDS = ("per", "/", "YEAR", "HOUR", "MONTH", "WEEK", "DAY")
"""One of them is in whatever the pattern `pay` finds."""


def is_pay(value: str) -> bool:
    """Return whether a value is pay for a period, not working time (`40 hours per week`), a frequency or a `WEEK 4`."""
    return (
        any(word in value for word in _PAY_WORDS)
        and bool(PATTERNS["pay"].search(value))
        and "hours" not in value
        and "hrs" not in value
        and not PATTERNS["frequency"].fullmatch(value)
        and not PATTERNS["numbered_period"].fullmatch(value)
    )


def share_of_cents(summary: ColumnSummary) -> float:
    """Return the share of numbers with exactly two decimals, as prices have."""
    return summary.share_of(has_cents)


def has_cents(value: str) -> bool:
    """Return whether a value ends in exactly two decimals and has no minus."""
    return len(value) > 3 and value[-3] in ".," and value[-2:].isdigit() and value[0] != "-"


def share_of_amounts(summary: ColumnSummary) -> float:
    """Return the share of amounts under a header for money; a `total` of whole numbers may count anything."""
    word = hints_of(summary.header).get("currency_amount") if summary.header else None
    if word in _TOTAL_WORDS and share_of_cents(summary) < MIN_SHARE:
        return 0.0
    return summary.share_of(PATTERNS["plain_amount"].fullmatch)


is_lei = matched_and_checked(Pattern(r"[A-Z0-9]{18}\d{2}"), "lei")
is_isin = matched_and_checked(Pattern(r"[A-Z]{2}[A-Z0-9]{9}\d"), "isin")
is_cusip = matched_and_checked(Pattern(r"(?=.*\d)[0-9]{3}[A-Z0-9]{5}\d"), "cusip")
is_sedol = matched_and_checked(Pattern(r"[B-DF-HJ-NP-TV-Z0-9]{6}\d"), "gb.sedol")
is_figi = matched_and_checked(Pattern(r"BBG[B-DF-HJ-NP-TV-Z0-9]{8}\d"), "figi")
_NATIONAL = read_table("national_ids.tsv", "fine_type country stdnum_module pattern strong")
_NATIONAL_LENGTH, _NATIONAL_VALUES = (5, 24), 20
_NATIONAL_FAMILY = Family(
    Pattern("|".join(f"(?:{pattern})" for _, _, _, pattern, _ in _NATIONAL), re.ASCII).fullmatch,
    _NATIONAL_VALUES,
    _NATIONAL_LENGTH,
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
    matches = Pattern(pattern, re.ASCII)
    return ValueRule(
        fine_type,
        f"{country} {_NOUNS[fine_type]}",
        matched_and_checked(matches, module) if module else matches.fullmatch,
        confidence=0.93 if strong == "yes" else 0.0,
        confidence_with_header=0.96,
        min_distinct=3,
        needs=DIGIT,
        length=_NATIONAL_LENGTH,
        max_values=_NATIONAL_VALUES,
        family=_NATIONAL_FAMILY,
    )


MONEY_RULES = (
    *read_rules("money", globals()),
    *(_national_rule(*fields) for fields in _NATIONAL),
)


_TRUE_FALSE = frozenset(("true", "false"))
_YES_AND_NO = word_set("yes_and_no")
_FLAG_PAIRS = frozenset(frozenset(pair.split("/")) for pair in _YES_AND_NO)
_FLAG_WORDS = frozenset().union(*_FLAG_PAIRS) | words("0 1 true false x ✓ ✗ ✔")


def share_of_true_false(summary: ColumnSummary) -> float:
    """Return the share of `true` and `false`, perhaps repeated in a cell (`True True`)."""
    return summary.share_of(is_true_false)


def is_true_false(value: str) -> bool:
    """Return whether a value is nothing but `true` and `false`."""
    return value[0] in "tTfF," and _TRUE_FALSE.issuperset(
        value.casefold().replace(",", " ").split()
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


NUMBERS_RULES = read_rules("numbers", globals())
