"""Outliers: flag the values of a series that lie far from the others."""

import itertools
import statistics
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    write_solution,
)
from aegir_rl.simulator.task import Case

METHODS = options("outliers", "methods")


def flag_outliers(values: list[Any], method: str, k: float, side: str, fewest: int) -> list[Any]:
    """True for every value outside the limits of the method; None is no value."""
    known = [value for value in values if value is not None]
    if len(known) < max(2, fewest):
        return [False] * len(values)
    if method == "jump":
        return flag_jumps(values, known, k, side)
    if method in ("deviation", "sample"):
        centre = statistics.fmean(known)
        spread = statistics.pstdev(known) if method == "deviation" else statistics.stdev(known)
        low, high = centre - k * spread, centre + k * spread
    elif method == "quartile":
        lower, _, upper = statistics.quantiles(known, n=4, method="inclusive")
        low, high = lower - k * (upper - lower), upper + k * (upper - lower)
    elif method == "median":
        centre = statistics.median(known)
        spread = statistics.median([abs(value - centre) for value in known])
        low, high = centre - k * spread, centre + k * spread
    else:
        high = k * statistics.median([abs(value) for value in known])
        low = -high
    return [
        value is not None
        and ((side != "low" and value > high + 1e-9) or (side != "high" and value < low - 1e-9))
        for value in values
    ]


def flag_jumps(values: list[Any], known: list[Any], k: float, side: str) -> list[bool]:
    """True for every value too far from the one before it."""
    most = k * statistics.fmean(
        [abs(after - before) for before, after in itertools.pairwise(known)]
    )
    flags, last = [], None
    for value in values:
        step = 0 if value is None or last is None else value - last
        flags.append(
            (side != "low" and step > most + 1e-9) or (side != "high" and -step > most + 1e-9)
        )
        last = last if value is None else value
    return flags


def draw_outliers(random: Random, level: int) -> Draft:
    """Level 1 has deviations and quartiles on both sides, 2 medians and missing values, 3 one side only and jumps."""
    names = list(METHODS)[: 2 + level + (level == 3)]
    method = random.choice(names)
    k = random.choice([1, 1.5, 2, 2.5, 3, 3.5, 1.2, 1.8])
    side = random.choice(["both", "high", "low"]) if level > 2 else "both"
    fewest = random.choice([2, 3, 4, 5, 6, 8])

    def make(size: int, *, gaps: bool = False, flat: bool = False) -> Case:
        centre, spread = random.randint(-50, 200), random.choice([1, 4, 10])
        values: list[Any] = [
            centre if flat else round(random.gauss(centre, spread), 1) for _ in range(size)
        ]
        for place in random.sample(range(size), min(size, random.choice([0, 1, 1, 2]))):
            values[place] = round(
                values[place] + random.choice([-1, 1]) * spread * random.choice([2, 4, 6, 9]), 1
            )
        if level > 1 and (gaps or chance(random, 0.3)):
            values = [None if chance(random, 0.25) else value for value in values]
        return Case((values,), flag_outliers(values, method, k, side, fewest))

    public = [make(random.randint(6, 10), gaps=number == 0) for number in range(5 + level)]
    public.append(make(3))
    hidden = [make(random.randint(5, 12), gaps=chance(random, 0.4)) for _ in range(8)]
    hidden += [Case(([],), []), make(1), make(fewest - 1), make(fewest), make(7, flat=True)]
    parameters = (method, k, side, fewest)
    return Draft(
        statement=describe(
            "outliers", "start", side, "end", method=METHODS[method].format(k=k), fewest=fewest
        ),
        solution=write_solution(
            "outliers",
            flag_outliers,
            *parameters,
        ),
        public=public,
        hidden=hidden,
        difficulty={"k": k},
    )
