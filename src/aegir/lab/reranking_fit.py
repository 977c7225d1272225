"""Fits reranking (readers/reranking.py) on answers to web tables that the readers were not trained on.

    calibrating.before_reranking(fitted)     --> HeldOutAnswers    rules and pairs applied, pairs counted without a table's own fold (replay.py)
    fit(answers)                             --> Reranking         on all of them
    gain(answers, head)                      --> Gain              each fold by weights fitted on the four others

The gain stands beside that of a control that has no statistics but a constant, so that what mere calibration of the names gains is
told apart from what statistics do. `aegir train calibrate` prints it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aegir.readers.mixing import FLOOR, with_none
from aegir.readers.reranking import (
    FORMAT,
    HEADS,
    SURE,
    HeadWeights,
    Reranking,
    candidates,
    scale_statistics,
)
from aegir.readers.scores import Probabilities
from aegir.tables.leakage import fold_of_group
from aegir_rl.base.arrays import F32, I64, Bools, Floats
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import safetensors_bytes
from aegir_rl.offline.intervals import Estimate, estimate_gain

FOLDS, STEPS = 5, 25
RIDGE, SHARPNESS_RIDGE = 30.0, 10.0
"""What the squared weights, and the squared distance of the sharpness from 1, cost."""


@dataclass(frozen=True, slots=True)
class HeldOutAnswers:
    """Answers to columns of web tables, and what is right."""

    statistics: F32
    whole: Mapping[str, Probabilities]
    """Part to (columns, names + 1)."""
    accepted: Mapping[str, Bools]
    known: Mapping[str, Bools]
    group: I64

    @property
    def fold(self) -> I64:
        """(columns,) the fold a column's group is in."""
        return folds_of(self.group)

    def fitted_on(self, head: str, chosen: Bools) -> Bools:
        """Return which of the chosen columns say something: unsure ones, right by one of the candidates."""
        whole, right = self.whole[head], self.accepted[head]
        unsure = whole.max(axis=1) < SURE
        found = chosen & self.known[head] & unsure & (candidates(whole) & right).any(axis=1)
        return np.asarray(found, bool)


def folds_of(groups: I64) -> I64:
    """Return the fold of each item, of FOLDS over groups."""
    fold_of = fold_of_group(groups.tolist(), FOLDS, 0)
    return np.array([fold_of[group] for group in groups.tolist()], np.int64)


def fit_head(whole: Probabilities, scaled: F32, right: Bools, ridge: float = RIDGE) -> HeadWeights:
    """Return the sharpness and weights of least log loss among the candidates, with a ridge."""
    from scipy.optimize import minimize

    logs = np.log(whole + FLOOR)
    shape = (scaled.shape[1], whole.shape[1])
    outside = np.where(candidates(whole), 0, -1e4).astype(np.float32)

    def loss(numbers: Floats) -> tuple[float, Floats]:
        sharpness, weights = numbers[0], numbers[1:].reshape(shape).astype(np.float32)
        scores = np.float32(sharpness) * logs + scaled @ weights + outside
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        of_right = np.where(right, powers, 0)
        total, some = powers.sum(axis=1), of_right.sum(axis=1) + 1e-9
        slope = powers / total[:, None] - of_right / some[:, None]
        value = float((np.log(total) - np.log(some)).sum()) + ridge / 2 * float((weights**2).sum())
        value += SHARPNESS_RIDGE / 2 * (sharpness - 1) ** 2
        first = float((slope * logs).sum()) + SHARPNESS_RIDGE * (sharpness - 1)
        others = scaled.T @ slope + np.float32(ridge) * weights
        return value, np.concatenate([[first], others.ravel().astype(np.float64)])

    start = np.zeros(1 + shape[0] * shape[1])
    start[0] = 1.0
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return HeadWeights(float(fitted.x[0]), fitted.x[1:].reshape(shape).astype(np.float32))


def fit(answers: HeldOutAnswers) -> Reranking:
    """Return the weights of both parts, fitted on all columns."""
    all_columns = np.ones(len(answers.group), bool)
    mean, scale = _moments(answers, all_columns)
    scaled = scale_statistics(answers.statistics, mean, scale)
    heads = {}
    for head in HEADS:
        used = answers.fitted_on(head, all_columns)
        heads[head] = fit_head(
            answers.whole[head][used], scaled[used], answers.accepted[head][used]
        )
    return Reranking(mean, scale, heads)


def _moments(answers: HeldOutAnswers, chosen: Bools) -> tuple[F32, F32]:
    """Return mean and standard deviation of the statistics of the chosen columns that are labelled."""
    used = chosen & (answers.known["types"] | answers.known["relations"])
    statistics = answers.statistics[used]
    return statistics.mean(axis=0), statistics.std(axis=0) + np.float32(1e-3)


@dataclass(frozen=True, slots=True)
class Gain:
    """What reranking is worth for one part of the answer."""

    columns: int
    before: float
    control: Estimate
    """The gain with a constant for statistics."""
    statistics: Estimate
    beyond: Estimate
    """The gain with statistics less that of the control."""

    def __str__(self) -> str:
        parts = [f"{self.columns} columns, right {self.before:.4f}"]
        for name in ("control", "statistics", "beyond"):
            estimate: Estimate = getattr(self, name)
            parts.append(f"{name} {estimate.value:+.4f} ({estimate.show_interval('+.4f')})")
        return ", ".join(parts)


def gain(answers: HeldOutAnswers, head: str) -> Gain:
    """Return what weights fitted on four folds are worth on the fifth, over all folds, with intervals over groups."""
    known, right = answers.known[head], answers.accepted[head]
    before = _right(answers.whole[head], right)
    after = {"control": before.copy(), "statistics": before.copy()}
    for fold in range(FOLDS):
        others, own = answers.fold != fold, answers.fold == fold
        if not own.any() or not answers.fitted_on(head, others).any():
            continue
        used = answers.fitted_on(head, others)
        mean, scale = _moments(answers, others)
        scaled = scale_statistics(answers.statistics, mean, scale)
        for name, inputs in (("control", scaled[:, :1]), ("statistics", scaled)):
            weights = fit_head(answers.whole[head][used], inputs[used], right[used])
            found = weights.apply(inputs[own], answers.whole[head][own][:, :-1])
            after[name][own] = _right(with_none(found), right[own])
    groups = answers.group[known]
    return Gain(
        int(known.sum()),
        float(before[known].mean()),
        estimate_gain((after["control"] - before)[known], groups),
        estimate_gain((after["statistics"] - before)[known], groups),
        estimate_gain((after["statistics"] - after["control"])[known], groups),
    )


def _right(whole: Probabilities, right: Bools) -> Floats:
    """Return (columns,) 1 where the likeliest answer is right, else 0."""
    return np.asarray(right[np.arange(len(right)), whole.argmax(axis=1)], np.float64)


def save_reranking(path: Path, reranking: Reranking) -> None:
    """Write the weights, in half precision."""
    tensors: dict[str, npt.NDArray[np.generic]] = {
        "mean": reranking.mean,
        "scale": reranking.scale,
    }
    for head, each in reranking.heads.items():
        tensors[f"{head}.sharpness"] = np.array([each.sharpness], np.float32)
        tensors[f"{head}.weights"] = each.weights.astype(np.float16)
    replace_file(path, safetensors_bytes(tensors, {"format": FORMAT}))
