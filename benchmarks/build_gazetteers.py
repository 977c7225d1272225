"""Write the small fact tables the rules look words up in: countries, languages, currencies, calendars.

    python -m venv /tmp/gazetteers && /tmp/gazetteers/bin/pip install babel
    /tmp/gazetteers/bin/python benchmarks/build_gazetteers.py

The facts come from the Unicode CLDR (Unicode-3.0 licence) as packaged by Babel, which is needed here
only: the product reads the tab-separated files this script leaves beside the rules. Running it twice
gives the same bytes; the files change only when the CLDR does.
"""

from collections.abc import Iterable
from pathlib import Path

from babel import Locale
from babel.core import get_global
from babel.languages import get_official_languages
from babel.localedata import locale_identifiers

TARGET = Path(__file__).parent.parent / "src/aegir/readers/rules/gazetteers"
LANGUAGES = [
    "en",
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "nl",
    "pl",
    "sv",
    "da",
    "nb",
    "fi",
    "cs",
    "hu",
    "ro",
    "tr",
    "ru",
    "el",
]
NAMED_IN = LANGUAGES[:7]
SPOKEN = frozenset(locale_identifiers())
NOT_COUNTRIES = {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"}
RECENTLY_WITHDRAWN = {
    "ANG",
    "BYR",
    "CUC",
    "EEK",
    "HRK",
    "LTL",
    "LVL",
    "MRO",
    "SLL",
    "STD",
    "VEF",
    "ZMK",
    "ZWL",
}
COUNTRY_WORDS = {
    "GB": ["uk", "great britain", "britain", "england", "scotland", "wales", "northern ireland"],
    "US": ["usa", "united states of america", "u.s.", "u.s.a.", "us"],
    "AE": ["uae"],
    "CZ": ["czech republic"],
    "NL": ["the netherlands", "holland"],
    "RU": ["russian federation"],
    "KR": ["republic of korea", "korea"],
    "VN": ["viet nam"],
    "MK": ["macedonia"],
    "TR": ["turkey"],
    "CI": ["ivory coast"],
    "IR": ["iran, islamic republic of"],
    "TW": ["taiwan, province of china"],
    "HK": ["hong kong"],
    "MO": ["macao", "macau"],
    "PS": ["palestine"],
    "MM": ["burma"],
    "CD": ["democratic republic of the congo", "dr congo"],
}


def joined(names: Iterable[str | None]) -> str:
    """Case-folded names without repetition, in a fixed order."""
    return "|".join(sorted({name.casefold().strip() for name in names if name}))


def country_rows() -> list[str]:
    """alpha-2, alpha-3, names in a few languages and in the country's own."""
    alpha3 = {
        targets[0]: code
        for code, targets in get_global("territory_aliases").items()
        if len(code) == 3 and code.isalpha() and len(targets) == 1
    }
    alpha3 |= {"GB": "GBR", "FR": "FRA", "AU": "AUS", "RS": "SRB"}
    codes = [c for c in Locale("en").territories if len(c) == 2 and c.isalpha() and c in alpha3]
    rows = []
    for code in sorted(set(codes) - NOT_COUNTRIES):
        own = [tag for tag in get_official_languages(code)[:3] if tag in SPOKEN]
        names = [Locale.parse(tag).territories.get(code) for tag in NAMED_IN + own]
        rows.append(f"{code}\t{alpha3[code]}\t{joined(names + COUNTRY_WORDS.get(code, []))}")
    return rows


def language_rows() -> list[str]:
    """Two-letter code, names in a few languages and in itself."""
    rows = []
    for code in sorted(c for c in Locale("en").languages if len(c) == 2):
        own = [code] if code in SPOKEN else []
        names = [Locale(tag).languages.get(code) for tag in NAMED_IN + own]
        rows.append(f"{code}\t{joined(names)}")
    return rows


def calendar_rows() -> list[str]:
    """Month and weekday names, full and short: `month 3 march|mar|märz`."""
    rows = []
    for kind, count, attribute in (("month", 12, "months"), ("day", 7, "days")):
        for index in range(count):
            key = index + 1 if kind == "month" else index
            names = [
                getattr(Locale(tag), attribute)[context][width][key].rstrip(".")
                for tag in LANGUAGES
                for context in ("format", "stand-alone")
                for width in ("wide", "abbreviated")
            ]
            rows.append(f"{kind}\t{index + 1}\t{joined(n for n in names if len(n) > 1)}")
    return rows


def main() -> None:
    for name, rows in (
        ("countries.tsv", ["alpha2\talpha3\tnames", *country_rows()]),
        ("languages.tsv", ["code\tnames", *language_rows()]),
        ("calendar.tsv", ["kind\tnumber\tnames", *calendar_rows()]),
    ):
        (TARGET / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    current = {
        code
        for spans in get_global("territory_currencies").values()
        for code, _start, end, tender in spans
        if tender and end is None
    }
    (TARGET / "currencies.txt").write_text(
        " ".join(sorted(current | RECENTLY_WITHDRAWN)) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
