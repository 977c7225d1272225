"""Dates and times: calendar dates in many spellings, date-times, times of day, parts of dates, durations, opening hours.

A bare year or a Unix timestamp is a number unless the header says otherwise. The order of day and month is not
decided here. Durations are recognised in ISO 8601, in the broken ISO 8601 of publishers' templates, and in words. Opening
hours need a day and a range of hours in one cell; a bare `09:00-17:30` may be opening or working hours.
"""

import re
from functools import cache

from aegir.readers.rules.column_summary import (
    ColumnSummary,
)
from aegir.readers.rules.gazetteers import month_numbers, weekday_numbers, words
from aegir.readers.rules.rule import Pattern, read_rules

_Y, _M, _D = r"(?:1[0-9]|20|21)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[A-Z]{3,4}|[+-]\d{2}:?\d{2}|[+-]\d{2}))?"
_ISO_DATE = rf"{_Y}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_FLAGS = re.ASCII | re.IGNORECASE
_ISO_ONLY = Pattern(_ISO_DATE, _FLAGS)
_NUMERIC_DATE = Pattern(
    rf"{_Y}([-/.]){_M}\1{_D}\.?|{_D}([-/.]\s?){_M}\2(?:{_Y}|\d\d)|{_M}([-/]){_D}\3(?:{_Y}|\d\d)|{_Y}[年]\s?{_M}[月]\s?{_D}[日]?",
    _FLAGS,
)
_COMPACT_DATE = Pattern(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])", _FLAGS)
_ISO_DATETIME = Pattern(rf"{_ISO_DATE}[T\s]\s?{_CLOCK}{_ZONE}", _FLAGS)
_COMPACT_DATETIME = Pattern(
    rf"{_ISO_DATE}T\d{{4}}(?:\d\d)?{_ZONE}|{_Y}\d{{4}}T\d{{4,6}}{_ZONE}", _FLAGS
)
_OTHER_DATETIME = Pattern(
    rf"(?:{_D}[-/.]{_M}[-/.](?:{_Y}|\d\d)|{_M}[-/]{_D}[-/](?:{_Y}|\d\d)|{_Y}/{_M}/{_D}),?\s+(?:at\s)?{_CLOCK}(?:\s?[ap]\.?m\.?)?{_ZONE}",
    _FLAGS,
)
_TRAILING_CLOCK = Pattern(
    rf",?\s+(?:at\s+|-\s+)?{_CLOCK}(?:\s?[ap]\.?m\.?)?{_ZONE}(?:\s[+-]\d{{4}})?", _FLAGS
)
# Without seconds, a minus begins the end of a time range: 09:00-17:30.
_TIME_ZONE = r"(?:\s?(?:Z|UTC|GMT|[A-Z]{3,4}|\+\d{2}:?\d{2}|(?<=:\d\d:\d\d)-\d{2}:?\d{2}))?"
_TIME = Pattern(
    rf"T?{_CLOCK}(?:\s?[ap]\.?m\.?)?{_TIME_ZONE}(?:\s?(?:hrs?|uhr|h))?|(?:0?[1-9]|1[0-2])(?:[:.][0-5]\d)?\s?[ap]\.?m\.?",
    _FLAGS,
)
_TEXT_DATE = re.compile(r"[^\W\d_]+|\d+", re.UNICODE)
_YEAR = Pattern(r"(?:1[5-9]|20)\d\d(?:\.0)?", _FLAGS)
_YEAR_MONTH = Pattern(rf"{_Y}-(?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])/{_Y}", _FLAGS)
_QUARTER = Pattern(
    rf"(?:{_Y}[\s-]?)?Q[1-4](?:[\s/'-]?(?:{_Y}|\d\d))?|[1-4]Q\s?'?(?:{_Y}|\d\d)", _FLAGS
)
_WEEK = Pattern(
    rf"{_Y}-?W(?:0[1-9]|[1-4]\d|5[0-3])(?:-?[1-7])?|(?:KW|W|week)\s?(?:0?[1-9]|[1-4]\d|5[0-3])",
    _FLAGS,
)
_QUARTER_NUMBER = Pattern("[1-4]", _FLAGS)
_MONTH_NUMBER = Pattern(r"0?[1-9]|1[0-2]", _FLAGS)
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
    return bool(_NUMERIC_DATE.fullmatch(value)) or is_text_date(value)


def is_datetime(value: str) -> bool:
    """Return whether a value is a date with a time of day."""
    if (
        _ISO_DATETIME.fullmatch(value)
        or _COMPACT_DATETIME.fullmatch(value)
        or _OTHER_DATETIME.fullmatch(value)
    ):
        return True
    clock = _TRAILING_CLOCK.search(value)
    return clock is not None and clock.end() == len(value) and is_date(value[: clock.start()])


def is_birth_date(value: str) -> bool:
    """Return whether a value is a date, with or without a time (often midnight)."""
    return is_date(value) or bool(_COMPACT_DATE.fullmatch(value)) or is_datetime(value)


def is_weekday(value: str) -> bool:
    """Return whether a value consists of weekday names or abbreviations."""
    words = value.lower().rstrip(".").split()
    return bool(words) and all(word.strip(",.;") in weekday_numbers() for word in words)


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
        if _YEAR_MONTH.fullmatch(value)
    ]
    seasons = sum(v[4] == "-" and int(v[5:]) == (int(v[2:4]) + 1) % 100 for v, _ in months)
    return 0.0 if seasons == len(months) else sum(count for _, count in months) / summary.total


def share_of_unix_timestamps(summary: ColumnSummary) -> float:
    """Return the share of seconds or milliseconds since 1970 that lie between 2001 and 2040."""
    return summary.share_of(
        lambda value: (
            value.isascii()
            and value.isdigit()
            and len(value) in (10, 13)
            and "10" <= value[:2] <= "22"
        )
    )


def is_iso_datetime(value: str) -> bool:
    return bool(_ISO_DATETIME.fullmatch(value) or _COMPACT_DATETIME.fullmatch(value))


_ISO_DURATION = Pattern(
    r"-?P(?=.*\d)(?:\d+(?:[.,]\d+)?Y)?(?:\d+(?:[.,]\d+)?M)?(?:\d+(?:[.,]\d+)?W)?(?:\d+(?:[.,]\d+)?D)?"
    r"(?:T(?:\d+(?:[.,]\d+)?H)?(?:\d+(?:[.,]\d+)?M)?(?:\d+(?:[.,]\d+)?S)?)?",
    _FLAGS,
)
_UNIT = r"(?:h|hrs?|hours?|std|stunden?|heures?|horas?|ore|m|mins?|minutes?|minuten|minutos?|minuti|s|secs?|seconds?|sek|days?|tage?|jours?|d[ií]as?|weeks?|months?)"
# Broken ISO 8601 from publishers' templates: PD7TH0M0, P0D3H0M, P[0]-[0]-[1]T[2]:[0]:[0].
_BROKEN_DURATION = Pattern(r"P(?=.*\d)[\dYMWDTHS\[\]:.-]{4,40}", _FLAGS)
_DURATION_IN_WORDS = Pattern(
    rf"(?:about\s)?\d+(?:[.,]\d+)?\s?{_UNIT}\.?(?:[\s,]*(?:and\s)?\d+\s?{_UNIT}\.?)*", _FLAGS
)
_COUNT = Pattern(r"\d{1,9}(?:[.,]\d+)?", _FLAGS)
_MINUTES = Pattern(r"\d{1,3}:[0-5]\d(?::[0-5]\d)?", re.ASCII)
_PAY_PERIODS = ("HOUR", "DAY", "WEEK", "MONTH", "YEAR")
_WEEK_HOURS = Pattern(
    r"\d\+?\s?(?:hours|hrs|h|stunden)\s?(?:per|a|/|pro)\s?(?:week|wk|woche)\b", re.I
)
_DAY_NAME = (
    r"(?:mo|tu|we|th|fr|sa|su|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?"
)
# A single letter is a day only in a range of days: `W 42-13` is a game that was won.
_OPENING_DAY = Pattern(
    rf"\b(?:{_DAY_NAME}|daily|weekdays|everyday|[mtwfs]\s?[-–]\s?(?:[mtwfs]|th|sa|su))\b", re.I
)
_OPENING_TIME = Pattern(
    r"\d{1,2}(?:[:.]?\d\d)?\s?(?:[ap]\.?m\.?)?\s?(?:-|–|—|to|until)\s?\d|closed|open|noon|24", re.I
)
_OPENING_HINT = Pattern(r"\d|[cC][lL][oO]|[oO][pP][eE][nN]|[nN][oO][oO][nN]")
"""Whatever `_OPENING_TIME` finds has one of these."""
_HOUR = r"\d{1,2}(?:[:.h]\d{2})?(?::\d{2})?\s?(?:[ap]\.?m\.?)?"
_CLOCK_RANGE = Pattern(
    rf"(?:(?:from|von|to|bis|until|after|before|nach|vor|ab)\s(?=\d{{1,2}}[:.]))?(?:\d{{1,2}}[:.h]\d{{2}}(?::\d{{2}})?\s?(?:[ap]\.?m\.?)?|\d{{1,2}}\s?[ap]\.?m\.?)\s?(?:-|–|—|to|bis|~|～)\s?{_HOUR}",
    re.I,
)


def is_duration_in_words(value: str) -> bool:
    """Return whether a value is like `1 h 20 min`; `18 HOUR` is how publishers write pay per hour."""
    return bool(_DURATION_IN_WORDS.fullmatch(value)) and not value.endswith(_PAY_PERIODS)


def is_opening_hours(value: str) -> bool:
    """Return whether a value has a day and hours: `Mo-Fr 09:00-17:00`, `Sunday: closed`."""
    if value == "24/7":
        return True
    if not _OPENING_HINT.search(value):  # a quick look, for texts of many words
        return False
    return bool(_OPENING_DAY.search(value) and _OPENING_TIME.search(value))


RULES = read_rules("dates", globals())
