"""Dates: read those of several layouts, write them in one form, and recognise what is no date."""

import datetime
import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    describe,
    listing,
    options,
    signature_of,
    split_cases,
    words,
)
from aegir_rl.simulator.source import module_source

LANGUAGES = ("English", "German", "Spanish")
WORDED = ("D N Y", "N D, Y", "D. N Y", "D-N-Y")
NUMERIC = ("D.M.Y D/M/Y", "M/D/Y D.M.Y", "D-M-Y Y/M/D", "YMD D/M/Y", "M/D/Y YMD")
"""Pairs of layouts that cannot be mistaken for each other."""
BLANKS = ("", "n/a", "unknown", "-", "TBD")


def read_date(text: str, layouts: list[str], months: list[str], pivot: int) -> Any:
    """The date that the text is in the first layout that fits, or None."""
    names = [month.lower() for month in months]
    for layout in layouts:
        pattern = re.escape(layout).replace(r"\ ", r"\s+")
        digits = "([0-9]{2})" if layout == "YMD" else "([0-9]{1,2})"
        for letter, group in (("Y", "([0-9]{4}|[0-9]{2})"), ("M", digits), ("D", digits)):
            pattern = pattern.replace(letter, group)
        if layout == "YMD":
            pattern = "([0-9]{4})" + digits * 2
        match = re.fullmatch(pattern.replace("N", "([^0-9 .,-]+)"), text.strip())
        if not match:
            continue
        part = dict(
            zip([letter for letter in layout if letter in "YMDN"], match.groups(), strict=True)
        )
        month = part.get("M") or 0
        if "N" in part:
            known = [
                place
                for place, name in enumerate(names, 1)
                if part["N"].lower() in (name, name[:3])
            ]
            month = known[0] if known else 0
        year = int(part["Y"])
        if len(part["Y"]) == 2:
            year += 2000 if year < pivot else 1900
        try:
            return datetime.date(year, int(month), int(part["D"]))
        except ValueError:
            return None
    return None


def write_date(date: Any, form: str, missing: Any) -> Any:
    """The date in a form; `missing` for None."""
    if date is None:
        return missing
    if form == "quarter":
        return f"{date.year}-Q{(date.month + 2) // 3}"
    if form == "american":
        return f"{date.month}/{date.day}/{date.year}"
    return date.strftime(form)


def _render(random: Random, date: datetime.date, layout: str, months: list[str], pivot: int) -> str:
    zero = "02" if layout == "YMD" or random.random() < 0.5 else ""
    year = str(date.year)
    short = pivot and layout != "YMD" and random.random() < 0.5
    if short and (date.year - 1900 if date.year < 2000 else date.year - 2000 + 100) in range(
        pivot, pivot + 100
    ):
        year = year[2:]
    month = months[date.month - 1]
    month = month[:3] if random.random() < 0.3 else month
    values = {"Y": year, "M": f"{date.month:{zero}}", "D": f"{date.day:{zero}}", "N": month}
    return "".join(values.get(letter, letter) for letter in layout)


def _describe(
    layouts: list[str], language: str, pivot: int, about: str, missing: str | None
) -> str:
    letters = {
        "Y": "year",
        "M": "month",
        "D": "day",
        "N": f"{language} name of the month, whole or its first three letters",
    }
    used = [f"{key} is the {name}" for key, name in letters.items() if key in "".join(layouts)]
    return describe(
        "dates",
        *("start", "short_years" if pivot else "years", "missing"),
        layouts=listing([f"`{layout}`" for layout in layouts]),
        letters=", ".join(used),
        about=about,
        pivot=pivot,
        missing=missing,
    )


def draw_dates(random: Random, level: int) -> Draft:
    """Level 1 has one layout, 2 two, 3 three and years of two digits."""
    language = random.choice(LANGUAGES)
    numeric = random.choice(NUMERIC).split()
    layouts = random.sample([*numeric, random.choice(WORDED)], level)
    pivot = random.choice([30, 50, 70]) if level == 3 else 0
    about, form = random.choice(list(options("dates", "outputs").items()))
    missing = random.choice([None, "", "invalid"])
    months = list(words(f"{language}_month"))
    first, last = datetime.date(1972, 1, 1).toordinal(), datetime.date(2028, 12, 31).toordinal()

    def pair(date: datetime.date) -> tuple[str, Any]:
        text = _render(random, date, random.choice(layouts), months, pivot)
        return text, write_date(date, form, missing)

    usual = [pair(datetime.date.fromordinal(random.randint(first, last))) for _ in range(18)]
    leap, december = datetime.date(2024, 2, 29), datetime.date(random.choice([2018, 2024]), 12, 31)
    wrong = _render(random, datetime.date(2023, 2, 28), layouts[0], months, 0)
    edges = [(random.choice(BLANKS), missing), pair(leap), pair(december)]
    edges += [(wrong.replace("28", "30", 1), missing)]
    edges += [(f"  {pair(leap)[0]} ", write_date(leap, form, missing)), ("", missing)]
    public, hidden = split_cases(edges, usual, 5 + 2 * level)
    read = f"read_date(value, {layouts!r}, {months!r}, {pivot})"
    call = f"write_date({read}, {form!r}, {missing!r})"
    return Draft(
        statement=_describe(layouts, language, pivot, about, missing),
        solution=module_source(signature_of("dates"), call, read_date, write_date),
        public=public,
        hidden=hidden,
        difficulty={"layouts": len(layouts)},
    )
