"""What annotators exchange: a probability for every column and every type or relation.

    tables --Annotator.score--> TableScores --decide.py--> TableAnnotation

Scores rather than answers, so that annotators can be mixed, overruled by rules or extended by custom types.

Promises of every annotator
  - the scores of a table do not depend on the tables beside it, bit for bit;
  - the probabilities of a column sum to 1 over the 82 types, and over the 108 relations; to less where an
    annotator leaves room for "none of these", and to 0 for a column without values, and without a name if the
    annotator reads names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from aegir.answers.routing import Routing, Timing
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_NAMES, TYPE_INDEX, TYPE_NAMES, plain_name
from aegir_rl.base.arrays import F32, I64

if TYPE_CHECKING:
    from aegir.readers.rules.judge import RuleVerdict
    from aegir.routing.decisions import RoutedTable

Probabilities = npt.NDArray[np.float32]

LIKELY = 0.5
"""Probability from which a type or a kind is likely, a column is personal, and a table is one of the web."""
SURE_TYPE = 0.8
"""Probability from which a reader is sure of a type; calling the byte network about sure tables changed no metric."""
POSITION_PENALTY = 0.15
"""What each column to the left of a column takes off its score as the subject; scores are within -1 to 1."""
PENALISED_POSITIONS = 6
REPETITION_PENALTY, NO_LETTER_PENALTY = 2.0, 8.0
HEADER_SHOWN = 60
"""Characters of a header that a reason quotes."""
CELLS_CHECKED = 5
"""Cells searched for a letter."""
NO_VALUES = "there are no values to judge by"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a column got its answer, and which fine type its values have."""

    fine_type: str | None = None
    """The name of a fine type, when a rule is sure of it; it is finer than the 82 column types."""
    evidence: tuple[str, ...] = ()
    """One sentence per reason, the strongest first."""
    failing: float = 0.0
    """Share of the values that have the form of the fine type and fail its check digit."""


@dataclass(frozen=True, slots=True)
class CustomGuess:
    """A custom type that claims a column."""

    name: str
    confidence: float
    personal: bool
    kind: str
    """The kind of columns the user said it is."""


@dataclass(frozen=True, slots=True)
class TableScores:
    """The probabilities that an annotator gives to one table, before any threshold."""

    types: Probabilities
    """(columns, 82)"""
    relations: Probabilities
    """(columns, 108) to the subject column."""
    subject: int | None
    explanations: tuple[Explanation, ...]
    """One per column."""
    custom: tuple[tuple[CustomGuess, ...], ...] = ()
    """Per column the custom types that claim it, best first; empty when none claims any column."""
    fine: Probabilities | None = None
    """(columns, fine types), the rest to 1 being none of them; None from an annotator that does not know them."""
    personal: F32 | None = None
    """(columns,) the probability of personal data; None from an annotator that does not judge it."""
    levels: F32 | None = None
    """(columns, 4) the probability that the column is not personal, then of each of PERSONAL_LEVELS; None from an annotator
    that does not tell them apart."""
    special: F32 | None = None
    """(columns,) the probability of data of a special category."""
    rows: F32 | None = None
    """(ROW_NAMES,) the probability of each class of what one row is."""
    person: F32 | None = None
    """(PERSON_STATES,) the probability of each."""
    web: float = 1.0
    """The probability that the table is one of the web's markup rather than an everyday one."""
    routing: tuple[Routing, ...] | None = None
    """Per column what a swarm's router decided; None from an annotator without a router."""
    timing: Timing | None = None
    """How long the table took; None where it was not measured."""
    routed: "RoutedTable | None" = None
    """How the pipeline routed the columns; None from a single reader."""
    notes: tuple[str, ...] = ()
    """Sentences about what had to be left out; they become warnings of the answer."""


@runtime_checkable
class Annotator(Protocol):
    """Anything that can score tables."""

    name: str

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return one `TableScores` per table, in order."""
        ...


def table_spans(tables: Sequence[Table]) -> list[slice]:
    """Return where the columns of each table are among the columns of all tables."""
    ends = np.cumsum([len(table.columns) for table in tables]).tolist()
    return [slice(end - len(t.columns), end) for t, end in zip(tables, ends, strict=True)]


@lru_cache(maxsize=4096)
def type_places(names: frozenset[str]) -> I64:
    """Return the indices of column types among the 82, ascending."""
    indices = np.array(sorted(TYPE_INDEX[name] for name in names), np.int64)
    indices.flags.writeable = False  # it is shared
    return indices


def choose_subject(table: Table, likeness: F32, scale: float = 1.0) -> int:
    """Return the subject that the table names, else the column most likely to be what the table is about.

    `likeness` (columns,) is a model's score of each column as a subject, in units of `scale`. Columns further
    right, with repeated values or without letters are less likely.
    """
    if table.subject is not None:
        return table.subject
    position = np.minimum(np.arange(len(likeness)), PENALISED_POSITIONS)
    cells = [column.present for column in table.columns]
    repetition = np.array([_repetition(values) for values in cells])
    no_letter = np.array([not any(map(_has_letter, values[:CELLS_CHECKED])) for values in cells])
    penalty = (
        POSITION_PENALTY * position
        + REPETITION_PENALTY * repetition
        + NO_LETTER_PENALTY * no_letter
    )
    return int(np.argmax(likeness / scale - penalty))


def _has_letter(cell: str) -> bool:
    return any(map(str.isalpha, cell))


def _repetition(cells: tuple[str, ...]) -> float:
    """Return 0 when all cells differ, nearly 1 when all are equal, and 1 for an empty column."""
    return 1 - len(set(cells)) / len(cells) if cells else 1.0


def explain_scores(alone: F32, final: Probabilities) -> tuple[Explanation, ...]:
    """Explain final probabilities (columns, 82) by the scores (columns, 82) of each column's values alone."""
    return tuple(Explanation(evidence=_evidence(*rows)) for rows in zip(alone, final, strict=True))


def explain_networks(
    columns: Sequence[Column], types: Probabilities, fine: Probabilities
) -> tuple[Explanation, ...]:
    """Explain what networks read out of header, values and table together: (columns, 82) and (columns, fine types)."""
    return tuple(
        Explanation(evidence=_read_together(*rows))
        for rows in zip(columns, types, fine, strict=True)
    )


def explain_verdict(verdict: "RuleVerdict") -> Explanation:
    """Return the fine type and the evidence of the rules' verdict on a column."""
    return Explanation(verdict.fine_type, verdict.evidence, verdict.failing)


def _read_together(column: Column, types: Probabilities, fine: Probabilities) -> tuple[str, ...]:
    header = (column.name or "").strip()[:HEADER_SHOWN]
    if not column.present and not header:
        return (NO_VALUES,)
    parts = f"header {header!r}, values and table" if header else "values and table"
    if not column.present:
        parts = f"header {header!r} and table alone"
    best, named = int(np.argmax(types)), int(np.argmax(fine))
    if fine[named] >= LIKELY:
        return (f"reads like {FINE_NAMES[named]} by {parts}",)
    if types[best] >= max(1 - float(types.sum()), 0.0):
        return (f"reads like {plain_name(TYPE_NAMES[best])} by {parts}",)
    return (f"reads like none of the {len(TYPE_NAMES)} types by {parts}",)


def _evidence(alone: F32, final: Probabilities) -> tuple[str, ...]:
    if not final.any():
        return (NO_VALUES,)
    first, last = (plain_name(TYPE_NAMES[int(np.argmax(each))]) for each in (alone, final))
    if first == last:
        return (f"the values read like {last}",)
    return (f"reads like {last} with header and table, like {first} by its values alone",)
