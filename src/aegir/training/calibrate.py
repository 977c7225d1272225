"""Making confidence honest: temperatures, the weight of the rules, thresholds for a wanted precision.

Everything here is fitted on predictions for tables the model has not seen, and judged on the other half
of them: `cross_fitted_error` calibrates on even tables and measures on odd ones, then the other way round.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.annotators.annotator import Probabilities
from aegir.annotators.combined import apply_verdicts
from aegir.annotators.ngram_features import F32, I64
from aegir.annotators.ngrams import softmax
from aegir.annotators.rules.verdict import Verdict
from aegir.rewards.calibration import expected_calibration_error, threshold_for_precision
from aegir.rewards.performance import compute_f1

TEMPERATURES = tuple(float(t) for t in np.geomspace(0.2, 3.0, 60))
RULE_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
PRECISIONS = tuple(percent / 100 for percent in range(70, 100))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Logits for labelled columns of tables kept out of training."""

    logits: F32
    """(columns, classes)"""
    labels: I64
    table: I64
    """Which table each column is from."""
    verdicts: tuple[Verdict, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, chosen: npt.NDArray[np.bool_]) -> "HeldOut":
        """Some of the columns."""
        verdicts = tuple(v for v, keep in zip(self.verdicts, chosen, strict=True) if keep)
        return HeldOut(self.logits[chosen], self.labels[chosen], self.table[chosen], verdicts)


@dataclass(frozen=True, slots=True)
class Calibration:
    """One temperature, and for the combination also the weight of the rules."""

    temperature: float
    rule_weight: float = 0.0
    inner_temperature: float = 1.0
    """The learnt model's own temperature, below the rules."""

    def probabilities(self, held_out: HeldOut, *, with_rules: bool) -> Probabilities:
        """(columns, classes) calibrated."""
        if not with_rules:
            return softmax(held_out.logits / np.float32(self.temperature))
        learnt = softmax(held_out.logits / np.float32(self.inner_temperature))
        return apply_verdicts(learnt, held_out.verdicts, self.rule_weight, self.temperature)


def fit_temperature(held_out: HeldOut) -> Calibration:
    """The temperature under which the right answers were least surprising."""
    losses = [
        _log_loss(softmax(held_out.logits / np.float32(t)), held_out.labels) for t in TEMPERATURES
    ]
    return Calibration(TEMPERATURES[int(np.argmin(losses))])


def fit_with_rules(held_out: HeldOut) -> Calibration:
    """The weight of the rules that answers best, then the temperature that makes it honest."""
    inner = fit_temperature(held_out).temperature
    choices = [Calibration(1.0, weight, inner) for weight in RULE_WEIGHTS]
    losses = [
        _log_loss(choice.probabilities(held_out, with_rules=True), held_out.labels)
        for choice in choices
    ]
    weight = choices[int(np.argmin(losses))].rule_weight
    tempered = [Calibration(t, weight, inner) for t in TEMPERATURES]
    losses = [
        _log_loss(choice.probabilities(held_out, with_rules=True), held_out.labels)
        for choice in tempered
    ]
    return tempered[int(np.argmin(losses))]


def _log_loss(probabilities: Probabilities, labels: I64) -> float:
    return float(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-7).mean())


@dataclass(frozen=True, slots=True)
class Judgement:
    """What held-out tables say of an annotator."""

    columns: int
    micro_f1: float
    macro_f1: float
    ece: float
    thresholds: tuple[tuple[float, float, float], ...]
    """Wanted precision, threshold, coverage; precisions that are out of reach are left out."""


def cross_fitted(
    held_out: HeldOut, fit: Callable[[HeldOut], Calibration], *, with_rules: bool
) -> Judgement:
    """Scores and calibration error on columns not used for the calibration they are judged by."""
    odd = held_out.table % 2 == 1
    confidence = np.zeros(len(held_out))
    answers = np.zeros(len(held_out), np.int64)
    for judged in (odd, ~odd):
        probabilities = fit(held_out.part(~judged)).probabilities(
            held_out.part(judged), with_rules=with_rules
        )
        confidence[judged] = probabilities.max(axis=1)
        answers[judged] = probabilities.argmax(axis=1)
    right = answers == held_out.labels
    points = [(p, threshold_for_precision(confidence, right, p)) for p in PRECISIONS]
    return Judgement(
        columns=len(held_out),
        micro_f1=float(right.mean()),
        macro_f1=compute_f1(
            [(str(label),) for label in held_out.labels], [str(a) for a in answers]
        ).macro_f1,
        ece=expected_calibration_error(confidence, right),
        thresholds=tuple(
            (wanted, point.threshold, point.coverage) for wanted, point in points if point
        ),
    )


def stack(parts: Sequence[HeldOut]) -> HeldOut:
    """Held-out predictions of several folds as one, tables numbered through."""
    offsets = np.cumsum([0, *(int(part.table.max(initial=-1)) + 1 for part in parts)])
    return HeldOut(
        np.concatenate([part.logits for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.table + o for part, o in zip(parts, offsets[:-1], strict=True)]),
        tuple(verdict for part in parts for verdict in part.verdicts),
    )
