"""How fast is the running normaliser, and does an offset of a billion cost it any digits?

Speed: batches of 4,096 and one large array, beside numpy's own two passes (mean and var) and beside Welford's
algorithm written value by value. Accuracy: values of variance 1 around 1e9 in uneven batches over 8 shards, merged,
against the exact mean and variance of the same floats in whole-number arithmetic; beside plain sums.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from aegir_rl.base.seeding import Seeds
from aegir_rl.observe.moments import EMPTY, Moments
from aegir_rl.rewards.running_normalizer import RunningNormalizer
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least, at_most

QUESTION = "million values normalised per CPU second, and relative errors at an offset of 1e9"
SPEED, ERROR = "M values per CPU second", "relative error"
OFFSET, STEPS = 1e9, 2**23
"""Floats around 1e9 lie 2**-23 apart, so values less the offset are whole numbers of steps."""

Floats = npt.NDArray[np.float64]


def run(options: Options) -> Result:
    size, repeats = (100_000, 1) if options.quick else (10_000_000, options.repeats)
    random = Seeds(options.seed).generator("normaliser")
    values = OFFSET + random.standard_normal(size)
    speeds = _speeds(values[: min(size, 2_000_000)], repeats)
    mean, variance = _exact(values)
    merged = _merged_from_8_shards(values, random)
    plain_mean = float(values.sum()) / size
    plain_variance = float(values @ values) / size - plain_mean**2
    errors = [
        _error("mean, 8 shards merged", merged.mean, mean),
        _error("variance, 8 shards merged", merged.variance, variance),
        _error("variance, plain sums", plain_variance, variance),
    ]
    update, batches, forgetting, normalize, two_passes, by_value = speeds
    return Result(
        benchmark="normaliser",
        question=QUESTION,
        data=f"{size} synthetic normal values of variance 1 around 1e9",
        measurements=(*speeds, *errors),
        ratios=(
            Ratio(update, two_passes),
            Ratio(batches, by_value),
            Ratio(errors[1], errors[2]),
        ),
        targets=(
            *(at_least(one, 50) for one in (update, batches, forgetting, normalize)),
            at_most(errors[0], 1e-14),
            at_most(errors[1], 1e-7),
        ),
        settings={"values": size, "repeats": repeats},
    )


def _speeds(values: Floats, repeats: int) -> list[Measurement]:
    ready = RunningNormalizer()
    ready.update(values)
    forgetting = RunningNormalizer(half_life=10_000)
    few = values[:20_000]

    def in_batches() -> None:
        for start in range(0, values.size, 4096):
            ready.update(values[start : start + 4096])

    return [
        _speed("update, one array", lambda: ready.update(values), values.size, repeats),
        _speed("update, batches of 4,096", in_batches, values.size, repeats),
        _speed("update, forgetting", lambda: forgetting.update(values), values.size, repeats),
        _speed("normalize", lambda: ready.normalize(values), values.size, repeats),
        _speed("numpy mean and var", lambda: (values.mean(), values.var()), values.size, repeats),
        _speed("Welford value by value", lambda: _textbook_welford(few), few.size, repeats),
    ]


def _speed(name: str, work: Callable[[], object], size: int, repeats: int) -> Measurement:
    work()
    seconds = Runs(tuple(cpu_seconds(work) for _ in range(repeats)))
    return Measurement(name, SPEED, seconds.per(size / 1e6))


def _textbook_welford(values: Floats) -> float:
    mean = squares = 0.0
    for count, value in enumerate(values.tolist(), 1):
        off = value - mean
        mean += off / count
        squares += off * (value - mean)
    return squares / (len(values) - 1)


def _merged_from_8_shards(values: Floats, random: np.random.Generator) -> Moments:
    """Batches of 1 to 20,000 values, each shard on its own, merged in a random order."""
    shards = []
    for shard in np.array_split(values, 8):
        moments, start = EMPTY, 0
        while start < shard.size:
            end = start + int(random.integers(1, 20_001))
            moments, start = moments.updated(shard[start:end]), end
        shards.append(moments)
    merged = EMPTY
    for place in random.permutation(8):
        merged = merged.merged(shards[place])
    return merged


def _exact(values: Floats) -> tuple[Fraction, Fraction]:
    """Mean and variance of these very floats, without any rounding."""
    steps = ((values - OFFSET) * STEPS).astype(np.int64)
    assert ((steps / STEPS + OFFSET) == values).all()
    # Squares of 27-bit numbers summed in two halves, so that no sum leaves 64 bits.
    high, low = steps >> 14, steps & 0x3FFF
    squares = (
        (int((high * high).sum()) << 28) + (int((high * low).sum()) << 15) + int((low * low).sum())
    )
    total, size = int(steps.sum()), len(values)
    mean = Fraction(int(OFFSET)) + Fraction(total, size * STEPS)
    return mean, (Fraction(squares) - Fraction(total * total, size)) / (size - 1) / STEPS**2


def _error(name: str, found: float, exact: Fraction) -> Measurement:
    error = float(abs(Fraction(found) - exact) / exact)
    return Measurement(name, ERROR, Runs((max(error, 1e-18),)))
