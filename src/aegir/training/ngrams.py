r"""The recipe for the n-gram model, from labelled tables to one calibrated file.

    tables --> groups --> folds over validation tables --> held-out predictions --> calibration, figures
           \-> all of them --> first stage, out-of-fold scores, second stage --> weights that ship

The second stage is trained on scores that the first gave to tables it had not seen, because scores on its own
training tables look surer than they will be in use.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.annotators.ngrams.annotator import pick_subject
from aegir.annotators.ngrams.features import SparseRows, views_of
from aegir.annotators.ngrams.model import TYPES, Dense, HashedLinear, NgramModel, context_features
from aegir.annotators.rules.judge import judge_columns
from aegir.arrays import F32, I64
from aegir.data.leakage import fold_of_group, group_tables
from aegir.data.sources import TrainingTable, types_of_relations
from aegir.errors import UsageError
from aegir.tables.table import Table
from aegir.training.calibrate import (
    Calibration,
    HeldOut,
    Judgement,
    RuledTypes,
    Tempered,
    cross_fitted,
    fit_relations,
    fit_rules,
    fit_temperature,
    stack,
)
from aegir.training.header_labels import HeaderModel, fit_headers, no_headers
from aegir.training.held_out import column_names, save_answers
from aegir.training.linear_fit import (
    Targets,
    fit_context,
    fit_hashed_linear,
    fit_subject,
    rows_at,
    score_rows,
    sparse_rows,
)
from aegir.vocabulary.terms import RELATION_INDEX, RELATION_NAMES, TYPE_INDEX, TYPE_NAMES

INNER_FOLDS = 4
CONTEXT_STRENGTH = 0.3
"""Inverse regularisation of the second stage, chosen by cross-validation among 0.1, 0.3 and 1."""


HEADER_WEIGHT = {"cta": 0.5, "cpa": 0.5}
"""How far a header moves the log odds: half of what Bayes' rule would give an independent witness."""


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
    """All training columns as arrays, and which table and group each belongs to."""

    tables: tuple[TrainingTable, ...]
    rows: SparseRows
    """One row per column: the features of its first view."""
    targets: Targets
    table: I64
    group: I64

    @classmethod
    def of(cls, tables: Sequence[TrainingTable]) -> "Examples":
        """Hash and index the tables."""
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
    """The learnt layers of one fit."""

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
    """Cross-validate, calibrate, then fit on everything; held-out answers may be kept for combinations."""
    examples = Examples.of(tables)
    say(f"{len(tables)} tables, {len(examples.table)} columns, {len(set(examples.group))} groups")
    held_out = cross_validate(examples, config, say)
    if keep_answers:
        save_answers(keep_answers, held_out)
    compatibility = compatibility_of(tables)
    calibration, figures = _calibrate(held_out, compatibility)
    for name, judgement in figures.items():
        say(f"{name}: micro F1 {judgement.micro_f1:.4f}, ECE {judgement.ece:.4f}")
    say("fitting the weights that ship on all tables")
    fitted = fit(examples, np.ones(len(examples.table), bool), config)
    facts = _facts(examples, calibration, figures, config)
    bare = _assemble(fitted, no_headers(), compatibility, facts)
    headers = fit_headers(bare, raw, types_of_relations(tables), say)
    return _assemble(fitted, headers, compatibility, facts)


def _assemble(
    fitted: Fitted, headers: HeaderModel, compatibility: F32, facts: dict[str, Any]
) -> NgramModel:
    calibration = facts["calibration"] | {"header_log_prior": headers.log_prior.tolist()}
    training = facts["training"] | {"headers": headers.headers}
    facts = facts | {"calibration": calibration, "training": training}
    return NgramModel(
        fitted.values, headers.layer, fitted.subject, fitted.context, compatibility, facts
    )


def compatibility_of(tables: Sequence[TrainingTable]) -> F32:
    """(relations, types) shares of types; a relation of which nothing is known goes with every type."""
    shares = types_of_relations(tables)
    matrix = np.ones((len(RELATION_NAMES), len(TYPE_NAMES)), np.float32)
    for row, relation in zip(matrix, RELATION_NAMES, strict=True):
        if found := shares.get(relation):
            row[:] = [found.get(name, 0.0) for name in TYPE_NAMES]
    return matrix


def _calibrate(
    held_out: dict[str, HeldOut], compatibility: F32
) -> tuple[dict[str, Any], dict[str, Judgement]]:
    """The numbers that make confidence honest, and the figures they reach on held-out tables."""
    ruled, related = RuledTypes(Tempered(1.0), 0.0, 1.0), None
    if "cta" in held_out:
        ruled = fit_rules(held_out["cta"])
    if "cpa" in held_out:
        related = fit_relations(held_out["cpa"], ruled, compatibility)
    calibration = {
        "ngrams": {
            "cta": ruled.inner.temperature,
            "cpa": related.inner.temperature if related else 1.0,
        },
        "combined": {"cta": ruled.temperature, "cpa": related.temperature if related else 1.0},
        "rule_weight": ruled.rule_weight,
        "compatibility_weight": related.weight if related else 1.0,
        "header_weight": HEADER_WEIGHT,
    }
    fits: dict[str, Callable[[HeldOut], Calibration]] = {
        "cta": fit_rules,
        "cpa": partial(fit_relations, types=ruled, compatibility=compatibility),
    }
    figures = {}
    for name, part in held_out.items():
        figures[f"ngrams/{name}"] = cross_fitted(part, fit_temperature)
        figures[f"combined/{name}"] = cross_fitted(part, fits[name[:3]])
    return calibration, figures


def _facts(
    examples: Examples,
    calibration: dict[str, Any],
    figures: dict[str, Judgement],
    config: NgramTraining,
) -> dict[str, Any]:
    sources = sorted({table.source.file for table in examples.tables})
    return {
        "calibration": calibration,
        "held_out": {name: asdict(judgement) for name, judgement in figures.items()},
        "training": asdict(config)
        | {"tables": len(examples.tables), "columns": len(examples.table), "sources": sources},
    }


def cross_validate(
    examples: Examples, config: NgramTraining, say: Callable[[str], None]
) -> dict[str, HeldOut]:
    """Predictions for every validation table by a model that saw nothing of its group."""
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


def fit(examples: Examples, used: npt.NDArray[np.bool_], config: NgramTraining) -> Fitted:
    """Both stages on the columns marked as used."""
    chosen = np.flatnonzero(used)
    rows, targets = rows_at(examples.rows, chosen), examples.targets[chosen]
    inner = _inner_folds(examples.group[chosen], config.seed)
    scores = np.zeros((len(chosen), len(TYPE_NAMES) + len(RELATION_NAMES)), np.float32)
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
    """Learn what a subject column looks like from tables whose subject is known."""
    known = np.array([examples.tables[t].labelled.table.subject is not None for t in table])
    place = np.arange(len(table)) - np.searchsorted(table, table)
    subject_of = np.array([examples.tables[t].labelled.table.subject or 0 for t in table])
    return fit_subject(scores[known], (place == subject_of)[known])


def _context_of_tables(examples: Examples, table: I64, scores: F32, subject: Dense) -> F32:
    """(columns, features) of the second stage, table by table."""
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
    """(table, first column, past the last) of each run of equal table numbers."""
    starts = np.flatnonzero(np.append(True, table[1:] != table[:-1]))
    ends = np.append(starts[1:], len(table))
    return [(int(table[a]), int(a), int(b)) for a, b in zip(starts, ends, strict=True)]


def _predict(
    fitted: Fitted, examples: Examples, wanted: npt.NDArray[np.bool_]
) -> dict[str, HeldOut]:
    """Logits for the labelled columns of the wanted validation tables."""
    validation = np.array([examples.tables[t].source.is_validation for t in examples.table])
    chosen = np.flatnonzero(wanted & validation)
    table = examples.table[chosen]
    own = score_rows(fitted.values, rows_at(examples.rows, chosen))
    logits = fitted.context(_context_of_tables(examples, table, own, fitted.subject))
    labels = examples.targets[chosen].labels
    columns = [
        column for number, _, _ in _spans(table) for column in _table(examples, number).columns
    ]
    names = [
        name for number, _, _ in _spans(table) for name in column_names(examples.tables[number])
    ]
    sources = [examples.tables[t].source for t in table]
    apart = np.array(["" if source.calibrates else f"@{source.stem}" for source in sources])
    found = {}
    for head, (task, part) in enumerate((("cta", slice(0, TYPES)), ("cpa", slice(TYPES, None)))):
        for suffix in np.unique(apart):
            kept = np.flatnonzero((labels[:, head] >= 0) & (apart == suffix))
            if len(kept):
                found[f"{task}{suffix}"] = HeldOut(
                    logits[kept, part],
                    labels[kept, head],
                    np.unique(table[kept], return_inverse=True)[1],
                    tuple(judge_columns([columns[i] for i in kept])),
                    logits[kept, :TYPES],
                    tuple(names[i] for i in kept),
                )
    return found


def _table(examples: Examples, number: int) -> Table:
    return examples.tables[number].labelled.table


def _targets(tables: Sequence[TrainingTable]) -> Targets:
    labels, weights = [], []
    for table in tables:
        for cta, cpa in zip(table.labelled.cta, table.labelled.cpa, strict=True):
            wanted = (
                TYPE_INDEX.get(cta[0], -1) if cta else -1,
                RELATION_INDEX.get(cpa[0], -1) if cpa else -1,
            )
            trusted = (table.source.cta_weight, table.source.cpa_weight)
            labels.append(
                [w if trust > 0 else -1 for w, trust in zip(wanted, trusted, strict=True)]
            )
            weights.append(trusted)
    return Targets(np.array(labels, np.int64), np.array(weights, np.float32))
