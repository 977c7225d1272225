"""The `swarm` annotator: a byte network with frozen specialists, which read the columns that a router sends to them.

    columns --in batches--> router --by table--> which specialists are allowed (spawn_estimate.py), which are activated for a column
            --in batches--> specialists, fusion, primary --> vectors --> table stage and heads --> P

Batches hold columns of all tables that are scored together: a specialist reads its columns of many tables at once. Table
stage, heads and calibration are those of the primary (byte_model.py). Specialists are byte networks, or n-gram networks
(ngrams/specialist.py): those of the swarm's folder, or those that ship if it has no file of them.

Promises
  - a table's scores, how many specialists it was allowed and who was activated for its columns depend on that table alone, bit
    for bit, however many threads run; the order of its columns changes neither number nor names of those allowed;
  - numbers of a specialist that are not finite are left out, and a note says so;
  - times are measured only if requested (`timed`): then every table is read by itself, so that its times are its own.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from aegir.answers.routing import RouterScore, Spawned, Timing
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.byte_encoding import Symbols, pad
from aegir.readers.bytes.ragged import Flags
from aegir.readers.bytes.scoring import batches_by_length, encode_tables
from aegir.readers.calibration import OperatingPoints
from aegir.readers.scores import TableScores, table_spans
from aegir.readers.swarm.network import RoutedColumns, SwarmModel, SwarmReading
from aegir.readers.swarm.spawn_estimate import (
    ALL,
    SPAWNING_FILE,
    SpawnChoice,
    SpawnEstimate,
    allowed_specialists,
)
from aegir.readers.swarm.times import Lap, LapClock, SwarmTimes
from aegir.tables.table import Table
from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount

SHIPPED = Path(__file__).parents[1] / "weights" / "swarm"
AUTO, EVERYONE = "auto", "all"
"""How many specialists may be activated: as the estimate of the swarm says, or as the router does."""


class SwarmAnnotator:
    """Scores tables with a `SwarmModel`."""

    name = "swarm"

    def __init__(
        self,
        swarm: SwarmModel,
        *,
        spawning: SpawnEstimate | None = None,
        most_specialists: int | None = None,
        measures_time: bool = False,
    ) -> None:
        """Let tables activate as many specialists as `spawning` estimates, at most `most_specialists`; None is no limit."""
        if most_specialists is not None and most_specialists < 0:
            raise UsageError(
                f"most_specialists is {most_specialists}; expected 0 (the primary alone) or more"
            )
        self.swarm = swarm
        self.spawning = None if spawning is None else spawning.check(swarm)
        self.most_specialists = most_specialists
        self.operating_points = OperatingPoints.from_facts(swarm.primary.facts, self.name)
        self.heads = ByteModelAnnotator(swarm.primary)
        self.calibration, self.facts = self.heads.calibration, swarm.primary.facts
        self._measures_time = measures_time

    def timed(self) -> "SwarmAnnotator":
        """Return the same annotator, which also measures how long each table takes."""
        timed = copy(self)
        timed._measures_time = True
        return timed

    def spawning_at(self, spawn: str | int) -> "SwarmAnnotator":
        """Return the same annotator that lets tables activate so many: a number, "all", or "auto", as its estimate says."""
        if not isinstance(spawn, int) and spawn not in (AUTO, EVERYONE):
            raise UsageError(
                f"spawn is {spawn!r}; expected {AUTO!r}, {EVERYONE!r} or a number of specialists"
            )
        if spawn == AUTO and self.spawning is None:
            raise UsageError(
                f"this swarm has no {SPAWNING_FILE}; fit one with: aegir train spawning RUN --data DATA, or leave --spawn out"
            )
        return SwarmAnnotator(
            self.swarm,
            spawning=self.spawning if spawn == AUTO else None,
            most_specialists=spawn if isinstance(spawn, int) else None,
            measures_time=self._measures_time,
        )

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table, and who was activated for it."""
        if not self._measures_time:
            return self._score(tables)[0]
        timed = []
        for table in tables:
            (scores,), timing = self._score([table])
            timed.append(replace(scores, timing=timing))
        return timed

    def score_beside(
        self, tables: Sequence[Table], asked: Sequence[Sequence[bool]]
    ) -> list[TableScores]:
        """Return the same for the columns that are asked about; of the others fewer cells are read, as context."""
        return self._score(tables, asked)[0]

    def _score(
        self, tables: Sequence[Table], asked: Sequence[Sequence[bool]] | None = None
    ) -> tuple[list[TableScores], Timing]:
        symbols = encode_tables(tables, self.swarm.primary, asked)
        clock = LapClock()
        routed = self.route(symbols)
        spawned = [
            self._spawn(table, routed, span)
            for table, span in zip(tables, table_spans(tables), strict=True)
        ]
        active = self._activation(routed, tables, spawned)
        router = clock.lap()
        read = self.read(symbols, routed.scores, active)
        clock.lap()
        scores = [
            replace(
                each,
                routing=self._routing(read, span),
                spawned=allowed,
                notes=tuple(self._notes(read, span)),
            )
            for each, span, allowed in zip(
                self.heads.score_vectors(tables, symbols, read.vectors),
                table_spans(tables),
                spawned,
                strict=True,
            )
        ]
        return scores, self._timing(read.times, router, clock.lap())

    def route(self, symbols: Sequence[Symbols]) -> RoutedColumns:
        """Return what the router sees of all columns, and its scores."""
        count, swarm = len(symbols), self.swarm
        hidden = np.zeros((count, swarm.routing_width), np.float32)
        scores = np.zeros((count, len(swarm.names)), np.float32)
        for batch in batches_by_length(symbols):
            part = swarm.route(pad([symbols[i] for i in batch])[0])
            hidden[batch], scores[batch] = part.hidden, part.scores
        return RoutedColumns(hidden, scores)

    def _spawn(self, table: Table, routed: RoutedColumns, span: slice) -> Spawned | None:
        """Return which specialists a table may activate; None if that is not limited."""
        most, scores = self.most_specialists, routed.scores[span]
        choice = None if most is None else SpawnChoice(most, f"at most {most}")
        if self.spawning is not None:
            own = RoutedColumns(routed.hidden[span], scores)
            chosen = self.spawning.choose(self.spawning.complexity(table.columns, own))
            if (
                choice is not None
                and most is not None
                and (chosen.count is ALL or chosen.count > most)
            ):
                chosen = replace(chosen, count=most, reason=f"{chosen.reason}; {choice.reason}")
            choice = chosen
        if choice is None:
            return None
        allowed = allowed_specialists(scores, choice.count)
        names = tuple(name for name, on in zip(self.swarm.names, allowed, strict=True) if on)
        return Spawned(names, len(allowed), choice.reason, choice.complexity)

    def _activation(
        self, routed: RoutedColumns, tables: Sequence[Table], spawned: Sequence[Spawned | None]
    ) -> Flags:
        """Return (columns, N) who is activated: whom the router chooses among those that are allowed."""
        active = self.swarm.activate(routed.scores)
        for span, allowed in zip(table_spans(tables), spawned, strict=True):
            if allowed is not None:
                active[span] &= [name in allowed.specialists for name in self.swarm.names]
        return active

    def read(self, symbols: Sequence[Symbols], scores: F32, active: Flags) -> SwarmReading:
        """Read all columns, those of similar length together; the results are in the order of the columns."""
        whole = SwarmReading(
            vectors=np.zeros((len(symbols), self.swarm.vector_width), np.float32),
            activation_mask=active,
            scores=scores,
            dropped=np.zeros(active.shape, bool),
            times=SwarmTimes.none(active.shape[1]),
        )
        times = whole.times
        for batch in batches_by_length(symbols):
            padded, _ = pad([symbols[i] for i in batch])
            part = self.swarm.read(padded, active[batch], scores[batch])
            whole.vectors[batch], whole.dropped[batch] = part.vectors, part.dropped
            times += part.times
        return replace(whole, times=times)

    def _routing(self, read: SwarmReading, span: slice) -> tuple[tuple[RouterScore, ...], ...]:
        """Return the router's decisions about each column of a table."""
        return tuple(
            tuple(map(RouterScore, self.swarm.names, scores, active))
            for scores, active in zip(
                read.scores[span].tolist(), read.activation_mask[span].tolist(), strict=True
            )
        )

    def _notes(self, read: SwarmReading, span: slice) -> Iterator[str]:
        """Return a sentence for each specialist of which something had to be left out."""
        for name, dropped in zip(self.swarm.names, read.dropped[span].T, strict=True):
            if count := int(dropped.sum()):
                columns = amount(count, "column")
                yield f"specialist {name!r} gave numbers that are not finite on {columns}; left out"

    def _timing(self, times: SwarmTimes, router: Lap, stage: Lap) -> Timing:
        """Return the times of a table: router and spawning, the swarm's, then those of table stage and heads."""
        specialists = zip(self.swarm.names, times.specialists.tolist(), strict=True)
        return Timing(
            critical_path=router.wall + times.critical_path + stage.wall,
            cost=router.cpu + times.cost + stage.cpu,
            steps=(
                ("router", router.wall + times.router),
                *((f"specialist {name}", seconds) for name, seconds in specialists if seconds),
                ("primary", times.primary),
                ("table stage", stage.wall),
            ),
        )


def load_swarm_annotator(folder: Path | None = None) -> SwarmAnnotator:
    """Return the annotator with the swarm in `folder`, or with the one that ships."""
    if folder is None:
        return _shipped()
    if folder.is_file():
        raise UsageError(
            f"{folder} is a file; the annotator 'swarm' takes the folder of a swarm as --model FOLDER"
        )
    return _load(folder)


@cache
def _shipped() -> SwarmAnnotator:
    return _load(SHIPPED)


def _load(folder: Path) -> SwarmAnnotator:
    swarm, estimate = SwarmModel.load(folder), folder / SPAWNING_FILE
    spawning = (
        SpawnEstimate.load(estimate).check(swarm, str(estimate)) if estimate.exists() else None
    )
    try:
        return SwarmAnnotator(swarm, spawning=spawning)
    except UsageError as error:
        raise UsageError(
            f"the primary of {folder} cannot annotate ({error}); save the swarm with the facts of a calibrated network"
        ) from None
