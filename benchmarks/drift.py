"""How often does the drift watch raise a false alarm, and how soon does it report a change?

Mean steps until a false alarm on stationary streams (the promise: at least as many as asked for), independent and
autocorrelated, and the median delay until a change of five standard deviations is reported after 200 values. References: a
CUSUM that knows the mean and spread of the stream and assumes independent normal values, with the threshold that gives
such streams nearly the same rate, and an alarm at three standard deviations.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from aegir_rl.observe.drift_watch import DriftWatch
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least, at_most

QUESTION = (
    "steps until a false alarm (more is better) and until a change is reported (less is better)"
)
ALARM, DELAY = "steps to a false alarm", "steps to report a change"
ASKED = 500
CHANGE = 5.0
CUSUM_THRESHOLD = 5.0
"""The textbook value for a shift of 1: 465 steps to a false alarm on normal streams, both ways together."""
LONGEST = 5_000

Add = Callable[[float], bool]
Draw = Callable[[np.random.Generator], Iterator[float]]


def autoregressive(coefficient: float) -> Draw:
    """A stationary normal AR(1) stream with deviation 1."""

    def draw(random: np.random.Generator) -> Iterator[float]:
        value = random.standard_normal()
        while True:
            yield value
            noise = math.sqrt(1 - coefficient**2) * random.standard_normal()
            value = coefficient * value + noise

    return draw


def independent(draw: Callable[[np.random.Generator], float]) -> Draw:
    """A stream of independent values."""

    def draw_all(random: np.random.Generator) -> Iterator[float]:
        while True:
            yield draw(random)

    return draw_all


STREAMS: dict[str, Draw] = {
    "normal": independent(lambda random: random.standard_normal()),
    "AR(0.5)": autoregressive(0.5),
    "AR(0.9)": autoregressive(0.9),
    "Cauchy": independent(lambda random: random.standard_cauchy()),
    "0/1": independent(lambda random: ((random.random() < 0.1) - 0.1) / 0.3),
}


def run(options: Options) -> Result:
    """Each figure is one mean or median over many simulated streams."""
    streams = 20 if options.quick else 200
    ways: dict[str, Callable[[], Add]] = {
        "aegir": _ours,
        "CUSUM that knows mean and spread": _cusum,
        "3 sigma": _three_sigma,
    }
    alarms = {
        (way, name): Measurement(
            f"{way}, {name} stream",
            ALARM,
            Runs((_mean_run(make, draw, streams, options.seed),)),
        )
        for way, make in ways.items()
        for name, draw in STREAMS.items()
    }
    delays = {
        way: Measurement(
            f"{way}, normal stream changed by {CHANGE:g}",
            DELAY,
            Runs((_median_delay(make, max(streams // 5, 5), options.seed),)),
        )
        for way, make in ways.items()
    }
    reference = "CUSUM that knows mean and spread"
    return Result(
        benchmark="drift",
        question=QUESTION,
        data=f"{streams} simulated streams, at most {LONGEST:,} steps each",
        measurements=(*alarms.values(), *delays.values()),
        ratios=(
            *(Ratio(alarms["aegir", name], alarms[reference, name]) for name in STREAMS),
            Ratio(delays["aegir"], delays[reference]),
        ),
        targets=(
            *(at_least(alarms["aegir", name], ASKED) for name in STREAMS),
            at_most(delays["aegir"], 10),
        ),
        settings={"asked": ASKED, "streams": streams},
    )


def _ours() -> Add:
    watch = DriftWatch(ASKED)
    return lambda value: watch.update(value) is not None


def _cusum() -> Add:
    up, down = 0.0, 0.0

    def add(value: float) -> bool:
        nonlocal up, down
        up, down = max(0.0, up + value - 0.5), max(0.0, down - value - 0.5)
        return max(up, down) > CUSUM_THRESHOLD

    return add


def _three_sigma() -> Add:
    return lambda value: abs(value) > 3


def _mean_run(make: Callable[[], Add], draw: Draw, streams: int, seed: int) -> float:
    random = np.random.default_rng(seed)
    return float(np.mean([_count_steps(make(), draw(random)) for _ in range(streams)]))


def _median_delay(make: Callable[[], Add], streams: int, seed: int) -> float:
    """Streams with a false alarm before the change are drawn again."""
    random = np.random.default_rng(seed)
    delays: list[int] = []
    while len(delays) < streams:
        add = make()
        if not any(map(add, random.standard_normal(200))):
            changed = independent(lambda random: random.standard_normal() + CHANGE)
            delays.append(_count_steps(add, changed(random)))
    return float(np.median(delays))


def _count_steps(add: Add, values: Iterator[float]) -> int:
    for step in range(1, LONGEST):
        if add(next(values)):
            return step
    return LONGEST
