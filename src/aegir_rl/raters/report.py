"""Rater reports: which raters disagree, drift, saturate or are silent.

    report = report_raters(ratings, ["length", "judge", "tests"])
    report.drifting, report.saturated                  # names
    print("\\n".join(report.sentences))

disagrees   alpha rises by more than `HARM` without the rater, or its reliability is at or below chance while
            the median reliability is above
saturates   at least `SATURATED` of its ratings equal its own highest, or lowest, rating
drifts      its ratings moved away from those of more than half of the others (`RaterDrift`, over batches)
silent      it rated less than `SILENT` of the units

Worked number: raters (1, 2, 3, 4), (1, 2, 3, 4), (4, 3, 2, 1). Observed is (18 + 2 + 2 + 18) / 12 = 10/3,
expected 2 * 15 / 11 = 30/11, alpha 1 - 11/9 = -2/9. Without the third it is 1, so the third rater disagrees;
without one of the others it is 1 - 5 * 7/20 = -3/4.

`disagrees` needs two other raters, `saturates` ten ratings. The bias is the mean of a rater's ratings minus the median of
the others' on the same units (undefined for nominal ratings).

Drift: `RaterDrift` tests, for every two raters, how they differ on the units of a batch that both rated (the mean
difference; for nominal ratings the share of units on which they differ). That does not depend on how hard the batch is, nor
on a third rater, so when one rater shifts, all pairs with it change and the other pairs do not. A rater drifts when it
has drifted from more than half of the others; of two raters both are named. While no pair changes, the chance that any is
reported in 1,000 batches is at most `false_alarm_rate`, shared among the R (R - 1) / 2 tests
(aegir_rl/observe/drift_watch.py), provided that items are shuffled over batches. Worked number: three raters, the third shifted: pairs (1, 3) and (2, 3) alarm. The
third has drifted from 2 of 2 others and is named; the first from 1 of 2, which is not more than half.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.observe.drift_watch import MOST_STEPS, DriftWatch
from aegir_rl.observe.saved_state import list_of, read_state
from aegir_rl.raters.aggregation import leave_one_out_median, rater_reliability
from aegir_rl.raters.agreement import Agreement, Metric, krippendorff_alpha
from aegir_rl.raters.ratings import Ratings, read_ratings

HARM = 0.05
SATURATED = 0.9
SILENT = 0.5
FEWEST_RATINGS = 10
BATCHES = 1000
"""The number of batches that `false_alarm_rate` is about."""


@dataclass(frozen=True, slots=True)
class RaterReport:
    """One rater compared with the others; nan where undefined."""

    name: str
    rated: float
    """Share of the units that it rated."""
    reliability: float
    """Median alpha with each of the others."""
    alpha_without: float
    """Alpha of the ensemble without this rater."""
    bias: float
    at_extreme: float
    """Share of its ratings equal to its own highest or lowest, whichever is larger."""
    disagrees: bool
    saturates: bool
    silent: bool
    drifts: bool = False
    failures: int = 0
    """Calls that raised, timed out or returned no valid ratings."""


@dataclass(frozen=True, slots=True)
class EnsembleReport:
    """All raters, and their agreement."""

    agreement: Agreement
    raters: tuple[RaterReport, ...]

    @property
    def drifting(self) -> tuple[str, ...]:
        return tuple(rater.name for rater in self.raters if rater.drifts)

    @property
    def saturated(self) -> tuple[str, ...]:
        return tuple(rater.name for rater in self.raters if rater.saturates)

    @property
    def silent(self) -> tuple[str, ...]:
        return tuple(rater.name for rater in self.raters if rater.silent)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Agreement, then one sentence per finding."""
        whole = self.agreement
        lines = [f"alpha ({whole.metric}) is {whole.alpha:.3f} over {whole.units} units"]
        if whole.reason:
            lines = [f"alpha ({whole.metric}) is undefined: {whole.reason}"]
        return (*lines, *(line for rater in self.raters for line in _findings(rater, whole)))


def report_raters(
    ratings: npt.ArrayLike,
    names: Sequence[str],
    metric: Metric = "interval",
    *,
    drifting: Sequence[str] = (),
    failures: Mapping[str, int] | None = None,
) -> EnsembleReport:
    """Report on the raters of ratings (R, U); the caller passes drifting raters and counts of failed calls."""
    given = read_ratings(ratings)
    if len(names) != len(given):
        raise UsageError(
            f"{len(given)} rows of ratings came with {len(names)} names; expected one each"
        )
    whole = krippendorff_alpha(given, metric)
    reliability = rater_reliability(given, metric)
    biases = _biases(given, metric)
    usual = float(np.nanmedian(reliability)) if np.isfinite(reliability).any() else 0.0
    reports = []
    for row, name in enumerate(names):
        without = krippendorff_alpha(np.delete(given, row, axis=0), metric).alpha
        present = given[row][~np.isnan(given[row])]
        extreme = _share_at_extreme(present)
        rated = present.size / given.shape[1] if given.shape[1] else 0.0
        harms = without - whole.alpha > HARM  # False when either is nan
        chance = usual > 0 and reliability[row] <= 0
        enough = present.size >= FEWEST_RATINGS and metric != "nominal"
        reports.append(
            RaterReport(
                name=name,
                rated=rated,
                reliability=float(reliability[row]),
                alpha_without=without,
                bias=biases[row],
                at_extreme=extreme,
                disagrees=bool(len(names) >= 3 and (harms or chance)),
                saturates=bool(enough and extreme >= SATURATED),
                silent=rated < SILENT,
                drifts=name in drifting,
                failures=(failures or {}).get(name, 0),
            )
        )
    return EnsembleReport(whole, tuple(reports))


class RaterDrift:
    """One sequential test per pair of raters."""

    def __init__(
        self,
        names: Sequence[str],
        metric: Metric = "interval",
        *,
        false_alarm_rate: float = 0.01,
    ) -> None:
        require(0 < false_alarm_rate < 1, "false_alarm_rate", false_alarm_rate, "between 0 and 1")
        self._names, self._metric = tuple(names), metric
        pairs = list(combinations(range(len(self._names)), 2))
        steps = min(BATCHES * max(len(pairs), 1) / false_alarm_rate, MOST_STEPS // 2)
        self._tests = {pair: DriftWatch(steps, independent=True) for pair in pairs}

    def update(self, ratings: Ratings) -> None:
        """Add one batch, (R, U) with nan where a rating is missing."""
        differences = mean_differences(ratings, self._metric)
        for pair, test in self._tests.items():
            test.update(float(differences[pair]))

    @property
    def drifting(self) -> tuple[str, ...]:
        """Names of the raters that drifted from more than half of the others."""
        away = np.zeros(len(self._names))
        for pair, test in self._tests.items():
            away[list(pair)] += test.alarms > 0
        others = len(self._names) - 1
        return tuple(
            name for name, count in zip(self._names, away, strict=True) if 2 * count > others
        )

    def metrics(self) -> dict[str, float]:
        """Metrics for a log."""
        pairs = sum(test.alarms > 0 for test in self._tests.values())
        return {"drifting_raters": len(self.drifting), "drifting_pairs": pairs}

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact."""
        return {"tests": [test.state_dict() for test in self._tests.values()]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where `state_dict` was taken."""
        states = list_of(lambda state, _: state, len(self._tests))
        saved = read_state(state, "the saved drift of raters", {"tests": states})
        tests = {pair: copy(test) for pair, test in self._tests.items()}
        for test, each in zip(tests.values(), saved["tests"], strict=True):
            test.load_state_dict(each)
        self._tests = tests


def mean_differences(ratings: Ratings, metric: Metric) -> Floats:
    """(R, R) mean of row minus column over shared units (nominal: share unequal); nan without shared units."""
    shared = (~np.isnan(ratings)).astype(np.float64)
    units = shared @ shared.T
    if metric == "nominal":
        unequal = [
            ((row != ratings) * (shared * mask)).sum(axis=1)
            for row, mask in zip(ratings, shared, strict=True)
        ]
        total = np.array(unequal).reshape(units.shape)
    else:
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # the tests ignore values that are not finite
            sums = np.where(shared > 0, ratings, 0.0) @ shared.T
            total = sums - sums.T
    means: Floats = np.divide(total, units, out=np.full(units.shape, np.nan), where=units > 0)
    return means


def _biases(ratings: Ratings, metric: Metric) -> list[float]:
    if metric == "nominal":
        return [float("nan")] * len(ratings)
    with np.errstate(over="ignore"):  # a bias beyond the largest float is infinite
        rows = (row[~np.isnan(row)] for row in ratings - leave_one_out_median(ratings))
        return [float(row.mean()) if row.size else float("nan") for row in rows]


def _share_at_extreme(present: Ratings) -> float:
    if not present.size:
        return float("nan")
    return float(max((present == present.max()).mean(), (present == present.min()).mean()))


def _findings(rater: RaterReport, whole: Agreement) -> list[str]:
    sentences = []
    if rater.disagrees:
        sentences.append(
            f"{rater.name} disagrees: alpha is {whole.alpha:.3f} with and {rater.alpha_without:.3f} "
            f"without it, its own reliability {rater.reliability:.3f}, bias {rater.bias:+.3g}"
        )
    if rater.drifts:
        sentences.append(f"{rater.name} drifts: it moved away from most of the other raters")
    if rater.saturates:
        sentences.append(
            f"{rater.name} saturates: {rater.at_extreme:.0%} of its ratings are its highest or lowest"
        )
    if rater.silent:
        sentences.append(f"{rater.name} is silent: it rated {rater.rated:.0%} of the units")
    if rater.failures:
        sentences.append(f"{rater.name} failed in {rater.failures} calls")
    return sentences
