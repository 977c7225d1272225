"""People and places: each finer type is found, and its nearest look-alike is not."""

import pytest

from aegir.annotators.rules.judge import judge
from aegir.tables.table import Column
from aegir.vocabulary.fine_types_people import PEOPLE_AND_PLACES as THEME

# name: header, cells that are of this type, another header, cells that only look like it
CASES: dict[str, tuple[str | None, str, str | None, str]] = {
    "first_name": ("Vorname", "Ines ¦ Jörg ¦ Oluwaseun", None, "Ines ¦ Harbour ¦ Oluwaseun"),
    "last_name": ("last_name", "Okafor ¦ Müller ¦ O'Brien", "last_name", "17 ¦ 23 ¦ 42"),
    "full_name": (
        None,
        "Anna Okafor ¦ Peter Novak ¦ Maria da Silva",
        None,
        "Harbour Road ¦ Blue Whale ¦ Old Mill",
    ),
    "honorific": ("Anrede", "Frau ¦ Herr ¦ Dr.", None, "Drum ¦ Mister ¦ Professor"),
    "user_name": (
        "username",
        "ines.okafor ¦ pnovak7 ¦ maria_s",
        None,
        "ines.okafor ¦ pnovak7 ¦ maria_s",
    ),
    "gender": (None, "female ¦ male ¦ female", None, "M ¦ L ¦ XL"),
    "age": ("customer_age", "42 ¦ 17 ¦ 68", "average", "42 ¦ 17 ¦ 68"),
    "date_of_birth": ("dob", "1984-03-07 ¦ 1990-12-31", "shipped", "1984-03-07 ¦ 1990-12-31"),
    "nationality": ("Nationality", "Portuguese ¦ Polish ¦ Kenyan", "nationality", "7 ¦ 9 ¦ 12"),
    "body_height": ("player_height_cm", "178 ¦ 165 ¦ 191", "tower_height", "8848 ¦ 4810 ¦ 5895"),
    "body_weight": ("body weight", "72 kg ¦ 65 kg", "body weight", "heavy ¦ light"),
    "blood_type": (None, "A+ ¦ O- ¦ AB+", None, "A ¦ B ¦ C+"),
    "diagnosis_code": ("icd10", "E11.9 ¦ I10 ¦ J45.0", None, "E11.9 ¦ I10 ¦ J45.0"),
    "national_id": (
        None,
        "30784853C ¦ 90071284H ¦ 04349886B",
        None,
        "30784853A ¦ 90071284A ¦ 04349886A",
    ),
    "us_ssn": (
        None,
        "219-09-9999 ¦ 457-55-5462 ¦ 078-05-1120",
        None,
        "900-09-9999 ¦ 666-55-5462 ¦ 000-05-1120",
    ),
    "uk_nino": (
        None,
        "AB 12 34 56 C ¦ CE123456A ¦ JG103759A",
        None,
        "GB 12 34 56 C ¦ QQ123456E ¦ BG103759A",
    ),
    "passport_number": ("passport_no", "P1234567 ¦ C01X00T47", None, "P1234567 ¦ C01X00T47"),
    "driving_licence": (
        "driving licence",
        "MORGA657054SM9IJ ¦ D1234567",
        "driving licence",
        "yes ¦ no",
    ),
    "licence_plate": ("Kennzeichen", "W-4711 AB ¦ B-MW 1234", None, "W-4711 AB ¦ B-MW 1234"),
    "telephone_number": (
        None,
        "+43 1 58858 0 ¦ +44 20 7946 0018",
        None,
        "2012/2013 ¦ 2013/2014 ¦ 2014/2015",
    ),
    "fax_number": (
        "Fax",
        "(212) 664-7665 ¦ (415) 626-1234",
        "phone",
        "(212) 664-7665 ¦ (415) 626-1234",
    ),
    "street_address": ("address", "12 Harbour Road ¦ 7 Mill Lane", None, "Harbour ¦ Mill"),
    "postal_address": (
        None,
        "12 Harbour Road, Salem, OR 97301 ¦ 7 Mill Ln, Boise, ID 83702",
        None,
        "Harbour, Salem, Oregon ¦ Mill, Boise, Idaho",
    ),
    "city": ("city", "Porto ¦ Linz ¦ Gdańsk", None, "Porto ¦ Linz ¦ Gdańsk"),
    "region": ("Bundesland", "Tirol ¦ Salzburg ¦ Kärnten", "region_id", "12 ¦ 14 ¦ 17"),
    "us_state": ("state", "OR ¦ CA ¦ TX", None, "OR ¦ XX ¦ ZZ ¦ QQ"),
    "postal_code": (None, "SW1A 1AA ¦ K1A 0B1", None, "97301 ¦ 83702 ¦ 10115"),
    "country_name": (None, "Portugal ¦ Kenya ¦ Österreich", None, "Porto ¦ Nairobi ¦ Wien"),
    "country_code_alpha2": ("country_code", "PT ¦ KE ¦ AT", None, "OR ¦ CA ¦ TX"),
    "country_code_alpha3": (None, "PRT ¦ KEN ¦ AUT ¦ POL", None, "KGM ¦ CMT ¦ MTR ¦ LTR"),
    "continent": (None, "Africa ¦ Asia ¦ Europe", None, "African ¦ Asian ¦ European"),
    "latitude": ("lat", "48.2082 ¦ -33.8688", "lat", "148.2082 ¦ -133.8688"),
    "longitude": ("longitude", "16.3738 ¦ 151.2093", "longitude", "216.3738 ¦ 951.2093"),
    "coordinate_pair": (
        None,
        "48.2082, 16.3738 ¦ -33.8688, 151.2093",
        None,
        "26.05 31.20 ¦ 31.20 26.05",
    ),
    "coordinate_dms": (None, "48°12'30\"N ¦ 16°22'25\"E", None, "48° ¦ 16°"),
    "geohash": ("geohash", "u2edk8 ¦ r3gx2f", None, "u2edk8 ¦ r3gx2f"),
    "plus_code": (None, "8FWR6954+8F ¦ 9C3XGV00+8Q".replace("GV00", "GVGG"), None, "8+8 ¦ 9+10"),
    "wkt_geometry": (
        None,
        "POINT (16.37 48.21) ¦ POLYGON ((0 0, 1 1, 1 0, 0 0))",
        None,
        "point of sale ¦ polygon shop",
    ),
    "geojson": (
        None,
        '{"type": "Point", "coordinates": [16.4, 48.2]}',
        None,
        '{"type": "shop", "at": [16.4, 48.2]}',
    ),
    "airport_code": (None, "VIE ¦ LHR ¦ JFK ¦ SIN", None, "ABC ¦ DEF ¦ GHI ¦ JKL"),
    "un_locode": ("unlocode", "ATVIE ¦ PTOPO", None, "ATVIE ¦ PTOPO"),
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
