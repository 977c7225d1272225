"""Dates, moments, clock times, durations, weekdays, opening hours and working hours in many notations and languages.

Names of months and weekdays come from CLDR (babel); notations imitate web tables: ISO 8601 and faulty variants of it,
local clocks with 'Uhr', 'h' or AM and PM. In flattened markup the days of a week are in any order.
"""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from random import Random
from typing import Literal

from aegir.lab.data.generators.cells import (
    CASINGS,
    Cell,
    Generator,
    choose,
    listed,
    listed_mixture,
    mixture,
    one_of,
    templates,
)

LOCALES = listed("CLDR locales")


def _span(random: Random) -> tuple[date, int]:
    """Return a first day and a number of days; sites differ in the period their dates cover."""
    first = date(random.choice([1930, 1960, 1985, 2005, 2015, 2018, 2020]), 1, 1)
    return first, random.choice([200, 900, 4000, 9000])


def _local_date(random: Random) -> Cell:
    from babel.dates import format_date

    locale, width = random.choice(LOCALES), random.choice(["short", "medium", "long"])
    first, days = _span(random)

    def cell() -> str:
        day = first + timedelta(random.randrange(days))
        return str(format_date(day, width, locale=locale))

    return cell


def _plain_date(random: Random) -> Cell:
    pattern, (first, days) = choose(random, "date"), _span(random)
    return lambda: (first + timedelta(random.randrange(days))).strftime(pattern)


def moment(random: Random) -> Cell:
    """A DateTime column."""
    pattern = choose(random, "moment").format(zone=choose(random, "time zone"))
    first, days = _span(random)
    start = datetime(first.year, 1, 1, tzinfo=UTC)
    step = random.choice([60, 1800, 3600, 86400])

    def cell() -> str:
        seconds = random.randrange(days * 86400)
        return (start + timedelta(seconds=seconds - seconds % step)).strftime(pattern)

    return cell


day = mixture({_plain_date: 0.8, _local_date: 0.2})


def clock(random: Random) -> Cell:
    """A Time column: check-in, opening and closing times."""
    pattern = choose(random, "clock")
    hours = random.sample(range(6, 24), random.randint(1, 4))
    minutes = random.choice([[0], [0], [0, 30], [0, 15, 30, 45]])
    return lambda: clock_text(pattern, random.choice(hours), random.choice(minutes))


def clock_text(pattern: str, hour: int, minute: int) -> str:
    """Return a time of day: {h} is the hour of 24, {i} of 12, {m} the minute, {p} AM or PM, {q} am or pm."""
    half = "AM" if hour < 12 else "PM"
    return pattern.format(h=hour, i=(hour - 1) % 12 + 1, m=minute, p=half, q=half.lower())


def _fill_duration(random: Random, template: str) -> str:
    hours, minutes = (
        random.choice([0, 0, 1, 1, 2, 3]),
        random.choice([5, 10, 15, 20, 25, 30, 40, 45, 50]),
    )
    total = random.randint(2, 180)
    return template.format(
        h=hours,
        m=minutes,
        t=total,
        d=random.randint(1, 14),
        s=random.randint(0, 59),
        r=random.randint(75, 150),
    )


duration: Generator = templates("duration", _fill_duration)

Width = Literal["wide", "abbreviated"]
_WIDTHS: tuple[Width, ...] = ("wide", "wide", "abbreviated")
_SHORT = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
_CLOCKS = listed("clock of opening hours")


@lru_cache(maxsize=64)
def weekday_names(locale: str, width: Width = "wide") -> tuple[str, ...]:
    """Return Monday to Sunday in a language, from CLDR."""
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
        n=random.choice([20, 25, 30, 32, 35, 36, 37.5, 38, 39, 40, 40, 45]),
        s=start,
        e=end,
        f=end + 12,
        d=random.choice([7, 8, 8, 10, 12]),
    )


work_hours = listed_mixture("work hours", _fill_work)
