"""The `swarm` annotator: a byte network with frozen specialists, which read the columns that a router sends to them.

    columns --in batches--> SwarmModel: router, specialists, fusion, primary --> vectors --> table stage and heads --> P

Table stage, heads and calibration are those of the primary (byte_model.py). Specialists are byte networks, or n-gram
networks (ngrams/specialist.py): those of the swarm's folder, or those that ship if it has no file of them.

Promises
  - a table's scores, and who was woken for its columns, depend on that table alone, bit for bit;
  - numbers of a specialist that are not finite are left out, and a note says so;
  - times are measured only when asked for (`timed`): then every table is read by itself, so that its times are its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from aegir.annotators.byte_model import ByteModelAnnotator, batches_by_length, encode_tables
from aegir.annotators.calibration import OperatingPoints
from aegir.annotators.ngrams.specialist import NGRAMS, NgramSpecialist
from aegir.annotators.scores import TableScores, table_spans
from aegir.answers.routing import RouterScore, Timing
from aegir.errors import UsageError
from aegir.model.byte_encoding import Symbols, pad
from aegir.model.specialists import FamilyModel
from aegir.model.swarm import SwarmModel, SwarmReading
from aegir.model.swarm_times import Clock, Lap, SwarmTimes
from aegir.tables.amounts import amount
from aegir.tables.table import Table

SHIPPED = Path(__file__).parent / "weights" / "swarm"


class SwarmAnnotator:
    """Scores tables with a `SwarmModel`."""

    name = "swarm"

    def __init__(self, swarm: SwarmModel, *, measures_time: bool = False) -> None:
        self.swarm = swarm
        self.operating_points = OperatingPoints.from_facts(swarm.primary.facts, self.name)
        self._heads = ByteModelAnnotator(swarm.primary)
        self.calibration, self.facts = self._heads.calibration, swarm.primary.facts
        self._measures_time = measures_time

    def timed(self) -> "SwarmAnnotator":
        """Return the same annotator, which also measures how long each table takes."""
        return SwarmAnnotator(self.swarm, measures_time=True)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table, and who was woken for it."""
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
        read = self._read(symbols)
        clock = Clock()
        scores = [
            replace(each, routing=self._routing(read, span), notes=tuple(self._notes(read, span)))
            for each, span in zip(
                self._heads.score_vectors(tables, symbols, read.vectors),
                table_spans(tables),
                strict=True,
            )
        ]
        return scores, self._timing(read.times, clock.lap())

    def _read(self, symbols: Sequence[Symbols]) -> SwarmReading:
        """Read all columns, those of similar length together; the results are in the order of the columns."""
        shape = (len(symbols), len(self.swarm.names))
        whole = SwarmReading(
            vectors=np.zeros((len(symbols), self.swarm.vector_width), np.float32),
            activation_mask=np.zeros(shape, bool),
            scores=np.zeros(shape, np.float32),
            dropped=np.zeros(shape, bool),
            times=SwarmTimes.none(shape[1]),
        )
        times = whole.times
        for batch in batches_by_length(symbols):
            padded, _ = pad([symbols[i] for i in batch])
            part = self.swarm.read(padded)
            for name in ("vectors", "activation_mask", "scores", "dropped"):
                getattr(whole, name)[batch] = getattr(part, name)
            times += part.times
        return replace(whole, times=times)

    def _routing(self, read: SwarmReading, span: slice) -> tuple[tuple[RouterScore, ...], ...]:
        """Return the router's decisions about each column of a table."""
        return tuple(
            tuple(map(RouterScore, self.swarm.names, scores, woken))
            for scores, woken in zip(
                read.scores[span].tolist(), read.activation_mask[span].tolist(), strict=True
            )
        )

    def _notes(self, read: SwarmReading, span: slice) -> Iterator[str]:
        """Return a sentence for each specialist of which something had to be left out."""
        for name, dropped in zip(self.swarm.names, read.dropped[span].T, strict=True):
            if count := int(dropped.sum()):
                columns = amount(count, "column")
                yield f"specialist {name!r} gave numbers that are not finite on {columns}; left out"

    def _timing(self, times: SwarmTimes, stage: Lap) -> Timing:
        """Return the times of a table: the swarm's, then those of table stage and heads."""
        specialists = zip(self.swarm.names, times.specialists.tolist(), strict=True)
        return Timing(
            critical_path=times.critical_path + stage.wall,
            cost=times.cost + stage.cpu,
            steps=(
                ("router", times.router),
                *((f"specialist {name}", seconds) for name, seconds in specialists if seconds),
                ("primary", times.primary),
                ("table stage", stage.wall),
            ),
        )


def find_specialist(family: str, path: Path) -> FamilyModel:
    """Return the specialist of a family in a file, or the one that ships if there is no file."""
    if family != NGRAMS:
        raise UsageError(
            f"{path.stem!r} is a specialist of the unknown family {family!r}; expected {NGRAMS}"
        )
    return NgramSpecialist.load(path if path.exists() else None)


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
    swarm = SwarmModel.load(folder, find=find_specialist)
    try:
        return SwarmAnnotator(swarm)
    except UsageError as error:
        raise UsageError(
            f"the primary of {folder} cannot annotate ({error}); save the swarm with the facts of a calibrated network"
        ) from None
