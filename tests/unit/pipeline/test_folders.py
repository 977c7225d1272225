"""In folders, earlier answers are no tables, and nothing is skipped without a word."""

from pathlib import Path

import pytest

from aegir import annotate
from aegir.answers.writers import FORMATS
from aegir_rl.base.errors import UsageError

NAMES = {
    "frictionless": "datapackage.json",
    "csvw": "t.csv-metadata.json",
    "dbt": "schema.yml",
    "jsonl": "annotations.jsonl",
}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("id,city\n1,Oslo\n2,Rome\n")
    return tmp_path


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_an_earlier_answer_beside_a_table_is_not_annotated(lake: Path, format_name: str) -> None:
    answers = annotate(lake / "t.csv", annotator="rules", memory=False)
    suffix = {"html": ".html", "sql": ".sql", "csv": ".csv", "dbt": ".yml"}.get(
        format_name, ".json"
    )
    out = lake / NAMES.get(format_name, f"answers{suffix}")
    out.write_text(answers.to(format_name))
    again = annotate(lake, annotator="rules", memory=False)
    assert [table.table for table in again] == ["t.csv"]
    assert again.notes == (f"{out} is an earlier answer ({format_name}); it is not annotated",)
    if suffix == ".json":  # asked for by its name it is read
        assert annotate(out, annotator="rules", memory=False).notes == ()


def test_files_of_other_kinds_are_counted(lake: Path) -> None:
    for name in ("a.log", "b.docx", "c.docx", ".hidden.log"):
        (lake / name).write_text("x")
    (note,) = annotate(lake, annotator="rules", memory=False).notes
    assert note.startswith(
        f"3 files in {lake} are not read, because of their suffixes: .docx, .log"
    )


def test_a_folder_of_nothing_but_answers_is_refused(lake: Path) -> None:
    text = annotate(lake / "t.csv", annotator="rules", memory=False).to("jsonl")
    (lake / "t.csv").unlink()
    (lake / "annotations.jsonl").write_text(text)
    with pytest.raises(UsageError, match="holds nothing but earlier answers"):
        annotate(lake, memory=False)
