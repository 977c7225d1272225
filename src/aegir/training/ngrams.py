r"""The recipe for the n-gram model, from labelled tables to one calibrated file.

    tables --> groups --> folds over validation tables --> held-out predictions --> calibration, figures
           \-> all of them --> first stage, out-of-fold scores, second stage --> final weights

The second stage is trained on scores that the first gave to tables it was not trained on, because its scores of
training tables are more certain than those of new ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from aegir.annotators.calibration import NgramCalibration
from aegir.annotators.gold_labels import count_unknown_names, unknown_names_sentence
from aegir.annotators.ngrams.annotator import pick_subject
from aegir.annotators.ngrams.features import SparseRows, views_of
from aegir.annotators.ngrams.model import (
    SCORES,
    TYPES,
    Dense,
    HashedLinear,
    NgramModel,
    context_features,
)
from aegir.arrays import F32, I64, Bools
from aegir.data.leakage import fold_of_group, group_tables
from aegir.data.sources import TrainingTable, types_of_relations
from aegir.errors import UsageError
from aegir.tables.labelled import Task
from aegir.training.calibrate import (
    compatibility_of,
    cross_fitted,
    fit_temperature,
    fit_temperatures,
)
from aegir.training.header_labels import HeaderModel, fit_headers, no_headers
from aegir.training.held_out import HeldOut, column_names, save_answers, stack
from aegir.training.linear_fit import (
    Targets,
    fit_context,
    fit_hashed_linear,
    fit_subject,
    rows_at,
    score_rows,
    sparse_rows,
)
from aegir.vocabulary.terms import RELATION_INDEX, TYPE_INDEX

INNER_FOLDS = 4
CONTEXT_STRENGTH = 0.3
"""Inverse regularisation of the second stage, chosen by cross-validation among 0.1, 0.3 and 1."""
HEADER_WEIGHT: Mapping[Task, float] = {"cta": 0.5, "cpa": 0.5}
"""How far a header moves the log odds: half of what Bayes' rule gives for independent evidence."""


@dataclass(frozen=True, slots=True)
class NgramTraining:
    """Settings of one training run."""

    seed: int = 0
    folds: int = 5
    """Folds of the cross-validation over validation tables, at least 2."""
    features: int = 32768
    """Buckets kept by the first stage; 32,768 of them take 6.2 MB."""
    jobs: int = 2


@dataclass(frozen=True, slots=True)
class Examples:
    """All training columns as arrays, with the number of the table and group of each."""

    tables: tuple[TrainingTable, ...]
    rows: SparseRows
    """One row per column: the features of its first view."""
    targets: Targets
    table: I64
    group: I64

    @classmethod
    def of(cls, tables: Sequence[TrainingTable]) -> "Examples":
        """Hash the columns of the tables and group the tables."""
        groups = group_tables([table.labelled for table in tables])
        sizes = [len(table.labelled.table.columns) for table in tables]
        columns = [column for table in tables for column in table.labelled.table.columns]
        views = [(views_of(column) or [()])[0] for column in columns]
        return cls(
            tuple(tables),
            sparse_rows(views),
            _targets(tables),
            np.repeat(np.arange(len(tables)), sizes),
            np.repeat(np.array(groups, np.int64), sizes),
        )


@dataclass(frozen=True, slots=True)
class Fitted:
    """The layers of one fit."""

    values: HashedLinear
    subject: Dense
    context: Dense


def train_ngrams(
    tables: Sequence[TrainingTable],
    raw: Sequence[Path],
    config: NgramTraining,
    say: Callable[[str], None],
    keep_answers: Path | None = None,
) -> NgramModel:
    """Cross-validate, calibrate, then fit on all tables.

    `raw` are files of unlabelled tables to learn header names from. Held-out answers are saved to `keep_answers`, for
    `aegir train calibrate`.
    """
    examples = Examples.of(tables)
    say(f"{len(tables)} tables, {len(examples.table)} columns, {len(set(examples.group))} groups")
    if sentence := unknown_names_sentence(count_unknown_names(t.labelled for t in tables)):
        say(sentence)
    held_out = cross_validate(examples, config, say)
    if keep_answers:
        save_answers(keep_answers, held_out)
    figures = {
        f"ngrams/{name}": cross_fitted(part, fit_temperature) for name, part in held_out.items()
    }
    for name, judgement in figures.items():
        say(f"{name}: {judgement}")
    say("fitting the final weights on all tables")
    fitted = fit(examples, np.ones(len(examples.table), bool), config)

    def with_headers(headers: HeaderModel) -> NgramModel:
        return NgramModel(
            fitted.values,
            headers.layer,
            fitted.subject,
            fitted.context,
            compatibility_of(tables),
            NgramCalibration(fit_temperatures(held_out), HEADER_WEIGHT, headers.log_prior.tolist()),
            {
                "held_out": {name: asdict(judgement) for name, judgement in figures.items()},
                "training": {
                    **asdict(config),
                    "tables": len(tables),
                    "columns": len(examples.table),
                    "sources": sorted({table.source.file for table in tables}),
                    "headers": headers.headers,
                },
            },
        )

    without = with_headers(no_headers())
    return with_headers(fit_headers(without, raw, types_of_relations(tables), say))


def cross_validate(
    examples: Examples, config: NgramTraining, say: Callable[[str], None]
) -> dict[str, HeldOut]:
    """Return predictions for every validation table from a model that was fitted without its group."""
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

    def run(number: int) -> dict[str, HeldOut]:
        fitted = fit(examples, fold != number, config)
        return _predict(fitted, examples, fold == number)

    parts = []
    for number, part in enumerate(
        Parallel(config.jobs, return_as="generator")(delayed(run)(f) for f in range(config.folds))
    ):
        say(f"fold {number + 1} of {config.folds} done")
        parts.append(part)
    names = sorted({name for part in parts for name in part})
    return {name: stack([part[name] for part in parts if name in part]) for name in names}


def fit(examples: Examples, used: Bools, config: NgramTraining) -> Fitted:
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
    return Fitted(values, subject, fit_context(context, targets[whole], CONTEXT_STRENGTH))


def _inner_folds(groups: I64, seed: int) -> I64:
    fold_of = fold_of_group([int(group) for group in groups], INNER_FOLDS, seed + 1)
    return np.array([fold_of[int(group)] for group in groups])


def _fit_subject(examples: Examples, table: I64, scores: F32) -> Dense:
    """Fit the subject layer on tables whose subject is known."""
    known = np.array([examples.tables[t].labelled.table.subject is not None for t in table])
    place = np.arange(len(table)) - np.searchsorted(table, table)
    subject_of = np.array([examples.tables[t].labelled.table.subject or 0 for t in table])
    return fit_subject(scores[known], (place == subject_of)[known])


def _context_of_tables(examples: Examples, table: I64, scores: F32, subject: Dense) -> F32:
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


def _predict(fitted: Fitted, examples: Examples, wanted: Bools) -> dict[str, HeldOut]:
    """Return logits for the labelled columns among `wanted` (columns,), by task and source."""
    validation = np.array([examples.tables[t].source.is_validation for t in examples.table])
    chosen = np.flatnonzero(wanted & validation)
    table = examples.table[chosen]
    own = score_rows(fitted.values, rows_at(examples.rows, chosen))
    logits = fitted.context(_context_of_tables(examples, table, own, fitted.subject))
    labels = examples.targets[chosen].labels
    names = [
        name for number, _, _ in _spans(table) for name in column_names(examples.tables[number])
    ]
    sources = [examples.tables[t].source for t in table]
    apart = np.array(["" if source.calibrates else f"@{source.stem}" for source in sources])
    predictions = {}
    for head, (task, part) in enumerate((("cta", slice(0, TYPES)), ("cpa", slice(TYPES, None)))):
        for suffix in np.unique(apart):
            kept = np.flatnonzero((labels[:, head] >= 0) & (apart == suffix))
            if len(kept):
                predictions[f"{task}{suffix}"] = HeldOut(
                    logits[kept, part],
                    labels[kept, head],
                    np.unique(table[kept], return_inverse=True)[1],
                    type_logits=logits[kept, :TYPES],
                    names=tuple(names[i] for i in kept),
                )
    return predictions


def _targets(tables: Sequence[TrainingTable]) -> Targets:
    labels, weights = [], []
    for table in tables:
        for given in table.labelled.labels:
            wanted = (
                TYPE_INDEX.get(given.type or "", -1),
                RELATION_INDEX.get(given.relation or "", -1),
            )
            trusted = (table.source.cta_weight, table.source.cpa_weight)
            labels.append(
                [w if trust > 0 else -1 for w, trust in zip(wanted, trusted, strict=True)]
            )
            weights.append(trusted)
    return Targets(np.array(labels, np.int64), np.array(weights, np.float32))
