"""From answers to plans: what is masked, kept or listed, and why."""

from dataclasses import replace

import pytest

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.reviewing import Reviewed
from aegir.masking.plan import ColumnPlan, MaskPlan, plan_masking
from aegir.masking.policy import LIST, MaskPolicy, load_policy
from aegir.tables.table import Column, Table
from masked_columns import answer_column, harmless_column

POLICY = load_policy(None)
LISTING = replace(POLICY, unsure=LIST, free_text=LIST)


def planned(
    *columns: ColumnAnnotation,
    policy: MaskPolicy = POLICY,
    probabilities: list[float] | None = None,
    values: tuple[str, ...] = ("a", "b"),
    subject: int | None = 0,
) -> MaskPlan:
    placed = tuple(replace(column, index=index) for index, column in enumerate(columns))
    table = Table("t", tuple(Column(column.name, values) for column in placed))
    answer = TableAnnotation("t", None, subject, placed, "made up")
    return plan_masking(table, answer, probabilities, policy)


def only(plan: MaskPlan) -> ColumnPlan:
    (column,) = plan.columns
    return column


@pytest.mark.parametrize(
    ("column", "probability", "why"),
    [
        (harmless_column(), 0.3, "personal with probability 0.30"),
        (harmless_column(fine_type="street_address"), 0.01, "street_address is mostly personal"),
        (harmless_column(runners_up=(Guess("full_name", 0.3),)), 0.01, "it may be full_name (0.30)"),
        (harmless_column(label=None, fine_type=None, kind=None), None, "nothing is known about it"),
    ],
)  # fmt: skip
def test_an_unsure_column_is_masked_or_listed(
    column: ColumnAnnotation, probability: float | None, why: str
):
    given = None if probability is None else [probability]
    masked = only(planned(column, probabilities=given))
    assert (masked.action, masked.state, masked.why) == ("redact", "masked", f"unsure: {why}")
    listed = only(planned(column, probabilities=given, policy=LISTING))
    assert (listed.action, listed.state) == ("keep", "listed")
    tokens = only(planned(column, probabilities=given, policy=replace(POLICY, unsure="tokenise")))
    assert tokens.action == "tokenise"


@pytest.mark.parametrize(
    "column",
    [
        harmless_column(),
        harmless_column(runners_up=(Guess("full_name", 0.1), Guess("city", 0.4))),
        harmless_column(label=None, fine_type=None, kind=None, datatype="integer"),
        harmless_column(datatype="boolean", fine_type="full_name"),
    ],
)
def test_a_column_that_is_hardly_personal_is_kept(column: ColumnAnnotation):
    kept = only(planned(column, probabilities=[0.2]))
    assert (kept.action, kept.state, kept.why) == ("keep", "kept", "not personal")


def test_what_a_person_reviewed_is_not_unsure():
    reviewed = Reviewed("accepted", "ada", "2026-01-01T00:00:00+00:00", "status", 0.4)
    column = harmless_column(fine_type="full_name", reviewed=reviewed)
    assert only(planned(column, probabilities=[0.4])).state == "kept"


def test_prose_is_masked_or_listed_only_beside_direct_columns():
    prose = harmless_column(label="free_text", fine_type="free_text", kind="text")
    assert only(planned(prose)).state == "kept"
    assert planned(answer_column(), prose).columns[1].action == "redact"
    assert planned(answer_column(), prose, policy=LISTING).columns[1].state == "listed"


def test_a_column_that_the_policy_names_follows_it_before_all_else():
    policy = replace(POLICY, columns={"e*": "keep", "#2": "redact", "gone": "redact"})
    plan = planned(answer_column(name="email"), harmless_column(name="status"), policy=policy)
    assert [each.action for each in plan.columns] == ["keep", "redact"]
    assert plan.notes == ("the policy names the column 'gone', which the table does not have",)


def test_what_cannot_be_shifted_or_generalised_is_redacted():
    policy = replace(POLICY, columns={"a": "shift", "b": "generalise"})
    plan = planned(answer_column(name="a"), answer_column(name="b"), policy=policy)
    assert [each.action for each in plan.columns] == ["redact", "redact"]
    assert "no dates that can be shifted" in plan.columns[0].why


@pytest.mark.parametrize(
    ("shift", "subject", "expected"),
    [
        ({}, 1, 1),
        ({}, 2, 0),  # the subject column is not direct: the first one that is
        ({"subject": "card"}, 1, 1),
        ({"by": "table"}, 1, None),
    ],
)
def test_dates_are_shifted_by_the_person(shift: dict[str, str], subject: int, expected: int | None):
    policy = replace(POLICY, columns={"day": "shift"}, shift=replace(POLICY.shift, **shift))
    columns = (answer_column(name="name"), answer_column(name="card"), harmless_column(name="day"))
    plan = planned(*columns, policy=policy, values=("2024-05-01", "2024-05-02"), subject=subject)
    assert plan.columns[2].date_format == "%Y-%m-%d"
    assert plan.shift_subject == expected


def test_without_a_person_all_dates_move_alike_and_a_note_says_so():
    policy = replace(POLICY, columns={"day": "shift"})
    plan = planned(harmless_column(name="day"), policy=policy, values=("2024-05-01",))
    assert plan.shift_subject is None
    assert "all dates of the table are shifted alike" in plan.notes[0]
