"""Answers from names alone, answers without names, and columns whose cells are all missing."""

from pathlib import Path

import pytest

from aegir.pipeline.run import annotate
from command_line import run

PATIENTS = "id,patient_ssn,email,birth_date\n1,,a@b.de,1980-01-01\n2,,c@d.de,1981-02-01\n"


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    path.write_text(PATIENTS)
    return path


def test_a_table_without_rows_is_answered_from_its_names(tmp_path: Path, patients: Path):
    (tmp_path / "new").mkdir()
    empty = tmp_path / "new" / "patients.csv"
    empty.write_text(PATIENTS.splitlines()[0] + "\n")
    without_rows = annotate(empty, memory=False)[0]
    names_only = annotate(patients, names_only=True, memory=False)[0]
    assert without_rows.columns == names_only.columns
    types = [column.type for column in names_only.columns]
    assert types == ["IdentifierAT", "IdentifierAT", "email", "Date"]
    assert all(column.datatype == "empty" for column in names_only.columns)
    assert names_only.columns[2].reasons == (
        "reads like email_address by header 'email' and table alone",
    )
    assert not any(column.all_missing for column in names_only.columns)


def test_a_name_alone_is_less_sure_than_with_its_values(patients: Path):
    alone, whole = (
        annotate(patients, names_only=only, memory=False)[0].columns[2] for only in (True, False)
    )
    assert alone.fine_type == whole.fine_type == "email_address"
    assert alone.confidence < whole.confidence


def test_a_column_of_missing_cells_is_personal_by_its_header(patients: Path):
    ssn = annotate(patients, memory=False)[0].columns[1]
    assert (ssn.personal, ssn.personal_level, ssn.all_missing) == (True, "direct", True)
    assert ssn.reasons[0] == "every value is missing"
    assert (ssn.label, ssn.type) == ("us_ssn", "IdentifierAT")


def test_missing_cells_below_no_header_are_just_missing():
    (column,) = annotate({None: ["", ""]}, memory=False)[0].columns
    assert (column.label, column.all_missing, column.personal) == ("all_missing", True, False)


def test_ignored_names_change_no_answer_but_are_shown(tmp_path: Path, patients: Path):
    other = tmp_path / "x.csv"
    other.write_text(PATIENTS.replace("birth_date", "price").replace("email", "city"))
    asked, renamed = (
        annotate(path, ignore_names=True, memory=False)[0] for path in (patients, other)
    )
    assert (asked.table, renamed.table) == ("patients.csv", "x.csv")
    assert [c.name for c in renamed.columns] == ["id", "patient_ssn", "city", "price"]
    for one, same in zip(asked.columns, renamed.columns, strict=True):
        assert (one.label, one.confidence, one.reasons) == (
            same.label,
            same.confidence,
            same.reasons,
        )
    assert asked.columns[1].label == "all_missing"
    assert not any("birth" in reason for column in asked.columns for reason in column.reasons)


def test_the_command_line_reads_names_only(patients: Path):
    shown = run("annotate", str(patients), "--names-only", "--no-memory").out
    assert "email_address" in shown
    assert "a@b.de" not in run("annotate", str(patients), "--names-only", "--format", "html").out
