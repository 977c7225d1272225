"""Decisions about labelled tables with the outcomes of all workers, and corrections of logged ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from aegir.evaluation.collecting import collect
from aegir.pipeline.pipeline import load_pipeline
from aegir.pipeline.plan import Explore
from aegir.pipeline.settings import AnnotationSettings
from aegir.routing.corrections import read_corrections, record_corrections
from aegir.routing.exploration import Exploration
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import is_right
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import EpisodeBatch
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.store import DecisionStore

MAILS = Column("mail", tuple(f"user{number}@example.org" for number in range(5)))
BOOKS = Table("books.csv", (MAILS, Column("born", ("2001-02-03", "1999-12-31"))))


def labelled(*types: tuple[str, ...] | None) -> LabelledTable:
    return LabelledTable(BOOKS, tuple(ColumnLabels(each) for each in types), {}, group="site")


def test_labelled_columns_are_logged_with_the_outcome_of_every_worker(tmp_path: Path):
    plain = load_pipeline(AnnotationSettings())
    pipeline = plain.with_plan(Explore(plain.plan, Exploration("epsilon", 0.5)))
    tables = [labelled(("email",), None), labelled(("Book/name",), ("Date",))]
    episodes = collect(pipeline, tables, "run")
    assert [episode.id for episode in episodes] == [
        "run/0/books.csv/0",
        "run/1/books.csv/0",
        "run/1/books.csv/1",
    ]
    # the rules leave no doubt about e-mail addresses, whoever is asked
    outcomes = {"accuracy", *(f"accuracy_of.{worker}" for worker in pipeline.plan.workers)}
    assert episodes[0].rewards == dict.fromkeys(sorted(outcomes, key=len), 1.0)
    assert episodes[1].rewards == dict.fromkeys(sorted(outcomes, key=len), 0.0)
    assert episodes[1].decisions[-1].gold == ("Book/name",)
    assert {(episode.group, episode.source) for episode in episodes} == {("site", "real")}
    with DecisionStore.open(tmp_path / "log.db") as store:
        store.append(episodes)
        log = LoggedDecisions.from_batch(EpisodeBatch.from_episodes(store.read()))
    assert (log.propensity > 0).all()
    assert (log.baseline >= 0).all()


def test_a_column_that_has_no_type_is_right_without_one():
    episodes = collect(load_pipeline(AnnotationSettings()), [labelled((), None)], "run")
    assert episodes[0].decisions[-1].gold == ("none of these",)
    assert episodes[0].rewards["accuracy"] == 0.0
    both = replace(labelled(("Date",), None), labels=(ColumnLabels(("Date",), none_too=True),) * 2)
    gold = collect(load_pipeline(AnnotationSettings()), [both], "run")[0].decisions[-1].gold
    assert gold == ("Date", "none of these")


@pytest.mark.parametrize(
    ("answered", "correct", "right"),
    [
        ("email", "email", True),
        ("isbn", "IdentifierAT", True),  # a fine type below it
        ("isbn", "email", False),
        ("IdentifierAT", "isbn", False),
        ("email", "Book/name", False),
        ("a taught type", "technical", False),
        (None, "email", False),
    ],
)
def test_an_answer_is_right_if_it_is_the_correction_or_below_it(
    answered: str | None, correct: str, right: bool
):
    assert is_right(answered, correct) is right


def logged(path: Path) -> DecisionStore:
    store = DecisionStore.open(path)
    (scores,) = load_pipeline(AnnotationSettings()).score([BOOKS])
    routed = scores.routed
    assert routed is not None
    store.append([*routed.episodes(["email", "iso_date"], run="first/0")])
    store.append([*routed.episodes(["email", "isbn"], run="second/0")])
    return store


@pytest.mark.parametrize("name", ["fix.csv", "fix.jsonl"])
def test_corrections_become_outcomes_of_the_last_run(tmp_path: Path, name: str):
    file = tmp_path / name
    file.write_text(
        "table,column,label\nbooks.csv,mail,email\nbooks.csv,1,Date\n"
        if name.endswith("csv")
        else '{"table": "books.csv", "column": "mail", "label": "email"}\n\n'
        '{"table": "books.csv", "column": 1, "label": "Date"}\n'
    )
    with logged(tmp_path / "log.db") as store:
        ids = record_corrections(store, read_corrections(file))
        assert ids == ["second/0/books.csv/0", "second/0/books.csv/1"]
        found = {episode.id: episode for episode in store.read()}
        assert found[ids[0]].rewards["accuracy"] == 1
        assert found[ids[1]].rewards["accuracy"] == 0  # it was called an ISBN
        assert found[ids[1]].decisions[-1].gold == ("Date",)
        assert "accuracy" not in found["first/0/books.csv/0"].rewards
        assert (
            record_corrections(store, read_corrections(file), "first")[1] == "first/0/books.csv/1"
        )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "holds no corrections"),
        ("table,label\nbooks.csv,email\n", "line 2 has no 'column'"),
        ("table,column,label\nbooks.csv,mail,emial\n", "line 2 has the unknown label 'emial'; did"),
        (
            "table,column,label\nbook.csv,mail,email\n",
            "is about the table 'book.csv' (there is 'bo",
        ),
        ("table,column,label\nbooks.csv,post,email\n", "is about the column 'post' of books.csv"),
    ],
)
def test_corrections_that_belong_to_nothing_are_refused(tmp_path: Path, text: str, sentence: str):
    file = tmp_path / "fix.csv"
    file.write_text(text)
    with (
        logged(tmp_path / "log.db") as store,
        pytest.raises(UsageError) as refused,
    ):
        record_corrections(store, read_corrections(file))
    assert sentence in str(refused.value)
