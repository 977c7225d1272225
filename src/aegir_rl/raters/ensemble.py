"""Several raters, one reward, and a veto when they disagree, so that no single rater can be exploited.

    ensemble = RewardEnsemble({"tests": run_tests, "judge": ask_judge, "style": rate_style}, min_alpha=0.4)
    result = ensemble.score(items)                     # calls the raters; failed ones are missing, never 0
    result.scores                                      # (U,): nan where there is no score
    ensemble.combine(ratings)                          # the same for ratings (R, U) that exist already
    ensemble.report().sentences                        # which raters disagree, drift, saturate, fail

Settings are an `EnsembleSettings`, or its fields as keywords. How raters are combined: aggregation.py. Checked on every
batch:

    alpha of the batch        below `min_alpha`: the batch is vetoed
    alpha of the last items   `window` items; below `min_running_alpha`: the batch is vetoed. Kept in `alpha_history`
    spread of an item         the median distance of its ratings from their median (nominal: the share outside
                              the majority); above `max_spread`: the item is vetoed

A vetoed item gets `veto_score`: nan, an abstention, unless a number is given. `low_agreement="flag"` only marks it.
Alpha of fewer than ten units is noise: it vetoes nothing, `result.unchecked` names the limit that could not be applied, and
the first time a warning says so (use `min_running_alpha` for small batches). An undefined alpha (no item rated twice, all
ratings equal) vetoes nothing either; the reason is in the result.

Worked number: raters (1, 2, 3), (1, 2, 3), (1e9, 1e9, 1e9). The median gives 1, 2, 3; alpha is -1/3; each spread is 0,
because two of three agree.

Limits: alpha can be pulled down by one broken rater, which vetoes batches (visible in `report()`), and up by one
that sees the ratings of others: two that agree by chance (alpha 0) and a third that averages them have alpha 0.4, so
raters must be independent. Raters on different scales disagree by definition: normalise each first
(aegir_rl/rewards/running_normalizer.py, keyed by rater).
"""

import math
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.observe.saved_state import (
    array_of,
    list_of,
    read_count,
    read_state,
    read_text,
    record_of,
    reject,
)
from aegir_rl.raters.aggregation import (
    aggregate,
    check_weights,
    item_spread,
    reliability_weights,
)
from aegir_rl.raters.agreement import Agreement, krippendorff_alpha
from aegir_rl.raters.calls import Rater, RaterFailure, RaterPool
from aegir_rl.raters.ratings import Ratings, read_ratings
from aegir_rl.raters.report import EnsembleReport, RaterDrift, report_raters
from aegir_rl.raters.settings import FEWEST_UNITS, EnsembleSettings

HISTORY = 1000


class AgreementUnchecked(UserWarning):
    """A batch was too small for `min_alpha`."""


@dataclass(frozen=True, slots=True)
class EnsembleScores:
    """Scores of one batch, and what they were computed from."""

    scores: Floats
    """(U,) nan is missing: too few ratings, a tie, or vetoed."""
    vetoed: Bools
    """(U,) the raters disagree too much."""
    spread: Floats
    """(U,) how far the ratings of an item lie apart; nan without a rating."""
    agreement: Agreement
    weights: Floats | None
    """(R,) weights of the raters; None for methods without weights."""
    ratings: Ratings
    failures: tuple[RaterFailure, ...] = ()
    unchecked: tuple[str, ...] = ()
    """Limits of alpha that could not be applied, because fewer than ten units have two ratings."""

    @property
    def missing(self) -> Bools:
        """(U,) whether an item has no score."""
        return np.isnan(self.scores)


class RewardEnsemble:
    """Raters, how they are combined, and statistics of how well they agreed."""

    def __init__(
        self,
        raters: Mapping[str, Rater] | Sequence[str],
        settings: EnsembleSettings | None = None,
        **overrides: Any,
    ) -> None:
        """`raters` are callables by name, or names alone for `combine`; `overrides` are fields of the settings."""
        self.settings = settings = replace(settings or EnsembleSettings(), **overrides)
        self.names = _check_names(raters)
        self._min_raters = settings.least_ratings(len(self.names))
        self._weights = (
            None if settings.weights is None else check_weights(settings.weights, len(self.names))
        )
        self._pool = RaterPool(raters, settings.timeout) if isinstance(raters, Mapping) else None
        self._window: Ratings = np.zeros((len(self.names), 0))
        self._drift = RaterDrift(
            self.names, settings.metric, false_alarm_rate=settings.false_alarm_rate
        )
        self._failures = dict.fromkeys(self.names, 0)
        self._items = self._vetoed = self._missing = self._unchecked = 0
        self.alpha_history: deque[tuple[int, float, float]] = deque(maxlen=HISTORY)
        """(items seen, alpha of the batch, alpha of the window) of the last thousand batches."""

    def score(self, items: Sequence[Any]) -> EnsembleScores:
        """Call every rater on the items and combine the ratings that arrive in time."""
        if self._pool is None:
            raise UsageError("this ensemble has names of raters only; use combine(ratings)")
        ratings, failures = self._pool.rate(items)
        return self._combine(ratings, failures)

    async def score_async(self, items: Sequence[Any]) -> EnsembleScores:
        """The same as `score`, without blocking the running event loop; one call at a time."""
        import asyncio  # a third of the time that importing this package takes

        return await asyncio.to_thread(self.score, items)

    def combine(self, ratings: npt.ArrayLike) -> EnsembleScores:
        """Combine ratings (R, U), nan where one is missing."""
        given = read_ratings(ratings)
        if len(given) != len(self.names):
            raise UsageError(f"{len(given)} rows of ratings came for {len(self.names)} raters")
        return self._combine(given, ())

    def _combine(self, ratings: Ratings, failures: tuple[RaterFailure, ...]) -> EnsembleScores:
        settings = self.settings
        if settings.metric == "ratio":
            ratings = np.where(ratings < 0, np.nan, ratings)  # not on the scale: missing
        for failure in failures:
            self._failures[failure.rater] += 1
        self._window = np.concatenate([self._window, ratings], axis=1)[:, -settings.window :]
        self._drift.update(ratings)
        agreement = krippendorff_alpha(ratings, settings.metric)
        running = krippendorff_alpha(self._window, settings.metric)
        weights = self._weights
        if settings.method == "reliability" and weights is None:
            weights = reliability_weights(self._window, settings.metric)
        scores = aggregate(
            ratings,
            settings.method,
            weights=weights,
            trim=settings.trim,
            min_raters=self._min_raters,
        )
        spread = item_spread(ratings, settings.metric)
        vetoed, unchecked = self._low_agreement(agreement, running, spread)
        if settings.low_agreement == "veto":
            scores = np.where(vetoed & ~np.isnan(scores), settings.veto_score, scores)
        self._items += ratings.shape[1]
        self._vetoed += int(vetoed.sum())
        self._missing += int(np.isnan(scores).sum())
        self.alpha_history.append((self._items, agreement.alpha, running.alpha))
        return EnsembleScores(
            scores=scores,
            vetoed=vetoed,
            spread=spread,
            agreement=agreement,
            weights=weights,
            ratings=ratings,
            failures=failures,
            unchecked=unchecked,
        )

    def _low_agreement(
        self, agreement: Agreement, running: Agreement, spread: Floats
    ) -> tuple[Bools, tuple[str, ...]]:
        """(U,) items to veto, and the limits that could not be applied."""
        limit = self.settings.max_spread
        low = spread > (math.inf if limit is None else limit)
        unchecked = []
        for name, now in (("min_alpha", agreement), ("min_running_alpha", running)):
            least = getattr(self.settings, name)
            if least is None or not spread.size:
                continue
            if now.units < FEWEST_UNITS:
                unchecked.append(name)
            elif now.alpha < least:
                low = np.ones_like(low)
        if "min_alpha" in unchecked:
            if not self._unchecked:
                warnings.warn(
                    f"min_alpha={self.settings.min_alpha} does not apply to this batch: "
                    f"{agreement.units} units have two ratings and {FEWEST_UNITS} are needed; "
                    "min_running_alpha checks small batches together",
                    AgreementUnchecked,
                    stacklevel=4,
                )
            self._unchecked += 1
        return low, tuple(unchecked)

    def report(self) -> EnsembleReport:
        """Report on the raters over the last `window` items; drift and failures since the start."""
        return report_raters(
            self._window,
            self.names,
            self.settings.metric,
            drifting=self._drift.drifting,
            failures=self._failures,
        )

    def metrics(self) -> dict[str, float]:
        """For a log: agreement now, shares since the start, failures; undefined metrics are absent."""
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
            "unchecked_batches": self._unchecked,
            "failed_calls": sum(self._failures.values()),
            **self._drift.metrics(),
        }
        return {
            f"ensemble/{name}": value for name, value in figures.items() if not math.isnan(value)
        }

    def state_dict(self) -> dict[str, Any]:
        """For torch.save or pickle: `window` is a numpy array, an undefined alpha is nan; the rest is JSON-ready."""
        return {
            "names": list(self.names),
            "window": self._window.copy(),
            "drift": self._drift.state_dict(),
            "failures": dict(self._failures),
            "counts": [self._items, self._vetoed, self._missing, self._unchecked],
            "alpha_history": [list(entry) for entry in self.alpha_history],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly from a saved state; the raters must have the same names."""
        readers = {
            "names": self._read_names,
            "window": array_of((len(self.names), None), nan=True),
            "drift": lambda state, _: state,
            "failures": record_of(dict.fromkeys(self.names, read_count)),
            "counts": list_of(read_count, 4),
            "alpha_history": list_of(_read_alphas),
        }
        saved = read_state(state, "the saved ensemble", readers)
        self._drift.load_state_dict(saved["drift"])  # raises before anything is changed
        self._window = saved["window"][:, -self.settings.window :]
        self._failures = saved["failures"]
        self._items, self._vetoed, self._missing, self._unchecked = saved["counts"]
        self.alpha_history = deque(saved["alpha_history"], maxlen=HISTORY)

    def _read_names(self, value: object, where: str) -> None:
        names = list_of(read_text)(value, where)
        if tuple(names) != self.names:
            raise UsageError(
                f"the saved ensemble has raters {', '.join(names)}; "
                f"this one has {', '.join(self.names)}"
            )


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
