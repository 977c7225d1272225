"""What do specialists cost: one after the other or in threads, on every column or on the columns routed to them?

Four byte networks with the weights that ship read the same columns, torch with one thread each. Wall time, because threads
save no CPU time; so this needs a machine that has nothing else to do. Beside it: two processes that
read without any swarm, one after the other and at once, which is the most that this machine gains from a second core.
The swarm in numpy, as annotators run it, is measured by swarm_annotator.py.
"""

import os
import time
from collections.abc import Callable
from importlib.resources import as_file, files
from importlib.util import find_spec
from multiprocessing import get_context

from aegir.readers.bytes.annotator import MODEL_FILE
from aegir_rl.base.errors import UsageError
from benchmarks import swarm_annotator
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least, at_most

for needed in ("torch", "numba"):
    if find_spec(needed) is None:
        raise UsageError(f"{needed} is not installed; pip install 'aegir-tables[train]'")

import numpy as np  # noqa: E402
import torch  # noqa: E402

from aegir.readers.bytes.checkpoint import load_checkpoint  # noqa: E402
from aegir.swarm import ByteColumnModel, FrozenSpecialist, run_specialists  # noqa: E402
from aegir_rl.base.seeding import Seeds  # noqa: E402

QUESTION = (
    "wall milliseconds of four specialists on 64 columns of 200 bytes in torch; five-value columns per CPU "
    "second, and what parallel specialists take of the time, in numpy"
)
COST, FACTOR = "wall ms", "times"
SPECIALISTS, ROWS, LENGTH = 4, 64, 200
SHARE = 4
"""One column in so many is routed, where routing is selective."""


def run(options: Options) -> Result:
    rows, length = (4, 20) if options.quick else (ROWS, LENGTH)
    repeats = 1 if options.quick else options.repeats
    generator = np.random.default_rng(Seeds(options.seed).derive("swarm"))
    symbols = torch.tensor(generator.integers(32, 127, (rows, length)))
    mask = torch.ones_like(symbols, dtype=torch.bool)
    with as_file(files("aegir.readers") / "weights" / MODEL_FILE) as shipped:
        model = ByteColumnModel.of(load_checkpoint(shipped))
    specialists = [FrozenSpecialist(f"s{number}", model) for number in range(SPECIALISTS)]
    everything = torch.ones(rows, SPECIALISTS, dtype=torch.bool)
    some = everything & (torch.arange(rows) % SHARE == 0)[:, None]

    def read(activation: torch.Tensor, workers: int) -> Callable[[], object]:
        return lambda: run_specialists(specialists, symbols, mask, activation, workers)

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        one_by_one = _measure("one after the other", read(everything, 1), repeats)
        threads = _measure("threads, one per core", read(everything, os.cpu_count() or 1), repeats)
        routed = _measure("one column in four, one after the other", read(some, 1), repeats)
        process = _measure("a process", lambda: _processes(read(everything, 1), 1), repeats)
        two = _measure("two processes at once", lambda: _processes(read(everything, 1), 2), repeats)
    finally:
        torch.set_num_threads(before)
    gain = Measurement("gain of threads", FACTOR, Runs((one_by_one.value / threads.value,)))
    possible = Measurement("gain of two processes", FACTOR, Runs((2 * process.value / two.value,)))
    share = Measurement(
        "cost of one column in four", FACTOR, Runs((routed.value / one_by_one.value,))
    )
    in_numpy, targets = swarm_annotator.measure(options)
    return Result(
        benchmark="swarm",
        question=QUESTION,
        data=(
            f"torch: random printable bytes, {rows} columns of {length}, shipped weights in every specialist; "
            "numpy: synthetic tables of five rows, shipped primary, three small random specialists"
        ),
        measurements=(one_by_one, threads, routed, process, two, gain, possible, share, *in_numpy),
        ratios=(Ratio(threads, one_by_one), Ratio(routed, one_by_one), Ratio(two, process)),
        targets=(at_least(gain, 1.5), at_most(share, 0.4), *targets),
        settings={"repeats": repeats, "cores": os.cpu_count() or 1, "specialists": SPECIALISTS},
    )


def _measure(name: str, work: Callable[[], object], repeats: int) -> Measurement:
    work()
    return Measurement(name, COST, Runs(tuple(_wall_ms(work) for _ in range(repeats))))


def _wall_ms(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def _processes(work: Callable[[], object], count: int) -> None:
    """Do the same work in this many forked processes."""
    children = [get_context("fork").Process(target=work) for _ in range(count)]
    for child in children:
        child.start()
    for child in children:
        child.join()
