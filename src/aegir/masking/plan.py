"""From an answer to a plan: what is done with every column of a table, and why.

    personal, by level and kind     -> the action of the policy
    may be personal                 -> unsure: masked, or listed, as the policy says
    prose beside direct columns     -> free text: likewise
    the rest                        -> kept

A column that is not answered as personal is unsure if its probability of being personal reaches `unsure_from`, if what it is
called is personal in nearly every table (a name of a person, a street) or such a name is a likely runner-up, or if nothing is
known about its text. What a person reviewed is never unsure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.masking.actions import choose_generaliser
from aegir.masking.dates import find_date_format
from aegir.masking.policy import LIST, MaskPolicy, is_named
from aegir.tables.datatype import MISSING
from aegir.tables.table import Table
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES

LIKELY_RUNNER_UP = 0.2
"""Confidence from which a runner-up that is always personal makes a column unsure."""
TYPED = ("integer", "number", "boolean", "date", "datetime", "time", "empty")
KEPT, MASKED, LISTED = "kept", "masked", "listed"


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """What is done with one column."""

    index: int
    name: str | None
    level: str | None
    kind: str | None
    label: str | None
    action: str
    state: str
    """masked; kept; or listed: left as it is although it may be personal."""
    why: str
    way: str | None = None
    """How it is generalised."""
    date_format: str | None = None
    """The format of dates that are shifted."""
    sample: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MaskPlan:
    """What is done with every column of a table, in their order, and by what dates are shifted."""

    columns: tuple[ColumnPlan, ...]
    shift_subject: int | None
    """The column by which dates are shifted; None for one shift of the whole table."""
    notes: tuple[str, ...] = ()

    @property
    def unnamed_index(self) -> int:
        """The number that a column outside of the plan would get."""
        return len(self.columns)


def plan_masking(
    table: Table,
    answer: TableAnnotation,
    probabilities: Sequence[float] | None,
    policy: MaskPolicy,
) -> MaskPlan:
    """Decide about every column; `probabilities` say how likely each is personal, if the annotator does."""
    has_direct = any(column.personal_level == "direct" for column in answer.columns)
    plans = []
    for column in answer.columns:
        probability = probabilities[column.index] if probabilities is not None else None
        values = table.columns[column.index].present
        present = tuple(value for value in values if value.strip().lower() not in MISSING)
        plans.append(_plan_column(column, present, probability, policy, has_direct))
    notes = _reading_notes(answer.warnings)
    notes += [
        f"the policy names the column {pattern!r}, which the table does not have"
        for pattern in policy.columns
        if not any(is_named(pattern, plan.index, plan.name) for plan in plans)
    ]
    subject = _shift_subject(answer, plans, policy, notes)
    return MaskPlan(tuple(plans), subject, tuple(notes))


def _reading_notes(warnings: Sequence[str]) -> list[str]:
    """What reading says of the table, without what it left out or joined: rewriting does otherwise, and says so itself."""
    notes = [each for each in warnings if "left out" not in each and "in two rows" not in each]
    if any("left out" in each and "totals" in each for each in warnings):
        notes.append("totals at the end are masked like other rows")
    return notes


def _plan_column(
    column: ColumnAnnotation,
    present: tuple[str, ...],
    probability: float | None,
    policy: MaskPolicy,
    has_direct: bool,
) -> ColumnPlan:
    action, state, why = _decide(column, probability, policy, has_direct)
    plan = ColumnPlan(
        column.index,
        column.name,
        column.personal_level,
        column.kind,
        column.label,
        action,
        state,
        why,
        sample=present,
    )
    if action == "shift":
        form = find_date_format(present)
        if form is None:
            return replace(plan, action="redact", why=f"{why}; no dates that can be shifted")
        return replace(plan, date_format=form)
    if action == "generalise":
        names = (column.fine_type, column.type, column.kind)
        way = choose_generaliser(names, column.datatype, present)
        if way is None:
            return replace(plan, action="redact", why=f"{why}; nothing wider stands for its values")
        return replace(plan, way=way)
    return plan


def _decide(
    column: ColumnAnnotation, probability: float | None, policy: MaskPolicy, has_direct: bool
) -> tuple[str, str, str]:
    """The action, the state and the reason."""
    if (named := policy.named(column.index, column.name)) is not None:
        return named, KEPT if named == "keep" else MASKED, "named by the policy"
    if (action := policy.action_for(column)) is not None:
        why = f"{column.personal_level}: {column.personal_reason}"
        return action, KEPT if action == "keep" else MASKED, why
    if column.reviewed is not None:
        return "keep", KEPT, "reviewed as not personal"
    doubt = _why_unsure(column, probability, policy)
    if doubt is not None:
        return _unsure(policy.unsure, doubt)
    if has_direct and column.kind == "text" and column.datatype not in TYPED:
        return _unsure(policy.free_text, "prose that may name persons")
    return "keep", KEPT, "not personal"


def _unsure(choice: str, doubt: str) -> tuple[str, str, str]:
    listed = choice == LIST
    return "keep" if listed else choice, LISTED if listed else MASKED, f"unsure: {doubt}"


def _why_unsure(
    column: ColumnAnnotation, probability: float | None, policy: MaskPolicy
) -> str | None:
    """Why a column that is not answered as personal may be; None if it hardly is."""
    if column.datatype in ("empty", "boolean"):
        return None
    if probability is not None and probability >= policy.unsure_from:
        return f"personal with probability {probability:.2f}"
    for name in (column.fine_type, column.type):
        if _is_always_personal(name):
            return f"{name} is mostly personal"
    for guess in column.runners_up:
        if guess.confidence >= LIKELY_RUNNER_UP and _is_always_personal(guess.label):
            return f"it may be {guess.label} ({guess.confidence:.2f})"
    if column.label is None and column.datatype not in TYPED:
        return "nothing is known about it"
    return None


def _is_always_personal(name: str | None) -> bool:
    term = FINE_TYPES.get(name or "") or COLUMN_TYPES.get(name or "")
    return term is not None and term.personal


def _shift_subject(
    answer: TableAnnotation, plans: Sequence[ColumnPlan], policy: MaskPolicy, notes: list[str]
) -> int | None:
    """The column whose value decides by how many days the dates of a row move."""
    if policy.shift.by == "table" or not any(plan.action == "shift" for plan in plans):
        return None
    if policy.shift.subject:
        for plan in plans:
            if plan.name == policy.shift.subject:
                return plan.index
        notes.append(f"there is no column {policy.shift.subject!r} to shift dates by")
    direct = [plan.index for plan in plans if plan.level == "direct"]
    if answer.subject in direct:
        return answer.subject
    if direct:
        return direct[0]
    notes.append("no column points to a person, so all dates of the table are shifted alike")
    return None
