"""The `swarm` annotator: a byte network with frozen specialists, which read the columns that a router sends to them.

    columns --in batches--> SwarmModel: router, specialists, fusion, primary --> vectors --> table stage and heads --> P
                                             ^ vectors of other families, such as the n-gram networks

Table stage, heads and calibration are those of the primary (byte_model.py). FAMILIES are the models that can be
specialists without being byte networks; they read whole tables, those with a routed column and no others.

Promises
  - a table's scores, and who was woken for its columns, depend on that table alone, bit for bit;
  - numbers of a specialist that are not finite are left out, and a note says so;
  - times are measured only when asked for (`timed`): then every table is read by itself, so that its times are its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from aegir.annotators.byte_model import ByteModelAnnotator, batches_by_length, encode_tables
from aegir.annotators.calibration import OperatingPoints
from aegir.annotators.scores import TableScores, table_spans
from aegir.answers.routing import RouterScore, Timing
from aegir.arrays import F32, I64
from aegir.errors import UsageError
from aegir.model.byte_encoding import Symbols, pad
from aegir.model.specialists import VectorSpecialist, VectorSupplier
from aegir.model.swarm import SwarmModel, SwarmReading
from aegir.model.swarm_file import tensors_sha256
from aegir.model.swarm_times import Clock, Lap, SwarmTimes
from aegir.tables.amounts import amount
from aegir.tables.table import Table

SHIPPED = Path(__file__).parent / "weights" / "swarm"
HOW_TO_GET = (
    "no swarm ships with this version of Aegir; name the folder of one with --model FOLDER "
    "(save_swarm_folder of aegir.swarm writes it: docs/swarm.md)"
)


@dataclass(frozen=True, slots=True)
class Family:
    """A model that is no byte network and can be a specialist."""

    specialist: VectorSpecialist
    read: Callable[[Sequence[Table]], list[F32]]
    """Tables to the vectors (columns, D) of each; a table's do not depend on the others."""


class SwarmAnnotator:
    """Scores tables with a `SwarmModel`."""

    name = "swarm"

    def __init__(
        self,
        swarm: SwarmModel,
        families: Mapping[str, Family] | None = None,
        *,
        measures_time: bool = False,
    ) -> None:
        """Annotate with this swarm; `families` has the family of each specialist that is no byte network, by its name."""
        self.swarm = swarm
        self.operating_points = OperatingPoints.from_facts(swarm.primary.facts, self.name)
        self._heads = ByteModelAnnotator(swarm.primary)
        self._families = families or {}
        self._measures_time = measures_time

    def timed(self) -> "SwarmAnnotator":
        """Return the same annotator, which also measures how long each table takes."""
        return SwarmAnnotator(self.swarm, self._families, measures_time=True)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table, and who was woken for it."""
        if not self._measures_time:
            return self._score(tables)[0]
        timed = []
        for table in tables:
            (scores,), timing = self._score([table])
            timed.append(replace(scores, timing=timing))
        return timed

    def _score(self, tables: Sequence[Table]) -> tuple[list[TableScores], Timing]:
        symbols = encode_tables(tables, self.swarm.primary)
        read = self._read(tables, symbols)
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

    def _read(self, tables: Sequence[Table], symbols: Sequence[Symbols]) -> SwarmReading:
        """Read all columns, those of similar length together; the results are in the order of the columns."""
        shape = (len(symbols), len(self.swarm.names))
        width = self.swarm.primary.architecture.column_width
        whole = SwarmReading(
            vectors=np.zeros((len(symbols), width), np.float32),
            activation_mask=np.zeros(shape, bool),
            scores=np.zeros(shape, np.float32),
            dropped=np.zeros(shape, bool),
            times=SwarmTimes.none(shape[1]),
        )
        times = whole.times
        vectors = {name: TableVectors(tables, each) for name, each in self._families.items()}
        for batch in batches_by_length(symbols):
            padded, _ = pad([symbols[i] for i in batch])
            part = self.swarm.read(padded, suppliers=_suppliers(vectors, np.array(batch)))
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


class TableVectors:
    """What a family makes of the columns of some tables: read when they are first asked for, whole tables at a time."""

    def __init__(self, tables: Sequence[Table], family: Family) -> None:
        self._tables, self._family, self._spans = tables, family, table_spans(tables)
        self._table_of = np.repeat(np.arange(len(tables)), [len(table.columns) for table in tables])
        width = family.specialist.width
        self._vectors = np.zeros((len(self._table_of), width), np.float32)
        self._known = np.zeros(len(tables), bool)

    def __call__(self, columns: I64) -> F32:
        """Return the vectors (R, D) of these columns (R,)."""
        asked = np.unique(self._table_of[columns])
        new = asked[~self._known[asked]].tolist()
        if new:
            for place, vectors in zip(
                new, self._family.read([self._tables[i] for i in new]), strict=True
            ):
                self._vectors[self._spans[place]] = vectors
            self._known[new] = True
        return self._vectors[columns]


def _suppliers(vectors: Mapping[str, TableVectors], batch: I64) -> dict[str, VectorSupplier]:
    """Return suppliers for a batch of these columns: its rows are asked for, columns are read."""

    def of_batch(each: TableVectors) -> VectorSupplier:
        return lambda rows: each(batch[rows])

    return {name: of_batch(each) for name, each in vectors.items()}


@cache
def load_ngram_family() -> Family:
    """Return the networks of the n-gram model that ships: what their heads read of a column in its table."""
    from aegir.annotators.ngrams.annotator import load_ngrams

    annotator = load_ngrams()
    networks = annotator.model.networks
    tensors = {
        f"{number}.{name}": tensor
        for number, network in enumerate(networks)
        for name, tensor in network.tensors().items()
    }
    width = sum(network.layers["own"].bias.size for network in networks)
    return Family(
        VectorSpecialist(width, tensors_sha256(tensors)),
        lambda tables: [reading.vectors for reading in annotator.read(tables)],
    )


FAMILIES: Mapping[str, Callable[[], Family]] = {"ngrams": load_ngram_family}
"""Families by name, as a swarm's settings have them."""


def find_family(name: str) -> Family:
    """Return a family; raise UsageError for an unknown one."""
    if name not in FAMILIES:
        raise UsageError(
            f"the swarm has a specialist of the unknown family {name!r}; known are {', '.join(FAMILIES)}"
        )
    return FAMILIES[name]()


def load_swarm_annotator(folder: Path | None = None) -> SwarmAnnotator:
    """Return the annotator with the swarm in `folder`, or with the one that ships; raise UsageError if none does."""
    if folder is None:
        if not SHIPPED.is_dir():
            raise UsageError(HOW_TO_GET)
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
    swarm = SwarmModel.load(folder, find=lambda name: find_family(name).specialist)
    families = {name: find_family(family) for name, family in swarm.settings.families.items()}
    try:
        return SwarmAnnotator(swarm, families)
    except UsageError as error:
        raise UsageError(
            f"the primary of {folder} cannot annotate ({error}); save the swarm with the facts of a calibrated network"
        ) from None
