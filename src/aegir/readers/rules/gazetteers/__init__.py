"""Word lists and small fact tables of the rules, read from the files in this folder on first use.

    country_alpha2()          ->  frozenset({"AD", "AE", …})
    word_set("continents")    ->  frozenset({"africa", "antarctica", …})

A field that holds several words separates them by |. Names of countries, languages, months and weekdays are
case-folded; `benchmarks/build_gazetteers.py` made their files and can make them again.
"""

from functools import cache
from pathlib import Path

from aegir_rl.base.text import read_tsv

HERE = Path(__file__).parent


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def read_table(file: str, columns: str) -> list[list[str]]:
    """Return the records of a tab-separated file of this folder."""
    return [fields for _, fields in read_tsv(HERE / file, columns)]


def word_set(name: str) -> frozenset[str]:
    """Return a list of word_sets.tsv: states, airports, colours, units and the like."""
    return frozenset(_word_sets()[name].split("|"))


@cache
def _word_sets() -> dict[str, str]:
    return dict(read_table("word_sets.tsv", "name words"))


@cache
def header_phrases() -> dict[str, str]:
    """Return by fine type the phrases in headers that suggest it, separated by |."""
    return dict(read_table("header_phrases.tsv", "fine_type phrases"))


@cache
def country_alpha2() -> frozenset[str]:
    """Return the ISO 3166-1 alpha-2 codes, with UK, which people write for GB."""
    return frozenset(alpha2 for alpha2, _, _ in _countries()) | {"UK"}


@cache
def country_alpha3() -> frozenset[str]:
    """Return the ISO 3166-1 alpha-3 codes."""
    return frozenset(alpha3 for _, alpha3, _ in _countries())


@cache
def country_names() -> frozenset[str]:
    """Return names of countries in seven European languages and the country's own."""
    return frozenset(name for _, _, names in _countries() for name in names.split("|"))


def _countries() -> list[list[str]]:
    return read_table("countries.tsv", "alpha2 alpha3 names")


@cache
def language_codes() -> frozenset[str]:
    """Return the ISO 639-1 two-letter codes."""
    return frozenset(code for code, _ in _languages())


@cache
def language_names() -> frozenset[str]:
    """Return names of languages in seven European languages and in the language itself."""
    return frozenset(name for _, names in _languages() for name in names.split("|"))


def _languages() -> list[list[str]]:
    return read_table("languages.tsv", "code names")


@cache
def currency_codes() -> frozenset[str]:
    """Return the ISO 4217 codes in use and those withdrawn in recent years."""
    return words((HERE / "currencies.txt").read_text(encoding="utf-8"))


@cache
def month_numbers() -> dict[str, int]:
    """Return 1..12 by month name or abbreviation in eighteen languages; the first language wins."""
    return _calendar("month")


@cache
def weekday_numbers() -> dict[str, int]:
    """Return 1 (Monday) .. 7 by weekday name or abbreviation in eighteen languages."""
    return _calendar("day")


def _calendar(kind: str) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for row_kind, number, names in read_table("calendar.tsv", "kind number names"):
        if row_kind == kind:
            for name in names.split("|"):
                numbers.setdefault(name, int(number))
    return numbers


@cache
def first_names() -> frozenset[str]:
    """Return given names common in Europe, the Americas, the Middle East and Asia."""
    return words((HERE / "first_names.txt").read_text(encoding="utf-8"))
