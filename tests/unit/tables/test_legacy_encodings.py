"""Text in older encodings: read as what it is, with a warning; Western text stays Western."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.tables.legacy_encodings import guess_encoding
from aegir.tables.readers import read_tables
from aegir.tables.table import Table

RUSSIAN = {
    "город": ["Москва", "Казань", "Екатеринбург", "Нижний Новгород"],
    "область": ["Московская область", "Татарстан", "Свердловская область", "Нижегородская"],
}
TABLES = {
    "Windows-1251": ("cp1251", RUSSIAN),
    "KOI8-R": ("koi8_r", RUSSIAN),
    "DOS-866": ("cp866", RUSSIAN),
    "ISO 8859-5": ("iso8859_5", RUSSIAN),
    "Shift-JIS": (
        "cp932",
        {"都市": ["東京", "さいたま", "横浜"], "県": ["東京都", "埼玉県", "神奈川県"]},
    ),
    "EUC-JP": (
        "euc_jp",
        {"商品": ["りんごジュース", "コーヒー", "緑茶"], "分類": ["飲みもの", "飲みもの", "茶"]},
    ),
    "Big5": ("big5", {"城市": ["臺北", "高雄", "香港"], "地區": ["臺北市", "高雄市", "九龍"]}),
    "EUC-KR": (
        "cp949",
        {"도시": ["서울", "부산", "대구"], "이름": ["김민수", "이영희", "박지훈"]},
    ),
    "GB18030": (
        "gb18030",
        {"城市": ["北京", "上海", "深圳"], "省份": ["北京市", "上海市", "广东省"]},
    ),
    "Windows-1253": (
        "cp1253",
        {"πόλη": ["Αθήνα", "Θεσσαλονίκη"], "νομός": ["Αττική", "Μακεδονία"]},
    ),
    "Windows-1255": ("cp1255", {"עיר": ["ירושלים", "תל אביב", "חיפה"], "id": ["1", "2", "3"]}),
    "Windows-1256": ("cp1256", {"المدينة": ["القاهرة", "الرياض"], "id": ["1", "2"]}),
    "Windows-1250": ("cp1250", {"miasto": ["Wrocław", "Białystok"], "n": ["1", "2"]}),
    "Windows-1252": ("cp1252", {"ville": ["Orléans", "Nîmes", "Évreux"], "n": ["1", "2", "3"]}),
}
WESTERN = """
    Müller Größe Straße Äpfel Öl Übung naïve façade Orléans Besançon Île Évêque créée œuvre Ångström smörgås
    Malmö Tromsø København Reykjavík Þór Ísafjörður João São coração Ação señor Ñandú ¿Qué ¡Olé! perché città
    Cantù don’t it’s “quoted” – — … €5 £20 20°C m² cm³ ½ ±5 µm «guillemets» ÅÄÖ ŠKODA Žižek naïveté ÉTÉ ÑOÑO
"""


def only(path: Path) -> Table:
    (table,) = read_tables(path)
    return table


def written(columns: dict[str, list[str]]) -> str:
    rows = [columns.keys(), *zip(*columns.values(), strict=True)]
    return "".join(";".join(row) + "\n" for row in rows)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_in_an_older_encoding_is_read_with_a_warning(tmp_path: Path, name: str) -> None:
    codec, columns = TABLES[name]
    path = tmp_path / "t.csv"
    path.write_text(written(columns), encoding=codec)
    table = only(path)
    cells = [(column.name, *column.values) for column in table.columns]
    expected = [(title, *values) for title, values in columns.items()]
    without_header = [(None, title, *values) for title, values in columns.items()]
    assert cells in (expected, without_header)
    assert f"read as {name}; if that is wrong, give its --encoding" in table.warnings


def test_a_large_file_and_a_json_document_are_read_alike(tmp_path: Path) -> None:
    rows = "".join(f"{number};Москва, улица {number}\n" for number in range(300_000))
    path = tmp_path / "large.csv"
    path.write_text("id;адрес\n" + rows, encoding="cp1251")
    table = only(path)
    for number, address in zip(*(column.values for column in table.columns), strict=True):
        assert address == f"Москва, улица {number}"
    document = tmp_path / "t.json"
    document.write_text('[{"город": "Москва"}, {"город": "Казань"}]', encoding="cp1251")
    assert only(document).columns[0].values == ("Москва", "Казань")
    assert only(document).warnings[0].startswith("read as Windows-1251")
    document.write_bytes(str([["東京都"] * 6] * 4000).replace("'", '"').encode("cp932"))
    assert only(document).columns[0].values[0] == "東京都"  # one line of 200 KB
    assert only(document).warnings[0].startswith("read as Shift-JIS")


def test_unicode_carries_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_text(written(RUSSIAN), encoding=encoding)
        assert only(path).warnings == ()


def test_utf8_and_cyrillic_lines_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{place};{city}\n" for place, city in enumerate(RUSSIAN["город"])]
    path.write_bytes("id;город\n".encode() + b"".join(row.encode("cp1251") for row in rows))
    table = only(path)
    assert table.columns[1].values == tuple(RUSSIAN["город"])
    assert table.warnings == ("lines in UTF-8 and in Windows-1251 are mixed",)


@given(words=st.lists(st.sampled_from(WESTERN.split()), max_size=60), glue=st.sampled_from(" ,;\t"))
def test_western_text_is_never_taken_for_another(words: list[str], glue: str) -> None:
    assert guess_encoding(glue.join(words).encode("cp1252")) is None


@given(raw=st.binary(max_size=400))
def test_any_bytes_can_be_guessed_about(raw: bytes) -> None:
    guess_encoding(raw)
