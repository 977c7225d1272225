"""`aegir review`: the dialogue with piped answers, what is remembered, shared and used by `annotate` and `types learn`."""

import json
from pathlib import Path

import pytest

from command_line import Finished, refused, run

RULES = ("--annotator", "rules")
PEOPLE = "who,mail,born,note\n" + "".join(
    f"Person {n},p{n}@example.org,19{n + 40}-02-1{n % 9},{'red' if n % 2 else 'blue'}\n"
    for n in range(30)
)


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up table, and a home without reviews."""
    monkeypatch.setenv("AEGIR_HOME", str(tmp_path / "home"))
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE)
    return file


def review(file: Path, answers: str, *options: object) -> Finished:
    return run("review", file, *RULES, *options, stdin=answers.encode())


def annotated(file: Path, *options: object) -> dict[str, dict]:
    done = run("annotate", file, *RULES, "--json", *options)
    assert done.code == 0, done.err
    return {column["name"]: column for column in json.loads(done.out)["columns"]}


def test_what_was_said_is_used_from_then_on_also_when_the_file_has_grown(people: Path):
    before = annotated(people)
    assert not (people.parent / "home").exists()  # looking for a memory makes none
    order = [line for line in review(people, "q\n", "--all").said if ", column " in line]
    assert len(order) == 1
    done = review(people, "nonsense\ncategory\n", "--by", "ada", "--json")
    assert done.code == 0
    assert "unknown label 'nonsense'" in done.err
    (said,) = map(json.loads, done.out.splitlines())
    name = said["column"]["name"]
    assert (said["by"], said["label"], said["said"]) == ("ada", "category", before[name]["label"])
    people.write_text(PEOPLE + "".join(PEOPLE.splitlines(keepends=True)[1:]) * 40)
    after = annotated(people)
    assert (after[name]["label"], after[name]["confidence"]) == ("category", 1)
    assert after[name]["reviewed"]["by"] == "ada"
    assert "reviewed" not in annotated(people, "--no-memory")[name]
    others = {key for key in after if key != name}
    assert all("reviewed" not in after[key] for key in others)


def test_every_reply_is_understood(people: Path):
    columns = json.loads(run("annotate", people, *RULES, "--json").out)["columns"]
    done = review(people, "a\nn\n+Shade/name\np\na\n", "--all", "--json", "--by", "ada")
    assert (
        "nothing was answered that could be kept" in done.err
    )  # the first column, which is the least sure
    reviews = [json.loads(line) for line in done.out.splitlines()]
    assert len(reviews) == len(columns) == 4
    by_name = {column["name"]: column for column in columns}
    labels = {each["column"]["name"]: each["label"] for each in reviews}
    assert "Shade/name" in labels.values()
    assert None in labels.values()
    flagged = next(each for each in reviews if each["personal"] is not None)
    assert flagged["personal"] is not by_name[flagged["column"]["name"]]["personal"]
    skipped = review(people, "s\n\n99\nq\n", "--all")
    assert "99 is not in the list" in skipped.err
    assert "aegir: 0 reviews kept in " in skipped.err
    assert "nothing to ask" in review(people, "").err


def test_reviews_are_shared_as_lines_and_every_bad_input_is_one_sentence(
    people: Path, tmp_path: Path
):
    refused(run("review", "history"), "there is no review memory")
    refused(run("annotate", people, "--memory", tmp_path / "x.db"), "there is no review memory")
    review(people, "category\nstatus\n", "--by", "ada")
    out, other = tmp_path / "reviews.jsonl", tmp_path / "other.db"
    assert run("review", "export", "--out", out).code == 0
    assert out.read_text() == run("review", "export").out
    assert run("review", "import", out, "--memory", other).said == [
        f"aegir: 2 reviews of 2 added to {other}"
    ]
    assert run("review", "import", out, "--memory", other).said == [
        f"aegir: 0 reviews of 2 added to {other}"
    ]
    done = run("review", "history", "people.csv", "--memory", other)
    assert [line.split("  ")[1:3] for line in done.out.splitlines()] == [["ada", "people.csv"]] * 2
    out.write_text(out.read_text() + "{}\n")
    refused(run("review", "import", out), f"{out}, line 3 is no review")
    refused(run("review", "import", tmp_path / "missing"), "cannot be read")
    refused(run("review", tmp_path / "missing.csv", *RULES), "there is no file")


def test_reviewed_columns_teach_a_type_without_further_examples(people: Path):
    refused(run("types", "learn", "Shade/name", "--reviewed"), "was reviewed as 'Shade/name'")
    refused(run("types", "learn", "Shade/name"), "--examples names no column")


def test_reviews_are_outcomes_of_the_decisions_that_review_logs(people: Path, tmp_path: Path):
    memory = tmp_path / "memory.db"
    done = run("review", people, "--memory", memory, "--all", stdin=b"s\na\n")
    assert done.code == 0, done.err
    log = tmp_path / "log.jsonl"
    assert run("rl", "export", "--store", memory, "--output", log).code == 0
    episodes = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(episodes) == 4
    assert [each.get("rewards", {}).get("accuracy") for each in episodes].count(1.0) == 1
    # A later run that is logged elsewhere knows the outcome of the reviewed column, too.
    run("annotate", people, "--memory", memory, "--log-decisions", tmp_path / "new.db", "--json")
    run("rl", "export", "--store", tmp_path / "new.db", "--output", log)
    rewards = [json.loads(line).get("rewards", {}) for line in log.read_text().splitlines()]
    assert [each.get("accuracy") for each in rewards].count(1.0) == 1
