"""Dates, moments, clock times and durations in many notations and languages.

Names of months come from CLDR (babel); notations imitate web tables: ISO 8601 and its broken cousins, local clocks
with 'Uhr', 'h' or AM and PM.
"""

from datetime import UTC, date, datetime, timedelta
from random import Random

from aegir.data.generators.cells import Cell, Generator, choose, mixture, templates

LOCALES = (
    *("en", "en", "en", "en_GB", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da", "fi"),
    *("cs", "ro", "hu", "tr", "ru", "uk", "el", "ja", "zh", "ko", "ar", "id", "vi", "nb"),
)
_PATTERNS = {
    "%Y-%m-%d": 10,
    "%d %b %Y": 1,
    "%B %d, %Y": 1.5,
    "%b. %d, %Y": 1,
    "%d/%m/%Y": 1,
    "%m/%d/%Y": 1,
    "%d.%m.%Y": 1.2,
    "%Y/%m/%d": 0.5,
    "%Y": 1.5,
    "%d-%m-%Y": 0.6,
    "%Y%m%d": 0.2,
    "%B %Y": 0.5,
}
_MOMENTS = {
    "%Y-%m-%dT%H:%M:%S{zone}": 10,
    "%Y-%m-%dT%H:%M{zone}": 3,
    "%Y-%m-%d %H:%M:%S": 3,
    "%Y-%m-%d %H:%M": 1,
    "%Y-%m-%dT%H:%M:%S.000Z": 1,
    "%d/%m/%Y %H:%M": 0.5,
    "%m/%d/%Y %I:%M %p": 0.5,
}
_ZONES = {
    "+00:00": 3,
    "Z": 3,
    "": 4,
    "+02:00": 2,
    "+01:00": 2,
    "-05:00": 2,
    "-04:00": 1,
    "-07:00": 1,
    "+1000": 0.5,
}


def _span(random: Random) -> tuple[date, int]:
    """A first day and a number of days: sites differ in what time their dates cover."""
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
    pattern, (first, days) = choose(random, _PATTERNS), _span(random)
    return lambda: (first + timedelta(random.randrange(days))).strftime(pattern)


def moment(random: Random) -> Cell:
    """A DateTime column."""
    pattern = choose(random, _MOMENTS).format(zone=choose(random, _ZONES))
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
    pattern = choose(
        random,
        {
            "{h:02}:{m:02}": 4,
            "{h:02}:{m:02}:00": 4,
            "{i}:{m:02} {p}": 3,
            "T{h:02}:{m:02}": 0.7,
            "{i}:{m:02}{q}": 1,
            "{h}:{m:02}": 1,
            "{h:02}:{m:02} HRS": 0.3,
            "{i} {p}": 0.5,
            "{h}h{m:02}": 0.4,
            "{h:02}:{m:02} Uhr": 0.4,
            "From {h:02}:{m:02}": 0.4,
            "after {h:02}:{m:02}": 0.3,
            "ab {h:02}:{m:02}": 0.3,
            "bis {h:02}:{m:02}": 0.3,
            "To {h:02}:{m:02}": 0.3,
            "{h:02}.{m:02}": 0.5,
            "{h:02}:{m:02}:00+02:00": 0.2,
            "{h}:{m:02} hs": 0.1,
        },
    )
    hours = random.sample(range(6, 24), random.randint(1, 4))
    minutes = random.choice([[0], [0], [0, 30], [0, 15, 30, 45]])
    return lambda: clock_text(pattern, random.choice(hours), random.choice(minutes))


def clock_text(pattern: str, hour: int, minute: int) -> str:
    """A time of day in a notation of ours: {h} of 24, {i} of 12, {m}, {p} AM or PM, {q} am or pm."""
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


duration: Generator = templates(
    {
        "PT{t}M": 8,
        "PT{h}H{m}M": 5,
        "PT0H{m}M": 1.5,
        "PT0D{h}H{m}M": 0.5,
        "P0DT{h}H{m}M0S": 0.7,
        "PT{m}M": 3,
        "PT{h}H{m:02}M": 1,
        "PT{m}M{s}S": 1.5,
        "P0Y0M0DT{h}H{m}M0.000S": 0.3,
        "PT{r}M": 1.5,
        "PT00H{m:02}M": 0.5,
        "P{d}D": 0.3,
        "PT{t}S": 0.4,
        "T{m}M": 0.1,
        "PD{d}TH0M0": 0.6,
        "P0D{h}H0M": 0.3,
        "{t} minutes": 1,
        "{t} min": 1,
        "{t} mins": 0.6,
        "{h} hr {m} min": 0.6,
        "{r} Min.": 0.5,
        "{r} min": 0.5,
        "{h:02}:{m:02}:{s:02}": 0.6,
        "{m}:{s:02}": 0.6,
        "{h} hours {m} minutes": 0.5,
        "{t} Minuten": 0.3,
        "{h}h {m}m": 0.4,
        "{h}h{m:02}": 0.3,
        "{m} минут": 0.2,
        "{t} minutos": 0.2,
        "Duration: {h} hour": 0.1,
    },
    _fill_duration,
)
