"""How often does the drift watch cry wolf, and how soon does it see a shift?

Mean steps until a false alarm on settled streams (the promise: at least as many as asked for), and the median delay until a
shift of one standard deviation is noticed after 200 settled values. References: a CUSUM that is *told* the mean and spread
of the settled stream and assumes it normal, with the threshold that gives normal streams nearly the same rate, and an alarm at
three standard deviations.
"""

from collections.abc import Callable

import numpy as np

from aegir.observe.drift_watch import DriftWatch
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least, at_most

QUESTION = (
    "steps until a false alarm (more is better) and until a shift of 1 is seen (less is better)"
)
ALARM, DELAY = "steps to a false alarm", "steps to notice a shift"
ASKED = 500
CUSUM_THRESHOLD = 5.0
"""The textbook value for a shift of 1: 465 steps to a false alarm on normal streams, both ways together."""
LONGEST = 5_000

Add = Callable[[float], bool]
STREAMS: dict[str, Callable[[np.random.Generator], float]] = {
    "normal": lambda random: random.standard_normal(),
    "Cauchy": lambda random: random.standard_cauchy(),
    "0/1": lambda random: ((random.random() < 0.1) - 0.1) / 0.3,
}


def run(options: Options) -> Result:
    """Each figure is one mean or median over many simulated streams."""
    streams = 20 if options.quick else 300
    ways: dict[str, Callable[[int], Add]] = {
        "aegir": _ours,
        "CUSUM told the truth": _cusum,
        "3 sigma": _three_sigma,
    }
    alarms = {
        (way, name): Measurement(
            f"{way}, settled {name} stream",
            ALARM,
            Runs((_mean_run(make, draw, streams, options.seed),)),
        )
        for way, make in ways.items()
        for name, draw in STREAMS.items()
    }
    delays = {
        way: Measurement(
            f"{way}, normal stream shifted by 1",
            DELAY,
            Runs((_median_delay(make, max(streams // 5, 5), options.seed),)),
        )
        for way, make in ways.items()
    }
    return Result(
        benchmark="drift",
        question=QUESTION,
        data=f"{streams} simulated streams, at most {LONGEST:,} steps each",
        measurements=(*alarms.values(), *delays.values()),
        ratios=(
            *(
                Ratio(alarms["aegir", name], alarms["CUSUM told the truth", name])
                for name in STREAMS
            ),
            Ratio(delays["aegir"], delays["CUSUM told the truth"]),
        ),
        targets=(
            *(at_least(alarms["aegir", name], ASKED) for name in STREAMS),
            at_most(delays["aegir"], 30),
        ),
        settings={"asked": ASKED, "streams": streams},
    )


def _ours(seed: int) -> Add:
    watch = DriftWatch(ASKED, seed=seed)
    return lambda value: watch.update(value) is not None


def _cusum(_: int) -> Add:
    up, down = 0.0, 0.0

    def add(value: float) -> bool:
        nonlocal up, down
        up, down = max(0.0, up + value - 0.5), max(0.0, down - value - 0.5)
        return max(up, down) > CUSUM_THRESHOLD

    return add


def _three_sigma(_: int) -> Add:
    return lambda value: abs(value) > 3


def _mean_run(
    make: Callable[[int], Add],
    draw: Callable[[np.random.Generator], float],
    streams: int,
    seed: int,
) -> float:
    random = np.random.default_rng(seed)
    return float(np.mean([_steps(make(number), lambda: draw(random)) for number in range(streams)]))


def _median_delay(make: Callable[[int], Add], streams: int, seed: int) -> float:
    """Streams with a false alarm before the shift are drawn anew."""
    random = np.random.default_rng(seed)
    delays: list[int] = []
    number = 0
    while len(delays) < streams:
        number += 1
        add = make(number)
        if not any(map(add, random.standard_normal(200))):
            delays.append(_steps(add, lambda: random.standard_normal() + 1))
    return float(np.median(delays))


def _steps(add: Add, draw: Callable[[], float]) -> int:
    for step in range(1, LONGEST):
        if add(draw()):
            return step
    return LONGEST
