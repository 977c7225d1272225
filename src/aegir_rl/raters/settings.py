"""Settings of a `RewardEnsemble` (ensemble.py), checked when they are made.

EnsembleSettings(method="trimmed", min_alpha=0.4)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from aegir_rl.base.arrays import read_floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.raters.aggregation import Method, check_method
from aegir_rl.raters.agreement import Metric, check_metric

FEWEST_UNITS = 10
"""Units with two ratings or more below which alpha is noise and vetoes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleSettings:
    """How raters are combined, and when their scores are vetoed."""

    method: Method = "median"
    """mean, weighted, median, trimmed, majority or reliability (aggregation.py)."""
    metric: Metric = "interval"
    """Scale of the ratings: nominal, ordinal, interval or ratio."""
    weights: Sequence[float] | None = None
    """One per rater, for `weighted` (required) and `reliability` (default: reliabilities over the window)."""
    trim: float = 0.2
    """Share of the ratings left out at each end by `trimmed`."""
    min_raters: int | None = None
    """Items with fewer ratings have no score; None is 2, or 1 for a single rater."""
    min_alpha: float | None = None
    """Veto a batch of ten units or more whose alpha is lower; None never vetoes."""
    min_running_alpha: float | None = None
    """Veto while the alpha of the last `window` items is lower; None never vetoes."""
    max_spread: float | None = None
    """Veto items whose ratings are further apart; None never vetoes."""
    low_agreement: Literal["veto", "flag"] = "veto"
    """Whether vetoed items lose their score, or are only marked."""
    veto_score: float = math.nan
    """Score of a vetoed item."""
    window: int = 1024
    """Items that running alpha, reliability and the report look back on; at least ten."""
    timeout: float | None = 30.0
    """Seconds after which a rater is missing for a batch; None waits."""
    false_alarm_rate: float = 0.01
    """Chance that any rater is reported as drifting in 1,000 batches while none does."""

    def __post_init__(self) -> None:
        check_method(self.method, self.trim)
        check_metric(self.metric)
        if self.weights is not None:
            weights = read_floats(self.weights, "weights").ravel()
            object.__setattr__(self, "weights", tuple(weights.tolist()))
        elif self.method == "weighted":
            raise UsageError("method 'weighted' needs weights, one per rater")
        low, spread = self.low_agreement, self.max_spread
        require(low in ("veto", "flag"), "low_agreement", low, "'veto' or 'flag'")
        require(spread is None or spread >= 0, "max_spread", spread, "0 or more")
        for name in ("min_alpha", "min_running_alpha"):
            least = getattr(self, name)
            require(least is None or least <= 1, name, least, "at most 1, which is full agreement")
        least_window = f"at least {FEWEST_UNITS} items"
        require(self.window >= FEWEST_UNITS, "window", self.window, least_window)

    def least_ratings(self, raters: int) -> int:
        """Ratings an item needs among this number of raters; raise if it can never have them."""
        least = min(2, raters) if self.min_raters is None else self.min_raters
        if not 1 <= least <= raters:
            raise UsageError(f"min_raters is {least} among {raters} raters; expected 1 to {raters}")
        return least
