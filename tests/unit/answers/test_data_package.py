"""The Data Package, read by the Frictionless framework: every file that is valid without it is valid with it."""

import json
import shutil
import warnings
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import aegir
from nasty_tables import NASTY_TABLES, write_nasty_tables

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    frictionless = pytest.importorskip(
        "frictionless", reason="frictionless is not installed: pip install 'frictionless[json]'"
    )

EXAMPLES = Path(__file__).parents[3] / "examples"
EXAMPLE_FILES = sorted(
    path.name for path in EXAMPLES.iterdir() if path.is_file() and path.suffix != ".md"
)
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write_nasty_tables(folder)
    for name in EXAMPLE_FILES:
        shutil.copy(EXAMPLES / name, folder / name)
    return folder


def package_of(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Annotate a file beside its package, as a user does who commits both."""
    monkeypatch.chdir(folder)
    return json.loads(aegir.annotate(name).to("frictionless"))


def fields_of(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    (resource,) = package_of(folder, name, monkeypatch)["resources"]
    keys = ("description", "aegir", "rdfType", "name")
    return {
        field["name"]: {key: value for key, value in field.items() if key not in keys}
        for field in resource["schema"]["fields"]
    }


def rows_of(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The rows as Frictionless parses them with our package; an unparsed value would be an error."""
    (resource,) = package_of(folder, name, monkeypatch)["resources"]
    with frictionless.Resource.from_descriptor(resource, basepath=str(folder)) as opened:
        rows = list(opened.row_stream)
    assert all(row.valid for row in rows), [row.errors for row in rows if not row.valid]
    return [row.to_dict() for row in rows]


@pytest.mark.parametrize("name", [*NASTY_TABLES, *EXAMPLE_FILES])
def test_a_file_valid_without_the_package_is_valid_with_it(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = package_of(folder, name, monkeypatch)
    alone = frictionless.Resource(path=name, basepath=str(folder)).validate()
    report = frictionless.Package.from_descriptor(package, basepath=str(folder)).validate()
    assert report.valid or not alone.valid, report.flatten(["rowNumber", "fieldName", "note"])


@pytest.mark.parametrize(
    "name", ["late_word.csv", "late_float.csv", "late_missing.csv", "late_date.csv"]
)
def test_a_value_that_the_sample_missed_makes_the_type_weaker(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(rows_of(folder, name, monkeypatch)) == 3000


def test_most_columns_keep_a_type(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text everywhere would be valid too, and worthless."""
    found = {
        name: field["type"]
        for name, field in fields_of(folder, "late_float.csv", monkeypatch).items()
    }
    assert found == {"id": "integer", "value": "number", "share": "number"}
    found = {
        name: field["type"] for name, field in fields_of(folder, "wide.csv", monkeypatch).items()
    }
    assert sum(kind != "string" for kind in found.values()) >= 20


def test_values_are_parsed_by_the_notation_of_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_, third, last = rows_of(folder, "german.csv", monkeypatch)
    assert first["Betrag"] == Decimal("1234.50")
    assert first["Datum"] == date(2030, 3, 14)
    assert (first["Bezahlt"], last["Bezahlt"]) == (True, True)
    assert first["Straße"] == "Am Mühlgraben 5"
    assert (third["Betrag"], third["Datum"]) == (None, None)
    first = rows_of(folder, "american.csv", monkeypatch)[0]
    assert first["amount"] == Decimal("1234.50")
    assert (first["paid_on"], first["active"]) == (date(2030, 3, 14), True)
    assert first["at"] == datetime(2030, 3, 14, 13, 5)
    first = rows_of(folder, "zones.csv", monkeypatch)[0]
    assert (first["noon"], first["moment"].microsecond) == (time(12), 250_000)
    first = rows_of(folder, "titles.csv", monkeypatch)[0]
    assert (first["id"], first["joined"]) == (1, date(2030, 1, 2))
    first = rows_of(folder, "cyrillic.csv", monkeypatch)[0]
    assert (first["город"], first["цена"]) == ("Петрозаводск", Decimal("3.5"))
    assert rows_of(folder, "single_quotes.csv", monkeypatch)[1]["name"] == "It's milk"
    assert rows_of(folder, "backslashes.csv", monkeypatch)[0]["name"] == 'Tea "green" leaf'


def test_dialect_and_formats_are_stated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (resource,) = package_of(folder, "german.csv", monkeypatch)["resources"]
    assert resource["encoding"] == "cp1252"
    assert resource["dialect"]["delimiter"] == ";"
    assert resource["dialect"]["headerRows"] == [1]
    fields = fields_of(folder, "german.csv", monkeypatch)
    assert fields["Betrag"] == {
        "type": "number",
        "decimalChar": ",",
        "groupChar": ".",
        "missingValues": ["", "n/a"],
    }
    assert fields["Datum"] == {"type": "date", "format": "%d.%m.%Y"}
    assert fields["Bezahlt"] == {
        "type": "boolean",
        "trueValues": ["Ja", "ja"],
        "falseValues": ["Nein", "nein"],
    }
    (resource,) = package_of(folder, "titles.csv", monkeypatch)["resources"]
    assert resource["dialect"]["headerRows"] == [4]


def test_a_date_whose_day_and_month_may_be_exchanged_stays_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fields_of(folder, "ambiguous.csv", monkeypatch)["on"] == {"type": "string"}
    assert fields_of(folder, "no_such_day.csv", monkeypatch)["on"] == {"type": "string"}


def test_no_cell_is_read_and_no_type_promised_from_names_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    answers = aegir.annotate("german.csv", names_only=True)
    assert answers[0].text is None  # so that no format reads the file
    (resource,) = json.loads(answers.to("frictionless"))["resources"]
    assert {field["type"] for field in resource["schema"]["fields"]} == {"any"}
    assert "-- not loaded: " in answers.to("load")


def test_a_table_of_nested_data_has_its_fields_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = package_of(folder, "orders.json", monkeypatch)["resources"]
    found = {each["title"]: each for each in resources}
    nested = found["orders.json#orders"]
    assert "schema" not in nested
    assert "customer.email" in {field["name"] for field in nested["aegir"]["fields"]}
    assert found["orders.json#stores"]["dialect"] == {"json": {"property": "stores"}}
    assert "schema" in found["orders.json#stores"]


def test_a_gzipped_file_is_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    (tmp_path / "late.csv.gz").write_bytes(gzip.compress(NASTY_TABLES["late_word.csv"]))
    assert fields_of(tmp_path, "late.csv.gz", monkeypatch)["value"] == {"type": "string"}


def test_a_file_that_is_gone_keeps_the_types_of_its_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "late.csv").write_bytes(NASTY_TABLES["late_word.csv"])
    answer = aegir.annotate("late.csv")
    (tmp_path / "late.csv").unlink()
    fields = json.loads(answer.to("frictionless"))["resources"][0]["schema"]["fields"]
    assert [field["type"] for field in fields] == ["integer", "integer", "number"]
