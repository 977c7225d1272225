"""The `byte_model` annotator: Aegir's own network, reading columns as bytes and tables as columns.

    columns --sorted by length, in parts--> vectors --each table by itself--> logits / temperature --softmax--> P

Types are judged with the subject as the table gives it; where it gives none, the likeliest column is taken as the
subject for relations only. Several threads may share one annotator.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aegir.annotators.scores import Probabilities, TableScores, choose_subject, explain_scores
from aegir.arrays import F32, softmax
from aegir.errors import UsageError
from aegir.model.byte_encoding import Symbols, encode_column, pad
from aegir.model.checkpoint import Checkpoint, load_checkpoint
from aegir.model.network import ByteModel
from aegir.model.table_mixer import OTHER, SUBJECT, UNKNOWN
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_NAMES

MODEL_FILE = "bytes.safetensors"
CELLS_READ = 6
"""Cells of a column that are read: tables of training mostly have five rows, and every cell costs time."""
PART_COLUMNS = 64
PART_SYMBOLS = 16_384
"""Columns of similar length are read together, up to so many symbols."""
SUBJECT_SCALE = 4.0
"""A likely subject and an unlikely one differ by about this much in the network's log odds."""


class ByteModelAnnotator:
    """Scores tables with a `ByteModel`."""

    name = "byte_model"

    def __init__(self, model: ByteModel) -> None:
        self.model = model
        self.operating_points = self.operating_points_of(self.name)
        self._temperatures: dict[str, float] = model.facts["calibration"]["bytes"]

    def operating_points_of(self, annotator: str) -> dict[str, list[list[float]]]:
        """Per task: wanted precision, threshold and coverage, as found on held-out tables."""
        figures = self.model.facts.get("held_out", {})
        return {
            task: figures.get(f"{annotator}/{task}", {}).get("thresholds", [])
            for task in ("cta", "cpa")
        }

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Probabilities for every column of every table."""
        symbols, vectors = self._read(tables)
        spans = _spans(tables)
        likeness = self.model.subject(vectors)
        subjects = [
            choose_subject(table, likeness[span], SUBJECT_SCALE) if table.columns else None
            for table, span in zip(tables, spans, strict=True)
        ]
        given = self._mix(vectors, symbols, tables, [table.subject for table in tables])
        guessed = self._mix(vectors, symbols, tables, subjects)
        types = self._probabilities("cta", self.model.types(given))
        relations = self._probabilities("cpa", self.model.relations(guessed))
        without = [not column.present for table in tables for column in table.columns]
        types[without] = relations[without] = 0  # nothing is known of a column without values
        alone = self.model.head("cta_alone", vectors)
        return [
            TableScores(
                types[span], relations[span], subject, explain_scores(alone[span], types[span])
            )
            for span, subject in zip(spans, subjects, strict=True)
        ]

    def embed(self, tables: Sequence[Table]) -> list[F32]:
        """(columns, width) per table: what the heads see, to compare columns by."""
        symbols, vectors = self._read(tables)
        mixed = self._mix(vectors, symbols, tables, [table.subject for table in tables])
        return [mixed[span] for span in _spans(tables)]

    def _mix(
        self,
        vectors: F32,
        symbols: Sequence[Symbols],
        tables: Sequence[Table],
        subjects: Sequence[int | None],
    ) -> F32:
        """(columns, width) of all tables, each in the light of its siblings."""
        roles = [
            _roles(len(t.columns), subject) for t, subject in zip(tables, subjects, strict=True)
        ]
        by_table = [symbols[span] for span in _spans(tables)]
        none = np.zeros(0, np.int64)
        return self.model.mix_tables(vectors, np.concatenate([none, *roles]), by_table)

    def _read(self, tables: Sequence[Table]) -> tuple[list[Symbols], F32]:
        """The symbols and the vector (columns, width) of every column of every table."""
        reading = self.model.architecture.reading
        reading = replace(reading, cells=min(reading.cells, CELLS_READ))
        symbols = [encode_column(column, reading) for table in tables for column in table.columns]
        vectors = np.zeros((len(symbols), self.model.architecture.column_width), np.float32)
        for part in _parts(symbols):
            padded, _ = pad([symbols[i] for i in part])
            vectors[part] = self.model.vectors(self.model.read(padded))
        return symbols, vectors

    def _probabilities(self, task: str, logits: F32) -> Probabilities:
        return softmax(logits / np.float32(self._temperatures[task]))


def _roles(columns: int, subject: int | None) -> npt.NDArray[np.int64]:
    roles = np.full(columns, UNKNOWN if subject is None else OTHER, np.int64)
    if subject is not None:
        roles[subject] = SUBJECT
    return roles


def _spans(tables: Sequence[Table]) -> list[slice]:
    """Where the columns of each table stand among the columns of all."""
    ends = np.cumsum([len(table.columns) for table in tables]).tolist()
    return [slice(end - len(t.columns), end) for t, end in zip(tables, ends, strict=True)]


def _parts(symbols: Sequence[Symbols]) -> Iterator[list[int]]:
    """Numbers of columns, those of similar length together."""
    order = sorted(range(len(symbols)), key=lambda i: len(symbols[i]))
    part: list[int] = []
    for i in order:
        full = len(part) == PART_COLUMNS or (len(part) + 1) * len(symbols[i]) > PART_SYMBOLS
        if part and full:
            yield part
            part = []
        part.append(i)
    if part:
        yield part


def load_byte_model(path: Path | None = None) -> ByteModelAnnotator:
    """The annotator with the weights that ship with Aegir, or those in `path`."""
    if path is None:
        return _shipped()
    checkpoint = load_checkpoint(path)
    if lacking := _lacking(checkpoint):
        raise UsageError(
            f"{path} is a byte network without {lacking}; make one with: aegir train export"
        )
    return ByteModelAnnotator(ByteModel(checkpoint))


def _lacking(checkpoint: Checkpoint) -> str | None:
    """What answering needs beyond weights that fit their layout, and this file does not have."""
    try:
        temperatures = checkpoint.facts["calibration"]["bytes"]
        found = [float(temperatures[task]) for task in ("cta", "cpa")]
        figures = checkpoint.facts.get("held_out", {})
        known = all(hasattr(one, "get") for one in (figures, *figures.values()))
    except (AttributeError, KeyError, TypeError, ValueError):
        return "a calibration for types and relations"
    if not all(np.isfinite(one) and one > 0 for one in found) or not known:
        return "a calibration that can be used"
    alone = checkpoint.tensors.get("heads.cta_alone.weight")
    if alone is None or len(alone) != len(TYPE_NAMES):
        return f"a head cta_alone for {len(TYPE_NAMES)} types"
    return None


@cache
def _shipped() -> ByteModelAnnotator:
    with as_file(files("aegir.annotators") / "weights" / MODEL_FILE) as shipped:
        return ByteModelAnnotator(ByteModel(load_checkpoint(shipped)))
