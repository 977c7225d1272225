"""The `rules` annotator: rules alone, without learnt weights.

A column that no rule supports gets no type, and no column gets a relation.
"""

from collections.abc import Sequence

import numpy as np

from aegir.readers.rules.judge import judge_columns
from aegir.readers.scores import TableScores, explain_verdict
from aegir.tables.table import Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_INDEX, TYPE_NAMES


class RulesAnnotator:
    """Scores tables by rules; the strength of a rule's support is taken as a probability."""

    name = "rules"

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return the strengths of the supported types, scaled down where they sum to more than 1."""
        return [_score_table(table) for table in tables]


def _score_table(table: Table) -> TableScores:
    verdicts = judge_columns(table.columns)
    types = np.zeros((len(verdicts), len(TYPE_NAMES)), np.float32)
    for row, verdict in zip(types, verdicts, strict=True):
        for name, strength in verdict.support:
            row[TYPE_INDEX[name]] = strength
        row /= max(float(row.sum()), 1.0)
    relations = np.zeros((len(verdicts), len(RELATION_NAMES)), np.float32)
    explanations = tuple(map(explain_verdict, verdicts))
    return TableScores(types, relations, table.subject, explanations)
