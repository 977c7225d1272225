"""Weak labels for header names, from the values of the columns below them in thousands of tables.

The model scores the values of unlabelled tables without their headers. Per header, the mean of its probabilities over
many tables is a far better label than any single one: 'phone' is telephone because most columns of that name have
values like telephone numbers. A small logistic model over the header's characters generalises to other names.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from aegir.annotators.ngrams.annotator import NgramsAnnotator
from aegir.annotators.ngrams.features import View, header_view
from aegir.annotators.ngrams.model import SCORES, TYPES, HashedLinear, NgramModel
from aegir.arrays import F32
from aegir.tables.labelled import read_labelled_tables
from aegir.tables.table import Column, Table
from aegir.training.linear_fit import Targets, fit_hashed_linear, sparse_rows
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_INDEX, TYPE_NAMES

HEADER_FEATURES = 6144
TABLES_AT_ONCE = 256
TABLES_PER_FILE = 1500
"""Limits the influence of a single large collection."""
CELLS_READ = 10
SEEN = 2
"""Headers that occur in fewer tables are left out."""
LABELS_PER_HEADER = 3
CLEAR = 0.08
"""Mean probability below which a label of a header is noise."""
NAME_WEIGHT = 3.0
"""Weight of a relation's own name as a header, relative to a header of a table."""


@dataclass(frozen=True, slots=True)
class HeaderModel:
    """The header layer, and the log frequencies of the labels it was fitted on."""

    layer: HashedLinear
    log_prior: F32
    headers: int


def no_headers() -> HeaderModel:
    """Return a header layer that gives no evidence."""
    return HeaderModel(
        HashedLinear(
            np.zeros(0, np.int32),
            np.zeros(0, np.float32),
            np.zeros((0, SCORES), np.int8),
            np.zeros(0, np.float32),
            np.zeros(SCORES, np.float32),
        ),
        np.zeros(SCORES, np.float32),
        0,
    )


def fit_headers(
    model: NgramModel,
    raw: Sequence[Path],
    types_of_relations: Mapping[str, Mapping[str, float]],
    say: Callable[[str], None],
) -> HeaderModel:
    """Fit a header layer to the model's scores of unlabelled tables.

    The names of relations are used as headers, too; `types_of_relations` gives their types.
    """
    if not raw:
        return no_headers()
    say(f"reading headers of {len(raw)} files of unlabelled tables")
    total: dict[View, F32] = defaultdict(lambda: np.zeros(SCORES, np.float32))
    seen: dict[View, int] = defaultdict(int)
    annotator = NgramsAnnotator(model)
    for tables in _batches(_raw_tables(raw)):
        bare = [_without_headers(table) for table in tables]
        for table, scores in zip(tables, annotator.score(bare), strict=True):
            both = np.hstack([scores.types, scores.relations])
            for column, row in zip(table.columns, both, strict=True):
                if (view := header_view(column.name)) and column.present:
                    total[view] += row
                    seen[view] += 1
    means = {view: total[view] / np.float32(seen[view]) for view in total if seen[view] >= SEEN}
    return _fit(means, seen, types_of_relations)


def _fit(
    means: dict[View, F32],
    seen: dict[View, int],
    types_of_relations: Mapping[str, Mapping[str, float]],
) -> HeaderModel:
    views: list[View] = []
    labels: list[tuple[int, int]] = []
    weights: list[tuple[float, float]] = []
    for view in sorted(means):
        trust = float(np.log1p(seen[view]))
        for head, (first, names) in enumerate(((0, TYPE_NAMES), (TYPES, RELATION_NAMES))):
            row = means[view][first : first + len(names)]
            for label in np.argsort(-row, kind="stable")[:LABELS_PER_HEADER]:
                if row[label] >= CLEAR:
                    views.append(view)
                    labels.append((int(label), -1) if head == 0 else (-1, int(label)))
                    weight = trust * float(row[label])
                    weights.append((weight, 0.0) if head == 0 else (0.0, weight))
    for label, name in enumerate(RELATION_NAMES):
        if name_view := header_view(name):
            views.append(name_view)
            labels.append((-1, label))
            weights.append((0.0, NAME_WEIGHT))
            for type_name, share in types_of_relations.get(name, {}).items():
                if type_name in TYPE_INDEX and share >= CLEAR:
                    views.append(name_view)
                    labels.append((TYPE_INDEX[type_name], -1))
                    weights.append((NAME_WEIGHT * share, 0.0))
    targets = Targets(np.array(labels, np.int64), np.array(weights, np.float32))
    layer = fit_hashed_linear(sparse_rows(views), targets, HEADER_FEATURES, logistic=True)
    return HeaderModel(layer, _log_prior(targets), len(means))


def _log_prior(targets: Targets) -> F32:
    prior = np.full(SCORES, 1.0)
    for head, first in ((0, 0), (1, TYPES)):
        used = targets.labels[:, head] >= 0
        np.add.at(prior, first + targets.labels[used, head], targets.weights[used, head])
    prior[:TYPES] /= prior[:TYPES].sum()
    prior[TYPES:] /= prior[TYPES:].sum()
    return np.asarray(np.log(prior), np.float32)


def _raw_tables(paths: Sequence[Path]) -> Iterator[Table]:
    for path in paths:
        for labelled in islice(read_labelled_tables(path), TABLES_PER_FILE):
            columns = tuple(
                Column(column.name, column.present[:CELLS_READ])
                for column in labelled.table.columns[:40]
            )
            yield replace(labelled.table, columns=columns)


def _without_headers(table: Table) -> Table:
    return replace(table, columns=tuple(Column(None, column.values) for column in table.columns))


def _batches(tables: Iterable[Table]) -> Iterator[list[Table]]:
    iterator = iter(tables)
    while batch := list(islice(iterator, TABLES_AT_ONCE)):
        yield batch
