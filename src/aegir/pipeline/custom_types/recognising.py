"""Custom types at work: an annotator that also answers with types the user taught.

    with_custom_types(annotator).score(tables)    claims go into TableScores.custom, `decide` does the rest

A custom type claims a column when its head gives it a probability of 1/2 or more; otherwise the column keeps its
answer bit for bit. If types claim a column with odds a, b, …, the first has the probability
a / (1 + a + b + …), and the 82 types share the rest in their old proportions.

Promises
  - without custom types the annotator is returned as it is, and no model is loaded;
  - types that were learnt with other weights, and files that hold no type, are skipped with one sentence each.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from aegir.answers.annotation import ColumnAnnotation
from aegir.pipeline.custom_types.examples import names_of
from aegir.pipeline.custom_types.reader import Reader, load_reader
from aegir.pipeline.custom_types.store import CustomType, load_types, types_folder
from aegir.pipeline.decide import decide
from aegir.pipeline.judged_columns import JudgedColumn
from aegir.readers.ngrams.readings import Readings
from aegir.readers.scores import Annotator, CustomGuess, Explanation, TableScores
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Table
from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.wording import amount

MOST_LOG_ODDS = 50.0
"""Log odds are cut here, so that their exponential stays finite."""
TABLES_AT_ONCE = 128
NO_NAME = "no type"
"""Stands for the labels of a column that none of the vocabulary's names fits."""


class WithCustomTypes:
    """Another annotator's scores, with the claims of custom types."""

    def __init__(self, annotator: Annotator, types: Sequence[CustomType], reader: Reader):
        self.name = annotator.name
        self.operating_points = getattr(annotator, "operating_points", None)
        self.types = types
        self._annotator = annotator
        self._reader = reader

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return the annotator's scores with the claims of custom types."""
        scores = self._annotator.score(tables)
        readings = self._reader.read(tables)
        return [self.claim(*parts) for parts in zip(tables, scores, readings, strict=True)]

    def claim(self, table: Table, scores: TableScores, readings: Readings) -> TableScores:
        """Return the scores of one table with claims, given the readings of its columns."""
        log_odds = np.stack([known.head.log_odds(readings) for known in self.types], axis=1)
        odds = np.where(log_odds >= 0, np.exp(np.clip(log_odds, 0, MOST_LOG_ODDS)), 0.0)
        odds[[not column.present for column in table.columns]] = 0
        if not odds.any():
            return scores
        rest = 1 / (1 + odds.sum(axis=1, keepdims=True))
        claims = tuple(self._claims(row) for row in odds * rest)
        explanations = tuple(
            self._explain(explanation, of_column)
            for explanation, of_column in zip(scores.explanations, claims, strict=True)
        )
        types = (scores.types * rest).astype(np.float32)
        return replace(scores, types=types, explanations=explanations, custom=claims)

    def _claims(self, confidences: Floats) -> tuple[CustomGuess, ...]:
        """Return the claims above 0, best first; of equal ones by name."""
        claims = [
            CustomGuess(known.name, float(confidence), known.personal, known.kind)
            for known, confidence in zip(self.types, confidences, strict=True)
            if confidence > 0
        ]
        return tuple(sorted(claims, key=lambda claim: (-claim.confidence, claim.name)))

    def _explain(self, explanation: Explanation, claims: Sequence[CustomGuess]) -> Explanation:
        if not claims:
            return explanation
        best = next(known for known in self.types if known.name == claims[0].name)
        source = amount(best.columns, "column")
        reason = f"reads like the {source} {best.name} was learnt from"
        return replace(explanation, evidence=(reason, *explanation.evidence))


def with_custom_types(
    annotator: Annotator,
    folder: Path | None = None,
    say: Callable[[str], None] = warnings.warn,
    load: Callable[[], Reader] = load_reader,
) -> Annotator:
    """Return the annotator with the custom types in `folder`, by default the user's own.

    `say` is called with a sentence for each type that cannot be used. Without a usable type the annotator itself
    is returned.
    """
    known = load_types(types_folder() if folder is None else folder, say)
    if not known:
        return annotator
    reader = load()
    types = [custom_type for custom_type in known if custom_type.fingerprint == reader.fingerprint]
    for custom_type in known:
        if custom_type.fingerprint != reader.fingerprint:
            say(_of_other_weights(custom_type.name))
    return WithCustomTypes(annotator, types, reader) if types else annotator


def _of_other_weights(name: str) -> str:
    return (
        f"the taught type {name} is not used: it was learnt with other weights; learn it again "
        f"from its examples (aegir types show {name!r} lists them), or forget it"
    )


def _is_right(labels: ColumnLabels, answer: ColumnAnnotation) -> bool:
    """Return whether the type is acceptable; of a column that is labelled with fine types alone, whether that is."""
    right = JudgedColumn(labels, answer).type_right
    return answer.fine_type in (labels.fine or ()) if right is None else right


@dataclass(frozen=True, slots=True)
class Validation:
    """Answers to labelled columns before and after a type was learnt."""

    columns: int
    """Columns that are labelled with another type or fine type, or with none."""
    right_before: int
    right_after: int
    of_type: int
    """Columns that are labelled with the type."""
    recognised: int
    """Of these, the columns it claimed."""
    taken_of: Mapping[str, int]
    """Columns it claimed although labelled with another type, by label."""

    @property
    def taken(self) -> int:
        """The number of columns it claimed wrongly."""
        return sum(self.taken_of.values())

    def as_dict(self) -> dict[str, object]:
        """Return a JSON-ready object."""
        return asdict(self) | {"taken": self.taken}


def validate_type(
    custom_type: CustomType,
    tables: Sequence[LabelledTable],
    annotator: Annotator,
    reader: Reader,
) -> Validation:
    """Annotate labelled tables with and without the type."""
    both = WithCustomTypes(annotator, [custom_type], reader)
    counts: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for at in range(0, len(tables), TABLES_AT_ONCE):
        batch = tables[at : at + TABLES_AT_ONCE]
        scored = annotator.score([labelled.table for labelled in batch])
        read = reader.read([labelled.table for labelled in batch])
        for labelled, scores, readings in zip(batch, scored, read, strict=True):
            claimed = both.claim(labelled.table, scores, readings)
            before, after = (decide(labelled.table, s, "") for s in (scores, claimed))
            answers = zip(labelled.labels, before.columns, after.columns, strict=True)
            for labels, was, now in answers:
                names = names_of(labels)
                if custom_type.name in names:
                    counts.update(of_type=1, recognised=int(now.type == custom_type.name))
                elif labels.types is not None or names:
                    counts.update(columns=1, before=_is_right(labels, was))
                    counts.update(after=_is_right(labels, now))
                    wrong = now.type == custom_type.name
                    taken.update((names or (NO_NAME,))[:1] if wrong else ())
    if not counts["columns"]:
        raise UsageError("no column of the validation tables is labelled with another name")
    return Validation(
        columns=counts["columns"],
        right_before=counts["before"],
        right_after=counts["after"],
        of_type=counts["of_type"],
        recognised=counts["recognised"],
        taken_of=dict(taken.most_common()),
    )
