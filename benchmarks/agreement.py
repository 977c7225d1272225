"""What does Krippendorff's alpha cost on continuous ratings, and is it the number others compute?

20 raters × 10,000 items with 30 % missing. The reference in every run is one `numpy.nanvar` over the same matrix,
about the least that can be said about it. The `krippendorff` package (GPL, so an oracle in the bench extra only)
needs memory for items × values², so it is compared where it can run: 5 raters × 500 items on a seven-point scale
for time, and for its value also 6 raters × 40 items with continuous ratings.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, get_args

import numpy as np

from aegir_rl.base.seeding import Seeds
from aegir_rl.raters.agreement import Metric, alpha_interval, krippendorff_alpha
from aegir_rl.raters.ratings import Ratings
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, Target, at_most

QUESTION = (
    "CPU milliseconds of Krippendorff's alpha with missing ratings, and its distance from an oracle"
)
UNIT = "CPU ms"
MOST_MILLISECONDS = 10
MOST_DIFFERENCE = 1e-9


def run(options: Options) -> Result:
    items, repeats = (500, 1) if options.quick else (10_000, options.repeats)
    random = Seeds(options.seed).generator("agreement")
    ratings = _continuous(random, 20, items)
    ours = {
        metric: _timed(f"alpha, {metric}", lambda m=metric: krippendorff_alpha(ratings, m), repeats)
        for metric in get_args(Metric)
        if metric != "ratio"  # all pairs of its 140,000 distinct values
    }
    interval = ours["interval"]
    draws = _timed("interval of 1000 draws", lambda: alpha_interval(ratings, draws=1000), repeats)
    floor = _timed(
        "numpy.nanvar over the same ratings", lambda: np.nanvar(ratings, axis=0), repeats
    )
    measurements = [*ours.values(), draws, floor]
    ratios, targets, left_out = [Ratio(interval, floor)], [at_most(interval, MOST_MILLISECONDS)], []
    try:
        oracle = import_module("krippendorff")
    except ImportError:
        left_out.append("krippendorff is not installed; pip install --editable '.[bench]'")
    else:
        compared = _against(
            oracle, _seven_points(random, 5, 500), _continuous(random, 6, 40), repeats
        )
        measurements += compared[0]
        ratios += compared[1]
        targets += compared[2]
    return Result(
        benchmark="agreement",
        question=QUESTION,
        data=f"synthetic ratings, 20 raters × {items} items, continuous, 30 % missing",
        measurements=tuple(measurements),
        ratios=tuple(ratios),
        targets=tuple(targets),
        settings={"items": items, "repeats": repeats},
        left_out=tuple(left_out),
    )


def _against(
    oracle: Any, ratings: Ratings, continuous: Ratings, repeats: int
) -> tuple[list[Measurement], list[Ratio], list[Target]]:
    """Time on the small ratings, and the largest difference over the four metrics and both kinds."""
    small = _timed(
        "alpha, interval, 5 × 500", lambda: krippendorff_alpha(ratings, "interval"), repeats
    )
    theirs = _timed(
        "krippendorff, interval, 5 × 500",
        lambda: oracle.alpha(reliability_data=ratings, level_of_measurement="interval"),
        repeats,
    )
    differences = [
        abs(
            krippendorff_alpha(one, metric).alpha
            - oracle.alpha(reliability_data=one, level_of_measurement=metric)
        )
        for one in (ratings, continuous)
        for metric in get_args(Metric)
    ]
    # Exactly equal would be 0, which no ratio likes.
    largest = Measurement("largest difference", "of alpha", Runs((max(*differences, 1e-17),)))
    return [small, theirs, largest], [Ratio(small, theirs)], [at_most(largest, MOST_DIFFERENCE)]


def _timed(name: str, work: Callable[[], object], repeats: int) -> Measurement:
    work()
    return Measurement(name, UNIT, Runs(tuple(1000 * cpu_seconds(work) for _ in range(repeats))))


def _continuous(random: np.random.Generator, raters: int, items: int) -> Ratings:
    """Positive, so that a ratio makes sense: lognormal items seen through lognormal noise."""
    ratings = np.exp(random.standard_normal(items) + random.standard_normal((raters, items)) / 2)
    ratings[random.random(ratings.shape) < 0.3] = np.nan
    return ratings


def _seven_points(random: np.random.Generator, raters: int, items: int) -> Ratings:
    ratings = random.integers(1, 8, items) + random.integers(-1, 2, (raters, items))
    scale = np.clip(ratings, 1, 7).astype(np.float64)
    scale[random.random(scale.shape) < 0.3] = np.nan
    return scale
