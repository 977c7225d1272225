"""`aegir types learn|forget`: what a user types, sees and can undo."""

import json
from pathlib import Path

import pytest

from command_line import run
from taught_types import EXAMPLES, NOT, write_hospital


@pytest.fixture
def hospital(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AEGIR_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return write_hospital(tmp_path)


def types_of(*arguments: str) -> list[str | None]:
    done = run("annotate", "lab.csv", "--json", *arguments)
    assert done.code == 0
    return [column["type"] for column in json.loads(done.out)["columns"]]


def test_a_type_is_taught_used_shown_and_forgotten(hospital: Path):
    before = types_of()
    done = run(
        *("types", "learn", "Patient/id", "--examples", *EXAMPLES, "--not", *NOT),
        *("--personal", "--kind", "identifier"),
    )
    assert done.code == 0
    assert done.out.startswith(
        "Patient/id: learnt from 2 columns of 2 files, cut into 6 examples\n"
    )
    assert "6 of 6 examples, held out by column" in done.out
    assert "to undo: aegir types forget Patient/id" in done.err

    assert types_of()[0] == "Patient/id"
    assert types_of()[1:] == before[1:]
    assert types_of("--no-custom") == before

    assert run("types", "list", "--custom").out == "Patient/id  Taught by 2 example columns.\n"
    below = run("types", "list", "--under", "identifier").out.splitlines()
    assert below[-1].startswith("  Patient/id ")
    shown = run("types", "show", "Patient/id").out
    assert "Patient/id  (custom type)" in shown
    assert "examples   wards.csv:patient, visits.csv:patient_no" in shown
    line = json.loads(run("types", "list", "--custom", "--json").out)
    assert (line["level"], line["personal"]) == ("custom type", True)
    assert line["tree"] == ["identifier", "Patient/id"]

    (stale := hospital / "home" / "types" / "stale.json").write_text("{}")
    listed = run("types", "list", "--custom")
    assert listed.code == 0
    assert listed.out.startswith("Patient/id ")
    assert "a taught type is not used: " in listed.err
    stale.unlink()

    assert run("types", "forget", "Patient/id").code == 0
    assert types_of() == before
    assert run("types", "list", "--custom").out == ""
    again = run("types", "forget", "Patient/id")
    assert (again.code, again.said) == (
        2,
        ["aegir: no type 'Patient/id' was taught; there are none"],
    )


def test_the_report_can_be_json_and_measure_on_labelled_tables(hospital: Path):
    values = [f"{i}.5" for i in range(20)]
    column = {"name": "n", "values": values, "cta": "Number"}
    (hospital / "mine.jsonl").write_text(json.dumps({"columns": [column]}) + "\n")
    done = run(
        *("types", "learn", "Patient/id", "--examples", *EXAMPLES),
        *("--validate", "mine.jsonl", "--json"),
    )
    report = json.loads(done.out)
    assert (report["kept"], report["parts"], report["complaint"]) == (True, 6, None)
    assert (report["validation"]["columns"], report["validation"]["taken"]) == (1, 0)


def test_a_type_that_cannot_be_told_apart_is_not_kept_unless_forced(hospital: Path):
    # Three columns of a table are said to be one type: what they share is not enough.
    places = [f"{table}.csv:{i}" for table in ("wards", "visits") for i in (1, 3, 4)]
    refused = run("types", "learn", "Mixed", "--examples", *places)
    assert refused.code == 3
    assert "Mixed was not kept: " in refused.err
    assert run("types", "list", "--custom").out == ""
    forced = run("types", "learn", "Mixed", "--examples", *places, "--force")
    assert forced.code == 0
    assert "kept although " in forced.err
    assert run("types", "list", "--custom").out.startswith("Mixed ")


def test_examples_may_be_repeated_or_listed(hospital: Path):
    listed, repeated = (
        run("types", "learn", "Patient/id", *places, "--json").out
        for places in (
            ("--examples", *EXAMPLES, "--not", *NOT),
            ("--examples", EXAMPLES[0], "--not", NOT[0], "--examples", EXAMPLES[1]),
        )
    )
    assert json.loads(listed) == json.loads(repeated)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("email", "--examples", "wards.csv:bed"), "'email' is a column type already"),
        (("status", "--examples", "wards.csv:bed"), "'status' is a fine type already"),
        (("actor", "--examples", "wards.csv:bed"), "'actor' is a relation already"),
        (("money", "--examples", "wards.csv:bed"), "'money' is a kind already"),
        (("Area Code", "--examples", "wards.csv:bed"), "is the fine type 'area_code' already"),
        (("Book Name", "--examples", "wards.csv:bed"), "is the column type 'Book/name' already"),
        (
            ("Bed", "--kind", "bed", "--examples", "wards.csv:bed"),
            "unknown kind 'bed'; expected one",
        ),
        (("Bed", "--examples", "wards.csv:bet"), "did you mean 'bed'?"),
        (("Bed", "--examples", "gone.csv:bed"), "there is no file gone.csv"),
    ],
)
def test_what_was_asked_wrongly_is_one_sentence(
    hospital: Path, arguments: tuple[str, ...], said: str
):
    done = run("types", "learn", *arguments)
    assert (done.code, len(done.said)) == (2, 1)
    assert said in done.err
