"""CSVW metadata, read by the csvw package and as JSON-LD by rdflib."""

import json
import shutil
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import aegir
from nasty_tables import NASTY_TABLES

csvw = pytest.importorskip("csvw", reason="csvw is not installed: pip install csvw")
rdflib = pytest.importorskip("rdflib", reason="rdflib is not installed: pip install rdflib")

EXAMPLES = Path(__file__).parents[3] / "examples"
EXAMPLE_FILES = sorted(path.name for path in EXAMPLES.glob("*.[ct]sv"))
MIXED_ENCODINGS = "broken.csv"
READABLE = [
    *(
        name for name in NASTY_TABLES if "'" not in name
    ),  # csvw does not decode %27 in the name of a file
    *(name for name in EXAMPLE_FILES if name != MIXED_ENCODINGS),
]
pytestmark = pytest.mark.filterwarnings("ignore")


def document_of(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    if name in NASTY_TABLES:
        (folder / name).write_bytes(NASTY_TABLES[name])
    else:
        shutil.copy(EXAMPLES / name, folder / name)
    text = aegir.annotate(name).to("csvw")
    (folder / "metadata.json").write_text(text)
    return json.loads(text)


def rows_of(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The rows as csvw parses them; a value that is not of its datatype raises."""
    document_of(folder, name, monkeypatch)
    (table,) = csvw.TableGroup.from_file(folder / "metadata.json").tables
    return list(table.iterdicts(strict=False))


@pytest.mark.parametrize("name", READABLE)
def test_every_value_is_of_its_datatype(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(tmp_path, name, monkeypatch)
    from aegir.tables.readers import read_tables

    (table,) = read_tables(tmp_path / name)
    assert len(rows) == table.total_rows
    assert csvw.CSVW(str(tmp_path / "metadata.json"), validate=True).is_valid


def test_values_are_parsed_by_the_notation_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_, third, _ = rows_of(tmp_path, "german.csv", monkeypatch)
    assert (first["Betrag"], third["Betrag"]) == (Decimal("1234.50"), None)
    assert first["Datum"] == datetime(2030, 3, 14)
    first = rows_of(tmp_path, "american.csv", monkeypatch)[0]
    assert (first["paid_on"].date(), first["active"]) == (date(2030, 3, 14), True)


def test_dialect_and_formats_are_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (table,) = document_of(tmp_path, "german.csv", monkeypatch)["tables"]
    assert table["dialect"]["encoding"] == "windows-1252"
    assert (table["dialect"]["delimiter"], table["dialect"]["headerRowCount"]) == (";", 1)
    datatypes = {each["titles"]: each["datatype"] for each in table["tableSchema"]["columns"]}
    assert datatypes["Datum"] == {"base": "date", "format": "dd.MM.yyyy"}
    assert datatypes["Betrag"]["format"] == {"decimalChar": ",", "groupChar": "."}
    (table,) = document_of(tmp_path, "titles.csv", monkeypatch)["tables"]
    assert table["dialect"]["skipRows"] == 3


LOCAL_CONTEXT = {
    "@vocab": "http://www.w3.org/ns/csvw#",
    "dc": "http://purl.org/dc/terms/",
    "schema": "https://schema.org/",
    "tables": {"@id": "http://www.w3.org/ns/csvw#table"},
    "columns": {"@id": "http://www.w3.org/ns/csvw#column", "@container": "@list"},
    "propertyUrl": {"@type": "@id"},
}
"""The terms of http://www.w3.org/ns/csvw that the metadata use; the tests fetch nothing."""


def test_the_metadata_are_linked_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = document_of(tmp_path, "customers.csv", monkeypatch)
    document["@context"] = LOCAL_CONTEXT
    graph = rdflib.Graph().parse(data=json.dumps(document), format="json-ld")
    types = {str(iri) for iri in graph.objects(None, rdflib.DCTERMS.type)}
    columns = aegir.annotate("customers.csv")[0].columns
    assert types == {column.iri for column in columns if column.iri}
    titles = {
        str(title)
        for title in graph.objects(None, rdflib.URIRef("http://www.w3.org/ns/csvw#titles"))
    }
    assert titles == {column.name for column in columns}
