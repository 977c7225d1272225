"""`aegir eval`: figures on stdout, a verdict in the exit code."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from aegir.evaluation.group_scores import TITLES, GroupScores
from aegir.vocabulary.terms import ROW_NAMES
from command_line import run

DOCS = (Path(__file__).parents[3] / "docs" / "labelled-tables.md").read_text(encoding="utf-8")
KEYS = ("task", "columns", "micro_f1", "macro_f1", "ece", "columns_per_cpu_second")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four labelled columns; the rules know three of them, and one gold label is not ours."""
    emails = [f"user{number}@example.org" for number in range(6)]
    links = [f"https://example.org/{number}" for number in range(6)]
    lines = [
        {
            "id": "a",
            "columns": [
                {"name": None, "values": emails, "cta": "email"},
                {"name": "x", "values": ["?"]},
            ],
        },
        {
            "id": "b",
            "columns": [{"name": "link", "values": links, "cta": ["nothing", "URL"], "cpa": "url"}],
        },
        {"id": "c", "columns": [{"name": "mail", "values": emails, "cta": "email", "cpa": None}]},
        {"id": "d", "columns": [{"name": "mail", "values": emails, "cta": "Mailbox"}]},
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_json_has_the_promised_keys(data: Path):
    done = run("eval", "--task", "cta", "--data", data, "--json")
    (line,) = done.out.splitlines()
    found = json.loads(line)
    assert (done.code, done.err) == (0, "")
    assert set(KEYS) <= set(found)
    assert (found["task"], found["columns"], found["tables"]) == ("cta", 4, 4)
    assert found["micro_f1"] == 0.75
    assert found["unknown_labels"] == ["Mailbox", "nothing"]
    assert found["columns_per_cpu_second"] > 0


def test_the_report_is_readable_and_names_unknown_labels(data: Path):
    done = run("eval", "--task", "cta", "--data", data)
    assert "micro F1 0.7500" in done.out
    assert "cta with dispatch: 4 labelled columns in 4 tables" in done.out
    assert "labels that are not in the vocabulary count as missed: Mailbox, nothing\n" in done.out


@pytest.mark.parametrize(("wanted", "code"), [("0.75", 0), ("0.76", 3)])
def test_at_least_decides_the_exit_code(data: Path, wanted: str, code: int):
    done = run("eval", "--task", "cta", "--data", data, "--json", "--at-least", wanted)
    assert done.code == code
    assert json.loads(done.out)["micro_f1"] == 0.75
    assert done.said == (
        [f"aegir: micro F1 is 0.7500, below {wanted} (--at-least)"] if code else []
    )


def test_relations_are_scored_too(data: Path):
    done = run("eval", "--task", "cpa", "--data", data, "--annotator", "rules", "--json")
    found = json.loads(done.out)
    assert (found["columns"], found["micro_f1"], found["abstained"]) == (1, 0.0, 1)


def test_abstaining_lowers_coverage_not_the_number_of_columns(data: Path):
    done = run("eval", "--task", "cta", "--data", data, "--json", "--min-confidence", "1")
    found = json.loads(done.out)
    assert found["columns"] == 4
    assert found["abstained"] > 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--task", "both"), "--task is 'both'; expected cta (types), cpa (relations) or"),
        (("more.jsonl",), "more.jsonl and --data"),
        ((), "{data} has types and relations; choose with --task cta or --task cpa"),
        (
            ("--task", "cta", "--data", "no.jsonl"),
            "cannot read labelled tables from no.jsonl: No such",
        ),
        (("--task", "cta", "--annotator", "magic"), "unknown annotator 'magic'"),
    ],
)
def test_what_was_asked_wrongly_is_said_in_one_sentence(
    data: Path, arguments: tuple, sentence: str
):
    done = run("eval", "--data", data, *arguments)
    assert done.code == 2
    (line,) = done.said
    assert line.startswith(f"aegir: {sentence.format(data=data)}")


def test_labels_of_the_other_task_are_no_labels(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"columns": [{"values": ["a"], "cta": "email"}]}')
    done = run("eval", "--task", "cpa", "--data", path)
    assert done.said == ["aegir: no column has a 'cpa' label, so there is nothing to score"]


@pytest.fixture
def everyday(tmp_path: Path) -> Path:
    """An invented table in the open form; the rules know its addresses, and one name is not ours."""
    emails = [f"user{number}@example.org" for number in range(6)]
    columns = [
        {
            "name": "mail",
            "values": emails,
            "types": ["email"],
            "fine": ["email_address"],
            "relation": ["email"],
            "personal": True,
        },
        {"name": "x", "values": ["?"] * 6, "types": [], "fine": ["pay grade"], "relation": []},
    ]
    path = tmp_path / "everyday.jsonl"
    line = {"id": "staff.csv", "group": "example/staff", "domain": "hr", "columns": columns}
    path.write_text(json.dumps(line))
    return path


def test_a_file_in_the_open_form_is_scored_for_all_parts_of_the_answer(everyday: Path):
    done = run("eval", everyday, "--annotator", "rules", "--json")
    found = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert (found["task"], found["annotator"], found["columns"]) == ("open", "rules", 2)
    assert found["type"]["right"] == 1.0  # "none of these" is right for the second column
    assert (found["label"]["columns"], found["label"]["right_as_fine"]) == (1, 1.0)
    assert found["personal"] == {"columns": 1, "precision": 1.0, "recall": 1.0}
    assert [part["name"] for part in found["domains"]] == ["hr"]
    assert found["unknown_labels"] == {"pay grade": 1}
    assert found["columns_per_cpu_second"] > 0


def test_the_open_report_is_readable(everyday: Path):
    done = run("eval", everyday, "--annotator", "rules")
    assert "open with rules: 2 labelled columns in 1 table" in done.out
    assert "type        right 1.000" in done.out
    assert "labels left out, because they are not in the vocabulary: 'pay grade' 1" in done.out


def test_at_least_is_about_types_in_the_open_form(everyday: Path):
    done = run("eval", everyday, "--annotator", "rules", "--json", "--at-least", "1")
    assert (done.code, done.said) == (0, [])


def test_types_of_the_open_form_can_be_scored_like_those_of_the_other(everyday: Path):
    found = json.loads(run("eval", everyday, "--task", "cta", "--json").out)
    assert (found["task"], found["columns"]) == ("cta", 1)  # a column without any type has no class


def test_the_labels_of_a_file_decide_what_is_scored(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"columns": [{"values": ["a"]}, {"values": ["b"], "cpa": "email"}]}')
    assert json.loads(run("eval", path, "--annotator", "rules", "--json").out)["task"] == "cpa"
    path.write_text('{"columns": [{"values": ["a"]}]}')
    done = run("eval", path, "--annotator", "rules")
    assert done.said == ["aegir: no column has a 'cta' label, so there is nothing to score"]
    assert run("eval").said == [
        "aegir: no file of labelled tables is given, such as: aegir eval tables.jsonl"
    ]


@pytest.fixture
def ruled(tmp_path: Path) -> Path:
    """Invented tables with labels of rows, persons, levels and subjects, one column of which the rules get wrong."""
    lines = [
        {
            "id": f"staff <{number}>.csv",
            "group": f"example/staff{number}",
            "domain": "hr",
            "row": "employee",
            "row_class": "person",
            "person": "self",
            "subject": [0, 1],
            "columns": [
                {
                    "name": "mail",
                    "values": [f"user{number}{each}@example.org" for each in range(6)],
                    "types": ["email"],
                    "fine": ["email_address"],
                    "personal": True,
                    "personal_level": "direct",
                    "special": False,
                },
                {
                    "name": "state",
                    "values": ["?"] * 6,
                    "types": ["category"],
                    "none_too": True,
                    "personal": True,
                    "personal_level": "about",
                    "special": False,
                },
                {
                    "name": "link",
                    "values": [f"https://example.org/{number}/{each}" for each in range(6)],
                    "types": ["Date"],
                    "personal": False,
                    "special": False,
                },
            ],
        }
        for number in range(12)
    ]
    path = tmp_path / "ruled.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_rows_levels_and_subjects_are_scored_with_intervals_where_they_are_labelled(ruled: Path):
    found = json.loads(run("eval", ruled, "--annotator", "rules", "--json").out)
    # e-mail addresses are right, no type is acceptable beside category, and links are no dates
    assert found["type"]["right"] == pytest.approx(2 / 3, abs=1e-6)
    scores = found["by_group"]["scores"]
    assert set(scores) >= {"type", "personal", "identifying", "direct", "special", "row", "person"}
    assert scores["direct"]["precision"]["value"] == 1.0
    assert scores["direct"]["recall"] == {
        "value": 1.0,
        "low": pytest.approx(0.025 ** (1 / 12), abs=1e-5),
        "high": 1.0,
        "of": 12,
        "groups": 12,
    }
    assert scores["subject"]["right"]["of"] == 12
    (domain,) = found["by_group"]["domains"]
    assert (domain["name"], domain["tables"], domain["columns"]) == ("hr", 12, 36)
    assert domain["scores"]["direct"] == scores["direct"]


def test_the_report_has_the_intervals(ruled: Path, everyday: Path):
    done = run("eval", ruled, "--annotator", "rules")
    assert "95 % interval over groups" in done.out
    assert "hr, 12 tables, 36 columns" in done.out
    (line,) = [line for line in done.out.splitlines() if line.startswith("direct: precision")]
    assert line.split()[2:] == ["1.000", "0.735", "1.000", "12", "12"]
    assert "95 %" not in run("eval", everyday, "--annotator", "rules").out


def test_errors_are_written_as_a_page_to_read(ruled: Path, tmp_path: Path):
    out = tmp_path / "new" / "errors.html"
    done = run("eval", ruled, "--annotator", "rules", "--json", "--errors", out)
    assert (done.code, json.loads(done.out)["task"]) == (0, "open")
    assert done.said == [f"aegir: what is wrong is drawn in {out}"]
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "staff &lt;3&gt;.csv" in page
    assert "staff <3>.csv" not in page
    assert "https://example.org/3/0" in page
    assert "<td>Date</td><td>URL, label " in page
    assert "Types: 12 disagreements" in page


def test_errors_of_the_other_form_are_those_of_its_task(data: Path, tmp_path: Path):
    out = tmp_path / "errors.html"
    run("eval", data, "--task", "cta", "--annotator", "rules", "--errors", out)
    page = out.read_text(encoding="utf-8")
    assert "1 disagreement in 4 tables" in page
    assert "<td>Mailbox</td><td>email" in page
    assert "Relations" not in page


def test_the_labelled_file_is_not_overwritten_by_the_page(ruled: Path, tmp_path: Path):
    before = ruled.read_bytes()
    done = run("eval", ruled, "--annotator", "rules", "--errors", ruled)
    assert (done.code, done.said) == (
        2,
        [f"aegir: --errors {ruled} is the file of labelled tables; name another file"],
    )
    assert ruled.read_bytes() == before
    done = run("eval", ruled, "--annotator", "rules", "--errors", tmp_path)
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize("number", range(3))
def test_the_lines_of_the_docs_are_scored(number: int, tmp_path: Path):
    blocks = re.findall(r"^```json\n(.*?)^```", DOCS, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(json.loads(blocks[number])))
    tasks = [("--task", "cta"), ("--task", "cpa")] if number == 0 else [()]
    for task in tasks:
        done = run("eval", path, "--annotator", "rules", "--json", *task)
        assert (done.code, done.err) == (0, "")
        found = json.loads(done.out)
        assert not found["unknown_labels"]
        assert ("by_group" in found) is (number == 2)
    if number == 2:
        assert {*found["by_group"]["scores"], "names"} == {part for part, _ in TITLES}
    if number == 0:
        assert found["columns"] == 2  # the relation of the benchmark and that of a reader


def test_the_docs_name_every_row_class_and_every_score():
    (line,) = [line for line in DOCS.splitlines() if line.startswith("| `row_class` |")]
    assert all(f"`{name}`" in line for name in ROW_NAMES)
    for field in fields(GroupScores):
        assert f"`{field.name}`" in DOCS
