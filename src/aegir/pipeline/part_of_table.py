"""A part of a table that an annotator is asked about: some columns, and a few others around them.

    part = Part.of(table, scores, woken, context=4)
    part.put(annotator.score([part.table])[0], into=scores)       # the scores with those of the woken columns replaced

The context is the likely subject, then the columns nearest to a woken one, the left one first. An annotator that puts
columns in the context of their table needs some of it, and reading all of it may cost more than the answer is worth.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from aegir.readers.scores import TableScores
from aegir.tables.table import Table
from aegir_rl.base.arrays import Bools

PARTS = ("types", "relations", "fine", "personal")


@dataclass(frozen=True, slots=True)
class Part:
    """Some columns of a table."""

    table: Table
    """With these columns only."""
    columns: tuple[int, ...]
    """Their places in the whole table; empty if nothing is asked."""
    woken: tuple[bool, ...]
    """Which of them are asked about; the others are context."""

    @classmethod
    def of(cls, table: Table, scores: TableScores, woken: Bools, context: int | None) -> Self:
        """Return the woken columns with at most `context` others, or with all others."""
        columns = _with_context(woken, scores.subject, context)
        part = table
        if len(columns) < len(table.columns):
            subject = columns.index(table.subject) if table.subject in columns else None
            chosen = tuple(table.columns[column] for column in columns)
            part = replace(table, columns=chosen, subject=subject)
        return cls(part, columns, tuple(bool(woken[column]) for column in columns))

    def of_scores(self, scores: TableScores) -> TableScores:
        """Return the scores of these columns."""
        if len(self.columns) == len(scores.types):
            return scores
        rows = list(self.columns)
        return replace(
            scores,
            types=scores.types[rows],
            relations=scores.relations[rows],
            fine=None if scores.fine is None else scores.fine[rows],
            personal=None if scores.personal is None else scores.personal[rows],
            subject=None,
            explanations=tuple(scores.explanations[column] for column in rows),
        )

    def put(self, scores: TableScores, *, into: TableScores) -> TableScores:
        """Return the scores of the whole table, those of the woken columns replaced by `scores` of this part.

        What `scores` does not have (fine types, personal data) and all that belongs to the table stays.
        """
        here = np.flatnonzero(self.woken)
        there = np.array(self.columns, np.int64)[here]
        found = {}
        for name in PARTS:
            old, new = getattr(into, name), getattr(scores, name)
            if old is not None and new is not None:
                found[name] = old.copy()
                found[name][there] = new[here]
        explanations = list(into.explanations)
        for column, place in zip(there.tolist(), here.tolist(), strict=True):
            explanations[column] = scores.explanations[place]
        return replace(into, explanations=tuple(explanations), **found)


def _with_context(woken: Bools, subject: int | None, context: int | None) -> tuple[int, ...]:
    """Return the woken columns and their context, in table order."""
    places = np.flatnonzero(woken)
    if not len(places):
        return ()
    if context is None or len(places) + context >= len(woken):
        return tuple(range(len(woken)))
    others = np.flatnonzero(~woken)
    after = np.searchsorted(places, others)
    left = np.where(after > 0, others - places[np.maximum(after - 1, 0)], len(woken))
    right = np.where(
        after < len(places), places[np.minimum(after, len(places) - 1)] - others, len(woken)
    )
    distance = np.minimum(left, right)
    if subject is not None:
        distance[others == subject] = 0
    nearest = others[np.argsort(distance, kind="stable")[:context]]
    return tuple(sorted((*places.tolist(), *nearest.tolist())))
