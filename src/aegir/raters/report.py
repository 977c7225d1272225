"""Rater reports: who disagrees, who drifts, who saturates, who is silent.

    report = report_raters(ratings, ["length", "judge", "tests"])
    report.disagreeing, report.saturated               # names
    print("\\n".join(report.sentences))                 # what a person reads

disagrees   alpha rises by more than `HARM` without the rater, or its reliability is at or below chance while
            most raters' is above
saturates   at least `SATURATED` of its ratings are its own highest, or lowest, rating (a constant rater: all)
drifts      it moved away from more than half of the others (rater_drift.py; needs a stream: ensemble.py)
silent      it rated less than `SILENT` of the units

Worked number: raters (1, 2, 3, 4), (1, 2, 3, 4), (4, 3, 2, 1). Observed is (18 + 2 + 2 + 18) / 12 = 10/3,
expected 2 * 15 / 11 = 30/11, alpha 1 - 11/9 = -2/9. Without the third it is 1, so the third rater disagrees;
without one of the others it is 1 - 5 * 7/20 = -3/4.

A finding needs something to stand on: `disagrees` two other raters, `saturates` ten ratings. The bias is the mean
of a rater's ratings less the median of the others' on the same units (nominal ratings have none).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.errors import UsageError
from aegir.raters.agreement import Agreement, Metric, krippendorff_alpha
from aegir.raters.ratings import Ratings, read_ratings
from aegir.raters.reliability import leave_one_out_median, rater_reliability

HARM = 0.05
SATURATED = 0.9
SILENT = 0.5
FEWEST_RATINGS = 10


@dataclass(frozen=True, slots=True)
class RaterReport:
    """One rater among the others; nan is what could not be computed."""

    name: str
    rated: float
    """Share of the units it rated."""
    reliability: float
    """Median alpha with each of the others."""
    alpha_without: float
    """Alpha of the ensemble without this rater."""
    bias: float
    at_extreme: float
    """Share of its ratings at its own highest or lowest, whichever is more."""
    disagrees: bool
    saturates: bool
    silent: bool
    drifts: bool = False
    failures: int = 0
    """Calls in which it raised, hung or answered nonsense."""


@dataclass(frozen=True, slots=True)
class EnsembleReport:
    """All raters, and how far they agree."""

    agreement: Agreement
    raters: tuple[RaterReport, ...]

    @property
    def disagreeing(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.raters if one.disagrees)

    @property
    def drifting(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.raters if one.drifts)

    @property
    def saturated(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.raters if one.saturates)

    @property
    def silent(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.raters if one.silent)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Agreement first, then one sentence per finding."""
        whole = self.agreement
        lines = [f"alpha ({whole.metric}) is {whole.alpha:.3f} over {whole.units} units"]
        if whole.reason:
            lines = [f"alpha ({whole.metric}) is undefined: {whole.reason}"]
        return (*lines, *(line for one in self.raters for line in _findings(one, whole)))


def report_raters(
    ratings: npt.ArrayLike,
    names: Sequence[str],
    metric: Metric = "interval",
    *,
    drifting: Sequence[str] = (),
    failures: Mapping[str, int] | None = None,
) -> EnsembleReport:
    """What ratings (R, U) say about their raters; drift and failures are known to who called them."""
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


def _findings(one: RaterReport, whole: Agreement) -> list[str]:
    found = []
    if one.disagrees:
        found.append(
            f"{one.name} disagrees: alpha is {whole.alpha:.3f} with and {one.alpha_without:.3f} "
            f"without it, its own reliability {one.reliability:.3f}, bias {one.bias:+.3g}"
        )
    if one.drifts:
        found.append(f"{one.name} drifts: it moved away from most of the other raters")
    if one.saturates:
        found.append(
            f"{one.name} saturates: {one.at_extreme:.0%} of its ratings are its extreme one"
        )
    if one.silent:
        found.append(f"{one.name} is silent: it rated {one.rated:.0%} of the units")
    if one.failures:
        found.append(f"{one.name} failed in {one.failures} calls")
    return found
