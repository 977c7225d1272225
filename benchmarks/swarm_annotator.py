"""How fast is the swarm in numpy, as annotators run it, and what do threads gain there?

The byte network that ships is the primary; three small byte networks with random weights are its specialists, and a random
router wakes each for about half of the columns. Speed is from cells to scores, in CPU seconds. Then one batch is read with all three
specialists activated, one after the other and in threads; once with small specialists and once with ones of the primary's layout:

    longest chain over sum      router + longest specialist + primary, over router + all specialists + primary, each step
                                measured without company: the critical path over sequential time
    threads over one by one     wall time that passed, with a thread per core and with one: what is reached here

The primary waits for the specialists and no thread can share its work: the smaller they are, the less there is to gain. numpy releases Python's lock inside products and large element-wise loops, and holds it between them, so small arrays gain
little from threads. Wall time needs a machine that has nothing else to do.
"""

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files

import numpy as np

from aegir.readers.bytes.annotator import MODEL_FILE, ByteModelAnnotator
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import pad
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint, expected_shapes, load_checkpoint
from aegir.readers.bytes.network import ByteModel
from aegir.readers.bytes.scoring import encode_tables
from aegir.readers.swarm.annotator import SwarmAnnotator
from aegir.readers.swarm.network import SwarmModel
from aegir.readers.swarm.specialists import ByteSpecialist
from aegir.readers.swarm.times import SwarmTimes
from aegir.readers.swarm.weights_file import SwarmSettings, SwarmWeights, expected_swarm_shapes
from aegir.tables.table import Table
from aegir_rl.base.arrays import F32
from aegir_rl.base.safetensors_file import Arrays
from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Target, at_least, at_most
from benchmarks.synthetic_tables import labelled_tables

SPEED, FACTOR = "columns per CPU second", "times"
SPECIALISTS, BATCH = 3, 64
SMALL = Architecture(layout=["w1", ["w1"], "w0"], widths=(32, 64), rank=8, column_width=96)
"""The layout of a specialist."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a swarm is made of."""

    primary: ByteModel
    specialists: tuple[ByteSpecialist, ...]
    weights: SwarmWeights

    def swarm(self, threshold: float = 0.5, workers: int | None = None) -> SwarmModel:
        """The swarm; a threshold of 0 wakes everyone."""
        settings = replace(self.weights.settings, threshold=threshold)
        weights = SwarmWeights(settings, self.weights.tensors)
        return SwarmModel(self.primary, self.specialists, weights, workers)

    def all_awake(self, workers: int) -> SwarmModel:
        """The swarm that wakes everyone."""
        return self.swarm(0.0, workers)


def measure(options: Options) -> tuple[tuple[Measurement, ...], tuple[Target, ...]]:
    """The figures of the swarm in numpy, and their targets."""
    tables, repeats = (6, 1) if options.quick else (60, options.repeats)
    seeds = Seeds(options.seed)
    warm_up, *measured = (
        [one.table for one in labelled_tables(tables, random.Random(seeds.derive("swarm", number)))]
        for number in range(repeats + 1)
    )
    parts = _random_parts(seeds.generator("swarm weights"), SMALL)
    alone, routed, everyone = (
        _speed(f"numpy: {name}", score, warm_up, measured)
        for name, score in (
            ("the primary alone", ByteModelAnnotator(parts.primary).score),
            ("half of the columns routed", SwarmAnnotator(parts.swarm()).score),
            ("every specialist on every column", SwarmAnnotator(parts.swarm(0.0)).score),
        )
    )
    as_large = replace(parts.primary.architecture, gram_rows=0)
    large = _random_parts(seeds.generator("large specialists"), as_large)
    shares = [
        *_shares_of_time("small specialists", parts.all_awake, measured[0], repeats),
        *_shares_of_time(
            "specialists of the primary's layout", large.all_awake, measured[0], repeats
        ),
    ]
    targets = (at_least(routed, 150), *(at_most(share, 0.65) for share in shares))
    return (alone, routed, everyone, *shares), targets


def _random_parts(generator: np.random.Generator, layout: Architecture) -> Parts:
    with as_file(files("aegir.readers") / "weights" / MODEL_FILE) as shipped:
        checkpoint = load_checkpoint(shipped)
    specialists = tuple(
        ByteSpecialist(ByteModel(_random_network(generator, layout))) for _ in range(SPECIALISTS)
    )
    settings = SwarmSettings("", {f"s{number}": "" for number in range(SPECIALISTS)})
    shapes = expected_swarm_shapes(settings, checkpoint.architecture, specialists)
    tensors = {name: _random(shape, generator) for name, shape in shapes.items()}
    return Parts(ByteModel(checkpoint), specialists, SwarmWeights(settings, tensors))


def _random_network(generator: np.random.Generator, layout: Architecture) -> Checkpoint:
    tensors: Arrays = {
        name: _random(shape, generator) for name, shape in expected_shapes(layout).items()
    }
    return Checkpoint(layout, tensors | {GRAM_HASHES: np.zeros(0, np.int32)}, {})


def _random(shape: tuple[int, ...], generator: np.random.Generator) -> F32:
    return generator.standard_normal(shape, np.float32) / np.float32(np.sqrt(shape[-1]))


def _speed(
    name: str,
    score: Callable[[Sequence[Table]], object],
    warm_up: Sequence[Table],
    measured: Sequence[Sequence[Table]],
) -> Measurement:
    score(warm_up)
    speeds = (
        sum(len(table.columns) for table in tables)
        / cpu_seconds(lambda tables=tables: score(tables))
        for tables in measured
    )
    return Measurement(name, SPEED, Runs(tuple(speeds)))


def _shares_of_time(
    whose: str, make: Callable[[int], SwarmModel], tables: Sequence[Table], repeats: int
) -> list[Measurement]:
    """The longest chain, and threads, over one after the other; `make` gives a swarm with so many workers."""
    one, threads = make(1), make(os.cpu_count() or 1)
    symbols, _ = pad(encode_tables(tables, one.primary)[:BATCH])
    everyone = np.ones((len(symbols), len(one.names)), bool)
    one.read(symbols, everyone)
    chain, whole = [], []
    for _ in range(repeats):
        times, elapsed = _timed(lambda: one.read(symbols, everyone).times)
        summed = times.router + times.primary + float(times.specialists.sum())
        chain.append(times.critical_path / summed)
        whole.append(_timed(lambda: threads.read(symbols, everyone).times)[1] / elapsed)
    return [
        Measurement(f"numpy: {name}, {whose}", FACTOR, Runs(tuple(runs)))
        for name, runs in (("longest chain over sum", chain), ("threads over one by one", whole))
    ]


def _timed(work: Callable[[], SwarmTimes]) -> tuple[SwarmTimes, float]:
    start = time.perf_counter()
    times = work()
    return times, time.perf_counter() - start
