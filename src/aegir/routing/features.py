"""What a routing decision may look at: cheap figures of a column and its table, all known after the n-grams have answered.

    column_features(tables, verdicts, scores)        (columns of all tables, FEATURES)

| feature | of | meaning |
|---|---|---|
| confidence, margin | column | probability of the likeliest type, or of none of them; its lead over the next one |
| entropy | column | of the types' probabilities: 0 certain, 1 all alike |
| none, fine, relation, personal | column | probability of no type; of the likeliest fine type and relation; of personal data |
| support, named | column | strongest support of a type by a rule; 1 if a rule names the fine type |
| header, filled, distinct, length | column | 1 with a header; share of cells with a value, of distinct ones; their mean length |
| web, columns | table | probability of a web table; number of columns |
| unsure, complexity | table | share of columns with a confidence below 0.8; mean entropy of the columns |
| tries | chain | workers asked before |

Promise: a table's features depend on that table alone, bit for bit.
"""

from collections.abc import Sequence

import numpy as np

from aegir.readers.mixing import with_none
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import SURE_TYPE, Probabilities, TableScores, table_spans
from aegir.tables.table import Column, Table
from aegir_rl.base.arrays import Floats

FEATURES = (
    *("confidence", "margin", "entropy", "none", "fine", "relation", "personal"),
    *("support", "named", "header", "filled", "distinct", "length"),
    *("web", "columns", "unsure", "complexity", "tries"),
)
CONFIDENCE = FEATURES.index("confidence")
CELLS_LOOKED_AT = 50


def column_features(
    tables: Sequence[Table], verdicts: Sequence[RuleVerdict], scores: Sequence[TableScores]
) -> Floats:
    """Return (columns of all tables, FEATURES)."""
    parts = [np.zeros((0, len(FEATURES)))]
    for table, span, found in zip(tables, table_spans(tables), scores, strict=True):
        if table.columns:
            parts.append(_of_table(table, verdicts[span], found))
    return np.concatenate(parts)


def confidence_of(types: Probabilities) -> Floats:
    """(columns, 82) -> (columns,) the probability of the likeliest type, or of none of them."""
    return np.asarray(with_none(types).max(axis=1, initial=0.0), np.float64)


def _of_table(table: Table, verdicts: Sequence[RuleVerdict], scores: TableScores) -> Floats:
    shares = with_none(scores.types).astype(np.float64)
    ranked = np.sort(shares, axis=1)
    logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    entropy = -(shares * logs).sum(axis=1) / np.log(shares.shape[1])
    columns = len(table.columns)
    zeros = np.zeros(columns)
    read = np.array(
        [_read(column, verdict) for column, verdict in zip(table.columns, verdicts, strict=True)]
    )
    of_columns = (
        ranked[:, -1],
        ranked[:, -1] - ranked[:, -2],
        entropy,
        shares[:, -1],
        zeros if scores.fine is None else scores.fine.max(axis=1),
        scores.relations.max(axis=1),
        zeros if scores.personal is None else scores.personal,
        *read.T,
    )
    of_table = (scores.web, columns, (ranked[:, -1] < SURE_TYPE).mean(), entropy.mean(), 0)
    return np.column_stack([*of_columns, *(np.full(columns, value) for value in of_table)])


def _read(column: Column, verdict: RuleVerdict) -> tuple[float, float, float, float, float, float]:
    """Return support, named, header, filled, distinct and length of a column."""
    cells = column.spread(CELLS_LOOKED_AT)
    count = max(len(cells), 1)
    return (
        verdict.support[0][1] if verdict.support else 0.0,
        float(verdict.fine_type is not None),
        float(bool(column.name and column.name.strip())),
        len(column.present) / max(len(column.values), 1),
        len(set(cells)) / count,
        sum(map(len, cells)) / count,
    )
