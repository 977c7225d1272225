"""The store of reviews: durable, append-only, shared as JSON lines; outcomes of logged decisions; what it refuses."""

import json
import random
import sqlite3
from importlib import import_module
from pathlib import Path

import pytest

from aegir.memory.examples import reviewed_examples
from aegir.memory.location import load_memory
from aegir.memory.store import ReviewStore, read_lines, write_lines
from aegir.pipeline.run import prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.rules.annotator import RulesAnnotator
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import LABEL, Decision, Episode
from aegir_rl.episode.decisions import id_part
from reviewed_tables import answer_for, made_up_table

ROOT = Path(__file__).parents[3]
TABLE = made_up_table(20)
ANSWER = answer_for(TABLE, ("code", None, "item_price", "category"))


def record(store: ReviewStore, index: int, label: str | None, by: str = "ada", **fields: object):
    return store.record(TABLE, index, label, answer=ANSWER.columns[index], by=by, **fields)


def test_reviews_are_kept_in_one_history_and_cannot_be_changed(tmp_path: Path):
    place = tmp_path / "new folder" / "memory.db"
    with ReviewStore.open(place) as store:
        first, second = record(store, 3, "status"), record(store, 3, None, "bob", personal=True)
        assert (
            store.history("orders.csv", "state")
            == store.history("lake/orders.csv", "3")
            == [first, second]
        )
        assert store.history("other.csv") == []
    assert (first.said, first.verdict, second.verdict) == ("category", "corrected", "none")
    with sqlite3.connect(place) as raw, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw.execute("DELETE FROM reviews")


def test_no_sketch_of_personal_values_is_kept(tmp_path: Path):
    with ReviewStore.open(tmp_path / "memory.db") as store:
        assert set(record(store, 1, "email_address", personal=True).column.values) == {"0"}
        assert set(record(store, 3, "status").column.values) != {"0"}


def test_a_memory_that_does_not_exist_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AEGIR_MEMORY", str(tmp_path / "no" / "memory.db"))
    assert load_memory() is None
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_memory_is_one_sentence_that_says_how_to_go_on(tmp_path: Path):
    (tmp_path / "memory.db").write_bytes(b"no database" * 100)
    with pytest.raises(
        UsageError, match=r"^the review memory cannot be read \(.*\); --no-memory leaves it out$"
    ):
        load_memory(str(tmp_path / "memory.db"))


def test_histories_merge_and_the_last_review_counts_in_both(tmp_path: Path):
    with ReviewStore.open(tmp_path / "a.db") as ours, ReviewStore.open(tmp_path / "b.db") as theirs:
        record(ours, 3, "status")
        record(theirs, 3, "currency_code", "bob")
        lines = [*write_lines(ours.read()), *write_lines(theirs.read())]
        assert ours.add(read_lines(lines, "both.jsonl")) == 1
        assert theirs.add(read_lines(reversed(lines), "both.jsonl")) == 1
        assert ours.add(read_lines(lines, "both.jsonl")) == 0
        assert list(write_lines(ours.read())) == list(write_lines(theirs.read())) == lines
        for store in (ours, theirs):
            assert store.memory().apply(TABLE, ANSWER).columns[3].label == "currency_code"


def test_a_damaged_line_is_refused_with_its_number(tmp_path: Path):
    with ReviewStore.open(tmp_path / "memory.db") as store:
        line = record(store, 3, "status").to_json()
    good = json.loads(line)
    cases = {
        line[:-9]: "is no JSON",
        "[]": "is no review",
        json.dumps({**good, "form": 9}): "is a review of form 9, but form 2 is expected",
        json.dumps({**good, "at": "yesterday"}): "is a damaged review",
        json.dumps({**good, "at": "2030-01-01T10:00:00+02:00"}): "is a damaged review",
        json.dumps(
            {**good, "id": "\ud800"}
        ): "is a damaged review (the id '\\ud800'; expected plain text)",
        json.dumps({**good, "kind": "colour"}): "is a damaged review (the kind 'colour')",
        json.dumps({key: good[key] for key in good if key != "by"}): "it has no 'by'",
        json.dumps({**good, "column": {**good["column"], "values": "0"}}): "is a damaged review",
        json.dumps({**good, "by": "eve"}): "has the id of an earlier line",
    }
    for damaged, sentence in cases.items():
        with pytest.raises(UsageError) as refused:
            read_lines([line, "", damaged], "team.jsonl")
        assert str(refused.value).startswith("team.jsonl, line 3 ")
        assert sentence in str(refused.value)


def test_wrong_labels_and_names_are_refused_before_anything_is_stored(tmp_path: Path):
    with ReviewStore.open(tmp_path / "memory.db") as store:
        with pytest.raises(
            UsageError, match="unknown label 'emial_address'; did you mean 'email_address'"
        ):
            record(store, 1, "emial_address")
        with pytest.raises(UsageError, match="by is empty"):
            record(store, 1, "email_address", " ")
        assert store.read() == []
        assert record(store, 1, "Ward/bed", own_types={"Ward/bed": "place"}).kind == "place"


def test_a_review_is_the_outcome_of_the_last_logged_decision_about_the_column(tmp_path: Path):
    def logged(run: str, label: str) -> Episode:
        decision = Decision(action={"worker": "ngrams", LABEL: label}, propensity=0.5)
        return Episode(
            id=f"{run}/0/orders.csv/3",
            decisions=(decision,),
            source="real",
            group="orders.csv",
            task="state",
        )

    with ReviewStore.open(tmp_path / "memory.db") as store:
        store.decisions.append([logged("a", "status"), logged("b", "category")])
        record(store, 3, "status")
        record(store, 2, "item_price")  # no decision is about it
        before, after = store.decisions.read()
    assert "accuracy" not in before.rewards
    assert (after.rewards["accuracy"], after.decisions[-1].gold, after.source) == (
        0.0,
        ("status",),
        "real",
    )


def test_decisions_about_a_table_with_an_odd_name_are_found(tmp_path: Path):
    table = Table("odd.db#a\nb\u00a0_%", (Column("x", ("1", "2")),))
    episode = Episode(
        id=f"run/{id_part(table.name)}/0",
        decisions=(Decision(action={"worker": "rules", "label": "number"}),),
        source="real",
        group=table.name,
        task="x",
    )
    with ReviewStore.open(tmp_path / "memory.db") as store:
        store.decisions.append([episode])
        assert store.decisions.last_decision(table.name, 0, "x") == episode
        assert store.decisions.last_decision("odd.db#a\nb\u00a0x%", 0, "x") is None


def test_reviewed_columns_are_examples_as_long_as_their_file_is_there(tmp_path: Path):
    file = tmp_path / "orders.csv"
    file.write_text("code,state\nA,open\n")
    here = made_up_table(20, name="orders.csv")
    here = type(here)(here.name, here.columns, source=str(file))
    with ReviewStore.open(tmp_path / "memory.db") as store:
        for table, index, label in (
            (here, 0, "Lot/code"),
            (TABLE, 0, "Lot/code"),
            (here, 3, "status"),
        ):
            answer = answer_for(table, (None, None, None, "Lot/code")).columns[index]
            store.record(
                table, index, label, answer=answer, by="ada", own_types={"Lot/code": "identifier"}
            )
        found = reviewed_examples(store.memory(), "Lot/code")
    assert found.examples == (f"{file}:code",)
    assert found.against == (f"{file}:state",)
    assert found.gone == ("lake/orders.csv",)


def test_a_killed_reviewer_loses_no_acknowledged_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.syspath_prepend(
        ROOT
    )  # benchmarks are not installed; `benchmarks review_memory` kills 100
    writers, reviewers = (
        import_module(f"benchmarks.{name}") for name in ("killed_writers", "killed_reviewers")
    )
    address = str(tmp_path / "killed.db")
    acknowledged = writers.kill_writers(address, 3, random.Random(0), reviewers.__file__)
    assert len(acknowledged) >= 3  # reviewers were killed at work, not before it
    assert reviewers.count_lost(address, acknowledged) == 0


def without_level(line: str) -> str:
    """A line as earlier versions wrote it."""
    old = {key: value for key, value in json.loads(line).items() if key != "level"}
    return json.dumps({**old, "form": 1}, sort_keys=True, separators=(",", ":"))


def test_a_review_keeps_the_level_of_personal_data(tmp_path: Path):
    with ReviewStore.open(tmp_path / "memory.db") as store:
        assert record(store, 1, "email_address", personal=True).level == "direct"
        assert record(store, 3, "city", personal=True).level == "indirect"
        assert record(store, 3, "city", personal=True, level="about").level == "about"
        assert record(store, 3, "city", personal=False).level is None
        assert store.memory().note is None
        column = store.memory().apply(TABLE, ANSWER).columns[1]
        assert (column.personal, column.personal_level) == (True, "direct")


def test_reviews_without_levels_get_those_of_their_labels_and_that_is_said_once(tmp_path: Path):
    with ReviewStore.open(tmp_path / "new.db") as store:
        personal = record(store, 3, "city", personal=True)
        plain = record(store, 2, "item_price")
        lines = [without_level(line) for line in write_lines(store.read())]
        assert store.add(read_lines(lines, "old.jsonl")) == 0  # the same reviews
    with ReviewStore.open(tmp_path / "old.db") as store:
        with store._database.transaction() as run:
            for review, line in zip((personal, plain), lines, strict=True):
                run(
                    "INSERT INTO reviews (id, recorded_at, body) VALUES (?, ?, ?)",
                    (review.id, review.at, line),
                )
        assert store.read() == [personal, plain]
        assert store.add([personal, plain]) == 0
        memory = store.memory()
    assert memory.note is not None
    assert memory.note.startswith("1 review of an earlier version")
    assert memory.apply(TABLE, ANSWER).columns[3].personal_level == "indirect"
    said: list[str] = []
    prepare(AnnotationSettings(), annotator=RulesAnnotator(), memory=memory, say=said.append)
    assert said == [memory.note]


@pytest.mark.parametrize(
    "fields", [{"level": "near"}, {"level": None}, {"level": "about", "personal": False}]
)
def test_a_level_that_does_not_go_with_the_rest_is_refused(tmp_path: Path, fields: dict):
    with ReviewStore.open(tmp_path / "memory.db") as store:
        line = record(store, 3, "city", personal=True).to_json()
    with pytest.raises(UsageError, match=r"is a damaged review \(the level is"):
        read_lines([json.dumps({**json.loads(line), **fields})], "team.jsonl")
