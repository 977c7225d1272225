"""What changed between two answers: columns added, removed, renamed, of another type, newly personal, less sure.

    compare([ComparedAnswer(old)], [ComparedAnswer(new)])  ->  a `TableDifference` per table that changed

Tables are paired by their file, as far as the ends of the paths agree, else by name; one table each is always a pair.
Columns are paired by header, and without one by position. A column that is left over on both sides is taken for a renamed
one only if nothing contradicts that: the same label, and either nearly the same content (where the tables themselves were
read) or the same position between columns that are paired, with nothing else there.

A type changes only where the old answer is no longer plausible for the new values (plausible.py).

Promises
  - an answer compared with itself has no changes;
  - compared the other way round, added and removed columns are exchanged, and renamed columns and those of another type
    stay what they are;
  - an added column that is personal is newly personal, too.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, get_args

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation, statistics_of
from aegir.answers.plausible import (
    SAME_CONTENT,
    Evidence,
    personal_moved,
    stays,
)
from aegir.answers.wording import shown_label, shown_level, shown_name, shown_type
from aegir.tables.fingerprint import Fingerprint, compute_similarity
from aegir.vocabulary.terms import PERSONAL_LEVELS

Change = Literal["added", "removed", "renamed", "type", "personal", "not-personal", "confidence"]
CHANGES: tuple[Change, ...] = get_args(Change)
CONFIDENCE_DROP = 0.1
SAME_CONTENT_IN_PLACE = 0.6
"""Similarity from which a column under another header at the same position is the same one; SAME_CONTENT holds anywhere."""
LONGEST_TAIL = 8
"""How many parts of a path, from its end, are compared at most."""


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """An answer, with the fingerprints of its columns if the table itself was read."""

    annotation: TableAnnotation
    fingerprints: tuple[Fingerprint, ...] | None = None


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """One change of one column."""

    change: Change
    old: ColumnAnnotation | None
    new: ColumnAnnotation | None
    before: str
    """What was, in a few words; empty for an added column."""
    after: str

    @property
    def column(self) -> str:
        """The header, or the position of a column without one; the new one where there are two."""
        column = self.new or self.old
        assert column is not None
        return shown_name(column)


@dataclass(frozen=True, slots=True)
class TableDifference:
    """The changes of one table; `old` is None for a table that is new, `new` for one that is gone."""

    old: TableAnnotation | None
    new: TableAnnotation | None
    changes: tuple[ColumnChange, ...]

    @property
    def table(self) -> str:
        """The name of the table; the new one where there are two."""
        annotation = self.new or self.old
        assert annotation is not None
        return annotation.table


def compare(
    old: Sequence[ComparedAnswer],
    new: Sequence[ComparedAnswer],
    *,
    confidence_drop: float = CONFIDENCE_DROP,
) -> tuple[TableDifference, ...]:
    """Return the tables that changed, in the order of the new answer, those that are gone last."""
    partners = _pair_tables(old, new)
    differences = []
    for index, after in enumerate(new):
        before = old[partners[index]] if index in partners else None
        changes = _table_changes(before, after, confidence_drop)
        if changes or before is None:
            differences.append(_difference(before, after, changes))
    gone = set(range(len(old))) - set(partners.values())
    differences += [
        _difference(old[index], None, _table_changes(old[index], None, confidence_drop))
        for index in sorted(gone)
    ]
    return tuple(differences)


def count_changes(differences: Sequence[TableDifference]) -> dict[str, int]:
    """Return how often each kind of change happened, every kind listed."""
    counts = Counter(change.change for each in differences for change in each.changes)
    return {name: counts[name] for name in CHANGES}


def _difference(
    old: ComparedAnswer | None, new: ComparedAnswer | None, changes: Sequence[ColumnChange]
) -> TableDifference:
    before, after = (None if side is None else side.annotation for side in (old, new))
    return TableDifference(before, after, tuple(changes))


def _pair_tables(old: Sequence[ComparedAnswer], new: Sequence[ComparedAnswer]) -> dict[int, int]:
    """Return the old table of each new one that has one."""
    if len(old) == len(new) == 1:
        return {0: 0}
    pairs: dict[int, int] = {}
    for length in range(LONGEST_TAIL, 0, -1):
        _pair_unique(old, new, pairs, lambda each, size=length: _tail(each.annotation, size))  # type: ignore[misc]
    _pair_unique(old, new, pairs, lambda each: each.annotation.table, in_order=True)
    _pair_unique(old, new, pairs, lambda each: _name_within(each.annotation.table))
    return pairs


def _name_within(table: str) -> str:
    """Return what a table of a database or workbook is called there, without the name of the file."""
    return table.rpartition("#")[2]


def _pair_unique(
    old: Sequence[ComparedAnswer],
    new: Sequence[ComparedAnswer],
    pairs: dict[int, int],
    key: Callable[[ComparedAnswer], Hashable],
    *,
    in_order: bool = False,
) -> None:
    """Pair what has a key that no other on its side has; with `in_order`, what shares a key one after the other."""
    before, after = defaultdict(list), defaultdict(list)
    taken = set(pairs.values())
    for index, each in enumerate(old):
        if index not in taken:
            before[key(each)].append(index)
    for index, each in enumerate(new):
        if index not in pairs:
            after[key(each)].append(index)
    for name, indices in after.items():
        others = before.get(name, [])
        if in_order or (len(indices) == len(others) == 1):
            pairs.update(zip(indices, others, strict=False))


def _tail(annotation: TableAnnotation, length: int) -> tuple[str, ...]:
    """Return the last parts of the path of a table's file, and the table's own name."""
    return *PurePath(annotation.source or annotation.table).parts[-length:], annotation.table


def _table_changes(
    old: ComparedAnswer | None, new: ComparedAnswer | None, drop: float
) -> list[ColumnChange]:
    before = old.annotation.columns if old else ()
    after = new.annotation.columns if new else ()
    pairs = _pair_columns(old, new) if old and new else {}
    changes: list[ColumnChange] = []
    for index, column in enumerate(after):
        if index in pairs:
            assert old is not None
            assert new is not None
            evidence = evidence_of(old, pairs[index], new, index)
            changes += _column_changes(before[pairs[index]], column, drop, evidence)
        else:
            changes += _added(column)
    gone = set(range(len(before))) - set(pairs.values())
    return changes + [
        ColumnChange("removed", before[index], None, shown_label(before[index]), "")
        for index in sorted(gone)
    ]


def evidence_of(old: ComparedAnswer, before: int, new: ComparedAnswer, after: int) -> Evidence:
    """Return what is known of the values of an old and a new column."""
    shares = [_digits(old.annotation, before), _digits(new.annotation, after)]
    content = None
    if old.fingerprints is not None and new.fingerprints is not None:
        content = compute_similarity(old.fingerprints[before], new.fingerprints[after])
    first, second = shares
    return Evidence(None if first is None or second is None else (first, second), content)


def _digits(annotation: TableAnnotation, index: int) -> float | None:
    """Return the share of the present cells of a column that are digits; None where that is not known."""
    statistics = statistics_of(annotation, annotation.columns[index])
    present = statistics.get("rows", 0) - statistics.get("nulls", 0)
    return statistics["digits"] / present if present and "digits" in statistics else None


def _added(column: ColumnAnnotation) -> Iterator[ColumnChange]:
    yield ColumnChange("added", None, column, "", shown_label(column))
    if column.personal:
        yield ColumnChange("personal", None, column, "", shown_level(column))


def _column_changes(
    old: ColumnAnnotation, new: ColumnAnnotation, drop: float, evidence: Evidence
) -> Iterator[ColumnChange]:
    if old.name != new.name:
        yield ColumnChange("renamed", old, new, shown_name(old), shown_name(new))
    changed = not stays(old, new, evidence)
    if changed:
        yield ColumnChange("type", old, new, _described(old), _described(new))
    elif round(old.confidence - new.confidence, 4) >= drop and old.label == new.label:
        before, after = f"{old.confidence:.2f}", f"{new.confidence:.2f}"
        yield ColumnChange("confidence", old, new, before, after)
    if _distance(new) != _distance(old) and (
        (changed and old.personal == new.personal) or personal_moved(old, new, evidence)
    ):
        nearer = _distance(new) < _distance(old)
        levels = [shown_level(column) or "not personal" for column in (old, new)]
        yield ColumnChange("personal" if nearer else "not-personal", old, new, *levels)


def _described(column: ColumnAnnotation) -> str:
    beside = shown_type(column)
    return shown_label(column) + (f" ({beside})" if beside else "")


def _distance(column: ColumnAnnotation) -> int:
    """Return how far a column is from a person: 0 identifies one, the largest number is not personal."""
    if not column.personal:
        return len(PERSONAL_LEVELS) + 1
    known = column.personal_level in PERSONAL_LEVELS
    return PERSONAL_LEVELS.index(column.personal_level or "") if known else len(PERSONAL_LEVELS)


def _pair_columns(old: ComparedAnswer, new: ComparedAnswer) -> dict[int, int]:
    """Return the old column of each new one that has one, by index."""
    before, after = old.annotation.columns, new.annotation.columns
    keys = {key: index for index, key in enumerate(column_keys(before))}
    pairs = {index: keys[key] for index, key in enumerate(column_keys(after)) if key in keys}
    pairs.update(_renamed(old, new, pairs))
    return pairs


def column_keys(columns: Sequence[ColumnAnnotation]) -> list[tuple[str | None, int]]:
    """Return the header of each column with how many there were of it before; without one, the position."""
    seen: Counter[str] = Counter()
    keys: list[tuple[str | None, int]] = []
    for index, column in enumerate(columns):
        keys.append((column.name, index if column.name is None else seen[column.name]))
        seen[column.name or ""] += 1
    return keys


def _renamed(old: ComparedAnswer, new: ComparedAnswer, pairs: dict[int, int]) -> dict[int, int]:
    """Return pairs of columns that nothing else is as similar to."""
    taken = set(pairs.values())
    left = [index for index in range(len(old.annotation.columns)) if index not in taken]
    arrived = [index for index in range(len(new.annotation.columns)) if index not in pairs]
    forward = {before: after for after, before in pairs.items()}
    scores = {
        (after, before): score
        for after in arrived
        for before in left
        if (score := _rename_score(old, before, new, after, pairs, forward))
    }
    return {
        after: before
        for (after, before), score in scores.items()
        if all(
            score > other or (after, before) == (a, b)
            for (a, b), other in scores.items()
            if a == after or b == before
        )
    }


def _rename_score(
    old: ComparedAnswer,
    before: int,
    new: ComparedAnswer,
    after: int,
    pairs: dict[int, int],
    forward: dict[int, int],
) -> float:
    """Return how well a column fits as the new name of another one; 0 if anything contradicts that."""
    was, now = old.annotation.columns[before], new.annotation.columns[after]
    if was.label is None or (was.label, was.datatype) != (now.label, now.datatype):
        return 0.0
    in_place = _gap(before, len(old.annotation.columns), forward) == _mapped(
        _gap(after, len(new.annotation.columns), pairs), pairs
    )
    if old.fingerprints is None or new.fingerprints is None:
        return float(in_place)
    content = compute_similarity(old.fingerprints[before], new.fingerprints[after])
    if was.datatype != "string":  # numbers of the same size are everywhere
        return content if in_place and content >= SAME_CONTENT_IN_PLACE else 0.0
    return content if content >= (SAME_CONTENT_IN_PLACE if in_place else SAME_CONTENT) else 0.0


def _gap(index: int, count: int, paired: dict[int, int]) -> tuple[int, int] | None:
    """Return the paired columns left and right of a column that stands alone between them; None if it does not."""
    left, right = index - 1, index + 1
    beside = [each for each in (left, right) if 0 <= each < count]
    if any(each not in paired for each in beside):
        return None
    return left, right if right < count else -2


def _mapped(gap: tuple[int, int] | None, pairs: dict[int, int]) -> tuple[int, int] | str:
    """Return a gap of the new table in indices of the old one; text, which equals no gap, if there is none."""
    if gap is None:
        return "none"
    left, right = gap
    return (-1 if left < 0 else pairs[left]), (-2 if right < 0 else pairs[right])
