"""What do a forward pass and a training step of the RWKV-7 recurrence cost, beside a GRU of equal width?

One thread, float32. The recurrence itself: the loop written to be read, the chunked form and the compiled one, with
`torch.nn.GRU` beside them. Then, at the shapes of our own network too, all that stands between time mixing's
projections: fused into one compiled pass, or in plain torch around the compiled recurrence.
Compilation happens once per machine and head size; it is left out of the figures and reported apart.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from aegir.errors import UsageError
from aegir.seeding import Seeds
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least

for needed in ("torch", "numba"):
    if find_spec(needed) is None:
        raise UsageError(f"{needed} is not installed; pip install 'aegir[train]'")

import numba  # noqa: E402
import torch  # noqa: E402

from aegir.nets.time_mix_core import time_mix_core, time_mix_core_reference  # noqa: E402
from aegir.nets.wkv7 import wkv7  # noqa: E402

QUESTION = "CPU milliseconds of the recurrence of one RWKV-7 layer, one thread"
COST, FACTOR = "CPU ms", "times"


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
QUICK = Shape(2, 32, 1, 16)
"""The shape that is compared with everything, those of our byte network's stages, and a tiny one."""


def run(options: Options) -> Result:
    large, own = (QUICK, ()) if options.quick else (LARGE, OWN)
    repeats = 1 if options.quick else options.repeats
    seed = Seeds(options.seed).derive("wkv7")
    with _one_thread():
        compilation = _compilation(large, seed)
        costs = _recurrence_costs(large, seed, repeats)
        fused = [one for shape in (large, *own) for one in _time_mix_costs(shape, seed, repeats)]
    training = {name: cost for (name, kind), cost in costs.items() if kind == "training step"}
    over_loop = _factor("reference loop / compiled", training["reference"], training["numba"])
    over_gru = _factor("GRU / compiled", training["GRU"], training["numba"])
    return Result(
        benchmark="wkv7",
        question=QUESTION,
        data=f"random inputs, {large}; time mixing also at {', '.join(map(str, own)) or 'no other'}",
        measurements=(*costs.values(), *fused, over_loop, over_gru, *compilation),
        ratios=tuple(
            Ratio(composed, compiled)
            for compiled, composed in zip(fused[1::4], fused[3::4], strict=True)
        ),
        targets=(at_least(over_loop, 15), at_least(over_gru, 1)),
        settings={"repeats": repeats, "threads": 1},
    )


def _recurrence_costs(shape: Shape, seed: int, repeats: int) -> dict[tuple[str, str], Measurement]:
    """Forward pass and training step of each implementation, and of a GRU as wide as all heads."""
    inputs, given = _recurrence_inputs(shape, seed)
    costs = {}
    for name in ("reference", "chunked", "numba"):
        times = min(repeats, 3) if name == "reference" else repeats  # it takes seconds
        forward = _Forward(partial(wkv7, implementation=name), inputs)
        costs |= {(name, kind): one for kind, one in _costs(name, forward, given, times).items()}
    width = shape.heads * shape.size
    gru, sequence = torch.nn.GRU(width, width, batch_first=True), inputs[3].detach().flatten(2)
    weights = list(gru.parameters())
    forward = _Forward(lambda x, *_: gru(x), [sequence.requires_grad_(), *weights])
    of_gru = _costs("GRU", forward, given.flatten(2), repeats)
    return costs | {("GRU", kind): one for kind, one in of_gru.items()}


def _time_mix_costs(shape: Shape, seed: int, repeats: int) -> list[Measurement]:
    """Fused forward and training step, then the same composed of torch functions."""
    random = torch.Generator().manual_seed(seed)
    full, head = tuple(shape), (shape.heads, shape.size)
    inputs = [
        torch.randn(size, generator=random).requires_grad_() for size in [full] * 6 + [head] * 5
    ]
    given = torch.randn(full, generator=random)
    return [
        one
        for name, core in (("fused", time_mix_core), ("composed", time_mix_core_reference))
        for one in _costs(
            f"time mixing {name}, {shape}", _Forward(core, inputs), given, repeats
        ).values()
    ]


class _Forward(NamedTuple):
    """A function whose first result is measured, and the tensors it takes and is differentiated by."""

    function: Callable[..., Any]
    inputs: list[Any]

    def __call__(self) -> Any:
        return self.function(*self.inputs)[0]


def _costs(name: str, forward: _Forward, given: Any, repeats: int) -> dict[str, Measurement]:
    """The forward pass alone, and with the gradients of all inputs."""
    works = {
        "forward": torch.no_grad()(forward.__call__),
        "training step": lambda: torch.autograd.grad(forward(), forward.inputs, given),
    }
    costs = {}
    for kind, work in works.items():
        work()
        runs = Runs(tuple(1000 * cpu_seconds(work) for _ in range(repeats)))
        costs[kind] = Measurement(f"{name}, {kind}", COST, runs)
    return costs


def _compilation(shape: Shape, seed: int) -> list[Measurement]:
    """CPU seconds to compile both directions of the recurrence for a head size nobody has compiled yet."""
    inputs, given = _recurrence_inputs(shape._replace(rows=1, length=2), seed)
    before = numba.config.CACHE_DIR
    with tempfile.TemporaryDirectory() as folder:
        numba.config.CACHE_DIR = folder
        try:
            seconds = cpu_seconds(lambda: wkv7(*inputs, implementation="numba")[0].backward(given))
        finally:
            numba.config.CACHE_DIR = before
    return [Measurement("compilation, both directions", "CPU s", Runs((seconds,)))]


def _recurrence_inputs(shape: Shape, seed: int) -> tuple[list[Any], Any]:
    """The six inputs as RWKV-7 makes them, asking for gradients, and a gradient to send back."""
    random = torch.Generator().manual_seed(seed)
    r, decay, k, v, key, rate, given = torch.randn(7, *shape, generator=random)
    kappa = torch.nn.functional.normalize(key, dim=-1)
    inputs = [r, -0.6065 * decay.sigmoid(), k, v, -kappa, kappa * rate.sigmoid()]
    return [one.contiguous().requires_grad_() for one in inputs], given


def _factor(name: str, slow: Measurement, fast: Measurement) -> Measurement:
    return Measurement(f"{name}, training step", FACTOR, Runs((slow.value / fast.value,)))


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
