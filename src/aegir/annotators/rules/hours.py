"""Spans of time: durations, opening hours, working hours.

Durations are read as ISO 8601 writes them, as publishers' templates garble them, and in words. Opening
hours need a day and a span of hours in one cell; a bare `09:00-17:30` may be either kind of hours.
"""

import re

from aegir.annotators.rules.reading import (
    COLON,
    DIGIT,
    LETTER,
    NUMERIC,
    SPACE,
)
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_FLAGS = re.ASCII | re.IGNORECASE
_ISO_DURATION = Shape(
    r"-?P(?=.*\d)(?:\d+(?:[.,]\d+)?Y)?(?:\d+(?:[.,]\d+)?M)?(?:\d+(?:[.,]\d+)?W)?(?:\d+(?:[.,]\d+)?D)?"
    r"(?:T(?:\d+(?:[.,]\d+)?H)?(?:\d+(?:[.,]\d+)?M)?(?:\d+(?:[.,]\d+)?S)?)?",
    _FLAGS,
)
_UNIT = r"(?:h|hrs?|hours?|std|stunden?|heures?|horas?|ore|m|mins?|minutes?|minuten|minutos?|minuti|s|secs?|seconds?|sek|days?|tage?|jours?|d[ií]as?|weeks?|months?)"
# What publishers' templates make of a duration: PD7TH0M0, P0D3H0M, P[0]-[0]-[1]T[2]:[0]:[0].
_GARBLED_DURATION = Shape(r"P(?=.*\d)[\dYMWDTHS\[\]:.-]{4,40}", _FLAGS)
_SPOKEN_DURATION = Shape(
    rf"(?:about\s)?\d+(?:[.,]\d+)?\s?{_UNIT}\.?(?:[\s,]*(?:and\s)?\d+\s?{_UNIT}\.?)*", _FLAGS
)
_COUNT = Shape(r"\d{1,9}(?:[.,]\d+)?", _FLAGS)
_PAY_PERIODS = ("HOUR", "DAY", "WEEK", "MONTH", "YEAR")
_WEEK_HOURS = Shape(
    r"\d\+?\s?(?:hours|hrs|h|stunden)\s?(?:per|a|/|pro)\s?(?:week|wk|woche)\b", re.I
)
_DAY_NAME = (
    r"(?:mo|tu|we|th|fr|sa|su|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?"
)
# A single letter is a day only in a span of days: `W 42-13` is a game that was won.
_OPENING_DAY = Shape(
    rf"\b(?:{_DAY_NAME}|daily|weekdays|everyday|[mtwfs]\s?[-–]\s?(?:[mtwfs]|th|sa|su))\b", re.I
)
_OPENING_TIME = Shape(
    r"\d{1,2}(?:[:.]?\d\d)?\s?(?:[ap]\.?m\.?)?\s?(?:-|–|—|to|until)\s?\d|closed|open|noon|24", re.I
)
_CLOCK = r"\d{1,2}(?:[:.h]\d{2})?(?::\d{2})?\s?(?:[ap]\.?m\.?)?"
_CLOCK_RANGE = Shape(
    rf"(?:(?:from|von|to|bis|until|after|before|nach|vor|ab)\s(?=\d{{1,2}}[:.]))?(?:\d{{1,2}}[:.h]\d{{2}}(?::\d{{2}})?\s?(?:[ap]\.?m\.?)?|\d{{1,2}}\s?[ap]\.?m\.?)\s?(?:-|–|—|to|bis|~|～)\s?{_CLOCK}",
    re.I,
)


def is_spoken_duration(value: str) -> bool:
    """`95 min`, `1 h 20 min`; not `18 HOUR`, which is how publishers write pay per hour."""
    return bool(_SPOKEN_DURATION.fullmatch(value)) and not value.endswith(_PAY_PERIODS)


def is_opening_hours(value: str) -> bool:
    """A day and a span of hours in one cell: `Mo-Fr 09:00-17:00`, `Sunday: closed`."""
    return value == "24/7" or bool(_OPENING_DAY.search(value) and _OPENING_TIME.search(value))


RULES = (
    Rule(
        "garbled_duration",
        "durations in broken ISO 8601",
        _GARBLED_DURATION.fullmatch,
        needs=DIGIT | LETTER,
        bars=SPACE,
        shortest=5,
        longest=41,
        support=(("Duration", 0.9), ("Time", 0.07)),  # 37 and 3 of 40 labelled columns
    ),
    Rule(
        "iso_duration",
        "ISO 8601 durations",
        _ISO_DURATION.fullmatch,
        sure=0.97,
        needs=DIGIT | LETTER,
        bars=SPACE,
        shortest=3,
        longest=30,
        support=(("Duration", 0.85), ("Time", 0.13)),  # 33 and 5 of 38 labelled columns
    ),
    Rule(
        "duration",
        "durations",
        is_spoken_duration,
        sure=0.85,
        needs=DIGIT | LETTER,
        shortest=2,
        longest=40,
        support=(("Duration", 0.81), ("Distance", 0.07)),  # 12 of 14 labelled columns
    ),
    Rule(
        "duration",
        "minutes and seconds",
        Shape(r"\d{1,3}:[0-5]\d(?::[0-5]\d)?", re.ASCII).fullmatch,
        needs=DIGIT | COLON,
        bars=LETTER,
        longest=9,
    ),
    Rule(
        "duration",
        "numbers",
        _COUNT.fullmatch,
        needs=NUMERIC,
        longest=12,
        sure_with_header=0.84,
        coarse="Number",
    ),
    Rule(
        "opening_hours",
        "opening hours",
        is_opening_hours,
        sure=0.88,
        needs=LETTER,
        shortest=4,
        longest=400,
        most_values=30,
        support=(("openingHours", 0.92), ("workHours", 0.06)),  # 33 and 2 of 35 labelled columns
    ),
    Rule(
        "time_range",
        "times from – to",
        _CLOCK_RANGE.fullmatch,
        sure=0.85,
        needs=DIGIT,
        shortest=5,
        longest=40,
        support=(
            ("Time", 0.4),
            ("openingHours", 0.3),
            ("workHours", 0.3),
        ),  # 3, 2 and 2 of 7 labelled columns
    ),
    Rule(
        "weekly_hours",
        "hours per week",
        _WEEK_HOURS.search,
        sure=0.9,
        needs=DIGIT | LETTER,
        shortest=8,
        longest=120,
        support=(("workHours", 0.93),),  # 12 of 12 labelled columns
    ),
)
