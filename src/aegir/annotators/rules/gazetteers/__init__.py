"""Small fact tables: country, language and currency codes, month and weekday names.

Each table is read from its file on first use and kept; importing this module reads nothing.
All names are case-folded. `benchmarks/build_gazetteers.py` made the files and can make them again.
"""

from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


def _rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@cache
def country_alpha2() -> frozenset[str]:
    """ISO 3166-1 alpha-2 codes, with UK, which people write for GB."""
    return frozenset(row[0] for row in _rows("countries.tsv")) | {"UK"}


@cache
def country_alpha3() -> frozenset[str]:
    """ISO 3166-1 alpha-3 codes."""
    return frozenset(row[1] for row in _rows("countries.tsv"))


@cache
def country_names() -> frozenset[str]:
    """Names of countries in seven European languages and the country's own."""
    return frozenset(name for row in _rows("countries.tsv") for name in row[2].split("|"))


@cache
def language_codes() -> frozenset[str]:
    """ISO 639-1 two-letter codes."""
    return frozenset(row[0] for row in _rows("languages.tsv"))


@cache
def language_names() -> frozenset[str]:
    """Names of languages in seven European languages and in themselves."""
    return frozenset(name for row in _rows("languages.tsv") for name in row[1].split("|"))


@cache
def currency_codes() -> frozenset[str]:
    """ISO 4217 codes in use, and those withdrawn in recent years."""
    return frozenset((HERE / "currencies.txt").read_text(encoding="utf-8").split())


@cache
def month_numbers() -> dict[str, int]:
    """Month name or abbreviation in eighteen languages → 1..12; the first language to claim it wins."""
    return _calendar("month")


@cache
def weekday_numbers() -> dict[str, int]:
    """Weekday name or abbreviation in eighteen languages → 1 (Monday) .. 7."""
    return _calendar("day")


def _calendar(kind: str) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for row_kind, number, names in _rows("calendar.tsv"):
        if row_kind == kind:
            for name in names.split("|"):
                numbers.setdefault(name, int(number))
    return numbers


@cache
def first_names() -> frozenset[str]:
    """Some eight hundred given names common in Europe, the Americas, the Middle East and Asia."""
    return frozenset((HERE / "first_names.txt").read_text(encoding="utf-8").split())
