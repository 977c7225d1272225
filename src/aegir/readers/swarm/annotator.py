"""The `swarm` annotator: a byte network with frozen specialists, which read the columns that a router sends to them.

    columns --in batches--> router --> which specialists are activated for a column
            --in batches--> specialists, fusion, primary --> vectors --> table stage and heads --> P

Batches hold columns of all tables that are scored together: a specialist reads its columns of many tables at once. Table
stage, heads and calibration are those of the primary (bytes/annotator.py). Specialists are byte networks, or n-gram networks
(ngrams/specialist.py): those of the swarm's folder, or those that ship if it has no file of them.

Promises
  - a table's scores, and who was activated for its columns, depend on that table alone, bit for bit, however many threads run;
  - numbers of a specialist that are not finite are left out, and a note says so;
  - times are measured only if requested (`timed`): then every table is read by itself, so that its times are its own.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from aegir.answers.routing import RouterScore, Timing
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.byte_encoding import Symbols, pad
from aegir.readers.bytes.ragged import Flags
from aegir.readers.bytes.scoring import batches_by_length, encode_tables
from aegir.readers.calibration import OperatingPoints
from aegir.readers.scores import TableScores, table_spans
from aegir.readers.swarm.network import SwarmModel, SwarmReading
from aegir.readers.swarm.times import Lap, LapClock, SwarmTimes
from aegir.tables.table import Table
from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount


class SwarmAnnotator:
    """Scores tables with a `SwarmModel`."""

    name = "swarm"

    def __init__(self, swarm: SwarmModel) -> None:
        self.swarm = swarm
        self.operating_points = OperatingPoints.from_facts(swarm.primary.facts, self.name)
        self.heads = ByteModelAnnotator(swarm.primary)
        self.calibration, self.facts = self.heads.calibration, swarm.primary.facts
        self._measures_time = False

    def timed(self) -> "SwarmAnnotator":
        """Return the same annotator, which also measures how long each table takes."""
        timed = copy(self)
        timed._measures_time = True
        return timed

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table, and who was activated for it."""
        if not self._measures_time:
            return self._score(tables)[0]
        timed = []
        for table in tables:
            (scores,), timing = self._score([table])
            timed.append(replace(scores, timing=timing))
        return timed

    def _score(self, tables: Sequence[Table]) -> tuple[list[TableScores], Timing]:
        symbols = encode_tables(tables, self.swarm.primary)
        clock = LapClock()
        router_scores = self.route(symbols)
        active = self.swarm.activate(router_scores)
        router = clock.lap()
        read = self.read(symbols, router_scores, active)
        clock.lap()
        scores = [
            replace(
                each,
                routing=self._routing(read, span),
                notes=tuple(self._notes(read, span)),
            )
            for each, span in zip(
                self.heads.score_vectors(tables, symbols, read.vectors),
                table_spans(tables),
                strict=True,
            )
        ]
        return scores, self._timing(read.times, router, clock.lap())

    def route(self, symbols: Sequence[Symbols]) -> F32:
        """Return the router's scores (columns, N)."""
        scores = np.zeros((len(symbols), len(self.swarm.names)), np.float32)
        for batch in batches_by_length(symbols):
            scores[batch] = self.swarm.score(pad([symbols[i] for i in batch])[0])
        return scores

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
        """Return the times of a table: the router's, the swarm's, then those of table stage and heads."""
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


def load_swarm_annotator(folder: Path | None) -> SwarmAnnotator:
    """Return the annotator with the swarm in `folder`; raise `UsageError` without one, because no swarm ships."""
    if folder is None:
        raise UsageError(
            "the annotator 'swarm' has no weights of its own; give the folder of a swarm as --model FOLDER, made with: "
            "aegir train parl CONFIG, then aegir train export RUN"
        )
    if folder.is_file():
        raise UsageError(
            f"{folder} is a file; the annotator 'swarm' takes the folder of a swarm as --model FOLDER"
        )
    swarm = SwarmModel.load(folder)
    try:
        return SwarmAnnotator(swarm)
    except UsageError as error:
        raise UsageError(
            f"the primary of {folder} cannot annotate ({error}); save the swarm with the facts of a calibrated network"
        ) from None
