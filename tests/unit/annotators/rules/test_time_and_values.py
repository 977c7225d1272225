"""Time and values: each finer type is found, and its nearest look-alike is not."""

import pytest

from aegir.annotators.rules.judge import judge
from aegir.tables.table import Column
from aegir.vocabulary.fine_types_values import TIME_AND_VALUES as THEME

# name: header, cells that are of this type, another header, cells that only look like it
CASES: dict[str, tuple[str | None, str, str | None, str]] = {
    "iso_date": (None, "2021-03-07 ¦ 1999-12-31", None, "2021-13-07 ¦ 1999-12-41"),
    "date": (None, "7. März 2021 ¦ May 7, 1999 ¦ 3 nov. 2020", None, "Version 7 ¦ May flower 1999"),
    "compact_date": ("date", "20210307 ¦ 19991231", None, "20211307 ¦ 19991241 ¦ 20210307"),
    "iso_datetime": (
        None,
        "2021-03-07T14:30:00Z ¦ 2021-03-08 09:00",
        None,
        "2021-03-07 ¦ 2021-03-08",
    ),
    "datetime": (
        None,
        "07.03.2021 14:30 ¦ March 7, 2021 2:30 pm",
        None,
        "07.03.2021 ¦ March 7, 2021",
    ),
    "unix_timestamp": (
        "created_at",
        "1615127400 ¦ 1615127460",
        "visitors",
        "1615127400 ¦ 1615127460",
    ),
    "time_of_day": (None, "14:30 ¦ 9:05 am ¦ 23:59:59", None, "14.30 ¦ 9.05 ¦ 23.59"),
    "time_range": (None, "09:00-17:30 ¦ 8am to 5pm", None, "9-17 ¦ 8-5"),
    "iso_duration": (None, "PT1H30M ¦ P3D", None, "PTA ¦ P3X"),
    "duration": (None, "95 min ¦ 1 h 20 min", None, "18 HOUR ¦ 100000 YEAR"),
    "year": ("year", "1998 ¦ 2021", None, "1998 ¦ 2021"),
    "year_month": (None, "2021-03 ¦ 2021-04", None, "2005/06 ¦ 2006/07"),
    "month_number": ("month", "1 ¦ 11 ¦ 12", "rank", "1 ¦ 11 ¦ 12"),
    "month_name": (None, "March ¦ April ¦ Dezember", None, "Marsch ¦ Abril street"),
    "quarter": (None, "2021-Q3 ¦ Q4 2020", None, "Q5 ¦ Q6"),
    "week": (None, "2021-W09 ¦ 2021-W10", None, "2021-W59 ¦ 2021-W60"),
    "weekday": (None, "Monday ¦ Dienstag", None, "sun ¦ sat"),
    "opening_hours": (None, "Mo-Fr 09:00-17:00 ¦ Sunday: closed", None, "Morning 9 ¦ Evening 5"),
    "weekly_hours": (None, "40 hours per week ¦ 38.5 hours per week", None, "40 hours ¦ 38 hours"),
    "time_zone": (None, "Europe/Vienna ¦ America/Lima", None, "Europe/Asia ¦ America/West"),
    "utc_offset": ("utc_offset", "+02:00 ¦ -05:30", "timezone", "10 ¦ 12"),
    "percentage": (None, "12.5 % ¦ 3%", None, "12.5 ¦ 3"),
    "temperature": (None, "21 °C ¦ -3 °C", None, "21 ¦ -3"),
    "file_size": (None, "3.4 MB ¦ 120 KB", "army_size", "8600 ¦ 23400"),
    "energy": (None, "320 kcal ¦ 131 calories", None, "320 ¦ 131"),
    "mass": (None, "250 g ¦ 1.5 kg ¦ 3 lbs", None, "250 ¦ 1.5 ¦ 3"),
    "length": (None, "15 cm ¦ 6' 2\" ¦ 1,010 km (628 mi)", None, "345 km2 ¦ 12 km2"),
    "volume": (None, "500 ml ¦ 1.5 l", None, "500 m ¦ 1.5 m"),
    "measurement": (None, "75 kW ¦ 120 km/h", None, "75 cats ¦ 120 dogs"),
    "servings": (None, "4 servings ¦ 8 servings", None, "4 calories ¦ 8 calories"),
    "quantity": ("qty", "12 ¦ 3 ¦ 400", "latency", "12 ¦ 3 ¦ 400"),
    "rating": (None, "4.5 / 5 ¦ 3 out of 5", None, "4.5 ¦ 3"),
    "content_rating": (None, "PG-13 ¦ R ¦ TV-MA", None, "PG-14 ¦ Q ¦ TV-XX"),
    "ordinal": (None, "1st ¦ 2nd ¦ 3rd", None, "1s ¦ 2n ¦ 3r"),
    "roman_numeral": (None, "I ¦ II ¦ XIV ¦ MCM", None, "IIII ¦ VX ¦ IC ¦ MIX-T"),
    "boolean_flag": (None, "true ¦ false", None, "no ¦ no"),
    "unit_code": (None, "KGM ¦ CMT", None, "KGB ¦ CIA"),
    "unit_name": (None, "kg ¦ lbs ¦ cm", None, "M ¦ L ¦ W"),
    "language_name": (None, "Portuguese ¦ Català ¦ Deutsch", None, "Lisbon ¦ Barcelona ¦ Berlin"),
    "language_code": ("lang", "pt ¦ de ¦ en", None, "pt ¦ de ¦ en"),
    "locale_code": (None, "pt-BR ¦ de_AT", None, "pt-XX ¦ zz_AT"),
    "colour_name": (None, "dark blue ¦ red ¦ beige", None, "Gold ¦ Silver ¦ Bronze"),
    "colour_code": (None, "#1e90ff ¦ rgb(1, 2, 3)", None, "#travel ¦ #food"),
    "category_code": ("class code", "B2 ¦ B2 ¦ B2 ¦ C1 ¦ C1", "class code", "B2 ¦ C1 ¦ D4"),
    "row_number": (None, "3 ¦ 1 ¦ 2 ¦ 5 ¦ 4", None, "3 ¦ 1 ¦ 2 ¦ 9 ¦ 4"),
    "primary_key": ("id", "10432 ¦ 99120 ¦ 10433", None, "10432 ¦ 99120 ¦ 10433"),
    "foreign_key": ("customer_id", "C-204 ¦ C-204 ¦ C-311", None, "C-204 ¦ C-204 ¦ C-311"),
    "constant": (
        "fuel",
        "petrol ¦ petrol ¦ petrol ¦ petrol ¦ petrol",
        "fuel",
        "petrol ¦ petrol ¦ petrol ¦ petrol",
    ),
    "free_text": (
        None,
        "A quiet house with a view of the old harbour and its boats.",
        None,
        "Harbour House ¦ Old Mill",
    ),
    "emoji": (None, "🎉 ¦ 👍", None, "© ¦ ®"),
}


def fine_type_of(header: str | None, cells: str) -> str | None:
    return judge(Column(header, tuple(cells.split(" ¦ ")))).fine_type


def test_every_type_of_this_theme_has_a_case() -> None:
    assert set(CASES) == {fine_type.name for fine_type in THEME}


@pytest.mark.parametrize("name", CASES)
def test_it_is_found(name: str) -> None:
    header, cells, _, _ = CASES[name]
    assert fine_type_of(header, cells) == name


@pytest.mark.parametrize("name", CASES)
def test_a_look_alike_is_refused(name: str) -> None:
    _, _, header, cells = CASES[name]
    assert fine_type_of(header, cells) != name
