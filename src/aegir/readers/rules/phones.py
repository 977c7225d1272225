"""Telephone and fax numbers, checked against the world's numbering plans.

International numbers (+43 …) are checked as they are. National ones are checked against the plan of one country
for the whole column: the one of a short list in which most values are valid. North American numbers have a pattern
of their own and need no library. Under a header that names telephones a possible number is enough: films and
handbooks use numbers that nobody has. 123-4567 (a Japanese postal code, a local number) and 850312-1234567 (a Korean
identity number) are telephones only under such a header. The library is not imported until a column looks like digits with the
separators of phone numbers; at most `_MAX_VALUES` values are parsed.
"""

import re
from functools import lru_cache

from aegir.readers.rules.column_summary import (
    MIN_SHARE,
    ColumnSummary,
    evenly_spaced,
)
from aegir.readers.rules.headers import named_types, names_a_key, possible_types
from aegir.readers.rules.rule import Pattern, read_rules

_MAX_VALUES = 12
_REGIONS = (
    *("GB", "FR", "DE", "ES", "IT", "AU", "NZ", "IN", "NL"),
    *("BE", "CH", "AT", "BR", "JP", "PL", "SE", "ZA"),
)
_EXTENSION = re.compile(r"\s*(?:,|;)?\s*(?:ext|extn|x|app|dw)\.?\s?\d{1,6}$", re.I)
_PREFIX = re.compile(r"(?:tel|phone|fax|ph|t|f|telefon|fon|mobile?)\s?[.:]\s*", re.I)
_NORTH_AMERICAN = Pattern(
    r"(?:\+?1[-. ]?)?(?:\([2-9]\d\d\)[-. ]?|[2-9]\d\d[-./ ])[2-9]\d\d[-. ]?\d{4}|\+?1[2-9]\d\d[2-9]\d{6}",
    re.ASCII,
)
_BARE_NORTH_AMERICAN = Pattern(r"1?[2-9]\d\d[2-9]\d{6}(?:\.0)?", re.ASCII)
_DIALLED = Pattern(r"\+?[\d\s().\-/\u2010-\u2013]{7,28}", re.ASCII)
_POSTAL_CODE_OR_IDENTITY = Pattern(r"\d{3}-\d{4}|\d{6}-\d{7}", re.ASCII)
_DECIMAL = Pattern(
    r"[-+]?\d+[.,]\d+|[-+]?\d+|(?:\d{1,4}\s?[-/.]\s?){2}\d{1,4}|\d{4}\s?[-–/]\s?\d{4}", re.ASCII
)


def stripped(value: str) -> str:
    """Return a number without a leading "Tel.:" and a trailing extension."""
    return _EXTENSION.sub("", _PREFIX.sub("", value, count=1)).replace("\u00a0", " ").strip()


@lru_cache(maxsize=4096)
def is_valid_number(value: str, region: str | None) -> bool:
    """Return whether the number is valid in a numbering plan; `region` None needs a leading +."""
    import phonenumbers

    try:
        number = phonenumbers.parse(value, region)
    except phonenumbers.NumberParseException:
        return False
    return bool(phonenumbers.is_valid_number(number))


@lru_cache(maxsize=4096)
def is_possible_number(value: str) -> bool:
    """Return whether an international number has a length that its country uses, assigned or not."""
    import phonenumbers

    try:
        return bool(phonenumbers.is_possible_number(phonenumbers.parse(value, None)))
    except phonenumbers.NumberParseException:
        return False


def can_be_dialled(value: str) -> bool:
    """Return whether a value under a header for telephones is one: usual separators, a possible length."""
    number = stripped(value)
    if number.startswith("+"):
        return bool(_DIALLED.fullmatch(number)) and is_possible_number(number)
    if _NORTH_AMERICAN.fullmatch(number) or is_bare_number(number):
        return True
    # Nine digits or more in three groups are no date.
    return looks_like_phone(number) or (
        bool(_DIALLED.fullmatch(number)) and 9 <= sum(c.isdigit() for c in number) <= 15
    )


def looks_like_phone(value: str) -> bool:
    """Return whether a value is seven to fifteen digits with separators and no date, decimal or range of years."""
    return _is_national(stripped(value))


def _is_national(value: str) -> bool:
    if not _DIALLED.fullmatch(value) or (value[0] != "+" and _DECIMAL.fullmatch(value)):
        return False
    return 7 <= sum(c.isdigit() for c in value) <= 15


def share_of_phones(summary: ColumnSummary) -> float:
    """Return the share of cells with a valid telephone number, at most `_MAX_VALUES` values being tested.

    National numbers count if they are valid in the one country in which most are. The result is 0 as soon as less than
    half of the cells can be telephones: a share below `MIN_SHARE` matches no rule, whatever it is.
    """
    chosen = list(summary.values)
    if len(chosen) > _MAX_VALUES:
        chosen = evenly_spaced(chosen, _MAX_VALUES)
    count_of = dict(zip(summary.values, summary.counts, strict=True))
    total = sum(count_of[value] for value in chosen)
    good, missed, national = 0, 0, []
    for value in chosen:
        number = stripped(value)
        if _NORTH_AMERICAN.fullmatch(number):
            good += count_of[value]
        elif number.startswith("+") and _DIALLED.fullmatch(number):
            good += count_of[value] * is_valid_number(number, None)
        elif _is_national(number):
            national.append(value)
        else:
            missed += count_of[value]
            if missed > total * (1 - MIN_SHARE):
                return 0.0
    national = _allowed_by_header(national, summary.header)
    if national and (good + sum(count_of[value] for value in national)) * 2 >= total:
        good += _best_national(national, count_of)
    return good / total


def _allowed_by_header(national: list[str], header: str | None) -> list[str]:
    """Return the national numbers that a header allows: case 1946-001 fits some country's plan."""
    if "telephone" in named_types(header):
        return national
    national = [v for v in national if not _POSTAL_CODE_OR_IDENTITY.fullmatch(stripped(v))]
    if header is None or "telephone" in possible_types(header):
        return national
    return [] if names_a_key(header) else [v for v in national if stripped(v)[0] in "0("]


def _best_national(values: list[str], count_of: dict[str, int]) -> int:
    """Return the number of cells valid in the best country; countries are tried on one value first."""
    best = 0
    probe = stripped(values[len(values) // 2])
    for region in _REGIONS:
        if is_valid_number(probe, region):
            good = sum(count_of[v] for v in values if is_valid_number(stripped(v), region))
            best = max(best, good)
            if good == sum(count_of[v] for v in values):
                break
    return best


def is_bare_number(value: str) -> bool:
    """Return whether a value is seven to fifteen digits: a telephone only if the header says so."""
    digits = value.removesuffix(".0")
    return digits.isascii() and digits.isdigit() and 7 <= len(digits) <= 15


RULES = read_rules("phones", globals())
