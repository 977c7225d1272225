"""Conventions learnt from reviews of synthetic tables."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from aegir.cli.rl_update import update_conventions
from aegir.memory.conventions import Conventions, learn, update
from aegir.memory.review import Review
from aegir.memory.store import ReviewStore
from aegir.tables.fingerprint import fingerprint_table
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import kind_of
from aegir_rl.base.errors import CheckFailed, UsageError


def reviews_of(tables: int, label_of_rank: list[str]) -> list[Review]:
    """In every table `rank` and `amount` were answered Number; the latter is."""
    found = []
    for number in range(tables):
        table = Table(
            f"t{number}.csv",
            (
                Column("rank", tuple(map(str, range(1, 9)))),
                Column("amount", tuple(str(7 * i + number) for i in range(8))),
            ),
        )
        labels = (label_of_rank[number % len(label_of_rank)], "Number")
        for column, label in zip(fingerprint_table(table), labels, strict=True):
            found.append(
                Review(
                    id=f"{number}-{column.index}",
                    at="2030-01-01T00:00:00.000000+00:00",
                    by="synthetic",
                    label=label,
                    kind=kind_of(label),
                    personal=None,
                    level=None,
                    said="Number",
                    table=table.name,
                    source=f"folder{number}/{table.name}",
                    column=column,
                )
            )
    return found


def test_a_habit_of_many_tables_passes_the_gate_and_other_headers_keep_their_answer() -> None:
    reviews = reviews_of(20, ["IdentifierAT"])
    found = update(reviews)
    assert found.is_better
    assert (found.before, found.after) == (0.5, 1.0)
    rank, amount = reviews[0].column, reviews[1].column
    assert found.conventions.name("Number", rank) == "IdentifierAT"
    assert found.conventions.name("Number", amount) == "Number"
    assert found.conventions.name("Date", rank) == "Date"


def test_habits_that_contradict_each_other_are_refused_with_the_bound() -> None:
    found = update(reviews_of(20, ["IdentifierAT", "Number"]))
    assert not found.is_better
    assert "the lower bound is not above 0" in found.sentence


def test_two_tables_are_too_few_for_a_rule_and_one_cannot_be_judged() -> None:
    assert learn(reviews_of(2, ["IdentifierAT"])).rules == ()
    with pytest.raises(UsageError, match="at least 2 are needed"):
        update(reviews_of(1, ["IdentifierAT"]))


def test_a_saved_file_is_read_again_and_the_one_before_is_kept(tmp_path: Path) -> None:
    found = update(reviews_of(20, ["IdentifierAT"]))
    path = tmp_path / "memory.db.conventions.json"
    assert found.conventions.save(path, found.gain) is None
    first = path.read_bytes()
    kept = found.conventions.save(path, found.gain)
    assert kept is not None
    assert kept.read_bytes() == first
    assert Conventions.load(path) == found.conventions
    path.write_text("{}")
    with pytest.raises(UsageError, match="holds no conventions"):
        Conventions.load(path)


def remembered(tmp_path: Path, reviews: list[Review]) -> str:
    location = str(tmp_path / "memory.db")
    with ReviewStore.open(location) as store:
        store.add(reviews)
    return location


def test_the_verb_writes_the_rules_that_annotate_then_follows(tmp_path: Path) -> None:
    location = remembered(tmp_path, reviews_of(20, ["IdentifierAT"]))
    result = CliRunner().invoke(update_conventions, ["--memory", location])
    assert result.exit_code == 0, result.output
    conventions = Conventions.beside(location)
    assert conventions is not None
    assert conventions.name("Number", reviews_of(1, ["Number"])[0].column) == "IdentifierAT"


def test_the_verb_fails_with_the_bound_and_writes_nothing_without_a_gain(tmp_path: Path) -> None:
    location = remembered(tmp_path, reviews_of(20, ["IdentifierAT", "Number"]))
    result = CliRunner().invoke(update_conventions, ["--memory", location])
    assert isinstance(result.exception, CheckFailed)
    assert Conventions.beside(location) is None
