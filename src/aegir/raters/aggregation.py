"""Several ratings, one score: how raters are combined, item by item.

    aggregate(ratings, "median")                       # ratings (R, U), nan is missing -> scores (U,)

    mean         of the ratings present
    weighted     weights over the raters present; an item whose raters weigh 0 is missing
    median       of the ratings present
    trimmed      mean without the share `trim` at each end, and without at least one from three ratings on
    majority     the value most raters gave; a tie is missing
    reliability  the highest and the lowest rating pulled in to their neighbours (from three ratings on), then
                 weighted by how well each rater agrees with the others (rater_reliability.py)

Worked numbers: ratings 1, 2, 9 give mean 4, median 2, trimmed 2, majority missing (a tie), weighted by 1, 1, 2
(1 + 2 + 18) / 4 = 5.25, and reliability with those weights (2 + 2 + 2 * 2) / 4 = 2.

**No single exploitable rater.** With three ratings or more, whatever one rater says, median, trimmed and
reliability stay between the lowest and the highest rating of the others. Mean and weighted do not, and with two
ratings nothing can: there is no third to say who is wrong.

An item with fewer than `min_raters` ratings is missing (nan), never 0.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from aegir.arrays import Floats
from aegir.errors import UsageError
from aegir.raters.ratings import Ratings, read_ratings
from aegir.raters.reliability import reliability_weights

Method = Literal["mean", "weighted", "median", "trimmed", "majority", "reliability"]
Counts = npt.NDArray[np.intp]


def aggregate(
    ratings: npt.ArrayLike,
    method: Method = "median",
    *,
    weights: Sequence[float] | Floats | None = None,
    trim: float = 0.2,
    min_raters: int = 1,
) -> Floats:
    """(U,) one score per item; nan where too few raters spoke or none won."""
    given = read_ratings(ratings)
    check_method(method, trim)
    if min_raters < 1:
        raise UsageError(f"min_raters is {min_raters}; expected at least 1")
    if method == "weighted" and weights is None:
        raise UsageError("method 'weighted' needs weights, one per rater")
    if method == "reliability" and weights is None:
        weights = reliability_weights(given)
    ordered = np.sort(given, axis=0)  # missing ones last
    counts = (~np.isnan(given)).sum(axis=0)
    if not given.shape[0]:
        return np.full(given.shape[1], np.nan)
    with np.errstate(over="ignore"):
        if method == "median":
            scores = column_median(ordered, counts)
        elif method == "trimmed":
            scores = _trimmed_mean(ordered, counts, trim)
        elif method == "majority":
            scores = majority(ordered)[0]
        elif method == "mean":
            scores = _weighted_mean(given, np.ones(len(given)))
        else:
            pulled = _without_extremes(given, ordered, counts) if method == "reliability" else given
            scores = _weighted_mean(pulled, check_weights(weights, len(given)))
    return np.where((counts >= min_raters) & np.isfinite(scores), scores, np.nan)


def check_method(method: str, trim: float) -> None:
    """Refuse a method that there is not, and a trim that would leave nothing."""
    if method not in get_args(Method):
        raise UsageError(f"method is {method!r}; expected one of {', '.join(get_args(Method))}")
    if not 0 <= trim < 0.5:
        raise UsageError(f"trim is {trim}; expected a share of each end, from 0 to below 0.5")


def check_weights(weights: Sequence[float] | Floats | None, raters: int) -> Floats:
    """Weights as numbers: one per rater, none negative, not all 0."""
    given = np.asarray(weights, np.float64)
    if given.shape != (raters,):
        raise UsageError(
            f"{raters} raters came with weights of shape {given.shape}; expected one each"
        )
    if not (np.isfinite(given) & (given >= 0)).all() or not given.any():
        raise UsageError(
            f"weights are {given.tolist()}; expected finite numbers from 0 up, at least one above 0"
        )
    return given


def column_median(ordered: Ratings, counts: Counts) -> Floats:
    """(U,) the median of each column's first `counts` entries; nan where there are none."""
    places = np.stack([np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, len(ordered) - 1)])
    low, high = np.take_along_axis(ordered, places, axis=0)
    median: Floats = low / 2 + high / 2
    return median


def majority(ordered: Ratings) -> tuple[Floats, Floats]:
    """(U,) the value that most of each sorted column shares, nan on a tie, and (U,) how many share it."""
    winner, most = np.full(ordered.shape[1], np.nan), np.zeros(ordered.shape[1])
    run = np.zeros(ordered.shape[1])
    for row, values in enumerate(ordered):
        again = values == ordered[row - 1] if row else np.zeros(values.shape, bool)
        run = np.where(np.isnan(values), 0.0, np.where(again, run + 1, 1.0))
        winner = np.where(run > most, values, np.where((run == most) & (run > 0), np.nan, winner))
        most = np.maximum(most, run)
    return winner, most


def _weighted_mean(ratings: Ratings, weights: Floats) -> Floats:
    present = ~np.isnan(ratings)
    total = weights @ present
    weighted = weights @ np.where(present, ratings, 0.0)
    mean: Floats = np.divide(weighted, total, out=np.full(len(total), np.nan), where=total > 0)
    return mean


def _trimmed_mean(ordered: Ratings, counts: Counts, trim: float) -> Floats:
    cut = np.floor(trim * counts).astype(np.intp)
    if trim > 0:
        cut = np.where(counts >= 3, np.maximum(cut, 1), cut)
    place = np.arange(len(ordered))[:, None]
    inside = (place >= cut) & (place < counts - cut)
    return _weighted_mean(np.where(inside, ordered, np.nan), np.ones(len(ordered)))


def _without_extremes(ratings: Ratings, ordered: Ratings, counts: Counts) -> Ratings:
    """Ratings within the second lowest and second highest of their item, from three ratings on."""
    last = np.maximum(counts - 2, 0)[None]
    enough = counts >= 3
    low = np.where(enough, ordered[min(1, len(ordered) - 1)], -np.inf)
    high = np.where(enough, np.take_along_axis(ordered, last, axis=0)[0], np.inf)
    return np.clip(ratings, low, high)
