"""Combining raters: one score per item from several ratings, and how reliable each rater is.

    aggregate(ratings, "median")                       # ratings (R, U), nan is missing -> scores (U,)

    mean         mean of the ratings present
    weighted     weighted mean of the ratings present; an item whose raters have weight 0 is missing
    median       median of the ratings present
    trimmed      mean without the share `trim` at each end, and without at least one rating from three on
    majority     the most frequent value; a tie is missing
    reliability  the highest and lowest rating moved to their neighbours (from three ratings on), then weighted by
                 how well each rater agrees with the others

Worked numbers: ratings 1, 2, 9 give mean 4, median 2, trimmed 2, majority missing (a tie), weighted by 1, 1, 2
(1 + 2 + 18) / 4 = 5.25, and reliability with those weights (2 + 2 + 2 * 2) / 4 = 2.

**One rater cannot be exploited.** With three ratings or more, whatever one rater reports, median, trimmed and
reliability stay between the lowest and the highest rating of the others. Mean and weighted do not; with two ratings no
method can tell which rater is wrong. An item with fewer than `min_raters` ratings is missing (nan), never 0.

    pairwise_alpha(ratings)                            # (R, R): alpha of every two raters, nan on the diagonal
    rater_reliability(ratings)                         # (R,): median of a rater's row
    reliability_weights(ratings)                       # (R,): reliabilities above 0, scaled to sum 1

The alpha of two raters depends on those two alone, so one bad rater changes one entry in each of the other rows, which
the median ignores, and all entries of its own row. Worked number: raters (1, 2, 3), (1, 2, 3) and (3, 2, 1). The first two
have alpha 1. Each against the third: observed (4 + 0 + 4) / 3 = 8/3, expected 2/5 * 4 = 8/5, alpha = 1 - 5/3 = -2/3.
Reliabilities (medians) are 1/6, 1/6 and -2/3; the weights 1/2, 1/2, 0.

A rater at or below chance, or one that shares fewer than two units with any other, has weight 0. If that applies to all
raters, the weights are equal. Ordinal ratings are ranked among all ratings.
"""

from collections.abc import Sequence
from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats, read_floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.raters.agreement import Metric, in_range, krippendorff_alpha, mid_ranks
from aegir_rl.raters.ratings import Ratings, read_ratings

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
    """(U,) one score per item; nan with fewer than `min_raters` ratings, or on a tie of the majority."""
    given = read_ratings(ratings)
    check_method(method, trim)
    require(min_raters >= 1, "min_raters", min_raters, "at least 1")
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
    """Raise for an unknown method, and for a trim that would leave no rating."""
    require(method in get_args(Method), "method", method, f"one of {', '.join(get_args(Method))}")
    require(0 <= trim < 0.5, "trim", trim, "a share of each end, from 0 to below 0.5")


def check_weights(weights: Sequence[float] | Floats | None, raters: int) -> Floats:
    """Weights as an array; raise unless there is one per rater, none negative, not all 0."""
    given = read_floats(cast(npt.ArrayLike, weights), "weights")
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
    """(U,) median of each column's first `counts` entries; nan for a count of 0."""
    indices = np.stack([np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, len(ordered) - 1)])
    low, high = np.take_along_axis(ordered, indices, axis=0)
    median: Floats = low / 2 + high / 2
    return median


def majority(ordered: Ratings) -> tuple[Floats, Floats]:
    """(U,) most frequent value of each sorted column, nan on a tie, and (U,) its number of occurrences."""
    winner, most = np.full(ordered.shape[1], np.nan), np.zeros(ordered.shape[1])
    run = np.zeros(ordered.shape[1])
    for row, values in enumerate(ordered):
        again = values == ordered[row - 1] if row else np.zeros(values.shape, bool)
        run = np.where(np.isnan(values), 0.0, np.where(again, run + 1, 1.0))
        winner = np.where(run > most, values, np.where((run == most) & (run > 0), np.nan, winner))
        most = np.maximum(most, run)
    return winner, most


def pairwise_alpha(ratings: npt.ArrayLike, metric: Metric = "interval") -> Floats:
    """(R, R) alpha between every two raters over the units both rated; nan where undefined."""
    given = read_ratings(ratings)
    if metric in ("interval", "ordinal"):
        if metric == "ordinal":
            present = ~np.isnan(given)
            given[present] = mid_ranks(given[present])
        return _pairwise_interval(given)
    alphas = np.full((len(given), len(given)), np.nan)
    for first in range(len(given)):
        for second in range(first):
            alpha = krippendorff_alpha(given[[first, second]], metric).alpha
            alphas[first, second] = alphas[second, first] = alpha
    return alphas


def rater_reliability(ratings: npt.ArrayLike, metric: Metric = "interval") -> Floats:
    """(R,) each rater's median alpha with the others; nan for a rater without common units."""
    return np.array([_median(row[~np.isnan(row)]) for row in pairwise_alpha(ratings, metric)])


def reliability_weights(ratings: npt.ArrayLike, metric: Metric = "interval") -> Floats:
    """(R,) weights that sum to 1; equal if no reliability is above 0."""
    reliable = np.maximum(np.nan_to_num(rater_reliability(ratings, metric)), 0.0)
    if not reliable.any():
        return np.full(len(reliable), 1 / max(len(reliable), 1))
    weights: Floats = reliable / reliable.sum()
    return weights


def leave_one_out_median(ratings: Ratings) -> Ratings:
    """(R, U) median of the *other* raters' ratings; nan where the rater or all others are missing.

    Each column is sorted once; leaving a rating out shifts the positions above its own down by one.
    """
    order = np.argsort(ratings, axis=0, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(ratings))[:, None], axis=0)
    ordered = np.take_along_axis(ratings, order, axis=0)
    others = (~np.isnan(ratings)).sum(axis=0) - 1
    halves = []
    for index in ((others - 1) // 2, others // 2):
        shifted = np.maximum(index, 0) + (np.maximum(index, 0) >= rank)
        halves.append(np.take_along_axis(ordered, np.minimum(shifted, len(ratings) - 1), axis=0))
    usable = (others > 0) & ~np.isnan(ratings)
    return np.where(usable, halves[0] / 2 + halves[1] / 2, np.nan)


def item_spread(ratings: Ratings, metric: Metric) -> Floats:
    """(U,) median distance from the median, or for nominal ratings the share outside the majority."""
    counts = (~np.isnan(ratings)).sum(axis=0)
    ordered = np.sort(ratings, axis=0)
    if metric == "nominal":
        outside = 1 - majority(ordered)[1] / np.maximum(counts, 1)
        return np.where(counts > 0, outside, np.nan)
    with np.errstate(over="ignore"):  # an infinite distance is above every limit
        distance = np.abs(ratings - column_median(ordered, counts))
    return column_median(np.sort(distance, axis=0), counts)


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
    index = np.arange(len(ordered))[:, None]
    inside = (index >= cut) & (index < counts - cut)
    return _weighted_mean(np.where(inside, ordered, np.nan), np.ones(len(ordered)))


def _without_extremes(ratings: Ratings, ordered: Ratings, counts: Counts) -> Ratings:
    """Ratings clipped to the second lowest and second highest of their item, from three ratings on."""
    last = np.maximum(counts - 2, 0)[None]
    enough = counts >= 3
    low = np.where(enough, ordered[min(1, len(ordered) - 1)], -np.inf)
    high = np.where(enough, np.take_along_axis(ordered, last, axis=0)[0], np.inf)
    return np.clip(ratings, low, high)


def _pairwise_interval(ratings: Ratings) -> Floats:
    """All pairs at once: sums over the units two raters share are matrix products."""
    present = ~np.isnan(ratings)
    if not present.any():
        return np.full((len(ratings),) * 2, np.nan)
    ratings = in_range(np.where(present, ratings, 0.0))
    # Subtracting a common value keeps precision; the median, because one rater's 1e9 must not determine it.
    off = np.where(present, ratings - np.median(ratings[present]), 0.0)
    shared = present.astype(np.float64)
    units = shared @ shared.T
    with np.errstate(all="ignore"):
        sums, squares = off @ shared.T, off**2 @ shared.T
        apart = squares + squares.T - 2 * off @ off.T
        spread = squares + squares.T - (sums + sums.T) ** 2 / (2 * units)
        alphas: Floats = 1 - np.maximum(apart, 0) * (2 * units - 1) / (2 * units * spread)
    # Where all shared ratings are equal, rounding leaves a variance of about 1e-16 of the squares.
    undefined = (units < 2) | ~(spread > 1e-14 * (squares + squares.T)) | ~np.isfinite(alphas)
    alphas[undefined | np.eye(len(ratings), dtype=bool)] = np.nan
    return alphas


def _median(values: Floats) -> float:
    return float(np.median(values)) if values.size else float("nan")
