"""Fits reranking (readers/reranking.py) on the answers that n-grams gave to web tables they were not trained on.

    answers_of(models, tables, mixture)  --> HeldOutAnswers      rules and pairs applied; pairs counted without the fold's own groups
    gain(answers, head)                  --> Gain                each fold by weights fitted on the four others
    fit(answers)                         --> Reranking           on all of them

    python -m aegir.lab.reranking_fit --data DATA --ngrams runs/ngrams-parts --out reranking.safetensors

The command prints what reranking is worth beside a control that has no statistics but a constant, so that what mere
calibration of the names gains is told apart from what statistics do.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aegir.lab.calibrate import compatibility_of, load_models
from aegir.lab.data.sources import TrainingTable, read_training_tables
from aegir.lab.held_out import HeldOut, column_names, places_of
from aegir.lab.mixing_fit import fit_pair
from aegir.lab.pair_fit import NAMES, LabelledPairs
from aegir.lab.replay import LINEAR, NETWORK, Held, collect
from aegir.pipeline.correct import apply_rules
from aegir.readers.bytes.annotator import load_byte_model
from aegir.readers.calibration import Mixture
from aegir.readers.mixing import FLOOR, PairModel, Pairs, with_none
from aegir.readers.reranking import (
    FORMAT,
    HEADS,
    SURE,
    HeadWeights,
    Reranking,
    candidates,
    column_statistics,
    scale_statistics,
)
from aegir.readers.rules.judge import judge_columns
from aegir.readers.scores import Probabilities, table_spans
from aegir.tables.leakage import fold_of_group
from aegir_rl.base.arrays import F32, I64, Bools, Floats, softmax
from aegir_rl.base.errors import UsageError
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
        fold_of = fold_of_group(self.group.tolist(), FOLDS, 0)
        return np.array([fold_of[group] for group in self.group.tolist()], np.int64)

    def fitted_on(self, head: str, chosen: Bools) -> Bools:
        """Return which of the chosen columns say something: unsure ones, right by one of the candidates."""
        whole, right = self.whole[head], self.accepted[head]
        unsure = whole.max(axis=1) < SURE
        return chosen & self.known[head] & unsure & (candidates(whole) & right).any(axis=1)


def answers_of(
    models: Mapping[str, Mapping[str, HeldOut]], tables: Sequence[TrainingTable], mixture: Mixture
) -> HeldOutAnswers:
    """Return the held-out answers of n-grams, mixed, with the rules and pairs of a mixture."""
    held = collect("web", models, tables)
    network = models[NETWORK]["web"]
    names = [name for table in held.tables for name in column_names(table)]
    group = network.group[places_of(names, network)]
    parts = {head: _mixed(held, head) for head in HEADS}
    own = [table.labelled.table for table in held.tables]
    verdicts = judge_columns([column for table in own for column in table.columns])
    pairs, compatibility = LabelledPairs.of(tables), compatibility_of(tables)
    groups_of_pairs = np.array(pairs.groups_of(held.tables))
    spans = table_spans(own)
    fold_of = fold_of_group(group.tolist(), FOLDS, 0)
    folds = np.array([fold_of[int(group[span.start])] for span in spans])
    for fold in range(FOLDS):
        without = set(groups_of_pairs[folds == fold].tolist())
        apart = _with_pairs(mixture, pairs, without)
        for index in np.flatnonzero(folds == fold).tolist():
            span = spans[index]
            found = apply_rules(
                *(parts[head][span] for head in HEADS), verdicts[span], 1.0, apart, compatibility
            )
            for head, probabilities in zip(HEADS, found, strict=True):
                parts[head][span] = probabilities
    known = {head: held.known[head] & held.accepted[head].any(axis=1) for head in HEADS}
    whole = {head: with_none(part) for head, part in parts.items()}
    statistics = np.concatenate([column_statistics(table) for table in own])
    return HeldOutAnswers(statistics, whole, held.accepted, known, group)


def _mixed(held: Held, head: str) -> Probabilities:
    """Return (columns, names) linear stages mixed with networks, by the weights of least loss."""
    network = held.parts[NETWORK][head]
    linear = held.parts[LINEAR][head] * network.sum(axis=1, keepdims=True)
    used = held.known[head] & held.answered[LINEAR]
    first, second = fit_pair(linear[used], network[used], held.accepted[head][used])
    logs = (np.log(with_none(part) + FLOOR) for part in (linear, network))
    mixed = softmax(np.float32(first) * next(logs) + np.float32(second) * next(logs))[:, :-1]
    mixed[~held.answered[LINEAR]] = network[~held.answered[LINEAR]]
    return mixed


def _with_pairs(mixture: Mixture, pairs: LabelledPairs, without: set[int]) -> Mixture:
    """Return the mixture with its pairs counted outside these groups."""
    if mixture.pairs is None:
        raise UsageError("the weights of the byte network have no pairs; calibrate them first")
    weights = {"types": mixture.pairs.types.weights, "relations": mixture.pairs.relations.weights}
    apart = {head: Pairs(NAMES[head], pairs.counts(head, without), weights[head]) for head in HEADS}
    return Mixture(
        mixture.mixing,
        mixture.rule_trust,
        mixture.rule_weight,
        mixture.compatibility_weight,
        PairModel(apart["types"], apart["relations"]),
    )


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
    return right[np.arange(len(right)), whole.argmax(axis=1)].astype(float)


def save(path: Path, reranking: Reranking) -> None:
    """Write the weights, in half precision."""
    tensors: dict[str, npt.NDArray[np.generic]] = {
        "mean": reranking.mean,
        "scale": reranking.scale,
    }
    for head, each in reranking.heads.items():
        tensors[f"{head}.sharpness"] = np.array([each.sharpness], np.float32)
        tensors[f"{head}.weights"] = each.weights.astype(np.float16)
    replace_file(path, safetensors_bytes(tensors, {"format": FORMAT}))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what reranking is worth, and write the weights fitted on all columns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--ngrams", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args(arguments)
    mixture = load_byte_model().calibration.mixture
    if mixture is None:
        raise UsageError("the weights of the byte network have no mixture; calibrate them first")
    models, _ = load_models(asked.ngrams)
    answers = answers_of(models, read_training_tables(asked.data), mixture)
    for head in HEADS:
        print(f"{head}: {gain(answers, head)}", flush=True)  # noqa: T201
    save(asked.out, fit(answers))


if __name__ == "__main__":
    main()
