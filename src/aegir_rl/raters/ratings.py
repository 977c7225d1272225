"""Reading ratings: a matrix of raters × units, nan where a rating is missing.

    read_ratings([[1, 2, None], [1, 3, 3]])            # (R, U) floats; None becomes nan
    read_ratings([["good", "bad"], ["good", None]], levels=["bad", "good"])     # labels become 0, 1
    read_ratings(..., any_labels=True)                 # labels become numbers in sorted order: nominal use only

An infinity counts as missing, because it has no distance to anything. Rows of different lengths, one axis or three, and
labels outside `levels` raise an error of one sentence.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import read_array
from aegir_rl.base.errors import UsageError

Ratings = npt.NDArray[np.float64]
"""(R, U): one row per rater, one column per unit (an item that was rated); nan is missing."""


def read_ratings(
    ratings: npt.ArrayLike, levels: Sequence[object] | None = None, *, any_labels: bool = False
) -> Ratings:
    """(R, U) floats, a copy, with nan for missing ratings."""
    if isinstance(ratings, np.ma.MaskedArray):
        ratings = np.ma.filled(ratings.astype(np.float64), np.nan)
    given = read_array(ratings, "ratings")
    if given.ndim != 2:
        raise UsageError(
            f"ratings have {given.ndim} axes, shape {given.shape}; expected two: raters × units"
        )
    if levels is not None or _holds_labels(given):
        if levels is None and not any_labels:
            raise UsageError(
                "ratings are labels; expected numbers, or levels=[…] with the labels from low to high"
            )
        return _encode_labels(given, levels)
    try:
        numbers = given.astype(np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            "ratings mix numbers with something else; expected numbers, or labels only"
        ) from None
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers


def _holds_labels(given: npt.NDArray[np.generic]) -> bool:
    return given.dtype.kind in "US" or (
        given.dtype.kind == "O" and any(isinstance(label, str) for label in given.flat)
    )


def _encode_labels(given: npt.NDArray[np.generic], levels: Sequence[object] | None) -> Ratings:
    # Arrays of text turn None and nan into strings, hence objects from here on.
    labels = [None if _is_missing(label) else label for label in given.astype(object).flat]
    present = {label for label in labels if label is not None}
    if levels is None:
        order: list[object] = sorted(present, key=str)
    else:
        order = list(levels)
    number = {label: float(position) for position, label in enumerate(order)}
    if unknown := sorted(map(str, present - set(number))):
        raise UsageError(
            f"rating {unknown[0]!r} is not among the levels {', '.join(map(str, order))}"
        )
    numbers = [np.nan if label is None else number[label] for label in labels]
    return np.array(numbers, np.float64).reshape(given.shape)


def _is_missing(label: object) -> bool:
    return label is None or (isinstance(label, float) and not np.isfinite(label))
