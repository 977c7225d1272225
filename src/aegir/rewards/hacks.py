"""Ways a router earns reward without doing the work, and the evidence for each.

    serial collapse        specialists are hardly ever called
    spurious parallelism   many are called, few of them help the score or the critical path
    finish-rate inflation  more columns are answered, and the added answers are mostly wrong
    constant routing       the same activation vector whatever the input

Every detector compares a measured share with a limit *and its uncertainty*: it fires only when the 99 % confidence bound is
on the wrong side, so a handful of unlucky decisions never does. Missing values are left out; with nothing to judge a
detector stays silent and says so. A detector that fires is evidence, not proof: the numbers are in the finding.

Worked number: 200 decisions of which 1 called a specialist: share 0.005, upper bound (Wilson) 0.0412, limit 0.1:
serial collapse. One of 20: share 0.05, upper bound 0.3183: silent.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.arrays import Floats, read_floats
from aegir.errors import UsageError
from aegir.rewards.completion import follows_commonest
from aegir.rewards.parallelism import ParallelWeights, judge_activations
from aegir.rewards.routing import read_routing

Z = 2.576
"""Two-sided 99 %: each bound errs in 1 of 200 cases when the true share is at the limit."""


@dataclass(frozen=True, slots=True)
class HackFinding:
    """What one detector saw."""

    hack: str
    fired: bool
    sentence: str
    evidence: Mapping[str, float]


def detect_serial_collapse(
    activations: npt.ArrayLike, *, decided: npt.ArrayLike | None = None, least_busy: float = 0.1
) -> HackFinding:
    """Fires when surely less than `least_busy` of the decisions call any specialist."""
    name = "serial collapse"
    patterns = read_routing(activations, decided).patterns
    if not len(patterns):
        return _silent(name)
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
    """Fires when activations are `many` per decision and surely less than `least_useful` of them help."""
    name = "spurious parallelism"
    routing = read_routing(activations, decided)
    least = ParallelWeights().least_gain
    helped, unknown = judge_activations(routing.activations, score_gain, path_gain, least)
    useful = int((routing.activations & helped).sum())
    judged = int((routing.activations & ~unknown).sum())
    decisions = int(routing.decided.sum())
    if not judged:
        return _silent(name)
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
    """Fires when coverage rose and surely less than `least_precision` of the added answers are right.

    Each is a share of the columns of an episode (E,): answered, and answered rightly; before is an earlier stretch of
    training. The added answers are right in (right now - before) / (coverage now - before) of the cases.
    """
    name = "finish-rate inflation"
    before = _paired(coverage_before, right_before, "before")
    now = _paired(coverage_now, right_now, "now")
    if min(len(before), len(now)) < 2:
        return _silent(name)
    rise, rise_error = _difference(before[:, 0], now[:, 0])
    # Right answers beyond what the added coverage had to bring; linear, so its error needs no ratio.
    slope = np.array([-least_precision, 1.0])
    surplus, surplus_error = _difference(before @ slope, now @ slope)
    gain = float(now[:, 1].mean() - before[:, 1].mean())
    rose = rise > Z * rise_error and rise > 0
    precision = {"precision_of_added": gain / rise} if rose else {}
    added = f"of the added answers {gain / rise:.2f} are right" if rose else "which is no sure rise"
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
    """Fires when surely more than `most_alike` of the decisions have the same activation vector."""
    name = "constant routing"
    patterns = read_routing(activations, decided).patterns
    if not len(patterns):
        return _silent(name)
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
    """99 % confidence interval of a share (Wilson 1927); the whole of 0 to 1 without trials."""
    if trials == 0:
        return 0.0, 1.0
    share, spread = successes / trials, Z * Z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = Z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


def _paired(coverage: npt.ArrayLike, right: npt.ArrayLike, when: str) -> Floats:
    """(E, 2) of the episodes that have both."""
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


def _silent(name: str) -> HackFinding:
    return HackFinding(name, False, "nothing to judge: no decision or episode is complete", {})
