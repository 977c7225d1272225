"""What do a forward pass and a training step of RWKV-7's time mixing cost, beside a GRU of equal width?

One thread, float32. The kernel that training runs computes all that is between time mixing's projections in one compiled
pass (`compiled`). Beside it: the same in plain torch, around the recurrence as a loop over steps and in chunks;
`torch.nn.GRU`, which is a whole layer with its projections; and, to compare like with like, our whole time mixing layer.
Compilation happens once per machine and head size; it is left out of the figures and reported apart.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least

for needed in ("torch", "numba"):
    if find_spec(needed) is None:
        raise UsageError(f"{needed} is not installed; pip install 'aegir-tables[train]'")

import numba  # noqa: E402
import torch  # noqa: E402

from aegir.lab.nets.rwkv7 import TimeMix  # noqa: E402
from aegir.lab.nets.time_mix_core import time_mix_core, time_mix_core_reference  # noqa: E402
from aegir.lab.nets.wkv7 import wkv7_reference  # noqa: E402

QUESTION = "CPU milliseconds of RWKV-7 time mixing, one thread"
COST, FACTOR = "CPU ms", "times"
TRAINING = "training step"
RANK = 16


class Shape(NamedTuple):
    """Rows, steps, heads and head size."""

    rows: int
    length: int
    heads: int
    size: int

    def __str__(self) -> str:
        return f"B={self.rows} T={self.length} H={self.heads} K={self.size}"


LARGE = Shape(32, 256, 4, 64)
OWN = (Shape(64, 128, 2, 32), Shape(64, 32, 5, 32))
QUICK = Shape(2, 32, 1, 32)
"""The shape that is compared with everything, those of our byte network's stages, and a tiny one."""


def run(options: Options) -> Result:
    large, own = (QUICK, ()) if options.quick else (LARGE, OWN)
    repeats = 1 if options.quick else options.repeats
    seed = Seeds(options.seed).derive("time mix")
    with _one_thread():
        compilation = _compilation(large, seed)
        costs = _core_costs("compiled", time_mix_core, large, seed, repeats)
        costs |= _core_costs("torch, chunks", time_mix_core_reference, large, seed, repeats)
        loop = partial(time_mix_core_reference, recurrence=wkv7_reference)
        costs |= _core_costs("torch, loop", loop, large, seed, min(repeats, 3))  # it takes seconds
        costs |= _layer_costs(large, seed, repeats)
        for shape in own:
            costs |= _core_costs(f"compiled, {shape}", time_mix_core, shape, seed, repeats)
            costs |= _core_costs(
                f"torch, chunks, {shape}", time_mix_core_reference, shape, seed, repeats
            )
    training = {name: cost for (name, kind), cost in costs.items() if kind == TRAINING}
    over_loop = _factor("torch, loop / compiled", training["torch, loop"], training["compiled"])
    over_gru = _factor("GRU / compiled", training["GRU"], training["compiled"])
    layers = _factor("GRU / whole layer", training["GRU"], training["whole layer"])
    return Result(
        benchmark="time_mix",
        question=QUESTION,
        data=f"random inputs, {large} where no shape is given",
        measurements=(*costs.values(), over_loop, over_gru, layers, *compilation),
        ratios=tuple(
            Ratio(training[name.replace("compiled", "torch, chunks")], training[name])
            for name in training
            if name.startswith("compiled")
        ),
        targets=(at_least(over_loop, 15), at_least(over_gru, 1)),
        settings={"repeats": repeats, "threads": 1},
    )


Costs = dict[tuple[str, str], Measurement]


def _core_costs(
    name: str, core: Callable[..., Any], shape: Shape, seed: int, repeats: int
) -> Costs:
    """Forward pass and training step of what is between the projections."""
    inputs, given = _core_inputs(shape, seed)
    return _costs(name, lambda: core(*inputs)[0], inputs, given, repeats)


def _layer_costs(shape: Shape, seed: int, repeats: int) -> Costs:
    """Forward pass and training step of the whole time mixing layer, and of a GRU of that width."""
    torch.manual_seed(seed)
    width = shape.heads * shape.size
    x = torch.randn(shape.rows, shape.length, width, requires_grad=True)
    before, mask = torch.zeros(shape.rows, width), torch.ones(x.shape[:2], dtype=torch.bool)
    state = torch.zeros(shape.rows, shape.heads, shape.size, shape.size)
    layer = TimeMix(width, shape.size, RANK, first=True)
    gru = torch.nn.GRU(width, width, batch_first=True)
    given = torch.randn(x.shape)
    layer_inputs, gru_inputs = [x, *layer.parameters()], [x, *gru.parameters()]
    costs = _costs(
        "whole layer",
        lambda: layer(x, before, state, mask, None)[0],
        layer_inputs,
        given,
        repeats,
    )
    return costs | _costs("GRU", lambda: gru(x)[0], gru_inputs, given, repeats)


def _costs(
    name: str, forward: Callable[[], Any], inputs: list[Any], given: Any, repeats: int
) -> Costs:
    """The forward pass alone, and with the gradients of all inputs."""
    works = {
        "forward": torch.no_grad()(forward),
        TRAINING: lambda: torch.autograd.grad(forward(), inputs, given),
    }
    costs = {}
    for kind, work in works.items():
        work()
        runs = Runs(tuple(1000 * cpu_seconds(work) for _ in range(repeats)))
        costs[name, kind] = Measurement(f"{name}, {kind}", COST, runs)
    return costs


def _compilation(shape: Shape, seed: int) -> list[Measurement]:
    """CPU seconds to compile both directions of the kernel for a head size with no cached code."""
    inputs, given = _core_inputs(shape._replace(rows=1, length=2), seed)
    before = numba.config.CACHE_DIR
    with tempfile.TemporaryDirectory() as folder:
        numba.config.CACHE_DIR = folder
        try:
            seconds = cpu_seconds(lambda: time_mix_core(*inputs)[0].backward(given))
        finally:
            numba.config.CACHE_DIR = before
    return [Measurement("compilation, both directions", "CPU s", Runs((seconds,)))]


def _core_inputs(shape: Shape, seed: int) -> tuple[list[Any], Any]:
    """The twelve inputs, asking for gradients, and a gradient to send back."""
    random = torch.Generator().manual_seed(seed)
    rows, _, heads, size = shape
    sizes = [shape] * 6 + [(heads, size)] * 5 + [(rows, heads, size, size)]
    inputs = [torch.randn(*size, generator=random).requires_grad_() for size in sizes]
    return inputs, torch.randn(*shape, generator=random)


def _factor(name: str, slow: Measurement, fast: Measurement) -> Measurement:
    return Measurement(f"{name}, {TRAINING}", FACTOR, Runs((slow.value / fast.value,)))


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
