"""What sources declare counts: a type rules names out, a key speaks for identifiers, a comment is read like a header.

    declared as DATE           names that are no dates lose nearly all of their probability; the values can still win
    primary or foreign key     the odds of identifiers are multiplied
    comment                    `as_read`: readers see its first words behind the header

declared_types.tsv has the declared types by pattern, and which kinds and column types they leave ("only") or exclude ("not"). A
fine type is left if its kind is, or if it goes with a column type that is. Text excludes nothing.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from aegir.readers.scores import Explanation, Probabilities, TableScores
from aegir.tables.table import Column, Declared, Table
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_NAMES, FINE_TYPES, TYPE_NAMES
from aegir_rl.base.arrays import F32
from aegir_rl.base.text import read_tsv

AGAINST = 0.02
"""What the probability of a name that the declared type excludes is multiplied by: declarations are seldom wrong, not never."""
NONE_AGAINST = 0.2
"""The same for "none of these", where a declared type leaves only a few names."""
FOR_KEYS = 5.0
COMMENT_WORDS, COMMENT_CHARACTERS = 8, 60
"""How much of a comment is read."""
_TYPES_FILE = Path(__file__).with_name("declared_types.tsv")


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredType:
    """A class of declared types."""

    pattern: re.Pattern[str]
    datatype: str
    only: bool
    """Whether it leaves only what is listed, so that it tells what the column is."""
    types: F32
    """(82 + 1,) what the probabilities of types and of none are multiplied by."""
    fine: F32
    """(fine types + 1,)"""


def declared_datatype(declared: Declared | None) -> str | None:
    """Return the datatype of a declared type; None for text and for types that are not known here."""
    found = _class_of(declared)
    return found.datatype if found else None


def as_read(table: Table, *, ignore_names: bool = False) -> Table:
    """Return the table as readers see it: with the words of comments behind headers, or without any names."""
    if ignore_names:
        columns = tuple(replace(each, name=None) for each in table.columns)
        return replace(table, columns=columns, name="", title=None)
    if not any(column.declared and column.declared.comment for column in table.columns):
        return table
    return replace(table, columns=tuple(map(_with_comment, table.columns)))


def apply_declared(table: Table, scores: TableScores) -> TableScores:
    """Return the scores of a table after what its source declares is taken into account."""
    if not any(column.declared for column in table.columns):
        return scores
    types = scores.types.copy()
    fine = None if scores.fine is None else scores.fine.copy()
    explanations = list(scores.explanations)
    for index, column in enumerate(table.columns):
        if column.declared is None or not types[index].any():
            continue
        found = _class_of(column.declared)
        is_key = column.declared.primary_key or column.declared.references is not None
        before = int(types[index].argmax())
        factors = (None, None) if found is None else (found.types, found.fine)
        types[index] = _weighed(types[index], factors[0], _KEY_TYPES if is_key else None)
        if fine is not None:
            fine[index] = _weighed(fine[index], factors[1], _KEY_FINE if is_key else None)
        told = found is not None and (found.only or int(types[index].argmax()) != before)
        explanations[index] = _explained(explanations[index], column.declared, told)
    return replace(scores, types=types, fine=fine, explanations=tuple(explanations))


def _weighed(probabilities: Probabilities, *factors: F32 | None) -> Probabilities:
    """Return probabilities (names,) times factors (names + 1,), the rest to 1 being none of them."""
    whole = np.append(probabilities, max(1 - float(probabilities.sum()), 0.0))
    for each in factors:
        whole = whole if each is None else whole * each
    total = whole.sum()
    return np.asarray(whole[:-1] / total if total > 0 else probabilities, np.float32)


def _explained(explanation: Explanation, declared: Declared, told: bool) -> Explanation:
    said = [
        *([f"declared as {declared.type}"] if told else []),
        *(["declared as a primary key"] if declared.primary_key else []),
        *([f"declared to reference {declared.references}"] if declared.references else []),
    ]
    return replace(explanation, evidence=(*explanation.evidence, *said))


def _with_comment(column: Column) -> Column:
    comment = column.declared.comment if column.declared else None
    if not comment:
        return column
    words = " ".join(comment.split()[:COMMENT_WORDS])[:COMMENT_CHARACTERS]
    return replace(column, name=f"{column.name or ''} {words}".strip())


def _class_of(declared: Declared | None) -> DeclaredType | None:
    if declared is None or declared.type is None:
        return None
    name = declared.type.strip().lower()
    return next((each for each in _declared_types() if each.pattern.fullmatch(name)), None)


@cache
def _declared_types() -> tuple[DeclaredType, ...]:
    found = []
    for _, (_, pattern, datatype, which, kinds, types) in read_tsv(
        _TYPES_FILE, "class pattern datatype which kinds types"
    ):
        only = which == "only"
        listed = {name for name in TYPE_NAMES if COLUMN_TYPES[name].kind in kinds.split("|")}
        listed |= set(types.split("|"))
        left = listed if only else set(TYPE_NAMES) - listed
        fine = {name for name in FINE_NAMES if _is_left(name, left, kinds.split("|"), only=only)}
        none = NONE_AGAINST if only else 1.0
        found.append(
            DeclaredType(
                re.compile(pattern),
                datatype,
                only,
                np.array([*(_factor(name in left) for name in TYPE_NAMES), none], np.float32),
                np.array([*(_factor(name in fine) for name in FINE_NAMES), none], np.float32),
            )
        )
    return tuple(found)


def _is_left(name: str, left: set[str], kinds: list[str], *, only: bool) -> bool:
    term = FINE_TYPES[name]
    if (term.kind in kinds) == only and (only or term.may_have_no_type):
        return True
    return not left.isdisjoint(term.types)


def _factor(is_left: bool) -> float:
    return 1.0 if is_left else AGAINST


_KEY_TYPES: F32 = np.array(
    [FOR_KEYS if COLUMN_TYPES[name].kind == "identifier" else 1.0 for name in TYPE_NAMES] + [1.0],
    np.float32,
)
_KEY_FINE: F32 = np.array(
    [FOR_KEYS if FINE_TYPES[name].kind == "identifier" else 1.0 for name in FINE_NAMES] + [1.0],
    np.float32,
)
