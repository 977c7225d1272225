"""Weekdays, opening hours and working hours.

Weekday names come from CLDR (babel); in flattened markup the days of a week stand in any order.
"""

from functools import lru_cache
from random import Random
from typing import Literal

from aegir.data.generators.cells import (
    CASINGS,
    Cell,
    choose,
    mixture,
    one_of,
    options,
    repeated,
    templates,
)
from aegir.data.generators.times import LOCALES, clock_text

Width = Literal["wide", "abbreviated"]
_WIDTHS: tuple[Width, ...] = ("wide", "wide", "abbreviated")
_SHORT = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_CLOCKS = (
    *("{h:02}:{m:02}", "{h:02}:{m:02}", "{h:02}:{m:02}", "{h:02}.{m:02}", "{i}:{m:02} {p}"),
    *("{i}:{m:02}{q}", "{i}{q}", "{i} {p}"),
)


@lru_cache(maxsize=64)
def weekday_names(locale: str, width: Width = "wide") -> tuple[str, ...]:
    """Monday to Sunday in a language, from CLDR."""
    from babel.dates import get_day_names

    names = get_day_names(width, locale=locale)
    return tuple(names[i] for i in range(7))


def opening_hours(random: Random) -> Cell:
    """Day ranges or every day with its hours, joined in any order, as in flattened markup."""
    names = list(
        _SHORT
        if random.random() < 0.7
        else weekday_names(random.choice(LOCALES), random.choice(_WIDTHS))
    )
    pattern, dash = random.choice(_CLOCKS), random.choice(["-", "-", " - ", " – ", "–"])
    layout = choose(random, {"range": 4, "each": 4, "list": 2, "always": 0.4})
    joint, shuffled = random.choice([" ", " ", ", ", "; "]), random.random() < 0.6
    shut = random.choice(["", "Closed", "closed", "Geschlossen"])

    def hours() -> str:
        start, end = (
            random.choice([7, 8, 8, 9, 9, 10, 11]),
            random.choice([12, 14, 17, 17, 18, 18, 19, 20, 22]),
        )
        minute = random.choice([0, 0, 0, 30])
        return clock_text(pattern, start, minute) + dash + clock_text(pattern, end, minute)

    def each() -> str:
        usual, last = hours(), random.choice([5, 6, 7])
        days = [f"{name} {usual if random.random() < 0.8 else hours()}" for name in names[:last]]
        days += [f"{name} {shut}".strip() for name in names[last:] if shut]
        if shuffled:
            random.shuffle(days)
        return joint.join(days)

    def cell() -> str:
        last = names[random.choice([4, 4, 5, 6])]
        if layout == "range":
            weekend = f"{joint}{names[5]} {hours()}" if random.random() < 0.4 else ""
            return f"{names[0]}-{last} {hours()}{weekend}"
        if layout == "list":
            return f"{','.join(names[: names.index(last) + 1])} {hours()}"
        return "24/7" if layout == "always" else each()

    return cell


def _days_listed(random: Random) -> Cell:
    names = weekday_names("en")
    prefix = choose(random, {"": 6, "http://schema.org/": 2, "https://schema.org/": 1})
    joint, order = random.choice([" ", " ", " ", ", ", ","]), random.random() < 0.3
    count = random.choice([1, 5, 5, 6, 7, 7, 7])
    end = random.choice(["", "", "", "", ":"])

    def cell() -> str:
        drawn = list(names[:count]) if count > 4 else random.sample(names, count)
        if not order:
            random.shuffle(drawn)
        return joint.join(prefix + name + end for name in drawn)

    return cell


def _days_local(random: Random) -> Cell:
    names = weekday_names(random.choice(LOCALES), random.choice(_WIDTHS))
    casing = random.choice(CASINGS)
    return lambda: casing(random.choice(names))


weekday = mixture({_days_listed: 0.75, _days_local: 0.2, one_of(_SHORT, 2, 6): 0.05})


def _fill_work(random: Random, template: str) -> str:
    start, end = random.choice([6, 7, 8, 9, 10]), random.choice([3, 4, 5, 6])
    return template.format(
        n=random.choice([20, 25, 30, 32, 35, 36, 37.5, 38, 39, 40, 40, 45]), s=start, e=end, f=end + 12,
        d=random.choice([7, 8, 8, 10, 12]),
    )  # fmt: skip


work_hours = repeated(
    mixture(
        {
            templates(
                {
                    "{n} hours per week": 6,
                    "{n} hours a week": 1,
                    "{n} hrs/week": 1,
                    "{n}": 0.3,
                    "{n} hours": 1,
                    "{s}AM-{e}PM": 1,
                    "{s}:00 AM - {e}:00 PM": 1,
                    "{s}am - {e}pm": 1,
                    "{s:02}:00-{f}:00": 1,
                    "Mon - Fri: {s}:00 to {f}:00": 1,
                    "Monday to Friday, {s}am - {e}pm": 1,
                    "{d} hours per day": 0.7,
                    "Monday - Friday {s}:00am - {e}:30pm": 1,
                    "{s}:30 AM - {f}:30 PM(day shift)": 0.5,
                    "{n} Stunden pro Woche": 0.7,
                    "{n} Std./Woche": 0.4,
                    "{n} heures par semaine": 0.4,
                    "{n}h/semaine": 0.3,
                    "{n} uur per week": 0.4,
                    "{n} timmar per vecka": 0.2,
                    "{n} ore settimanali": 0.2,
                    "{s}:00~{f}:00": 0.4,
                    "{s:02}:00 - {f}:00, Monday-Friday": 0.6,
                    "{n} horas semanales": 0.3,
                    "Full Time ({n} hours)": 0.6,
                },
                _fill_work,
            ): 0.75,
            one_of(
                options(
                    "Day shift|Night shift|Evening shift|Rotating shifts|1st Shift|2nd Shift|"
                    "3rd Shift|Weekdays|Weekends|Monday to Friday|Monday - Friday|Days|Nights|"
                    "Evenings and weekends|Flexible|Flexible hours|Full-time|Part-time|Full Time|"
                    "Part Time|Standard hours|Regular business hours|Shift work|Vollzeit|Teilzeit|"
                    "Temps plein|Schichtarbeit|Gleitzeit|8 hour shift|10 hour shift|12 hour shift|"
                    "On call|Varies"
                ),
                1,
                4,
            ): 0.25,
        }
    ),
    0.03,
)
