"""Things and money: each finer type is found, and its nearest look-alike is not."""

import pytest

from aegir.annotators.rules.judge import judge
from aegir.tables.table import Column
from aegir.vocabulary.fine_types_things import THINGS_AND_MONEY as THEME

# name: header, cells that are of this type, another header, cells that only look like it
CASES: dict[str, tuple[str | None, str, str | None, str]] = {
    "isbn": (None, "978-3-16-148410-0 ¦ 9780140449136", None, "978-3-16-148410-1 ¦ 9780140449137"),
    "issn": (None, "2049-3630 ¦ 0317-8471 ¦ 1050-124X", None, "2049-3631 ¦ 0317-8472 ¦ 1050-1240"),
    "doi": (None, "10.1000/182 ¦ https://doi.org/10.1234/abc.5", None, "10.1/182 ¦ 11.1000/3"),
    "orcid": (
        None,
        "0000-0002-1825-0097 ¦ 0000-0001-5109-3700",
        None,
        "0000-0002-1825-0098 ¦ 0000-0001-5109-3701",
    ),
    "gtin": (
        None,
        "4006381333931 ¦ 5901234123457 ¦ 036000291452 ¦ 9780140449136",
        None,
        "4006381333931 ¦ 5901234123458 ¦ 036000291453 ¦ 9780140449137",
    ),
    "asin": (None, "B07XJ8C8F5 ¦ B00005N5PF", None, "B17XJ8C8F5 ¦ C00005N5PF"),
    "sku": ("sku", "TS-1042-BLK ¦ TS-1043-RED", None, "TS-1042-BLK ¦ TS-1043-RED"),
    "isrc": (
        None,
        "USRC17607839 ¦ GBAYE0601498 ¦ DEA450300001",
        None,
        "USRC1760783 ¦ GBAYE060149 ¦ DEA45030000",
    ),
    "youtube_video_id": (
        None,
        "dQw4w9WgXcQ ¦ 9bZkp7q19f0 ¦ kJQP7kiw5Fk",
        None,
        "Springfield ¦ Westminster ¦ Haverhill-X",
    ),
    "occupation_code": (
        None,
        "15-1252.00 Software Developers ¦ 17-2051.00",
        None,
        "15-1252 ¦ 17-2051",
    ),
    "payment_methods": (
        None,
        "Cash, Visa, Mastercard ¦ Credit card, PayPal",
        None,
        "Cash cow sanctuary ¦ Visa application office",
    ),
    "vin": (
        None,
        "1HGCM82633A004352 ¦ 1M8GDM9AXKP042788",
        None,
        "1HGCM82533A004352 ¦ 1M8GDM9A1KP042788",
    ),
    "imei": (
        "imei",
        "490154203237518 ¦ 356938035642561",
        None,
        "490154203237518 ¦ 356938035642561",
    ),
    "iccid": (
        None,
        "8943020074351718725 ¦ 8943020020509403454 ¦ 8943020048168710455",
        None,
        "8943020074351718726 ¦ 8943020020509403455 ¦ 8943020048168710456",
    ),
    "cas_number": (
        None,
        "7732-18-5 ¦ 6221-77-8 ¦ 7922-43-2",
        None,
        "7732-18-4 ¦ 6221-77-1 ¦ 7922-43-1",
    ),
    "loinc_code": ("loinc", "718-7 ¦ 2160-0 ¦ 4548-4", None, "718-7 ¦ 2160-0 ¦ 4548-4"),
    "chemical_formula": ("formula", "H2O ¦ C6H12O6 ¦ NaHCO3", None, "SI2 ¦ VS1 ¦ SI1 ¦ VS2"),
    "dna_sequence": (
        None,
        "ATGGCCATTGTAATG ¦ GGGCCGCTGAAAGGG",
        None,
        "CATCATCATDOGDOG ¦ GATTACAMOVIEABC",
    ),
    "iban": (
        None,
        "AT26 1904 3002 3457 3249 ¦ AT601904300234573219",
        None,
        "AT27 1904 3002 3457 3249 ¦ AT611904300234573219",
    ),
    "bic": ("swift", "BKAUATWW ¦ DEUTDEFF500", None, "BKAUATWW ¦ DEUTDEFF500"),
    "payment_card": (
        None,
        "4111 1057 1223 4264 ¦ 4111661599538557 ¦ 4111241670518719",
        None,
        "4111 1057 1223 4265 ¦ 4111661599538558 ¦ 4111241670518710",
    ),
    "card_security_code": ("cvv", "737 ¦ 042 ¦ 9911", None, "737 ¦ 042 ¦ 9911"),
    "account_number": ("account_no", "0012345678 ¦ 0098765432", None, "0012345678 ¦ 0098765432"),
    "bank_routing_number": ("aba routing", "021004959 ¦ 021003439", None, "021004959 ¦ 021003439"),
    "lei": (
        None,
        "5493001KJTIIGC8Y1R12 ¦ 529900T8BM49AURSDO55",
        None,
        "5493001KJTIIGC8Y1R13 ¦ 529900T8BM49AURSDO56",
    ),
    "company_number": (
        None,
        "HRB 12345 ¦ HRB 99871 B ¦ HRA 4411",
        None,
        "HR 12345 ¦ HB 99871 ¦ HA 4411",
    ),
    "tax_number": (
        None,
        "ABCPU6863T ¦ ABCPV3882E ¦ ABCPZ7428G",
        None,
        "ABCDU6863 ¦ ABCDV3882 ¦ ABCDZ7428",
    ),
    "vat_number": (None, "ATU57738504 ¦ ATU58433378", None, "ATU57738505 ¦ ATU58433379"),
    "isin": (None, "US0378331005 ¦ US3087194227", None, "US0378331006 ¦ US3087194228"),
    "cusip": (
        None,
        "650833981 ¦ 474833829 ¦ 379833940 ¦ 871833570 ¦ 559833595",
        None,
        "650833981 ¦ 474833820",
    ),
    "sedol": (
        None,
        "B3YBKK9 ¦ B8YBKL5 ¦ B7YBKK7 ¦ B3YBKM1 ¦ B6YBKL1",
        None,
        "B3YBKK8 ¦ B8YBKL4 ¦ B7YBKK6 ¦ B3YBKM2 ¦ B6YBKL2",
    ),
    "figi": (None, "BBG000B9YCY6 ¦ BBG000B9XDY5", None, "BBG000B9YCY7 ¦ BBG000B9XDY6"),
    "ticker": ("ticker", "AAPL ¦ MSFT ¦ BRK.B", None, "AAPL ¦ MSFT ¦ BRK.B"),
    "currency_code": (None, "EUR ¦ USD ¦ EUR EUR EUR", None, "ABC ¦ XYZ"),
    "currency_amount": (None, "€ 1,250.00 ¦ $12 ¦ 12,34 €", None, "1,250.00 ¦ 12 ¦ 12,34"),
    "item_price": ("Preis", "19.90 ¦ 5.00", "sulphur", "19.90 ¦ 5.00"),
    "price_range": (None, "€10 - €20 ¦ $$", None, "10 - 20 ¦ 3-5"),
    "salary": ("base_salary", "54000 ¦ 61000", "personal income taxes paid", "54000 ¦ 61000"),
    "pay_rate": (None, "$18 per hour ¦ 100000 YEAR", None, "40 hours per week ¦ 38 hours per week"),
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
