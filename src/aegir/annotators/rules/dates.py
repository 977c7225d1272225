"""Dates and times: calendar dates in many spellings, instants, times of day, parts of dates.

Two-digit look-alikes are left alone: a bare year or a Unix timestamp is a number until the header says
otherwise. Day/month order is never guessed here; a date is a date.
"""

import re
from functools import cache

from aegir.annotators.rules.gazetteers import month_numbers, weekday_numbers
from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.annotators.rules.reading import COLON, DASH, DIGIT, DOT, LETTER, NUMERIC, SPACE, Reading
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_Y, _M, _D = r"(?:1[0-9]|20|21)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[A-Z]{3,4}|[+-]\d{2}:?\d{2}|[+-]\d{2}))?"
_ISO_DATE = rf"{_Y}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_FLAGS = re.ASCII | re.IGNORECASE
_ISO_ONLY = Shape(_ISO_DATE, _FLAGS)
_NUMERIC_DATE = Shape(
    rf"{_Y}([-/.]){_M}\1{_D}\.?|{_D}([-/.]\s?){_M}\2(?:{_Y}|\d\d)|{_M}([-/]){_D}\3(?:{_Y}|\d\d)|{_Y}[年]\s?{_M}[月]\s?{_D}[日]?",
    _FLAGS,
)
_COMPACT_DATE = Shape(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])", _FLAGS)
_ISO_INSTANT = Shape(rf"{_ISO_DATE}[T\s]\s?{_CLOCK}{_ZONE}", _FLAGS)
_COMPACT_INSTANT = Shape(
    rf"{_ISO_DATE}T\d{{4}}(?:\d\d)?{_ZONE}|{_Y}\d{{4}}T\d{{4,6}}{_ZONE}", _FLAGS
)
_OTHER_INSTANT = Shape(
    rf"(?:{_D}[-/.]{_M}[-/.](?:{_Y}|\d\d)|{_M}[-/]{_D}[-/](?:{_Y}|\d\d)|{_Y}/{_M}/{_D}),?\s+(?:at\s)?{_CLOCK}(?:\s?[ap]\.?m\.?)?{_ZONE}",
    _FLAGS,
)
_TRAILING_CLOCK = Shape(
    rf",?\s+(?:at\s+|-\s+)?{_CLOCK}(?:\s?[ap]\.?m\.?)?{_ZONE}(?:\s[+-]\d{{4}})?", _FLAGS
)
# Without seconds a minus begins the end of a span: 09:00-17:30.
_TIME_ZONE = r"(?:\s?(?:Z|UTC|GMT|[A-Z]{3,4}|\+\d{2}:?\d{2}|(?<=:\d\d:\d\d)-\d{2}:?\d{2}))?"
_TIME = Shape(
    rf"T?{_CLOCK}(?:\s?[ap]\.?m\.?)?{_TIME_ZONE}(?:\s?(?:hrs?|uhr|h))?|(?:0?[1-9]|1[0-2])(?:[:.][0-5]\d)?\s?[ap]\.?m\.?",
    _FLAGS,
)
_TEXT_DATE = re.compile(r"[^\W\d_]+|\d+", re.UNICODE)
_YEAR = Shape(r"(?:1[5-9]|20)\d\d(?:\.0)?", _FLAGS)
_YEAR_MONTH = Shape(rf"{_Y}-(?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])/{_Y}", _FLAGS)
_QUARTER = Shape(
    rf"(?:{_Y}[\s-]?)?Q[1-4](?:[\s/'-]?(?:{_Y}|\d\d))?|[1-4]Q\s?'?(?:{_Y}|\d\d)", _FLAGS
)
_WEEK = Shape(
    rf"{_Y}-?W(?:0[1-9]|[1-4]\d|5[0-3])(?:-?[1-7])?|(?:KW|W|week)\s?(?:0?[1-9]|[1-4]\d|5[0-3])",
    _FLAGS,
)
_SMALL_WORDS = words("of de di del the a at le den am on th st nd rd er um")


@cache
def _months() -> dict[str, int]:
    return month_numbers() | {"sept": 9, "juin": 6, "juil": 7, "août": 8, "aout": 8}


def is_text_date(value: str) -> bool:
    """A date with a month's name: `May 7, 1999`, `7. März 2021`, `Tue, 3 Nov 2020`, `Mar-21`."""
    words = _TEXT_DATE.findall(value.lower())
    if not 2 <= len(words) <= 6:
        return False
    months = numbers = 0
    for word in words:
        if word[0].isdigit():
            if len(word) > 4 or not word.isascii():
                return False
            numbers += 1
        elif word in _months():
            months += 1
        elif word not in weekday_numbers() and word not in _SMALL_WORDS:
            return False
    return (
        months == 1
        and 1 <= numbers <= 2
        and any(1 <= int(w) <= 31 or len(w) == 4 for w in words if w[0].isdigit())
    )


def is_date(value: str) -> bool:
    return bool(_NUMERIC_DATE.fullmatch(value)) or is_text_date(value)


def is_instant(value: str) -> bool:
    """A date with a time of day."""
    if (
        _ISO_INSTANT.fullmatch(value)
        or _COMPACT_INSTANT.fullmatch(value)
        or _OTHER_INSTANT.fullmatch(value)
    ):
        return True
    clock = _TRAILING_CLOCK.search(value)
    return clock is not None and clock.end() == len(value) and is_date(value[: clock.start()])


def is_birth_date(value: str) -> bool:
    """A date, or a date with midnight behind it."""
    return is_date(value) or bool(_COMPACT_DATE.fullmatch(value)) or is_instant(value)


def is_weekday(value: str) -> bool:
    words = value.lower().rstrip(".").split()
    return bool(words) and all(word.strip(",.;") in weekday_numbers() for word in words)


def is_full_weekday(value: str) -> bool:
    """Weekday names spelt out: `sun` and `sat` alone mean other things in other columns."""
    return len(value) > 3 and is_weekday(value)


def is_month_name(value: str) -> bool:
    return value.lower().rstrip(".") in _months()


def share_of_months_of_years(reading: Reading) -> float:
    """`2021-03`; but 2000-01, 2001-02, 2002-03 are seasons that end in the next year."""
    months = [
        (value, count)
        for value, count in zip(reading.values, reading.counts, strict=True)
        if _YEAR_MONTH.fullmatch(value)
    ]
    seasons = sum(v[4] == "-" and int(v[5:]) == (int(v[2:4]) + 1) % 100 for v, _ in months)
    return 0.0 if seasons == len(months) else sum(count for _, count in months) / reading.total


def share_of_unix_timestamps(reading: Reading) -> float:
    """Seconds or milliseconds between 2001 and 2040; a wide spread of sizes says they are counts."""
    good = sum(
        count
        for value, count in zip(reading.values, reading.counts, strict=True)
        if value.isascii()
        and value.isdigit()
        and (
            (len(value) == 10 and "10" <= value[:2] <= "22")
            or (len(value) == 13 and "10" <= value[:2] <= "22")
        )
    )
    return good / reading.total


RULES = (
    Rule(
        "date_of_birth",
        "dates",
        is_birth_date,
        needs=DIGIT,
        shortest=5,
        longest=40,
        sure_with_header=0.96,
    ),
    Rule(
        "iso_date",
        "ISO dates",
        _ISO_ONLY.fullmatch,
        sure=0.97,
        needs=DIGIT | DASH,
        bars=LETTER,
        shortest=10,
        longest=10,
        support=(("Date", 0.97),),  # 33 of 33 labelled columns
    ),
    Rule(
        "iso_datetime",
        "ISO 8601 date-times",
        lambda v: _ISO_INSTANT.fullmatch(v) or _COMPACT_INSTANT.fullmatch(v),
        sure=0.97,
        needs=DIGIT,
        shortest=12,
        longest=45,
        support=(("DateTime", 0.97),),  # 34 of 34 labelled columns
    ),
    Rule(
        "date",
        "dates",
        is_date,
        sure=0.9,
        needs=DIGIT,
        bars=0,
        shortest=5,
        longest=40,
        support=(("Date", 0.98),),  # 51 of 51 labelled columns
    ),
    Rule(
        "datetime",
        "dates with a time",
        is_instant,
        sure=0.92,
        needs=DIGIT | COLON,
        shortest=10,
        longest=60,
        support=(("DateTime", 0.97),),  # 35 of 35 labelled columns
    ),
    Rule(
        "compact_date",
        "dates without separators",
        _COMPACT_DATE.fullmatch,
        sure=0.82,
        shy=True,
        distinct=4,
        needs=NUMERIC,
        bars=DOT | DASH,
        shortest=8,
        longest=8,
        support=(("Date", 0.4),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "time_of_day",
        "times of day",
        _TIME.fullmatch,
        sure=0.9,
        needs=DIGIT,
        shortest=3,
        longest=25,
        bars=NUMERIC,
        support=(("Time", 0.92),),  # 22 of 23 labelled columns
    ),
    Rule(
        "year",
        "years",
        _YEAR.fullmatch,
        sure=0.0,
        shy=True,
        needs=NUMERIC,
        bars=DASH,
        shortest=4,
        longest=6,
        support=(("Date", 0.7), ("Number", 0.12)),  # 6 of 8 labelled columns
    ),
    Rule(
        "year_month",
        "months of a year",
        measure=share_of_months_of_years,
        sure=0.88,
        needs=DIGIT,
        bars=LETTER | SPACE,
        shortest=7,
        longest=7,
        distinct=2,
        few=0.8,
        support=(("Date", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "quarter",
        "quarters",
        _QUARTER.fullmatch,
        sure=0.9,
        needs=DIGIT | LETTER,
        longest=9,
        distinct=2,
    ),
    Rule("quarter", "numbers from 1 to 4", "1234".__contains__, needs=NUMERIC, longest=1),
    Rule(
        "month_number",
        "numbers from 1 to 12",
        Shape(r"0?[1-9]|1[0-2]", _FLAGS).fullmatch,
        needs=NUMERIC,
        bars=DOT | DASH,
        longest=2,
    ),
    Rule("week", "weeks", _WEEK.fullmatch, sure=0.88, needs=DIGIT | LETTER, longest=10, distinct=2),
    Rule(
        "month_name",
        "month names",
        is_month_name,
        sure=0.92,
        needs=LETTER,
        bars=DIGIT,
        shortest=3,
        longest=14,
        distinct=2,
    ),
    Rule(
        "weekday",
        "weekdays",
        is_full_weekday,
        sure=0.95,
        needs=LETTER,
        bars=DIGIT,
        shortest=4,
        longest=120,
        support=(("DayOfWeek", 0.96),),  # 25 of 25 labelled columns
    ),
    Rule(
        "unix_timestamp",
        "Unix timestamps",
        measure=share_of_unix_timestamps,
        sure=0.0,
        needs=NUMERIC,
        bars=DOT | DASH,
        shortest=10,
        longest=13,
    ),
)
