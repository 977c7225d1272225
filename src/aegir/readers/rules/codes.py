"""Identifiers of things (books, articles, goods, substances, vehicles, devices), and words and codes from closed lists.

Where a check digit is compulsory it is tested; licence plates and European chassis numbers have none and need a
header. One in ten random numbers passes a single check digit, so such rules need several distinct values
(`min_distinct`) to name a fine type without a header.

Closed lists hold languages, colours, time zones, units, content ratings and schema.org's enumerations. Two-letter codes overlap (`de` is German, Germany and Delaware), so several values or a header are needed before
a fine type is named; the support of the column type says how often it was right.

Publishers write members of schema.org's enumerations as URLs, bare members, spaced words and repeated values:

    "https://schema.org/InStock", "InStock", "In stock", "OnlineOnly; OnlineOnly"  →  ItemAvailability

The lists of members (gazetteers/enumerations.tsv) are closed, so a match is nearly proof. Words that everyday text
shares with an enumeration ("New", "Cash") count only where the whole value consists of its members. The strengths
in the file were right on every one of 308 labelled columns (7 to 60 of each enumeration) and are smoothed to
(n + 1) / (n + 2).
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache

from aegir.readers.rules.column_summary import LETTER, MIN_SHARE, NUMERIC, ColumnSummary
from aegir.readers.rules.gazetteers import (
    country_alpha2,
    language_codes,
    language_names,
    read_table,
    word_set,
)
from aegir.readers.rules.rule import (
    PATTERNS,
    ValueRule,
    checked_by,
    has_luhn_digit,
    matched_and_checked,
    read_rules,
)

_check_issn, _check_orcid = checked_by("issn"), checked_by("isni")
is_cas_number = matched_and_checked(PATTERNS["cas"], "casrn")


def is_isbn(value: str) -> bool:
    match = PATTERNS["isbn"].fullmatch(value)
    return match is not None and has_isbn_digit(match[1].replace("-", "").replace(" ", ""))


def has_isbn_digit(number: str) -> bool:
    """Return whether the last of ten characters, or of thirteen digits, is the check digit of a book's number."""
    if len(number) == 10:
        total = sum((position + 1) * int(digit) for position, digit in enumerate(number[:-1])) % 11
        return number[-1].upper() == ("X" if total == 10 else str(total))
    return number.isdigit() and _has_gtin_digit(number)


def is_marked_isbn(value: str) -> bool:
    """Return whether a value is an ISBN and not just ten digits: 978 or 979 before it, hyphens, or "ISBN"."""
    return is_isbn(value) and not PATTERNS["bare_isbn10"].fullmatch(value)


def is_issn(value: str) -> bool:
    match = PATTERNS["issn"].fullmatch(value)
    return match is not None and _check_issn(match[1])


def is_orcid(value: str) -> bool:
    match = PATTERNS["orcid"].fullmatch(value)
    return match is not None and _check_orcid(match[1].replace("-", ""))


def is_gtin(value: str) -> bool:
    """Return whether a value is an EAN-8, UPC-A, EAN-13 or GTIN-14: weights 3 and 1 from the right."""
    if not PATTERNS["gtin"].fullmatch(value) or value.count("0") == len(value):
        return False
    return _has_gtin_digit(value)


def _has_gtin_digit(digits: str) -> bool:
    return (sum(map(int, digits[-1::-2])) + 3 * sum(map(int, digits[-2::-2]))) % 10 == 0


def is_loinc(value: str) -> bool:
    return bool(PATTERNS["loinc"].fullmatch(value)) and has_luhn_digit(value.replace("-", ""))


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
    if not PATTERNS["vin"].fullmatch(value):
        return False
    total = sum(
        (int(c) if c.isdigit() else _VIN_VALUES[c]) * weight
        for c, weight in zip(value, _VIN_WEIGHTS, strict=True)
    )
    return "0123456789X"[total % 11] == value[8]


def is_imei(value: str) -> bool:
    return bool(PATTERNS["imei"].fullmatch(value)) and has_luhn_digit(value.replace("-", ""))


def is_iccid(value: str) -> bool:
    return bool(PATTERNS["iccid"].fullmatch(value)) and has_luhn_digit(value)


IDENTIFIERS_RULES = read_rules("identifiers", globals())


_COLOURS = word_set("colours")
_CONTENT_RATINGS = word_set("content_ratings")
_SHADES = word_set("colour_shades")
_UNIT_CODES = word_set("unit_codes")
_UNIT_WORDS = word_set("unit_words")
_SEPARATOR = re.compile(r"\s*[,;/|&]\s*|\s+(?:and|und|et|y)\s+")
_ENUMERATIONS = read_table("enumerations.tsv", "column_type noun strength members")
_TYPE_OF = {
    member: column_type
    for column_type, _, _, members in _ENUMERATIONS
    for member in members.split("|")
}
_PAYMENT_WORDS = word_set("payment_words") | {
    member for member, column_type in _TYPE_OF.items() if column_type == "paymentAccepted"
}
_ONLY_WITH_OTHERS = word_set("only_with_others")
_FILLERS = word_set("fillers")
_PREFIX = re.compile(r"https?://(?:www\.)?(?:schema\.org/|purl\.org/goodrelations/v1#)", re.I)
_LIST_SEPARATOR = re.compile(r"[\s,;|&/]+")
_FIRST_PART = re.compile(r"[^\s,;|&/]+")
_WORD_BREAKS = dict.fromkeys(
    code for code in range(0x3001) if chr(code).isspace() or chr(code) in "_./-"
)
"""Characters to be left out: blanks, of which U+3000 is the last, and marks between words."""


def is_language_name(value: str) -> bool:
    """Return whether a value is a language or a list of them."""
    names = language_names()
    return (
        all(part.strip().casefold() in names for part in _SEPARATOR.split(value) if part)
        and len(value) > 2
    )


def is_language_code(value: str) -> bool:
    """Return whether a value is a lower-case ISO 639 code: `DE` is a country or a state, `kg` a unit."""
    return (value in language_codes() and value not in _UNIT_WORDS) or is_locale(value)


def is_locale(value: str) -> bool:
    """Return whether a value is a locale such as `pt-BR`."""
    match = PATTERNS["locale"].fullmatch(value)
    return (
        match is not None
        and (len(match[1]) == 3 or match[1] in language_codes())
        and (match[2].isdigit() or match[2] in country_alpha2())
    )


def is_colour_code(value: str) -> bool:
    """Return whether a value is a colour of CSS: `#fa0`, `rgb(255, 170, 0)`."""
    return (value[0] == "#" or value[-1] == ")") and bool(PATTERNS["css_colour"].fullmatch(value))


def is_colour_name(value: str) -> bool:
    """Return whether a value names colours: `red`, `Dark Blue`, `black/white`."""
    words = [word for word in re.split(r"[\s,/&-]+", value.casefold()) if word]
    return (
        bool(words)
        and len(words) <= 4
        and words[-1] in _COLOURS
        and all(word in _COLOURS or word in _SHADES for word in words)
    )


_AREAS = frozenset(
    [
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Brazil",
        "Canada",
        "Chile",
        "Etc",
        "Europe",
        "Indian",
        "Mexico",
        "Pacific",
        "US",
    ]
)
"""What the names of time zones begin with; listing the zones takes 10 ms."""


@cache
def _zones() -> frozenset[str]:
    from zoneinfo import available_timezones

    return frozenset(available_timezones())


def is_time_zone(value: str) -> bool:
    """Return whether a value is an IANA zone such as `Europe/Vienna`."""
    area, slash, _ = value.partition("/")
    return bool(slash) and area in _AREAS and value in _zones()


def is_content_rating(value: str) -> bool:
    return value.upper() in _CONTENT_RATINGS


def share_of_content_ratings(summary: ColumnSummary) -> float:
    """Return the share of ratings where one at least has two characters: A and T alone may be anything."""
    if summary.longest < 2:
        return 0.0
    return summary.share_of(is_content_rating)


def is_unit_code(value: str) -> bool:
    """Return whether a value is a UN/CEFACT code; MON is a month there and a Monday nearly everywhere else."""
    return value != "MON" and all(part in _UNIT_CODES for part in value.split())


def is_unit_word(value: str) -> bool:
    return len(value) > 1 and value.casefold().rstrip(".") in _UNIT_WORDS


@lru_cache(maxsize=4096)
def enumeration_of(value: str) -> str | None:
    """Return the enumeration that every part of the value belongs to; None when there is no single one."""
    text = (_PREFIX.sub("", value) if "://" in value else value).casefold()
    column_type = _TYPE_OF.get(text.translate(_WORD_BREAKS))
    if column_type:
        return column_type
    for part in _LIST_SEPARATOR.split(text):
        if part:
            part_type = _TYPE_OF.get(part.strip(".()"))
            if part_type is None or part_type != (column_type or part_type):
                return None
            column_type = part_type
    return column_type


def is_payment(value: str) -> bool:
    """Return whether a value lists means of payment and nothing else: `Invoice 2031-1000` does not."""
    if not _begins_as_payment(value):  # which refuses most texts
        return False
    parts = [part for part in _LIST_SEPARATOR.split(value.casefold()) if part]
    content = {part.strip(".:()!") for part in parts} - _FILLERS
    return content <= _PAYMENT_WORDS and not content <= _ONLY_WITH_OTHERS


def _begins_as_payment(value: str) -> bool:
    """Return whether the first part of a list may be one of means of payment."""
    first = _FIRST_PART.match(value)
    if first is None:  # it begins with a separator
        return True
    word = first[0].casefold().strip(".:()!")
    return word in _PAYMENT_WORDS or word in _FILLERS


def _share_of(column_type: str) -> Callable[[ColumnSummary], float]:
    return lambda summary: shares_of_enumerations(summary).get(column_type, 0.0)


def shares_of_enumerations(summary: ColumnSummary) -> dict[str, float]:
    """Return the share of each enumeration among the cells; empty when none can reach MIN_SHARE."""
    return _shares(summary.values, summary.counts)


@lru_cache(maxsize=4)
def _shares(values: tuple[str, ...], counts: tuple[int, ...]) -> dict[str, float]:
    total, others = sum(counts), 0
    matched: dict[str, int] = {}
    for value, count in zip(values, counts, strict=True):
        column_type = enumeration_of(value)
        if column_type is not None:
            matched[column_type] = matched.get(column_type, 0) + count
            continue
        others += count
        if others > total * (1 - MIN_SHARE):
            return {}
    return {column_type: count / total for column_type, count in matched.items()}


*_CODES, _PAYMENTS = read_rules("codes", globals())
CODES_RULES = (
    *_CODES,
    *(
        ValueRule(
            f"schema_org_{column_type}",
            noun,
            measure=_share_of(column_type),
            needs=LETTER,
            excludes=NUMERIC,
            length=(3, 300),
            support=((column_type, float(strength)),),
            enumeration=column_type,
        )
        for column_type, noun, strength, _ in _ENUMERATIONS
    ),
    _PAYMENTS,
)
