"""Dates as text: find the format of a column, then shift or shorten its values in that format.

    find_date_format(["24.12.2024", "03.01.2025"])  ->  "%d.%m.%Y"
    shift_date("24.12.2024", "%d.%m.%Y", 10)        ->  "03.01.2025"
    shorten_date("24.12.2024 18:30", "%d.%m.%Y", "month")  ->  "2024-12"

A time after the date is kept by a shift, which is of whole days, and dropped by shortening. A value that is no date of the
format gives None. Where day and month cannot be told apart, the format with the day first is taken.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta

FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%Y%m%d", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%d-%b-%Y", "%d-%b-%y"),
)  # fmt: skip
EARLIEST = 1000
"""Years below have no four digits."""
_TIME = r"(?P<time>(?:[T ]|, )\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)? ?(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)"
_DATE_AND_TIME = re.compile(rf"(?P<date>.{{6,20}}?){_TIME}?", re.ASCII)


def find_date_format(values: Sequence[str]) -> str | None:
    """The format that most of these values have; None if that is not more than half."""
    best, most = None, len(values) // 2
    for form in FORMATS:
        fitting = sum(parse_date(value, form) is not None for value in values)
        if fitting > most:
            best, most = form, fitting
    return best


def parse_date(text: str, form: str) -> tuple[date, str] | None:
    """The date at the beginning of a text, and the rest: a time or nothing; None for other text."""
    match = _DATE_AND_TIME.fullmatch(text.strip())
    if match is None:
        return None
    try:
        if form == "%Y-%m-%d":
            day = date.fromisoformat(match["date"]) if len(match["date"]) == 10 else None
        else:
            day = datetime.strptime(match["date"], form).date()
    except ValueError:
        return None
    return None if day is None or day.year < EARLIEST else (day, match["time"] or "")


def shift_date(text: str, form: str, days: int) -> str | None:
    """The value so many days later, in the same format."""
    parsed = parse_date(text, form)
    if parsed is None:
        return None
    try:
        moved = parsed[0] + timedelta(days=days)
    except OverflowError:
        return None
    return None if moved.year < EARLIEST else moved.strftime(form) + parsed[1]


def shorten_date(text: str, form: str, to: str) -> str | None:
    """The year, or year and month, of a value."""
    parsed = parse_date(text, form)
    return None if parsed is None else parsed[0].strftime("%Y" if to == "year" else "%Y-%m")
