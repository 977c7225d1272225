"""How right a set of answers is, whether confidence means what it says, and where to stop answering.

**F1.** Every item has one or more accepted labels and one predicted label, or None for an abstention.
With one answer per item, micro F1 is the share of items answered correctly; an abstention counts as wrong.
Macro F1 is the mean of F1 over the classes present in the gold labels.

    gold  a a b b     predicted  a b b None
    micro 2/4; class a: precision 1/1, recall 1/2, F1 2/3; class b: precision 1/2, recall 1/2, F1 1/2; macro 7/12

**Calibration.** With 15 bins of equal width (Guo et al. 2017, arXiv:1706.04599):

    expected calibration error = sum over bins of  share of answers in the bin * |mean confidence - accuracy|

The same F1 for every episode of a batch at once is the reward r_perf (aegir_rl/rewards/performance.py).
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import I64
from aegir_rl.base.errors import UsageError

BINS = 15

Confidences = npt.NDArray[np.floating]
Correct = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Precision, recall and F1 of one class; `support` gold items, `predicted` answers."""

    label: str
    support: int
    predicted: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class F1Report:
    """F1 over all items and per class, the classes in alphabetical order."""

    items: int
    micro_f1: float
    macro_f1: float
    abstained: int
    classes: tuple[ClassScore, ...]


def compute_f1(gold: Sequence[Collection[str]], predicted: Sequence[str | None]) -> F1Report:
    """Compare answers with the accepted labels; matching any of them counts. Without items F1 is nan."""
    if len(gold) != len(predicted):
        raise UsageError(
            f"{len(gold)} items came with {len(predicted)} answers; expected one each, None to abstain"
        )
    right: Counter[str] = Counter()
    support: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for number, (accepted, answer) in enumerate(zip(gold, predicted, strict=True)):
        if not accepted:
            raise UsageError(
                f"item {number} has no accepted label; expected at least one, or leave the item out"
            )
        matched = answer is not None and answer in accepted
        # With several accepted labels, the one that was answered is the item's class.
        label = answer if answer is not None and matched else next(iter(accepted))
        support[label] += 1
        right[label] += matched
        if answer is not None:
            answers[answer] += 1
    classes = tuple(
        _class_score(label, right[label], support[label], answers[label])
        for label in sorted(support)
    )
    return F1Report(
        items=len(gold),
        micro_f1=sum(right.values()) / len(gold) if gold else math.nan,
        macro_f1=sum(score.f1 for score in classes) / len(classes) if classes else math.nan,
        abstained=sum(answer is None for answer in predicted),
        classes=classes,
    )


def compute_class_f1(labels: I64, predicted: I64, names: Sequence[str] | None = None) -> F1Report:
    """Compare class numbers (n,) with one accepted class each; `names` gives the labels of the report."""
    named = [str(number) if names is None else names[number] for number in labels.tolist()]
    answers = [str(number) if names is None else names[number] for number in predicted.tolist()]
    return compute_f1([(label,) for label in named], answers)


def _class_score(label: str, right: int, support: int, predicted: int) -> ClassScore:
    precision = right / predicted if predicted else 0.0
    recall = right / support
    f1 = 2 * right / (support + predicted)
    return ClassScore(label, support, predicted, precision, recall, f1)


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Answering only at or above `threshold` covers this share of items with this precision."""

    threshold: float
    coverage: float
    precision: float


def expected_calibration_error(confidence: Confidences, correct: Correct) -> float:
    """The mean gap between confidence and accuracy over equal-width bins."""
    if not len(confidence):
        return 0.0
    bins = np.minimum((np.asarray(confidence) * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, np.asarray(confidence, float) - correct, minlength=BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def operating_point(confidence: Confidences, correct: Correct, threshold: float) -> OperatingPoint:
    """Coverage and precision when abstaining below the threshold; precision 1 when all abstain."""
    answered = np.asarray(confidence) >= threshold
    precision = float(correct[answered].mean()) if answered.any() else 1.0
    return OperatingPoint(threshold, float(answered.mean()) if len(answered) else 0.0, precision)


def threshold_for_precision(
    confidence: Confidences, correct: Correct, precision: float, doubt: float = 0.0
) -> OperatingPoint | None:
    """The lowest threshold whose answers reach the precision; None when no threshold does.

    At least 30 answers must stand behind it, so that one lucky column cannot promise perfection. The lowest of many thresholds
    is also the luckiest: with `doubt`, the answers must reach the precision and as many of its standard errors more.
    """
    order = np.argsort(-np.asarray(confidence), kind="stable")
    ranked, hits = np.asarray(confidence)[order], np.cumsum(correct[order])
    counts = np.arange(1, len(ranked) + 1)
    # Equal confidences are answered together, so only the last of each run is a real choice.
    last = np.append(ranked[1:] != ranked[:-1], True) if len(ranked) else np.zeros(0, bool)
    wanted = precision + doubt * np.sqrt(precision * (1 - precision) / counts)
    good = np.flatnonzero(last & (counts >= 30) & (hits >= wanted * counts))
    if not len(good):
        return None
    at = int(good[-1])
    return OperatingPoint(
        float(ranked[at]), float((at + 1) / len(ranked)), float(hits[at] / (at + 1))
    )
