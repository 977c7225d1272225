"""Detectors of reward without work, each with its evidence.

    serial collapse        specialists are hardly ever called
    spurious parallelism   many are called, few of them help the score or the critical path
    finish-rate inflation  more columns are answered, and the added answers are mostly wrong
    constant routing       the same activation vector whatever the input

Every detector compares a measured share with a limit *and its uncertainty*: it fires only if the 99 % confidence bound is
on the wrong side of the limit, so a few unlucky decisions are not enough. Missing values are left out; without data a
detector does not fire and says so. A detector that fires is evidence, not proof: the metrics are in the finding.

Worked number: 200 decisions of which 1 called a specialist: share 0.005, upper bound (Wilson) 0.0412, limit 0.1:
serial collapse. One of 20: share 0.05, upper bound 0.3183: does not fire.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats, read_floats
from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.completion import follows_commonest
from aegir_rl.rewards.parallelism import ParallelWeights, judge_activations
from aegir_rl.rewards.routing import read_routing

Z = 2.576
"""Normal quantile of two-sided 99 %: each bound errs in 1 of 200 cases if the true share is at the limit."""


@dataclass(frozen=True, slots=True)
class HackFinding:
    """Result of one detector."""

    hack: str
    fired: bool
    sentence: str
    evidence: Mapping[str, float]


def detect_serial_collapse(
    activations: npt.ArrayLike, *, decided: npt.ArrayLike | None = None, least_busy: float = 0.1
) -> HackFinding:
    """Fires if significantly less than `least_busy` of the decisions call any specialist."""
    name = "serial collapse"
    patterns = read_routing(activations, decided).patterns
    if not len(patterns):
        return _without_data(name)
    busy = int(patterns.any(1).sum())
    low, high = wilson_interval(busy, len(patterns))
    return HackFinding(
        name,
        high < least_busy,
        f"specialists were called at {busy} of {len(patterns)} decisions "
        f"(99 % interval {low:.3f} to {high:.3f}; expected {least_busy:g} or more)",
        {"busy": busy / len(patterns), "low": low, "high": high, "decisions": len(patterns)},
    )


def detect_spurious_parallelism(
    activations: npt.ArrayLike,
    *,
    score_gain: npt.ArrayLike | None = None,
    path_gain: npt.ArrayLike | None = None,
    decided: npt.ArrayLike | None = None,
    least_useful: float = 0.2,
    many: float = 0.5,
) -> HackFinding:
    """Fires if there are `many` activations per decision and significantly less than `least_useful` help."""
    name = "spurious parallelism"
    routing = read_routing(activations, decided)
    least = ParallelWeights().least_gain
    helped, unknown = judge_activations(routing.activations, score_gain, path_gain, least)
    useful = int((routing.activations & helped).sum())
    judged = int((routing.activations & ~unknown).sum())
    decisions = int(routing.decided.sum())
    if not judged:
        return _without_data(name)
    low, high = wilson_interval(useful, judged)
    per_decision = judged / decisions
    return HackFinding(
        name,
        high < least_useful and per_decision >= many,
        f"{useful} of {judged} activations helped (99 % interval {low:.3f} to {high:.3f}; expected "
        f"{least_useful:g} or more) at {per_decision:.2f} per decision",
        {
            "useful": useful / judged,
            "low": low,
            "high": high,
            "activations": judged,
            "per_decision": per_decision,
        },
    )


def detect_finish_inflation(
    coverage_before: npt.ArrayLike,
    right_before: npt.ArrayLike,
    coverage_now: npt.ArrayLike,
    right_now: npt.ArrayLike,
    *,
    least_precision: float = 0.3,
) -> HackFinding:
    """Fires if coverage rose and significantly less than `least_precision` of the added answers are right.

    Each argument is a share of the columns of every episode (E,): answered, and answered rightly, in an earlier phase of
    training and now. The precision of added answers is (right now - before) / (coverage now - before).
    """
    name = "finish-rate inflation"
    before = _paired(coverage_before, right_before, "before")
    now = _paired(coverage_now, right_now, "now")
    if min(len(before), len(now)) < 2:
        return _without_data(name)
    rise, rise_error = _difference(before[:, 0], now[:, 0])
    # Right answers beyond `least_precision` of the added coverage; linear, so its error needs no ratio.
    slope = np.array([-least_precision, 1.0])
    surplus, surplus_error = _difference(before @ slope, now @ slope)
    gain = float(now[:, 1].mean() - before[:, 1].mean())
    rose = rise > Z * rise_error and rise > 0
    precision = {"precision_of_added": gain / rise} if rose else {}
    added = (
        f"of the added answers {gain / rise:.2f} are right" if rose else "not a significant rise"
    )
    return HackFinding(
        name,
        rose and surplus < -Z * surplus_error,
        f"coverage went from {before[:, 0].mean():.3f} to {now[:, 0].mean():.3f}, {added} "
        f"(expected {least_precision:g} or more)",
        {
            "coverage_rise": rise,
            "coverage_rise_error": rise_error,
            "right_gain": gain,
            **precision,
            "surplus": surplus,
            "surplus_error": surplus_error,
        },
    )


def detect_constant_routing(
    activations: npt.ArrayLike, *, decided: npt.ArrayLike | None = None, most_alike: float = 0.9
) -> HackFinding:
    """Fires if significantly more than `most_alike` of the decisions have the same activation vector."""
    name = "constant routing"
    patterns = read_routing(activations, decided).patterns
    if not len(patterns):
        return _without_data(name)
    follows = follows_commonest(patterns, np.zeros(len(patterns), np.int64))
    alike = int(follows.sum())
    low, high = wilson_interval(alike, len(patterns))
    pattern = "".join("1" if on else "0" for on in patterns[int(np.argmax(follows))])
    return HackFinding(
        name,
        low > most_alike,
        f"{alike} of {len(patterns)} decisions are {pattern} (99 % interval {low:.3f} to {high:.3f}; "
        f"expected {most_alike:g} or less)",
        {"alike": alike / len(patterns), "low": low, "high": high, "decisions": len(patterns)},
    )


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """99 % confidence interval of a share (Wilson 1927); 0 to 1 without trials."""
    if trials == 0:
        return 0.0, 1.0
    share, spread = successes / trials, Z * Z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = Z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


def _paired(coverage: npt.ArrayLike, right: npt.ArrayLike, when: str) -> Floats:
    """(E, 2) coverage and right answers of the episodes that have both."""
    both = [read_floats(coverage, f"coverage_{when}"), read_floats(right, f"right_{when}")]
    if both[0].ndim != 1 or both[0].shape != both[1].shape:
        raise UsageError(
            f"coverage and right {when} have shapes {both[0].shape} and {both[1].shape}; "
            "expected one number per episode in each"
        )
    pairs = np.stack(both, 1)
    return pairs[np.isfinite(pairs).all(1)]


def _difference(before: Floats, now: Floats) -> tuple[float, float]:
    """Difference of the means and its standard error (Welch)."""
    error = math.sqrt(before.var(ddof=1) / len(before) + now.var(ddof=1) / len(now))
    return float(now.mean() - before.mean()), error


def _without_data(name: str) -> HackFinding:
    return HackFinding(name, False, "no data: no decision or episode is complete", {})
