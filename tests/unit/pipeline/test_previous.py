"""Earlier answers as a prior: kept while they stay plausible, given up for a real change."""

from dataclasses import replace
from pathlib import Path

import pytest

from aegir.answers.annotation import TableAnnotation
from aegir.pipeline.previous import KEPT, PreviousAnswers
from aegir.pipeline.run import annotate
from aegir_rl.base.errors import UsageError

SNAPSHOTS = Path(__file__).parents[3] / "examples" / "snapshots"


@pytest.fixture(scope="module")
def answer() -> TableAnnotation:
    return annotate(SNAPSHOTS / "orders_2025.csv", memory=False)[0]


def earlier(answer: TableAnnotation, index: int, **fields: object) -> PreviousAnswers:
    """Answers of an earlier run that differ in one column."""
    columns = list(answer.columns)
    columns[index] = replace(columns[index], **fields)
    return PreviousAnswers([replace(answer, columns=tuple(columns))])


def test_an_earlier_answer_that_stays_plausible_is_kept_and_said_to_be(answer: TableAnnotation):
    quantity = answer.columns[4]
    assert quantity.label == "count"
    previous = earlier(answer, 4, label="Number", fine_type=None)
    kept = previous.apply(answer).columns[4]
    assert (kept.label, kept.type, kept.fine_type) == ("Number", "Number", None)
    assert kept.confidence == quantity.confidence
    assert kept.runners_up[0].label == "count"
    assert kept.reasons[-1] == KEPT


def test_an_answer_that_is_contradicted_is_given_up(answer: TableAnnotation):
    previous = earlier(
        answer,
        4,
        label="city",
        type="addressLocality",
        fine_type="city",
        kind="place",
        confidence=0.99,
    )
    assert previous.apply(answer) == answer


def test_columns_and_tables_that_are_new_get_their_own_answer(answer: TableAnnotation):
    renamed = replace(answer, table="other.csv")
    assert earlier(answer, 4, label="Number").apply(renamed) == renamed
    assert PreviousAnswers([]).apply(answer) == answer


@pytest.fixture
def impersonal(answer: TableAnnotation) -> TableAnnotation:
    """An answer whose column 6 is not personal, but nearly so."""
    columns = list(answer.columns)
    columns[6] = replace(
        columns[6],
        personal=False,
        personal_level=None,
        personal_reason=None,
        personal_confidence=0.45,
    )
    return replace(answer, columns=tuple(columns))


def test_personal_is_kept_within_the_margin(impersonal: TableAnnotation):
    previous = earlier(
        impersonal, 6, personal=True, personal_level="about", personal_confidence=0.65
    )
    kept = previous.apply(impersonal).columns[6]
    assert (kept.personal, kept.personal_level) == (True, "about")


def test_what_is_kept_as_not_personal_is_of_no_special_category(impersonal: TableAnnotation):
    columns = list(impersonal.columns)
    columns[6] = replace(
        columns[6], personal=True, personal_level="about", special=True, special_category="health"
    )
    special = replace(impersonal, columns=tuple(columns))
    kept = PreviousAnswers([impersonal]).apply(special).columns[6]
    assert (kept.personal, kept.special, kept.special_category) == (False, False, None)
    again = PreviousAnswers([special]).apply(special).columns[6]
    assert (again.special, again.special_category) == (True, "health")


def test_answers_written_by_annotate_are_read_and_kept(tmp_path: Path):
    file = tmp_path / "answers.jsonl"
    file.write_text(annotate(SNAPSHOTS / "orders_2024.csv").to("jsonl"))
    new = annotate(SNAPSHOTS / "orders_2024.csv", previous=str(file))
    assert new.to("csv") == annotate(SNAPSHOTS / "orders_2024.csv").to("csv")


@pytest.mark.parametrize("name", ["missing.jsonl", "table.csv"])
def test_what_holds_no_answers_is_refused(tmp_path: Path, name: str):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="cannot be kept"):
        annotate(SNAPSHOTS / "orders_2024.csv", previous=tmp_path / name)
