"""Dates and times: calendar dates in many spellings, date-times, times of day, parts of dates.

A bare year or a Unix timestamp is a number unless the header says otherwise. The order of day and month is not
decided here.
"""

import re
from functools import cache

from aegir.readers.rules.gazetteers import month_numbers, weekday_numbers, words
from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import COLON, DASH, DIGIT, DOT, LETTER, NUMERIC, SPACE, Reading
from aegir.readers.rules.rule import Rule

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


def share_of_year_months(reading: Reading) -> float:
    """Return the share of values like `2021-03`; 0 where all are seasons (2000-01, 2001-02, 2002-03)."""
    months = [
        (value, count)
        for value, count in zip(reading.values, reading.counts, strict=True)
        if _YEAR_MONTH.fullmatch(value)
    ]
    seasons = sum(v[4] == "-" and int(v[5:]) == (int(v[2:4]) + 1) % 100 for v, _ in months)
    return 0.0 if seasons == len(months) else sum(count for _, count in months) / reading.total


def share_of_unix_timestamps(reading: Reading) -> float:
    """Return the share of seconds or milliseconds since 1970 that lie between 2001 and 2040."""
    return reading.share_of(
        lambda value: (
            value.isascii()
            and value.isdigit()
            and len(value) in (10, 13)
            and "10" <= value[:2] <= "22"
        )
    )


RULES = (
    Rule(
        "date_of_birth",
        "dates",
        is_birth_date,
        needs=DIGIT,
        length=(5, 40),
        confidence_with_header=0.96,
    ),
    Rule(
        "iso_date",
        "ISO dates",
        _ISO_ONLY.fullmatch,
        confidence=0.97,
        needs=DIGIT | DASH,
        excludes=LETTER,
        length=(10, 10),
        support=(("Date", 0.97),),  # 33 of 33 labelled columns
    ),
    Rule(
        "iso_datetime",
        "ISO 8601 date-times",
        lambda v: _ISO_DATETIME.fullmatch(v) or _COMPACT_DATETIME.fullmatch(v),
        confidence=0.97,
        needs=DIGIT,
        length=(12, 45),
        support=(("DateTime", 0.97),),  # 34 of 34 labelled columns
    ),
    Rule(
        "date",
        "dates",
        is_date,
        confidence=0.9,
        needs=DIGIT,
        length=(5, 40),
        support=(("Date", 0.98),),  # 51 of 51 labelled columns
    ),
    Rule(
        "datetime",
        "dates with a time",
        is_datetime,
        confidence=0.92,
        needs=DIGIT | COLON,
        length=(10, 60),
        support=(("DateTime", 0.97),),  # 35 of 35 labelled columns
    ),
    Rule(
        "compact_date",
        "dates without separators",
        _COMPACT_DATE.fullmatch,
        confidence=0.82,
        weak=True,
        min_distinct=4,
        needs=NUMERIC,
        excludes=DOT | DASH,
        length=(8, 8),
        support=(("Date", 0.4),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "time_of_day",
        "times of day",
        _TIME.fullmatch,
        confidence=0.9,
        needs=DIGIT,
        length=(3, 25),
        excludes=NUMERIC,
        support=(("Time", 0.92),),  # 22 of 23 labelled columns
    ),
    Rule(
        "year",
        "years",
        _YEAR.fullmatch,
        weak=True,
        needs=NUMERIC,
        excludes=DASH,
        length=(4, 6),
        support=(("Date", 0.7), ("Number", 0.12)),  # 6 of 8 labelled columns
    ),
    Rule(
        "year_month",
        "months of a year",
        measure=share_of_year_months,
        confidence=0.88,
        needs=DIGIT,
        excludes=LETTER | SPACE,
        length=(7, 7),
        min_distinct=2,
        support_when_few=0.8,
        support=(("Date", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "quarter",
        "quarters",
        _QUARTER.fullmatch,
        confidence=0.9,
        needs=DIGIT | LETTER,
        length=(1, 9),
        min_distinct=2,
    ),
    Rule("quarter", "numbers from 1 to 4", "1234".__contains__, needs=NUMERIC, length=(1, 1)),
    Rule(
        "month_number",
        "numbers from 1 to 12",
        Pattern(r"0?[1-9]|1[0-2]", _FLAGS).fullmatch,
        needs=NUMERIC,
        excludes=DOT | DASH,
        length=(1, 2),
    ),
    Rule(
        "week",
        "weeks",
        _WEEK.fullmatch,
        confidence=0.88,
        needs=DIGIT | LETTER,
        length=(1, 10),
        min_distinct=2,
    ),
    Rule(
        "month_name",
        "month names",
        is_month_name,
        confidence=0.92,
        needs=LETTER,
        excludes=DIGIT,
        length=(3, 14),
        min_distinct=2,
    ),
    Rule(
        "weekday",
        "weekdays",
        is_full_weekday,
        confidence=0.95,
        needs=LETTER,
        excludes=DIGIT,
        length=(4, 120),
        support=(("DayOfWeek", 0.96),),  # 25 of 25 labelled columns
    ),
    Rule(
        "unix_timestamp",
        "Unix timestamps",
        measure=share_of_unix_timestamps,
        needs=NUMERIC,
        excludes=DOT | DASH,
        length=(10, 13),
    ),
)
