"""Durations, opening hours and working hours.

Durations are recognised in ISO 8601, in the broken ISO 8601 of publishers' templates, and in words. Opening hours
need a day and a range of hours in one cell; a bare `09:00-17:30` may be opening or working hours.
"""

import re

from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import COLON, DIGIT, LETTER, NUMERIC, SPACE
from aegir.readers.rules.rule import Rule

_FLAGS = re.ASCII | re.IGNORECASE
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
_CLOCK = r"\d{1,2}(?:[:.h]\d{2})?(?::\d{2})?\s?(?:[ap]\.?m\.?)?"
_CLOCK_RANGE = Pattern(
    rf"(?:(?:from|von|to|bis|until|after|before|nach|vor|ab)\s(?=\d{{1,2}}[:.]))?(?:\d{{1,2}}[:.h]\d{{2}}(?::\d{{2}})?\s?(?:[ap]\.?m\.?)?|\d{{1,2}}\s?[ap]\.?m\.?)\s?(?:-|–|—|to|bis|~|～)\s?{_CLOCK}",
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


RULES = (
    Rule(
        "garbled_duration",
        "durations in broken ISO 8601",
        _BROKEN_DURATION.fullmatch,
        needs=DIGIT | LETTER,
        excludes=SPACE,
        length=(5, 41),
        support=(("Duration", 0.9), ("Time", 0.07)),  # 37 and 3 of 40 labelled columns
    ),
    Rule(
        "iso_duration",
        "ISO 8601 durations",
        _ISO_DURATION.fullmatch,
        confidence=0.97,
        needs=DIGIT | LETTER,
        excludes=SPACE,
        length=(3, 30),
        support=(("Duration", 0.85), ("Time", 0.13)),  # 33 and 5 of 38 labelled columns
    ),
    Rule(
        "duration",
        "durations",
        is_duration_in_words,
        confidence=0.85,
        needs=DIGIT | LETTER,
        length=(2, 40),
        support=(("Duration", 0.81), ("Distance", 0.07)),  # 12 of 14 labelled columns
    ),
    Rule(
        "duration",
        "minutes and seconds",
        Pattern(r"\d{1,3}:[0-5]\d(?::[0-5]\d)?", re.ASCII).fullmatch,
        needs=DIGIT | COLON,
        excludes=LETTER,
        length=(1, 9),
    ),
    Rule(
        "duration",
        "numbers",
        _COUNT.fullmatch,
        needs=NUMERIC,
        length=(1, 12),
        confidence_with_header=0.84,
        column_type="Number",
    ),
    Rule(
        "opening_hours",
        "opening hours",
        is_opening_hours,
        confidence=0.88,
        needs=LETTER,
        length=(4, 400),
        max_values=30,
        support=(("openingHours", 0.92), ("workHours", 0.06)),  # 33 and 2 of 35 labelled columns
    ),
    Rule(
        "time_range",
        "times from – to",
        _CLOCK_RANGE.fullmatch,
        confidence=0.85,
        needs=DIGIT,
        length=(5, 40),
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
        confidence=0.9,
        needs=DIGIT | LETTER,
        length=(8, 120),
        support=(("workHours", 0.93),),  # 12 of 12 labelled columns
    ),
)
