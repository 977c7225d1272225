"""Which rater drifts: every two raters are watched, and the one that moves away from most of the others is named.

    drift = RaterDrift(["tests", "judge", "style"])
    drift.update(ratings)                              # one batch, (R, U)
    drift.drifting                                     # ("judge",)

What is watched is how two raters differ on the units of a batch that both rated: the mean difference, or for
nominal ratings the share of units on which they differ. It does not depend on how hard the batch was, nor on a
third rater; so when one rater shifts, all pairs with it change and the others stay. A rater drifts when it has
drifted from more than half of the others: with two raters nobody can say which moved, and both are named.

Promise: while no pair changes, the chance that any of them is ever reported is at most `false_alarm_rate`
(shared among the R (R - 1) / 2 tests; each is a drift_verdict.py). Batches are its unit of time, and their
differences should be alike in distribution: shuffle items over batches.

Worked number: three raters, the third shifted: pairs (1, 3) and (2, 3) alarm. The third has drifted from 2 of 2
others and is named; the first from 1 of 2, which is not more than half.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from aegir.arrays import Floats
from aegir.observe.drift_verdict import DriftVerdict
from aegir.observe.saved_state import check_state
from aegir.raters.agreement import Metric
from aegir.raters.ratings import Ratings
from aegir.seeding import Seeds

MEMORY = 512
"""Batches remembered per pair."""


class RaterDrift:
    """One sequential test per pair of raters."""

    def __init__(
        self,
        names: Sequence[str],
        metric: Metric = "interval",
        *,
        false_alarm_rate: float = 0.01,
        seed: int = 0,
    ) -> None:
        self._names, self._metric = tuple(names), metric
        pairs = list(combinations(range(len(self._names)), 2))
        rate = false_alarm_rate / max(len(pairs), 1)
        self._tests = {
            pair: DriftVerdict(rate, seed=Seeds(seed).derive(*pair), memory=MEMORY)
            for pair in pairs
        }

    def update(self, ratings: Ratings) -> None:
        """Take one batch, (R, U) with nan where a rating is missing."""
        differences = mean_differences(ratings, self._metric)
        for pair, test in self._tests.items():
            test.update(float(differences[pair]))

    @property
    def drifting(self) -> tuple[str, ...]:
        """The raters that moved away from more than half of the others."""
        away = np.zeros(len(self._names))
        for pair, test in self._tests.items():
            away[list(pair)] += test.found
        others = len(self._names) - 1
        return tuple(
            name for name, count in zip(self._names, away, strict=True) if 2 * count > others
        )

    def metrics(self) -> dict[str, float]:
        """For a log."""
        found = sum(test.found for test in self._tests.values())
        return {"drifting_raters": len(self.drifting), "drifting_pairs": found}

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact."""
        return {"tests": [test.state_dict() for test in self._tests.values()]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where `state_dict` was taken."""
        check_state(state, "the saved drift of raters", "tests")
        for test, saved in zip(self._tests.values(), state["tests"], strict=True):
            test.load_state_dict(saved)


def mean_differences(ratings: Ratings, metric: Metric) -> Floats:
    """(R, R) mean difference of row less column over shared units (nominal: share unequal); nan without any."""
    shared = (~np.isnan(ratings)).astype(np.float64)
    units = shared @ shared.T
    if metric == "nominal":
        unequal = [
            ((row != ratings) * (shared * mask)).sum(axis=1)
            for row, mask in zip(ratings, shared, strict=True)
        ]
        total = np.array(unequal).reshape(units.shape)
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # the tests pass over what is not finite
            sums = np.where(shared > 0, ratings, 0.0) @ shared.T
            total = sums - sums.T
    means: Floats = np.divide(total, units, out=np.full(units.shape, np.nan), where=units > 0)
    return means
