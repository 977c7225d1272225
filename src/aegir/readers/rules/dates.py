"""Dates and times: calendar dates in many spellings, date-times, times of day, parts of dates, durations, opening hours.

A bare year or a Unix timestamp is a number unless the header says otherwise. The order of day and month is not
decided here. Durations are recognised in ISO 8601, in the broken ISO 8601 of publishers' templates, and in words. Opening
hours need a day and a range of hours in one cell; a bare `09:00-17:30` may be opening or working hours.
"""

import re
from functools import cache

from aegir.readers.rules.column_summary import ColumnSummary
from aegir.readers.rules.gazetteers import month_numbers, weekday_numbers, words
from aegir.readers.rules.rule import PATTERNS, read_rules

_TEXT_DATE = re.compile(r"[^\W\d_]+|\d+", re.UNICODE)
_FILLERS = words("of de di del the a at le den am on th st nd rd er um")


@cache
def _months() -> dict[str, int]:
    return month_numbers() | {"sept": 9, "juin": 6, "juil": 7, "août": 8, "aout": 8}


def is_text_date(value: str) -> bool:
    """Return whether a value is a date with a month's name: `7. März 2021`, `Tue, 3 Nov 2020`, `Mar-21`."""
    months = numbers = 0
    words = []
    for match in _TEXT_DATE.finditer(value.lower()):
        word = match[0]
        words.append(word)
        if len(words) > 6:
            return False
        if word[0].isdigit():
            if len(word) > 4 or not word.isascii():
                return False
            numbers += 1
        elif word in _months():
            months += 1
        elif word not in weekday_numbers() and word not in _FILLERS:
            return False
    return (
        len(words) >= 2
        and months == 1
        and 1 <= numbers <= 2
        and any(1 <= int(w) <= 31 or len(w) == 4 for w in words if w[0].isdigit())
    )


def is_date(value: str) -> bool:
    """Return whether a value is a date in digits or with a month's name."""
    numeric = value[:1].isdigit() and PATTERNS["numeric_date"].fullmatch(value)
    return bool(numeric) or is_text_date(value)


def is_datetime(value: str) -> bool:
    """Return whether a value is a date with a time of day."""
    if (
        PATTERNS["iso_datetime"].fullmatch(value)
        or PATTERNS["compact_datetime"].fullmatch(value)
        or PATTERNS["other_datetime"].fullmatch(value)
    ):
        return True
    clock = PATTERNS["trailing_clock"].search(value)
    return clock is not None and clock.end() == len(value) and is_date(value[: clock.start()])


def is_birth_date(value: str) -> bool:
    """Return whether a value is a date, with or without a time (often midnight)."""
    return is_date(value) or bool(PATTERNS["compact_date"].fullmatch(value)) or is_datetime(value)


def is_weekday(value: str) -> bool:
    """Return whether a value consists of weekday names or abbreviations."""
    words = value.lower().rstrip(".").split()
    for word in words:
        if word.strip(",.;") not in weekday_numbers():
            return False
    return bool(words)


def is_full_weekday(value: str) -> bool:
    """Return whether a value consists of weekdays and is longer than `sun` or `sat`, which mean other things too."""
    return len(value) > 3 and is_weekday(value)


def is_month_name(value: str) -> bool:
    return value.lower().rstrip(".") in _months()


def share_of_year_months(summary: ColumnSummary) -> float:
    """Return the share of values like `2021-03`; 0 where all are seasons (2000-01, 2001-02, 2002-03)."""
    months = [
        (value, count)
        for value, count in zip(summary.values, summary.counts, strict=True)
        if PATTERNS["year_month"].fullmatch(value)
    ]
    seasons = sum(v[4] == "-" and int(v[5:]) == (int(v[2:4]) + 1) % 100 for v, _ in months)
    return 0.0 if seasons == len(months) else sum(count for _, count in months) / summary.total


def share_of_unix_timestamps(summary: ColumnSummary) -> float:
    """Return the share of seconds or milliseconds since 1970 that lie between 2001 and 2040."""
    return summary.share_of(is_unix_timestamp)


def is_unix_timestamp(value: str) -> bool:
    """Return whether a value is ten or thirteen digits that begin like a time from 2001 to 2040."""
    return (
        value.isascii() and value.isdigit() and len(value) in (10, 13) and "10" <= value[:2] <= "22"
    )


def is_iso_datetime(value: str) -> bool:
    return bool(
        PATTERNS["iso_datetime"].fullmatch(value) or PATTERNS["compact_datetime"].fullmatch(value)
    )


_PAY_PERIODS = ("HOUR", "DAY", "WEEK", "MONTH", "YEAR")


def is_duration_in_words(value: str) -> bool:
    """Return whether a value is like `1 h 20 min`; `18 HOUR` is how publishers write pay per hour."""
    return bool(PATTERNS["duration_in_words"].fullmatch(value)) and not value.endswith(_PAY_PERIODS)


def is_opening_hours(value: str) -> bool:
    """Return whether a value has a day and hours: `Mo-Fr 09:00-17:00`, `Sunday: closed`."""
    if value == "24/7":
        return True
    if not PATTERNS["opening_hint"].search(value):  # a quick look, for texts of many words
        return False
    return bool(PATTERNS["opening_day"].search(value) and PATTERNS["opening_time"].search(value))


DATES_RULES = read_rules("dates", globals())
