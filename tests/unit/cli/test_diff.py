"""`aegir diff`: answers and tables, exit codes of the gate, and every bad input in one sentence."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aegir.cli.diff import diff
from command_line import refused, run

ROOT = Path(__file__).parents[3]
RULES = ("--annotator", "rules", "--no-memory")
OLD = "id,mail,when\n" + "".join(f"{n},p{n}@example.org,2024-01-{n + 10}\n" for n in range(15))


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A made-up table, a later version with a renamed and a new column, and answers for the first."""
    folder = tmp_path_factory.mktemp("versions")
    files = {name: folder / name for name in ("old.csv", "new.csv", "old.json", "old.jsonl")}
    files["old.csv"].write_text(OLD)
    header, *rows = OLD.splitlines()
    lines = [
        header.replace("mail", "contact") + ",phone",
        *(f"{row},+49 30 9018200{n % 10}" for n, row in enumerate(rows)),
    ]
    files["new.csv"].write_text("\n".join(lines) + "\n")
    for name in ("json", "jsonl"):
        run("annotate", files["old.csv"], *RULES, "--format", name, "--out", files[f"old.{name}"])
    return files


@pytest.mark.parametrize("old", ["old.csv", "old.json", "old.jsonl"])
def test_answers_and_tables_are_compared_alike(versions: dict[str, Path], old: str):
    done = run("diff", versions[old], versions["new.csv"], *RULES, "--json")
    assert done.code == 0, done.err
    changes = [json.loads(line) for line in done.out.splitlines()]
    assert [(each["change"], each["column"]) for each in changes] == [
        ("renamed", "contact"),
        ("added", "phone"),
        ("personal", "phone"),
    ]
    assert run("diff", versions[old], versions["old.csv"], *RULES).out == "no changes\n"


@pytest.mark.parametrize(
    ("fail_on", "code"), [("", 0), ("type,removed", 0), ("personal, type", 3), ("any", 3)]
)
def test_the_gate_closes_when_a_named_change_happened(
    versions: dict[str, Path], fail_on: str, code: int
):
    done = run("diff", versions["old.json"], versions["new.csv"], *RULES, "--fail-on", fail_on)
    assert done.code == code
    assert "3 changes" in done.out
    assert ("1 newly personal" in (done.err or "1 newly personal")) == (code in (0, 3))


def test_the_report_can_be_written_as_markdown_to_a_file(versions: dict[str, Path], tmp_path: Path):
    out = tmp_path / "report.md"
    run("diff", versions["old.json"], versions["new.csv"], *RULES, "-f", "markdown", "--out", out)
    assert "| new.csv | phone | newly personal |" in out.read_text()


def test_chosen_tables_of_databases_and_answers_are_compared(tmp_path: Path):
    rows = "INSERT INTO {} VALUES ('ann@example.org', 1), ('bob@example.org', 2)"
    for name, email in (("old.db", "mail"), ("new.db", "contact")):
        with closing(sqlite3.connect(tmp_path / name)) as database:
            for table in ("users", "visits"):
                database.execute(f"CREATE TABLE {table} ({email} TEXT, n INTEGER)")
                database.execute(rows.format(table))
            database.commit()
    old, new = (f"sqlite:///{tmp_path}/{name}" for name in ("old.db", "new.db"))
    answers = tmp_path / "old.jsonl"
    run("annotate", old, *RULES, "--format", "jsonl", "--out", answers)
    assert run("diff", old, new, *RULES, "--json").out.count("renamed") == 2
    for side in (old, answers):
        done = run("diff", side, new, *RULES, "--json", "--tables", "us*", "--fail-on", "renamed")
        assert done.code == 3
        (change,) = map(json.loads, done.out.splitlines())
        assert (change["table"], change["change"]) == ("new.db#users", "renamed")
    refused(run("diff", old, new, *RULES, "--tables", "nope"), "has no table nope; it has 2 tables")
    refused(run("diff", answers, answers, "--tables", "users"), "--tables chooses tables of")


def test_no_password_of_an_address_is_shown(versions: dict[str, Path]):
    done = run("diff", "postgresql://ann:s3cret@127.0.0.1:9/shop", versions["old.json"], *RULES)
    refused(done, "the database postgresql://ann@127.0.0.1:9/shop cannot be reached")
    assert "s3cret" not in done.err


def test_bad_input_is_one_sentence(versions: dict[str, Path], tmp_path: Path):
    old, new = versions["old.json"], versions["new.csv"]
    refused(
        run("diff", old, new, "--fail-on", "persnal"),
        "unknown change 'persnal'; did you mean 'personal'?",
    )
    refused(run("diff", old, tmp_path / "no.csv", *RULES), "there is no file or folder")
    other = tmp_path / "other.json"
    other.write_text(old.read_text().replace('"form": 2', '"form": 7'))
    refused(run("diff", other, old), "is of form 7, but form 2 is expected")
    other.write_text(old.read_text()[:-40])
    refused(run("diff", other, old), "cannot be read as an answer")
    table = tmp_path / "answers.csv"
    run("annotate", versions["old.csv"], *RULES, "--format", "csv", "--out", table)
    refused(run("diff", table, old), "holds answers as csv; only json and jsonl can be compared")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 no table")
    refused(run("diff", old, broken, *RULES), "broken.parquet")
    refused(run("diff", "-", old, *RULES), "standard input cannot be compared")


def test_hook_and_workflow_call_the_verb_with_options_that_it_has():
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (arguments,) = re.findall(r"entry: aegir diff\n  args: \[(.*)\]", hook)
    arguments = arguments.replace('"', "").split(", ")
    context = diff.make_context("diff", arguments)
    assert context.params["fail_on"] == "personal,removed"
    workflow = (ROOT / "examples" / "ci" / "github-workflow.yml").read_text()
    (command,) = re.findall(r"aegir diff (aegir-answers\.jsonl data/\n.*)\n", workflow)
    assert diff.make_context("diff", command.split()).params["format_name"] == "markdown"
