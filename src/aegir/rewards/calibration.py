"""Whether confidence means what it says, and where to stop answering.

    expected calibration error = sum over bins of  share of answers in the bin * |mean confidence - accuracy|

with 15 bins of equal width (Guo et al. 2017, arXiv:1706.04599).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BINS = 15

Confidences = npt.NDArray[np.floating]
Rights = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Answering only at or above `threshold` covers this share of items with this precision."""

    threshold: float
    coverage: float
    precision: float


def expected_calibration_error(confidence: Confidences, right: Rights) -> float:
    """The mean gap between confidence and accuracy over equal-width bins."""
    if not len(confidence):
        return 0.0
    bins = np.minimum((np.asarray(confidence) * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, np.asarray(confidence, float) - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def operating_point(confidence: Confidences, right: Rights, threshold: float) -> OperatingPoint:
    """Coverage and precision when abstaining below the threshold; precision 1 when all abstain."""
    answered = np.asarray(confidence) >= threshold
    precision = float(right[answered].mean()) if answered.any() else 1.0
    return OperatingPoint(threshold, float(answered.mean()) if len(answered) else 0.0, precision)


def threshold_for_precision(
    confidence: Confidences, right: Rights, precision: float
) -> OperatingPoint | None:
    """The lowest threshold whose answers reach the precision; None when no threshold does.

    At least 30 answers must stand behind it, so that one lucky column cannot promise perfection.
    """
    order = np.argsort(-np.asarray(confidence), kind="stable")
    ranked, hits = np.asarray(confidence)[order], np.cumsum(right[order])
    counts = np.arange(1, len(ranked) + 1)
    # Equal confidences are answered together, so only the last of each run is a real choice.
    last = np.append(ranked[1:] != ranked[:-1], True) if len(ranked) else np.zeros(0, bool)
    good = np.flatnonzero(last & (counts >= 30) & (hits >= precision * counts))
    if not len(good):
        return None
    at = int(good[-1])
    return OperatingPoint(
        float(ranked[at]), float((at + 1) / len(ranked)), float(hits[at] / (at + 1))
    )
