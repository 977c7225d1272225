"""Several raters, one reward, and a veto when they disagree: no single rater can be exploited.

    ensemble = RewardEnsemble({"tests": run_tests, "judge": ask_judge, "style": rate_style}, min_alpha=0.4)
    result = ensemble.score(items)                     # calls the raters; failed ones are missing, never 0
    result.scores                                      # (U,): nan where nothing can be said
    ensemble.combine(ratings)                          # the same for ratings (R, U) you already have
    ensemble.report().sentences                        # who disagrees, drifts, saturates, fails

How raters are combined: aggregation.py. What is watched, on every batch:

    alpha of the batch        below `min_alpha` (and ten units or more): the batch is vetoed
    alpha of the last items   `window` items; below `min_running_alpha`: vetoed. Kept in `alpha_history`
    spread of an item         the median distance of its ratings from their median (nominal: the share outside
                              the majority); above `max_spread`: the item is vetoed

A vetoed item gets `veto_score`: nan, an abstention, unless you give a number. `low_agreement="flag"` only marks it.
An alpha that is undefined (no item rated twice, all ratings equal) vetoes nothing; the reason is in the result.

Worked number: raters (1, 2, 3), (1, 2, 3), (1e9, 1e9, 1e9). The median gives 1, 2, 3; alpha is -1/3, so
with `min_alpha=0` all three would be vetoed; each spread is 0, because two of three agree.

Limits: alpha can be pulled down by one broken rater, which vetoes batches (visible in `report()`), and up by one
that sees what the others say: two that agree by chance (alpha 0) and a third that averages them have alpha 0.4, so
raters must be independent. Raters on different scales disagree by definition: bring each to one scale first
(running_normalizer.py, keyed by rater).
"""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from aegir.arrays import Floats
from aegir.errors import UsageError
from aegir.observe.saved_state import (
    array_of,
    list_of,
    read_count,
    read_state,
    read_text,
    record_of,
    reject,
)
from aegir.raters.aggregation import (
    Method,
    aggregate,
    check_method,
    check_weights,
    column_median,
    majority,
    reliability_weights,
)
from aegir.raters.agreement import Agreement, Metric, check_metric, krippendorff_alpha
from aegir.raters.calls import Rater, RaterFailure, RaterPool
from aegir.raters.ratings import Ratings, read_ratings
from aegir.raters.report import EnsembleReport, RaterDrift, report_raters

FEWEST_UNITS = 10
"""The alpha of fewer units is noise, and vetoes nothing."""
HISTORY = 1000


@dataclass(frozen=True, slots=True)
class EnsembleScores:
    """One batch: scores with everything behind them."""

    scores: Floats
    """(U,) nan is missing: too few ratings, a tie, or vetoed."""
    vetoed: npt.NDArray[np.bool_]
    """(U,) the raters disagree too much here."""
    spread: Floats
    """(U,) how far the ratings of an item lie apart; nan without a rating."""
    agreement: Agreement
    running_agreement: Agreement
    weights: Floats | None
    """(R,) what each rater weighed; None where the method has no weights."""
    ratings: Ratings
    failures: tuple[RaterFailure, ...] = ()

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """(U,) where there is no score."""
        return np.isnan(self.scores)


class RewardEnsemble:
    """Raters, how they are combined, and a memory of how well they agreed."""

    def __init__(
        self,
        raters: Mapping[str, Rater] | Sequence[str],
        *,
        method: Method = "median",
        metric: Metric = "interval",
        weights: Sequence[float] | None = None,
        trim: float = 0.2,
        min_raters: int | None = None,
        min_alpha: float | None = None,
        min_running_alpha: float | None = None,
        max_spread: float | None = None,
        low_agreement: Literal["veto", "flag"] = "veto",
        veto_score: float = math.nan,
        window: int = 1024,
        timeout: float | None = 30.0,
        false_alarm_rate: float = 0.01,
        seed: int = 0,
    ) -> None:
        """`raters`: callables by name, or names alone for `combine`. `min_raters` is 2 among several.

        `false_alarm_rate`: the chance that any rater is ever said to drift while none does.
        """
        self.names = _check_names(raters)
        check_method(method, trim)
        check_metric(metric)
        if not window >= FEWEST_UNITS:
            raise UsageError(f"window is {window}; expected at least {FEWEST_UNITS} items")
        if low_agreement not in ("veto", "flag"):
            raise UsageError(f"low_agreement is {low_agreement!r}; expected 'veto' or 'flag'")
        if method == "weighted" and weights is None:
            raise UsageError("method 'weighted' needs weights, one per rater")
        self._min_raters = min(2, len(self.names)) if min_raters is None else min_raters
        if not 1 <= self._min_raters <= len(self.names):
            raise UsageError(
                f"min_raters is {min_raters} among {len(self.names)} raters; expected 1 to as many"
            )
        for name, least in (("min_alpha", min_alpha), ("min_running_alpha", min_running_alpha)):
            if least is not None and not least <= 1:
                raise UsageError(f"{name} is {least}; expected at most 1, which is agreement")
        if max_spread is not None and not max_spread >= 0:
            raise UsageError(f"max_spread is {max_spread}; expected 0 or more")
        self._weights = None if weights is None else check_weights(weights, len(self.names))
        self.method: Method = method
        self.metric: Metric = metric
        self._trim, self._window_size = trim, window
        self._min_alpha, self._min_running = min_alpha, min_running_alpha
        self._max_spread, self._veto_score = max_spread, veto_score
        self._veto = low_agreement == "veto"
        self._pool = RaterPool(raters, timeout) if isinstance(raters, Mapping) else None
        self._window: Ratings = np.zeros((len(self.names), 0))
        self._drift = RaterDrift(self.names, metric, false_alarm_rate=false_alarm_rate, seed=seed)
        self._failures = dict.fromkeys(self.names, 0)
        self._items = self._vetoed = self._missing = 0
        self.alpha_history: deque[tuple[int, float, float]] = deque(maxlen=HISTORY)
        """(items seen, alpha of the batch, alpha of the window) of the last thousand batches."""

    def score(self, items: Sequence[Any]) -> EnsembleScores:
        """Call every rater on the items and combine what came back in time."""
        if self._pool is None:
            raise UsageError("this ensemble knows its raters by name only; use combine(ratings)")
        ratings, failures = self._pool.rate(items)
        return self._combine(ratings, failures)

    def combine(self, ratings: npt.ArrayLike) -> EnsembleScores:
        """Combine ratings (R, U), nan where one is missing."""
        given = read_ratings(ratings)
        if len(given) != len(self.names):
            raise UsageError(f"{len(given)} rows of ratings came for {len(self.names)} raters")
        return self._combine(given, ())

    def _combine(self, ratings: Ratings, failures: tuple[RaterFailure, ...]) -> EnsembleScores:
        if self.metric == "ratio":
            ratings = np.where(ratings < 0, np.nan, ratings)  # has no place on the scale: missing
        for failure in failures:
            self._failures[failure.rater] += 1
        self._remember(ratings)
        agreement = krippendorff_alpha(ratings, self.metric)
        running = krippendorff_alpha(self._window, self.metric)
        weights = self._weights
        if self.method == "reliability" and weights is None:
            weights = reliability_weights(self._window, self.metric)
        scores = aggregate(
            ratings, self.method, weights=weights, trim=self._trim, min_raters=self._min_raters
        )
        spread = item_spread(ratings, self.metric)
        vetoed = self._low_agreement(agreement, running, spread)
        if self._veto:
            scores = np.where(vetoed & ~np.isnan(scores), self._veto_score, scores)
        self._items += ratings.shape[1]
        self._vetoed += int(vetoed.sum())
        self._missing += int(np.isnan(scores).sum())
        self.alpha_history.append((self._items, agreement.alpha, running.alpha))
        return EnsembleScores(
            scores, vetoed, spread, agreement, running, weights, ratings, failures
        )

    def _low_agreement(
        self, agreement: Agreement, running: Agreement, spread: Floats
    ) -> npt.NDArray[np.bool_]:
        low = spread > (math.inf if self._max_spread is None else self._max_spread)
        for now, least in ((agreement, self._min_alpha), (running, self._min_running)):
            if least is not None and now.units >= FEWEST_UNITS and now.alpha < least:
                low = np.ones_like(low)
        return low

    def _remember(self, ratings: Ratings) -> None:
        together = np.concatenate([self._window, ratings], axis=1)
        self._window = together[:, -self._window_size :]
        self._drift.update(ratings)

    def report(self) -> EnsembleReport:
        """The raters over the last `window` items; drift and failures since the start."""
        return report_raters(
            self._window,
            self.names,
            self.metric,
            drifting=self._drift.drifting,
            failures=self._failures,
        )

    def metrics(self) -> dict[str, float]:
        """For a log: agreement now, shares since the start, failures; what is undefined is absent."""
        _, batch, running = (
            self.alpha_history[-1] if self.alpha_history else (0, math.nan, math.nan)
        )
        items = self._items or math.nan
        figures = {
            "alpha": batch,
            "running_alpha": running,
            "items": self._items,
            "vetoed_share": self._vetoed / items,
            "missing_share": self._missing / items,
            "failed_calls": sum(self._failures.values()),
            **self._drift.metrics(),
        }
        return {f"ensemble/{name}": one for name, one in figures.items() if not math.isnan(one)}

    def state_dict(self) -> dict[str, Any]:
        """For torch.save or pickle: `window` is a numpy array and an undefined alpha is nan; the rest is JSON-ready."""
        return {
            "names": list(self.names),
            "window": self._window.copy(),
            "drift": self._drift.state_dict(),
            "failures": dict(self._failures),
            "counts": [self._items, self._vetoed, self._missing],
            "alpha_history": [list(entry) for entry in self.alpha_history],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where `state_dict` was taken; the raters must have the same names."""
        readers = {
            "names": self._read_names,
            "window": array_of((len(self.names), None), nan=True),
            "drift": lambda state, _: state,
            "failures": record_of(dict.fromkeys(self.names, read_count)),
            "counts": list_of(read_count, 3),
            "alpha_history": list_of(_read_alphas),
        }
        saved = read_state(state, "the saved ensemble", readers)
        self._drift.load_state_dict(saved["drift"])  # raises before anything is changed
        self._window = saved["window"][:, -self._window_size :]
        self._failures = saved["failures"]
        self._items, self._vetoed, self._missing = saved["counts"]
        self.alpha_history = deque(saved["alpha_history"], maxlen=HISTORY)

    def _read_names(self, value: object, where: str) -> None:
        names = list_of(read_text)(value, where)
        if tuple(names) != self.names:
            raise UsageError(
                f"the saved ensemble has raters {', '.join(names)}; "
                f"this one has {', '.join(self.names)}"
            )


def item_spread(ratings: Ratings, metric: Metric) -> Floats:
    """(U,) the median distance from the median, or the share outside the majority for nominal ratings."""
    counts = (~np.isnan(ratings)).sum(axis=0)
    ordered = np.sort(ratings, axis=0)
    if metric == "nominal":
        outside = 1 - majority(ordered)[1] / np.maximum(counts, 1)
        return np.where(counts > 0, outside, np.nan)
    with np.errstate(over="ignore"):  # an infinite distance is a spread beyond any limit
        distance = np.abs(ratings - column_median(ordered, counts))
    return column_median(np.sort(distance, axis=0), counts)


def _read_alphas(entry: object, where: str) -> tuple[int, float, float]:
    if not (isinstance(entry, list | tuple) and len(entry) == 3):
        return reject(entry, where, "a number of items and two alphas")
    batch, running = array_of((2,), high=1, nan=True)(entry[1:], where)
    return read_count(entry[0], where), float(batch), float(running)


def _check_names(raters: Mapping[str, Rater] | Sequence[str]) -> tuple[str, ...]:
    names = tuple(raters)
    if isinstance(raters, str) or not names:
        raise UsageError("no raters; expected a mapping of names to callables, or names")
    if len(set(names)) < len(names):
        raise UsageError(f"raters {', '.join(names)} share a name; expected different names")
    return names
