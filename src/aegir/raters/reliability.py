"""Who can be believed: how well each rater agrees with each of the others.

    pairwise_alpha(ratings)                            # (R, R): alpha of every two raters, nan on the diagonal
    rater_reliability(ratings)                         # (R,): the median of a rater's row
    reliability_weights(ratings)                       # (R,): reliabilities above 0, scaled to sum 1

Two raters' alpha depends on those two alone, so one rater who goes astray spoils one entry of the others' rows
and its own row entirely; the median of a row forgives the one entry and shows the spoilt row.

Worked number: raters (1, 2, 3), (1, 2, 3) and (3, 2, 1). The first two agree: alpha 1. Each against the third:
observed (4 + 0 + 4) / 3 = 8/3, expected 2/5 * 4 = 8/5, alpha = 1 - 5/3 = -2/3. Reliabilities (medians) are
1/6, 1/6 and -2/3; the weights 1/2, 1/2, 0.

Weights: a rater at or below chance weighs 0, and so does one that shares no two units with another. When that
leaves nobody, all weigh the same: then no rater is better than another, and a veto is what helps.
For ordinal ratings the ranks are those among all ratings. `leave_one_out_median` gives what the others say.
"""

import numpy as np
import numpy.typing as npt

from aegir.arrays import Floats
from aegir.raters.agreement import Metric, in_range, krippendorff_alpha, mid_ranks
from aegir.raters.ratings import Ratings, read_ratings


def pairwise_alpha(ratings: npt.ArrayLike, metric: Metric = "interval") -> Floats:
    """(R, R) alpha between every two raters over the units both rated; nan where undefined."""
    given = read_ratings(ratings)
    if metric in ("interval", "ordinal"):
        if metric == "ordinal":
            present = ~np.isnan(given)
            given[present] = mid_ranks(given[present])
        return _pairwise_interval(given)
    alphas = np.full((len(given), len(given)), np.nan)
    for one in range(len(given)):
        for other in range(one):
            alpha = krippendorff_alpha(given[[one, other]], metric).alpha
            alphas[one, other] = alphas[other, one] = alpha
    return alphas


def rater_reliability(ratings: npt.ArrayLike, metric: Metric = "interval") -> Floats:
    """(R,) each rater's median alpha with the others; nan for one that cannot be compared."""
    return np.array([_median(row[~np.isnan(row)]) for row in pairwise_alpha(ratings, metric)])


def reliability_weights(ratings: npt.ArrayLike, metric: Metric = "interval") -> Floats:
    """(R,) weights that sum to 1; equal when nobody agrees with anybody."""
    reliable = np.maximum(np.nan_to_num(rater_reliability(ratings, metric)), 0.0)
    if not reliable.any():
        return np.full(len(reliable), 1 / max(len(reliable), 1))
    weights: Floats = reliable / reliable.sum()
    return weights


def leave_one_out_median(ratings: Ratings) -> Ratings:
    """(R, U) the median of the *other* raters' ratings; nan where the rater or all others are missing.

    Each column is sorted once; leaving a rating out moves the places above its own down by one.
    """
    order = np.argsort(ratings, axis=0, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(ratings))[:, None], axis=0)
    ordered = np.take_along_axis(ratings, order, axis=0)
    others = (~np.isnan(ratings)).sum(axis=0) - 1
    halves = []
    for place in ((others - 1) // 2, others // 2):
        moved = np.maximum(place, 0) + (np.maximum(place, 0) >= rank)
        halves.append(np.take_along_axis(ordered, np.minimum(moved, len(ratings) - 1), axis=0))
    usable = (others > 0) & ~np.isnan(ratings)
    return np.where(usable, halves[0] / 2 + halves[1] / 2, np.nan)


def _pairwise_interval(ratings: Ratings) -> Floats:
    """All pairs at once: sums over the units two raters share are products of matrices."""
    present = ~np.isnan(ratings)
    if not present.any():
        return np.full((len(ratings),) * 2, np.nan)
    ratings = in_range(np.where(present, ratings, 0.0))
    # A common shift keeps digits; the median, because one rater's 1e9 must not decide it.
    off = np.where(present, ratings - np.median(ratings[present]), 0.0)
    shared = present.astype(np.float64)
    units = shared @ shared.T
    with np.errstate(all="ignore"):
        sums, squares = off @ shared.T, off**2 @ shared.T
        apart = squares + squares.T - 2 * off @ off.T
        spread = squares + squares.T - (sums + sums.T) ** 2 / (2 * units)
        alphas: Floats = 1 - np.maximum(apart, 0) * (2 * units - 1) / (2 * units * spread)
    # Rounding leaves crumbs where all shared ratings are equal.
    undefined = (units < 2) | ~(spread > 1e-14 * (squares + squares.T)) | ~np.isfinite(alphas)
    alphas[undefined | np.eye(len(ratings), dtype=bool)] = np.nan
    return alphas


def _median(values: Floats) -> float:
    return float(np.median(values)) if values.size else float("nan")
