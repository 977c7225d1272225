"""What an answer and the sampled values together let us expect of a column: never null, unique, a set, a range.

A claim needs a sure answer (`SURE_ENOUGH`), `LEAST_ROWS` sampled rows, and that every sampled value agrees. A sample of n rows
without an exception is likely (95 %) only if exceptions are rarer than about 3 / n, the rule of three. So every claim has
`mostly`, the share of all rows for which the sample supports it: 1 - 3 / n, for a range, which has two ends, 1 - 6 / n, and
None where all rows were seen or the meaning of the column implies it. For personal columns values and ranges are not
stated: the largest salary is someone's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.tables.datatype import ColumnProfile

SURE_ENOUGH = 0.9
LEAST_ROWS = 30
LEAST_SEEN = 5
"""How often each value of a set was seen, at least: a value seen once has unseen companions."""
RULE_OF_THREE = 3
QUANTITIES = ("number", "money", "measure")
MEANT_RANGES = {
    "latitude": (-90.0, 90.0),
    "longitude": (-180.0, 180.0),
    "probability": (0.0, 1.0),
    "month_number": (1.0, 12.0),
    "day_of_month": (1.0, 31.0),
    "port": (0.0, 65535.0),
}
"""Fine types whose meaning bounds their values."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One expectation about the values of a column."""

    kind: str
    """`not_null`, `unique`, `in_set` or `between`."""
    mostly: float | None = None
    """The share of rows for which the sample supports it; None: all."""
    values: tuple[str, ...] = ()
    least: float | None = None
    greatest: float | None = None


def claims_for(annotation: TableAnnotation, column: ColumnAnnotation) -> tuple[Claim, ...]:
    """The claims about a column; none where the answer is unsure or the values are not known."""
    profile = profile_of(annotation, column)
    if profile is None or profile.rows < LEAST_ROWS or column.label is None:
        return ()
    if column.confidence < SURE_ENOUGH:
        return ()
    return tuple(_claims(annotation, column, profile))


def profile_of(annotation: TableAnnotation, column: ColumnAnnotation) -> ColumnProfile | None:
    """The profile of a column, if its values are known."""
    return annotation.profiles[column.index] if column.index < len(annotation.profiles) else None


def _claims(
    annotation: TableAnnotation, column: ColumnAnnotation, profile: ColumnProfile
) -> Iterator[Claim]:
    if not profile.missing:
        yield Claim("not_null", _mostly(profile, 1))
        is_key = column.label == "primary_key" or (
            column.kind == "identifier" and column.index == annotation.subject
        )
        if is_key and profile.distinct == profile.rows:
            yield Claim("unique")
    if column.personal:
        return
    if column.kind == "category" and len(profile.values) > 1:
        if min(count for _, count in profile.values) >= LEAST_SEEN:
            yield Claim("in_set", _mostly(profile, 1), tuple(value for value, _ in profile.values))
        return
    if profile.least is None or profile.greatest is None:
        return
    meant = MEANT_RANGES.get(column.fine_type or "")
    if meant and meant[0] <= profile.least and profile.greatest <= meant[1]:
        yield Claim("between", None, (), *meant)
    elif column.kind in QUANTITIES and not meant and profile.least < profile.greatest:
        yield Claim("between", _mostly(profile, 2), (), profile.least, profile.greatest)


def _mostly(profile: ColumnProfile, ends: int) -> float | None:
    """The share of rows that a sample without exceptions supports, in whole percents, rounded down."""
    if profile.complete:
        return None
    return int(100 * (1 - ends * RULE_OF_THREE / profile.rows)) / 100
