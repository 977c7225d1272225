"""How far to trust the byte network, and how to mix it with n-grams and rules: fitted on held-out answers.

    fold runs of the byte network  --> answers to every validation column by a network that had not seen it
    kept answers of the n-grams    --> the same columns            --> weights, temperatures, thresholds, figures

The two models are mixed as witnesses: log P = a log P(n-grams) + b log P(bytes), weights chosen by log loss on held-out
columns; then come the rules and the types' say in relations, as for n-grams alone. Figures are cross-fitted:
temperatures come from other tables than those they are judged on. The two mixing weights per task are chosen on all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from aegir.annotators.combined import mix_log_probabilities
from aegir.arrays import F32
from aegir.data.sources import TrainingTable
from aegir.training.calibrate import (
    Calibration,
    HeldOut,
    Judgement,
    Tempered,
    cross_fitted,
    fit_relations,
    fit_rules,
    fit_temperature,
)
from aegir.training.held_out import aligned, with_verdicts
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

WEIGHTS = tuple(i / 10 for i in range(13))
TASKS = ("cta", "cpa")
Mix = tuple[float, float]
"""What n-grams and bytes count."""


def calibrate_bytes(
    answers: Mapping[str, HeldOut],
) -> tuple[dict[str, float], dict[str, Judgement]]:
    """Temperatures of the byte network alone, and what it reaches."""
    temperatures = {
        task: fit_temperature(answers[task]).temperature for task in TASKS if task in answers
    }
    figures = {
        f"byte_model/{name}": cross_fitted(part, fit_temperature) for name, part in answers.items()
    }
    return dict.fromkeys(TASKS, 1.0) | temperatures, figures


def combine(
    ngrams: Mapping[str, HeldOut],
    answers: Mapping[str, HeldOut],
    tables: Sequence[TrainingTable],
    compatibility: F32,
) -> tuple[dict[str, Any], dict[str, Judgement]]:
    """What the default annotator mixes by, and what it reaches."""
    pairs = {name: aligned(ngrams[name], answers[name]) for name in answers if name in ngrams}
    mixes = {task: _best_mix(*pairs[task]) for task in TASKS}
    inner = {task: _Inner.of(*pairs[task]) for task in TASKS}
    mixed = {
        name: with_verdicts(_mixed(*pair, name[:3], mixes, inner), tables)
        for name, pair in pairs.items()
    }
    ruled = fit_rules(mixed["cta"])
    related = fit_relations(mixed["cpa"], ruled, compatibility)
    fits: dict[str, Callable[[HeldOut], Calibration]] = {
        "cta": fit_rules,
        "cpa": partial(fit_relations, types=ruled, compatibility=compatibility),
    }
    figures = {
        f"combined/{name}": cross_fitted(part, fits[name[:3]]) for name, part in mixed.items()
    }
    settings = {
        "mix": {task: list(mixes[task]) for task in TASKS},
        "sharpness": {"cta": ruled.inner.temperature, "cpa": related.inner.temperature},
        "temperature": {"cta": ruled.temperature, "cpa": related.temperature},
        "rule_weight": ruled.rule_weight,
        "compatibility_weight": related.weight,
    }
    return settings, figures


class _Inner(tuple[Tempered, Tempered]):
    """The temperatures of the two models."""

    @classmethod
    def of(cls, ngrams: HeldOut, answers: HeldOut) -> "_Inner":
        return cls((fit_temperature(ngrams), fit_temperature(answers)))


def _mixed(
    ngrams: HeldOut,
    answers: HeldOut,
    task: str,
    mixes: Mapping[str, Mix],
    inner: Mapping[str, tuple[Tempered, Tempered]],
) -> HeldOut:
    """Held-out answers of the mixture, types beside relations mixed by their own weights."""
    logits = _mix(ngrams.logits, answers.logits, mixes[task], inner[task])
    assert ngrams.type_logits is not None, "n-grams answer both tasks"
    assert answers.type_logits is not None, "the byte network answers both tasks"
    types = _mix(ngrams.type_logits, answers.type_logits, mixes["cta"], inner["cta"])
    return replace(ngrams, logits=logits, type_logits=types)


def _mix(ngrams: F32, answers: F32, mix: Mix, inner: tuple[Tempered, Tempered]) -> F32:
    probabilities = [
        tempered(HeldOut(logits, np.zeros(len(logits), np.int64), np.zeros(len(logits), np.int64)))
        for tempered, logits in zip(inner, (ngrams, answers), strict=True)
    ]
    return mix_log_probabilities(probabilities[0], probabilities[1], mix)


def _best_mix(ngrams: HeldOut, answers: HeldOut) -> Mix:
    """The weights under which the right answers were least surprising."""
    inner = _Inner.of(ngrams, answers)
    rows = np.arange(len(ngrams))

    def surprise(mix: Mix) -> float:
        logits = _mix(ngrams.logits, answers.logits, mix, inner)
        top = logits.max(axis=1)
        total = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        return float((total - logits[rows, ngrams.labels]).mean())

    return min((mix for mix in product(WEIGHTS, WEIGHTS) if any(mix)), key=surprise)


def scores_per_class(answers: Mapping[str, HeldOut]) -> dict[str, dict[str, list[float]]]:
    """For each task and label: columns, precision, recall and F1 of the byte network alone."""
    found: dict[str, dict[str, list[float]]] = {}
    for task, names in (("cta", TYPE_NAMES), ("cpa", RELATION_NAMES)):
        if task not in answers:
            continue
        labels, guesses = answers[task].labels, answers[task].logits.argmax(axis=1)
        found[task] = {}
        for label, name in enumerate(names):
            wanted, given = labels == label, guesses == label
            right = int((wanted & given).sum())
            if wanted.any():
                precision, recall = right / max(int(given.sum()), 1), right / int(wanted.sum())
                f1 = 2 * right / int(wanted.sum() + given.sum())
                found[task][name] = [
                    int(wanted.sum()),
                    *(round(x, 3) for x in (precision, recall, f1)),
                ]
    return found


def facts_of(
    temperatures: Mapping[str, float],
    combined: Mapping[str, Any] | None,
    figures: Mapping[str, Judgement],
    per_class: Mapping[str, Any],
) -> dict[str, Any]:
    """What the byte model's file remembers of all this, as JSON."""
    calibration: dict[str, Any] = {"bytes": dict(temperatures)}
    if combined:
        calibration["combined"] = dict(combined)
    held_out = {name: asdict(judgement) for name, judgement in figures.items()}
    return {"calibration": calibration, "held_out": held_out, "per_class": dict(per_class)}
