"""Telephone and fax numbers, checked against the world's numbering plans.

International numbers (+43 …) are checked as they stand. National ones are checked against the plan of
one country for the whole column: the first of a short list under which the column's values are valid.
North American numbers have a shape of their own and need no library. Under a header that names
telephones a possible number is enough: films and handbooks use numbers that nobody has. Nothing is imported until a column
looks like digits with the separators people use in phone numbers; at most `_MOST` values are parsed.
"""

import re
from functools import lru_cache

from aegir.annotators.rules.header_topics import left_open
from aegir.annotators.rules.headers import names_a_key
from aegir.annotators.rules.reading import AT, DIGIT, LETTER, Reading, evenly_spaced
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_MOST = 12
_REGIONS = (
    "GB",
    "FR",
    "DE",
    "ES",
    "IT",
    "AU",
    "NZ",
    "IN",
    "NL",
    "BE",
    "CH",
    "AT",
    "BR",
    "JP",
    "PL",
    "SE",
    "ZA",
)
_EXTENSION = re.compile(r"\s*(?:,|;)?\s*(?:ext|extn|x|app|dw)\.?\s?\d{1,6}$", re.I)
_PREFIX = re.compile(r"(?:tel|phone|fax|ph|t|f|telefon|fon|mobile?)\s?[.:]\s*", re.I)
_NORTH_AMERICAN = Shape(
    r"(?:\+?1[-. ]?)?(?:\([2-9]\d\d\)[-. ]?|[2-9]\d\d[-./ ])[2-9]\d\d[-. ]?\d{4}|\+?1[2-9]\d\d[2-9]\d{6}",
    re.ASCII,
)
_BARE_NORTH_AMERICAN = Shape(r"1?[2-9]\d\d[2-9]\d{6}(?:\.0)?", re.ASCII)
_DIALLED = Shape(r"\+?[\d\s().\-/\u2010-\u2013]{7,28}", re.ASCII)
_DECIMAL = Shape(
    r"[-+]?\d+[.,]\d+|[-+]?\d+|(?:\d{1,4}\s?[-/.]\s?){2}\d{1,4}|\d{4}\s?[-–/]\s?\d{4}", re.ASCII
)


def stripped(value: str) -> str:
    """Without a leading "Tel.:" and a trailing extension."""
    return _EXTENSION.sub("", _PREFIX.sub("", value, count=1)).replace("\u00a0", " ").strip()


@lru_cache(maxsize=4096)
def is_valid_number(value: str, region: str | None) -> bool:
    """Whether a numbering plan knows the number; `region` None needs a leading +."""
    import phonenumbers

    try:
        number = phonenumbers.parse(value, region)
    except phonenumbers.NumberParseException:
        return False
    return bool(phonenumbers.is_valid_number(number))


@lru_cache(maxsize=4096)
def is_possible_number(value: str) -> bool:
    """Whether an international number has a length its country knows, given to somebody or not."""
    import phonenumbers

    try:
        return bool(phonenumbers.is_possible_number(phonenumbers.parse(value, None)))
    except phonenumbers.NumberParseException:
        return False


def can_be_dialled(value: str) -> bool:
    """A number that a header may call a telephone: separators as people write them, a possible length."""
    number = stripped(value)
    if number.startswith("+"):
        return bool(_DIALLED.fullmatch(number)) and is_possible_number(number)
    if _NORTH_AMERICAN.fullmatch(number) or is_bare_number(number):
        return True
    # Nine digits and more in three groups are no date.
    return is_phone_shaped(number) or (
        bool(_DIALLED.fullmatch(number)) and 9 <= sum(c.isdigit() for c in number) <= 15
    )


def is_phone_shaped(value: str) -> bool:
    """Seven to fifteen digits with separators; not a date, a decimal or a range of years."""
    value = stripped(value)
    if not _DIALLED.fullmatch(value) or (value[0] != "+" and _DECIMAL.fullmatch(value)):
        return False
    return 7 <= sum(c.isdigit() for c in value) <= 15


def share_of_phones(reading: Reading) -> float:
    """Share of the cells that are dialled somewhere; national numbers all in one country."""
    chosen = list(reading.values)
    if len(chosen) > _MOST:
        chosen = evenly_spaced(chosen, _MOST)
    count_of = dict(zip(reading.values, reading.counts, strict=True))
    total = sum(count_of[value] for value in chosen)
    good, national = 0, []
    for value in chosen:
        number = stripped(value)
        if _NORTH_AMERICAN.fullmatch(number):
            good += count_of[value]
        elif number.startswith("+") and _DIALLED.fullmatch(number):
            good += count_of[value] * is_valid_number(number, None)
        elif is_phone_shaped(value):
            national.append(value)
    national = _believed(national, reading.header)
    if national and (good + sum(count_of[value] for value in national)) * 2 >= total:
        good += _best_national(national, count_of)
    return good / total


def _believed(national: list[str], header: str | None) -> list[str]:
    """National numbers that a header allows: case 1946-001 fits some country's plan."""
    if header is None or "telephone" in left_open(header):
        return national
    return [] if names_a_key(header) else [v for v in national if stripped(v)[0] in "0("]


def _best_national(values: list[str], count_of: dict[str, int]) -> int:
    """Cells valid in the one country that explains most; countries are tried on one value first."""
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
    """Seven digits or more and nothing else: a telephone only if the header says so."""
    digits = value.removesuffix(".0")
    return digits.isascii() and digits.isdigit() and 7 <= len(digits) <= 15


RULES = (
    Rule(
        "fax_number",
        "telephone numbers",
        measure=share_of_phones,
        needs=DIGIT,
        bars=AT,
        shortest=7,
        longest=40,
        sure_with_header=0.96,
    ),
    Rule(
        "telephone_number",
        "telephone numbers",
        measure=share_of_phones,
        sure=0.93,
        needs=DIGIT,
        bars=AT,
        shortest=7,
        longest=40,
        support=(("telephone", 0.64), ("faxNumber", 0.32)),  # 54 and 27 of 85 labelled columns
    ),
    Rule(
        "telephone_number",
        "numbers that can be dialled",
        can_be_dialled,
        needs=DIGIT,
        bars=AT,
        shortest=7,
        longest=40,
        most_values=_MOST,
        sure_with_header=0.92,
    ),
    Rule(
        "fax_number",
        "numbers that can be dialled",
        can_be_dialled,
        needs=DIGIT,
        bars=AT,
        shortest=7,
        longest=40,
        most_values=_MOST,
        sure_with_header=0.92,
    ),
    Rule(
        "bare_telephone",
        "ten-digit numbers of the North American plan",
        _BARE_NORTH_AMERICAN.fullmatch,
        shy=True,
        needs=DIGIT,
        bars=LETTER,
        shortest=10,
        longest=13,
        support=(("telephone", 0.75), ("faxNumber", 0.2)),  # 8 and 2 of 10 labelled columns
    ),
)
