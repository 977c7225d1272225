"""Schema.org enumerations as publishers write them: URLs, bare members, spaced words, repeated values.

    "https://schema.org/InStock", "InStock", "In stock", "OnlineOnly; OnlineOnly"  →  ItemAvailability

The lists of members (gazetteers/enumerations.tsv) are closed, so a match is nearly proof. Words that everyday text
shares with an enumeration ("New", "Cash") count only where the whole value consists of its members. The strengths
in the file were right on every one of 308 labelled columns (7 to 60 of each enumeration) and are smoothed to
(n + 1) / (n + 2).
"""

import re
from collections.abc import Callable
from functools import lru_cache

from aegir.readers.rules.gazetteers import read_table, word_set, words
from aegir.readers.rules.reading import LETTER, MIN_SHARE, NUMERIC, Reading
from aegir.readers.rules.rule import Rule

_ENUMERATIONS = read_table("enumerations.tsv", "column_type noun strength members")
_TYPE_OF = {
    member: column_type
    for column_type, _, _, members in _ENUMERATIONS
    for member in members.split("|")
}
_PAYMENT_WORDS = word_set("payment_words") | {
    member for member, column_type in _TYPE_OF.items() if column_type == "paymentAccepted"
}
_ONLY_WITH_OTHERS = words(
    "cards express bank club master online payments holiday restaurant pay apple google wire carte carta"
)
_FILLERS = words(
    "all major accepted accept only and or und et y e by in on de di da per via the with we also of to"
)
_PREFIX = re.compile(r"https?://(?:www\.)?(?:schema\.org/|purl\.org/goodrelations/v1#)", re.I)
_SEPARATOR = re.compile(r"[\s,;|&/]+")
_FIRST_PART = re.compile(r"[^\s,;|&/]+")
_WORD_BREAKS = dict.fromkeys(
    code for code in range(0x3001) if chr(code).isspace() or chr(code) in "_./-"
)
"""Characters to be left out: blanks, of which U+3000 is the last, and marks between words."""


@lru_cache(maxsize=4096)
def enumeration_of(value: str) -> str | None:
    """Return the enumeration that every part of the value belongs to; None when there is no single one."""
    text = (_PREFIX.sub("", value) if "://" in value else value).casefold()
    column_type = _TYPE_OF.get(text.translate(_WORD_BREAKS))
    if column_type:
        return column_type
    for part in _SEPARATOR.split(text):
        if part:
            found = _TYPE_OF.get(part.strip(".()"))
            if found is None or found != (column_type or found):
                return None
            column_type = found
    return column_type


def is_payment(value: str) -> bool:
    """Return whether a value lists means of payment and nothing else: `Invoice 2031-1000` does not."""
    if not _begins_as_payment(value):  # which refuses most texts
        return False
    parts = [part for part in _SEPARATOR.split(value.casefold()) if part]
    content = {part.strip(".:()!") for part in parts} - _FILLERS
    return content <= _PAYMENT_WORDS and not content <= _ONLY_WITH_OTHERS


def _begins_as_payment(value: str) -> bool:
    """Return whether the first part of a list may be one of means of payment."""
    first = _FIRST_PART.match(value)
    if first is None:  # it begins with a separator
        return True
    word = first[0].casefold().strip(".:()!")
    return word in _PAYMENT_WORDS or word in _FILLERS


def _share_of(column_type: str) -> Callable[[Reading], float]:
    return lambda reading: _shares(reading.values, reading.counts).get(column_type, 0.0)


@lru_cache(maxsize=4)
def _shares(values: tuple[str, ...], counts: tuple[int, ...]) -> dict[str, float]:
    """Return the share of each enumeration among the cells; empty when none can reach MIN_SHARE."""
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


RULES = (
    *(
        Rule(
            f"schema_org_{column_type}",
            noun,
            measure=_share_of(column_type),
            needs=LETTER,
            excludes=NUMERIC,
            length=(3, 300),
            support=((column_type, float(strength)),),
        )
        for column_type, noun, strength, _ in _ENUMERATIONS
    ),
    Rule(
        "payment_methods",
        "lists of means of payment",
        is_payment,
        confidence=0.88,
        needs=LETTER,
        excludes=NUMERIC,
        length=(4, 300),
        max_values=30,
        support=(("paymentAccepted", 0.9),),  # 27 of 29 labelled columns
    ),
)
