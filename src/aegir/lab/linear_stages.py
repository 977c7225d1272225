r"""The linear stages of the n-gram model, from labelled web tables.

    tables --> groups --> folds over validation tables --> held-out answers, temperatures
           \-> all of them --> first stage, out-of-fold scores, second stage --> final weights

The second stage is trained on scores that the first gave to tables it was not trained on, because its scores of
training tables are more certain than those of new ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegir.lab.data.sources import TrainingTable
from aegir.lab.held_out import HeldOut, column_names, stack_folds
from aegir.lab.linear_fit import (
    Targets,
    fit_context,
    fit_hashed_linear,
    fit_subject,
    rows_at,
    score_rows,
)
from aegir.readers.ngrams.annotator import pick_subject
from aegir.readers.ngrams.features import SparseRows, hashed_in_parts, views_of
from aegir.readers.ngrams.model import SCORES, TYPES, context_features
from aegir.readers.ngrams.network import Dense, HashedLinear
from aegir.tables.labelled import Task
from aegir.tables.leakage import fold_of_group, group_tables
from aegir.vocabulary.terms import RELATION_INDEX, TYPE_INDEX
from aegir_rl.base.arrays import F32, I64, Bools, softmax
from aegir_rl.base.errors import UsageError

INNER_FOLDS = 4
CONTEXT_STRENGTH = 0.3
"""Inverse regularisation of the second stage, chosen by cross-validation among 0.1, 0.3 and 1."""
TEMPERATURES = tuple(float(t) for t in np.geomspace(0.2, 3.0, 60))
HEADS: Mapping[str, slice] = {"types": slice(0, TYPES), "relations": slice(TYPES, None)}
"""Where the scores of each part of the answer stand."""


@dataclass(frozen=True, slots=True)
class LinearTraining:
    """Settings of the linear stages."""

    seed: int = 0
    folds: int = 5
    """Folds of the cross-validation over validation tables, at least 2."""
    features: int = 32_768
    """Buckets kept by the first stage; they take 6.2 MB."""
    jobs: int = 2


@dataclass(frozen=True, slots=True)
class LinearExamples:
    """All training columns as arrays, with the number of the table and group of each."""

    tables: tuple[TrainingTable, ...]
    rows: SparseRows
    """One row per column: the features of its first view."""
    targets: Targets
    table: I64
    group: I64

    @classmethod
    def of(cls, tables: Sequence[TrainingTable]) -> "LinearExamples":
        """Hash the columns of the tables and group the tables."""
        groups = group_tables([table.labelled for table in tables])
        sizes = [len(table.labelled.table.columns) for table in tables]
        columns = [column for table in tables for column in table.labelled.table.columns]
        views = [(views_of(column) or [()])[0] for column in columns]
        return cls(
            tuple(tables),
            hashed_in_parts(views),
            _targets(tables),
            np.repeat(np.arange(len(tables)), sizes),
            np.repeat(np.array(groups, np.int64), sizes),
        )


@dataclass(frozen=True, slots=True)
class LinearStages:
    """The layers of one fit."""

    values: HashedLinear
    subject: Dense
    context: Dense


def cross_validate(
    examples: LinearExamples, config: LinearTraining, say: Callable[[str], None]
) -> HeldOut:
    """Return answers to every validation table from stages that were fitted without its group."""
    from joblib import Parallel, delayed

    validation = [
        group
        for group, table in zip(examples.group, examples.table, strict=True)
        if examples.tables[table].source.is_validation
    ]
    if len(set(validation)) < config.folds:
        raise UsageError(
            f"{len(set(validation))} validation tables cannot make {config.folds} folds; "
            "give a file whose name ends in _val.jsonl, or fewer --folds"
        )
    fold_of = fold_of_group(validation, config.folds, config.seed)
    fold = np.array([fold_of.get(int(group), -1) for group in examples.group])

    def run(number: int) -> HeldOut:
        fitted = fit(examples, fold != number, config)
        return predict(fitted, examples, fold == number)

    parts = []
    for number, part in enumerate(
        Parallel(config.jobs, return_as="generator")(delayed(run)(f) for f in range(config.folds))
    ):
        say(f"linear stages: fold {number + 1} of {config.folds} done")
        parts.append({"web": part})
    return stack_folds(parts)["web"]


def fit(examples: LinearExamples, used: Bools, config: LinearTraining) -> LinearStages:
    """Fit both stages on the columns marked in `used` (columns,)."""
    chosen = np.flatnonzero(used)
    rows, targets = rows_at(examples.rows, chosen), examples.targets[chosen]
    inner = _inner_folds(examples.group[chosen], config.seed)
    scores = np.zeros((len(chosen), SCORES), np.float32)
    for number in range(INNER_FOLDS):
        away, here = np.flatnonzero(inner != number), np.flatnonzero(inner == number)
        layer = fit_hashed_linear(rows_at(rows, away), targets[away], config.features)
        scores[here] = score_rows(layer, rows_at(rows, here))
    values = fit_hashed_linear(rows, targets, config.features)
    table = examples.table[chosen]
    subject = _fit_subject(examples, table, scores)
    whole = np.flatnonzero([examples.tables[t].source.in_context for t in table])
    context = _context_of_tables(examples, table[whole], scores[whole], subject)
    return LinearStages(values, subject, fit_context(context, targets[whole], CONTEXT_STRENGTH))


def _inner_folds(groups: I64, seed: int) -> I64:
    fold_of = fold_of_group([int(group) for group in groups], INNER_FOLDS, seed + 1)
    return np.array([fold_of[int(group)] for group in groups])


def _fit_subject(examples: LinearExamples, table: I64, scores: F32) -> Dense:
    """Fit the subject layer on tables whose subject is known."""
    known = np.array([examples.tables[t].labelled.table.subject is not None for t in table])
    index = np.arange(len(table)) - np.searchsorted(table, table)
    subject_of = np.array([examples.tables[t].labelled.table.subject or 0 for t in table])
    return fit_subject(scores[known], (index == subject_of)[known])


def _context_of_tables(examples: LinearExamples, table: I64, scores: F32, subject: Dense) -> F32:
    """Return the second stage's input (columns, features)."""
    return np.concatenate(
        [
            context_features(
                scores[start:end],
                pick_subject(examples.tables[number].labelled.table, scores[start:end], subject),
            )
            for number, start, end in _spans(table)
        ]
    )


def _spans(table: I64) -> list[tuple[int, int, int]]:
    """Return (table, first column, end) of each run of equal table numbers."""
    starts = np.flatnonzero(np.append(True, table[1:] != table[:-1]))
    ends = np.append(starts[1:], len(table))
    return [(int(table[a]), int(a), int(b)) for a, b in zip(starts, ends, strict=True)]


def predict(fitted: LinearStages, examples: LinearExamples, wanted: Bools) -> HeldOut:
    """Return the logits for the validation columns among `wanted` (columns,)."""
    validation = np.array([examples.tables[t].source.is_validation for t in examples.table])
    chosen = np.flatnonzero(wanted & validation)
    table = examples.table[chosen]
    own = score_rows(fitted.values, rows_at(examples.rows, chosen))
    logits = fitted.context(_context_of_tables(examples, table, own, fitted.subject))
    targets = examples.targets[chosen]
    known = (targets.labels >= 0) & (targets.weights > 0)
    accepted = {}
    for head, part in enumerate(HEADS):
        accepted[part] = np.zeros((len(chosen), logits[:, HEADS[part]].shape[1]), bool)
        rows = np.flatnonzero(known[:, head])
        accepted[part][rows, targets.labels[rows, head]] = True
    names = [
        name for number, _, _ in _spans(table) for name in column_names(examples.tables[number])
    ]
    return HeldOut(
        logits={part: logits[:, columns] for part, columns in HEADS.items()},
        accepted=accepted,
        known={part: known[:, head] for head, part in enumerate(HEADS)},
        table=np.unique(table, return_inverse=True)[1],
        group=examples.group[chosen],
        names=tuple(names),
    )


def fit_temperatures(held_out: Sequence[HeldOut]) -> dict[Task, float]:
    """Return the temperature of least log loss of each task over all answers; 1 for a task without labelled columns."""
    temperatures: dict[Task, float] = {}
    parts: Mapping[Task, str] = {"cta": "types", "cpa": "relations"}
    for task, part in parts.items():
        labelled = [(one, one.known[part]) for one in held_out]
        logits = np.concatenate([one.logits[part][known] for one, known in labelled])
        right = np.concatenate([one.accepted[part][known] for one, known in labelled])

        def loss(temperature: float, logits: F32 = logits, right: Bools = right) -> float:
            probabilities = softmax(logits / np.float32(temperature))
            return float(-np.log((probabilities * right).sum(axis=1) + 1e-7).mean())

        temperatures[task] = min(TEMPERATURES, key=loss) if len(logits) else 1.0
    return temperatures


def _targets(tables: Sequence[TrainingTable]) -> Targets:
    labels, weights = [], []
    for table in tables:
        for known in table.labelled.labels:
            wanted = (
                TYPE_INDEX.get(known.type or "", -1),
                RELATION_INDEX.get(known.relation or "", -1),
            )
            trusted = (table.source.cta_weight * known.trust, table.source.cpa_weight)
            labels.append(
                [w if trust > 0 else -1 for w, trust in zip(wanted, trusted, strict=True)]
            )
            weights.append(trusted)
    return Targets(np.array(labels, np.int64), np.array(weights, np.float32))
