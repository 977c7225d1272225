"""What the swarm of a run answers to its held-out tables with 0, 1, 2, … of its specialists: all outcomes are known.

    outcomes = collect_outcomes(Path("runs/parl-0"), [Path("data")])

The tables are those that the run kept out (lab/figures/swarm_tables.py); answers are those of the annotator `swarm` without
calibration. With n specialists, a table may wake the n with the highest total router score.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aegir.lab.figures.swarm_tables import load_swarm_tables
from aegir.readers.bytes.byte_encoding import Symbols, pad
from aegir.readers.bytes.scoring import batches_by_length, encode_tables
from aegir.readers.scores import TableScores
from aegir.readers.swarm.annotator import SwarmAnnotator
from aegir.readers.swarm.network import SwarmModel
from aegir.readers.swarm.spawning import ALL, Count, column_features
from aegir_rl.base.arrays import I64, Bools, Floats

TIMED_COLUMNS = 256
"""Columns on which the cost of every model is measured."""
Track = Callable[[Sequence[int], str], Iterable[int]]


def no_progress(counts: Sequence[int], label: str) -> Iterable[int]:
    """Return the counts, without showing progress."""
    del label
    return counts


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """C columns of T tables, answered with 0 to N specialists."""

    swarm: SwarmModel
    tables: tuple[str, ...]
    """(T,) names."""
    web: Bools
    """(T,)"""
    group: I64
    """(T,) what must stay on one side of a split, from 0 on."""
    table: I64
    """(C,) the table of each column."""
    features: Floats
    """(C, F)"""
    chances: Floats
    """(N + 1, heads, C) probability of what is right, nan without a label."""
    right: Floats
    """(N + 1, heads, C) whether the likeliest answer is right, nan without a label."""
    activation: Bools
    """(N + 1, C, N)"""
    symbols: I64
    """(C,) length of each column."""
    primary_seconds: float
    specialist_seconds: Floats
    """(N,) CPU seconds per symbol."""
    sha256: str
    """Of the names and labels of all columns."""

    def at(self, count: Count) -> int:
        """Return the place of a count among the outcomes."""
        most = len(self.swarm.names)
        return most if count is ALL else min(count, most)


def collect_outcomes(run: Path, data: Sequence[Path], track: Track = no_progress) -> Outcomes:
    """Answer the tables that a run held out with every number of its specialists."""
    held_out = load_swarm_tables(run, data)
    swarm, tables = held_out.swarm, held_out.tables
    symbols = encode_tables(tables, swarm.primary)
    routed = SwarmAnnotator(swarm).route(symbols)
    columns = [column for table in tables for column in table.columns]
    chances, right, activation = [], [], []
    for count in track(range(len(swarm.names) + 1), "numbers of specialists"):
        scores = SwarmAnnotator(swarm, most_specialists=count).score(tables)
        is_right, chance = held_out.judge(scores)
        chances.append(chance)
        right.append(is_right)
        activation.append(_woken(scores, len(swarm.names)))
    primary, specialists = _measure_costs(swarm, symbols)
    return Outcomes(
        swarm=swarm,
        tables=tuple(table.name for table in tables),
        web=held_out.web,
        group=held_out.group,
        table=held_out.table,
        features=column_features(columns, routed),
        chances=np.array(chances),
        right=np.array(right),
        activation=np.array(activation),
        symbols=np.array([len(each) for each in symbols]),
        primary_seconds=primary,
        specialist_seconds=specialists,
        sha256=held_out.sha256,
    )


def _woken(scores: Sequence[TableScores], specialists: int) -> Bools:
    """Return (C, N) who read which column."""
    rows = [[each.woken for each in column] for one in scores for column in one.routing or ()]
    return np.array(rows, bool).reshape(-1, specialists)


def _measure_costs(swarm: SwarmModel, symbols: Sequence[Symbols]) -> tuple[float, Floats]:
    """Return the CPU seconds per symbol of the primary and of every specialist, on the first columns."""
    some = symbols[:TIMED_COLUMNS]
    batches = [pad([some[i] for i in batch])[0] for batch in batches_by_length(some)]
    read = sum(map(len, some))

    def seconds(work: Callable[[Symbols], object]) -> float:
        work(batches[0])
        start = time.thread_time()
        for batch in batches:
            work(batch)
        return (time.thread_time() - start) / max(read, 1)

    primary = swarm.primary
    alone = seconds(lambda batch: primary.vectors(primary.read(batch)))
    return alone, np.array([seconds(each.contribute) for each in swarm.specialists])
