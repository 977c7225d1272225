"""Swarms with some of the specialists answer the same held-out columns, and what each costs is measured.

    order = rank_specialists(routed.scores)                                by mean router score
    measured = measure_subsets(tables, symbols, routed, subsets)           answers and CPU seconds of every subset
    measured.outcomes[Subset(ROUTER, (0, 2))].right                        (heads, C)

A specialist's output does not depend on who else is asked, so it reads every batch once for the columns that the router sends
to it and once for all columns, both timed; for a subset only fusion, primary, table stage and heads run again. A specialist
that is not in a subset is absent: answers are those of a swarm without it, bit for bit.

Seconds are CPU seconds from symbols to probabilities, one specialist after the other. The critical path is router, longest specialist,
primary and table stage, in CPU seconds too, because a busy machine would stretch those that pass.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegir.lab.figures.swarm_tables import HEADS, SwarmTables
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.byte_encoding import Symbols, pad
from aegir.readers.bytes.scoring import batches_by_length
from aegir.readers.scores import table_spans
from aegir.readers.swarm.network import AskedSpecialists, RoutedColumns, SwarmModel
from aegir.readers.swarm.times import Clock
from aegir_rl.base.arrays import F32, Bools, Floats

ROUTER, EVERYONE = "router", "everyone"
"""Who reads a column: whom the router's threshold chooses, or every specialist of the swarm."""
COLUMNS_AT_ONCE = 256
"""Tables are read in parts of about so many columns, those of similar length in one batch."""
Track = Callable[[Sequence[slice], str], Iterable[slice]]


@dataclass(frozen=True, slots=True)
class Subset:
    """A swarm with some of the specialists."""

    woken: str
    """ROUTER or EVERYONE."""
    members: tuple[int, ...]
    """Numbers of the specialists, ascending."""

    @classmethod
    def of(cls, woken: str, members: Collection[int]) -> "Subset":
        """Return the subset; without members it is the primary alone, however columns are routed."""
        return cls(woken if members else ROUTER, tuple(sorted(members)))


@dataclass(slots=True, eq=False)
class Outcome:
    """What one subset answered, and CPU seconds for all columns."""

    right: Floats
    """(heads, C) whether the likeliest answer is right, nan without a label."""
    chances: Floats
    """(heads, C) probability of what is right."""
    cost: float = 0.0
    critical_path: float = 0.0

    def spend(self, cost: float, path: float) -> None:
        """Add seconds of a step."""
        self.cost += cost
        self.critical_path += path


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The outcomes of all subsets."""

    outcomes: Mapping[Subset, Outcome]
    seconds: Mapping[str, Floats]
    """ROUTER and EVERYONE to (N,) CPU seconds of every specialist for the columns that it read."""


def route_columns(swarm: SwarmModel, symbols: Sequence[Symbols]) -> tuple[RoutedColumns, float]:
    """Return what the router sees and says of all columns, and its CPU seconds."""
    hidden = np.zeros((len(symbols), swarm.routing_width), np.float32)
    scores = np.zeros((len(symbols), len(swarm.names)), np.float32)
    clock = Clock()
    for batch in batches_by_length(symbols):
        part = swarm.route(pad([symbols[i] for i in batch])[0])
        hidden[batch], scores[batch] = part.hidden, part.scores
    return RoutedColumns(hidden, scores), clock.lap().cpu


def rank_specialists(scores: F32) -> list[int]:
    """Return the specialists by their mean router score (C, N), highest first, the first among equals; no label is used."""
    totals = [math.fsum(each.tolist()) for each in scores.T]
    order: list[int] = np.argsort(-np.array(totals, np.float64), kind="stable").tolist()
    return order


def measure_subsets(
    tables: SwarmTables,
    symbols: Sequence[Symbols],
    routed: RoutedColumns,
    router_seconds: float,
    subsets: Collection[Subset],
    track: Track,
) -> Measured:
    """Answer all columns with every subset."""
    shape, swarm = (len(HEADS), len(symbols)), tables.swarm
    outcomes = {each: Outcome(np.full(shape, np.nan), np.full(shape, np.nan)) for each in subsets}
    seconds = {woken: np.zeros(len(swarm.names)) for woken in (ROUTER, EVERYONE)}
    heads = ByteModelAnnotator(swarm.primary)
    spans = table_spans(tables.tables)
    for part in track(_parts(spans), "columns"):
        columns = slice(spans[part.start].start, spans[part.stop - 1].stop)
        some = symbols[columns]
        vectors = {each: np.zeros((len(some), swarm.vector_width), np.float32) for each in outcomes}
        for batch in batches_by_length(some):
            padded, _ = pad([some[i] for i in batch])
            scores = routed.scores[columns][batch]
            asked = _ask(swarm, padded, swarm.activate(scores), seconds)
            for each, outcome in outcomes.items():
                mine = asked[each.woken].only(each.members)
                read = swarm.fuse(padded, scores, mine)
                vectors[each][batch] = read.vectors
                others = [given.time.cpu for given in mine.given.values()]
                path = read.times.cost - sum(others) + max(others, default=0.0)
                outcome.spend(read.times.cost, path)
        for each, outcome in outcomes.items():
            clock = Clock()
            said = heads.score_vectors(tables.tables[part], some, vectors[each])
            stage = clock.lap().cpu
            outcome.spend(stage, stage)
            right, chances = tables.judge(said, columns)
            outcome.right[:, columns], outcome.chances[:, columns] = right, chances
    for each, outcome in outcomes.items():
        if each.members:
            outcome.spend(router_seconds, router_seconds)
    return Measured(outcomes, seconds)


def _ask(
    swarm: SwarmModel, symbols: Symbols, active: Bools, seconds: Mapping[str, Floats]
) -> dict[str, AskedSpecialists]:
    """Return what specialists give for the columns that are routed to them, and for all; add up their seconds."""
    asked = {
        ROUTER: swarm.ask(symbols, active),
        EVERYONE: swarm.ask(symbols, np.ones_like(active)),
    }
    for woken, each in asked.items():
        for number, given in each.given.items():
            seconds[woken][number] += given.time.cpu
    return asked


def _parts(spans: Sequence[slice]) -> list[slice]:
    """Return slices of tables with about COLUMNS_AT_ONCE columns, at least one table each."""
    parts, start = [], 0
    for number, span in enumerate(spans, 1):
        if span.stop - spans[start].start >= COLUMNS_AT_ONCE or number == len(spans):
            parts.append(slice(start, number))
            start = number
    return parts
