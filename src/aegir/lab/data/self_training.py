"""Self-training: the answers an annotator is sure of on unlabelled tables become labels to learn from.

    raw tables --annotator, with and without headers--> sure both times, not too many per type --> weak labels

A threshold that gives precision 0.95 on web tables gives some 0.7 on statistics and sports tables, where a column of
mere numbers is no 'weight'. So a table is read twice, with its headers and without, and a label must be sure in
both readings, by the annotator's own operating point and by SUREST; the rules may still veto it. Read by eye, 78 of 80
such labels were right (docs/data-engine.md). Relations are not labelled: 17 of 30 were right.

Leakage: for cross-validated figures the annotator must not have seen the held-out tables. Those that ship have seen
all of ours; name weights trained without the fold in `data.annotator_model`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from aegir.lab.data.raw_tables import without_headers
from aegir.lab.data.sources import Source, TrainingTable
from aegir.pipeline.registry import thresholds_for
from aegir.readers.rules.judge import judge_columns
from aegir.readers.scores import Annotator
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_NAMES
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds

PSEUDO = Source("pseudo", cta_weight=0.3, cpa_weight=0, weak=True)
TABLES_AT_ONCE = 256
PRECISION, SUREST = 0.95, 0.95
"""The precision at which the annotator's operating point is taken, and the least confidence in either reading."""
COLUMNS_PER_TYPE = 300
"""So that what is easy (a URL, a number) does not drown what is scarce."""


def pseudo_labelled(
    tables: Sequence[Table], annotator: Annotator, seed: int
) -> list[TrainingTable]:
    """Return the tables with at least one confident label, headers hidden."""
    if getattr(annotator, "operating_points", None) is None:
        raise UsageError(
            f"source 'pseudo' cannot use the annotator {annotator.name!r}, which has no validation "
            "figures to choose a threshold by; set data.annotator to combined, byte_model or ngrams"
        )
    threshold = max(thresholds_for(annotator, PRECISION).types, SUREST)
    counts: Counter[str] = Counter()
    labelled = []
    order = Seeds(seed).generator("pseudo").permutation(len(tables)).tolist()
    for start in range(0, len(order), TABLES_AT_ONCE):
        named = [tables[i] for i in order[start : start + TABLES_AT_ONCE]]
        bare = [without_headers(table) for table in named]
        scores = zip(annotator.score(named), annotator.score(bare), strict=True)
        for table, (with_headers, without) in zip(bare, scores, strict=True):
            confidence = np.minimum(with_headers.types, without.types)  # (columns, types)
            types = _sure_types(table, confidence, threshold, counts)
            if any(types):
                subject = with_headers.subject if with_headers.subject == without.subject else None
                labels = LabelledTable(
                    replace(table, subject=subject),
                    tuple(map(ColumnLabels.of, types)),
                    {"source": table.source},
                )
                labelled.append(TrainingTable(labels, PSEUDO))
    return labelled


def _sure_types(
    table: Table,
    confidence: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    threshold: float,
    counts: Counter[str],
) -> list[str | None]:
    """Return the label of each column, if any, and count it."""
    types: list[str | None] = []
    verdicts = judge_columns(list(table.columns))
    for column, verdict, row in zip(table.columns, verdicts, confidence, strict=True):
        name = TYPE_NAMES[int(row.argmax())]
        sure = bool(column.present) and row.max() >= threshold and name not in verdict.vetoes
        keep = sure and counts[name] < COLUMNS_PER_TYPE
        counts[name] += keep
        types.append(name if keep else None)
    return types
