"""Our own answers are recognised; tables of other people never are."""

from pathlib import Path

import pytest

from aegir.answers.annotation import ColumnAnnotation, RowAnnotation, TableAnnotation
from aegir.answers.earlier_output import BEGINNINGS, is_earlier_output
from aegir.answers.text_report import render_text
from aegir.answers.writers import FORMATS

EXAMPLES = Path(__file__).parents[3] / "examples"
COLUMN = ColumnAnnotation(
    0, 'a "b"\n', "Date", 0.9, "time", "Date", 0.9, None, "date", False, reasons=("why",)
)
ANSWERS = {
    "one table": [TableAnnotation('odd "name"\n.csv', "x\\y.csv", 0, (COLUMN,), "rules")],
    "no source": [TableAnnotation("stdin", None, None, (COLUMN,), "rules")] * 2,
    "a row": [
        TableAnnotation(
            *("t", None, 0, (COLUMN,), "rules"),
            row=RowAnnotation("person", 'a "}" b', 0.9, "self", 0.9),
            subject_repeats=True,
        )
    ],
    "no columns": [TableAnnotation("t", None, None, (), "rules")],
    "no tables": [],
}
WRITERS = {"text": lambda answers: render_text(answers, colour=False), **FORMATS}


@pytest.mark.parametrize("format_name", WRITERS)
@pytest.mark.parametrize("answers", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_recognised_in_its_own_format(
    tmp_path: Path, format_name: str, answers: list[TableAnnotation]
) -> None:
    path = tmp_path / "answers"
    path.write_text(WRITERS[format_name](answers), encoding="utf-8", newline="")
    assert is_earlier_output(path, format_name)


def test_an_answer_is_not_recognised_in_another_format(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    for format_name, write in WRITERS.items():
        path.write_text(write(ANSWERS["one table"]), encoding="utf-8", newline="")
        assert [name for name in BEGINNINGS if is_earlier_output(path, name)] == [format_name]


FORM_1 = {
    "text": "t.csv   1 column\n\n  column  type  sure  relation  personal  why\n",
    "json": '[\n  {\n    "table": "t.csv",\n    "source": null,\n    "subject": 0,\n    "annotator": "rules",\n',
    "jsonl": '{"table": "t.csv", "source": "t.csv", "subject": null, "annotator": "rules", "columns": []}\n',
    "csv": "table,source,index,name,subject,type,confidence,fine_type,datatype,personal\n",
}


@pytest.mark.parametrize("format_name", FORM_1)
def test_an_answer_of_the_form_before_is_recognised(tmp_path: Path, format_name: str) -> None:
    path = tmp_path / "answers"
    path.write_text(FORM_1[format_name], encoding="utf-8")
    assert is_earlier_output(path, format_name)


def test_no_example_and_no_nasty_file_is_taken_for_an_answer(nasty: dict[str, Path]) -> None:
    files = [path for path in (*EXAMPLES.iterdir(), *nasty.values()) if path.is_file()]
    for path in files:
        for format_name in BEGINNINGS:
            taken = is_earlier_output(path, format_name)
            assert taken == (path.stat().st_size == 0), (path, format_name)
    assert not is_earlier_output(EXAMPLES, "csv")
    assert not is_earlier_output(EXAMPLES / "missing", "csv")
