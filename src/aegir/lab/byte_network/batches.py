"""Batches for the byte network: tables are augmented, encoded and padded, the same way in every process.

    tables of a step --augment--> columns sorted by length, in parts --> tensors

Every random choice is derived from seed, step and index in the batch, so a run that is resumed, or spread over
several processes, reads the same bytes with the same dropout as one that was not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from aegir.lab.byte_network.examples import (
    TEACHER_HEAD,
    Heads,
    RightOutputs,
    TableExample,
    soft_target,
)
from aegir.lab.nets.annotator import DROPPED, TableBatch
from aegir.readers.bytes.architecture import Architecture, Reading
from aegir.readers.bytes.byte_encoding import Symbols, encode_column, pad
from aegir.readers.bytes.first_layer import FIRST_WIDTH
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.scoring import CELLS_READ
from aegir.readers.bytes.table_mixer import OTHER, SUBJECT, UNKNOWN
from aegir.tables.table import Column, Table
from aegir_rl.base.arrays import F32
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.settings import check_numbers

NOT_KNOWN = -1
PART_SYMBOLS = 6144
"""Symbols, padding included, in one part: a block's working set then stays in the cache."""


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How a table is varied each time it is read; shares are probabilities."""

    shuffle_columns: float = 0.5
    drop_columns: float = 0.2
    """Of losing about a third of the columns."""
    fewer_rows: float = 0.3
    hide_headers: float = 0.5
    hide_subject: float = 0.3
    cut_cells: float = 0.15
    drop_grams: float = 0.1
    """Of not looking up an n-gram."""
    hide_first: float = 0.1
    """Of not knowing what the first layer says."""
    hide_answers: float = 0.3
    """Of not adding its answers to those of the heads, so that states and vectors carry something."""
    most_columns: int = 12
    most_rows: int = 8

    def __post_init__(self) -> None:
        shares = [one.name for one in fields(self) if not one.name.startswith("most_")]
        check_numbers(self, *shares, at_least=0, at_most=1)
        check_numbers(self, "most_columns", "most_rows", at_least=1)


@dataclass(frozen=True, slots=True)
class Drawing:
    """One table as it is read in one step."""

    symbols: tuple[Symbols, ...]
    roles: tuple[int, ...]
    labels: Mapping[str, tuple[RightOutputs, ...]]
    weights: Mapping[str, float]
    subject: int | None
    drop_grams: float = 0.0
    seed: int = 0
    vectors: F32 | None = None
    """(columns, D) a teacher's."""
    readings: F32 | None = None
    """(columns, FIRST_WIDTH) the first layer's."""
    heard: bool = True
    """Whether the first layer's answers are added to those of the heads."""


@dataclass(slots=True)
class ColumnBatch:
    """Tensors of several tables. Columns are numbered in the order of the parts."""

    parts: list[tuple[Tensor, Tensor]]
    """Symbols (B, T) and rows of n-grams (B, T, G)."""
    tables: TableBatch
    targets: dict[str, Tensor]
    """Head to (columns, outputs) shares of the right outputs, which sum to 1; for a head of one output, 1 or 0;
    for TEACHER_HEAD the teacher's vectors."""
    labelled: dict[str, Tensor]
    """Head to (columns,) true where the column has a label; the targets of others are 0."""
    weights: dict[str, Tensor]
    subjects: Tensor
    """(columns,) 1 for the subject, 0 for another column, NOT_KNOWN where it is not known."""
    noise: Tensor
    """(columns, noise width) uniform numbers for dropout, the same wherever the column is read."""
    order: npt.NDArray[np.int64]
    """(columns,) index of each column when counted table by table."""
    readings: Tensor | None = None
    """(columns, FIRST_WIDTH) the first layer's, zeros where it has not read; None if it has read none of them."""
    heard: Tensor | None = None
    """(columns,) 1 where its answers are added to those of the heads."""
    symbols: int = 0


def draw_as_is(example: TableExample, reading: Reading, headers: bool = True) -> Drawing:
    """Return the table as a user would give it, read as the annotator reads it."""
    table, reading = example.table, replace(reading, cells=min(reading.cells, CELLS_READ))
    roles = mark_subject(len(table.columns), table.subject)
    symbols = tuple(
        encode_column(column, reading, headers and not example.hide_headers)
        for column in table.columns
    )
    return Drawing(
        symbols=symbols,
        roles=roles,
        labels=example.labels,
        weights=example.weights,
        subject=table.subject,
        vectors=example.vectors,
        readings=None if example.readings is None else example.readings.astype(np.float32),
    )


def mark_subject(columns: int, subject: int | None) -> tuple[int, ...]:
    """Return the role of each column of a table."""
    if subject is None:
        return (UNKNOWN,) * columns
    return tuple(SUBJECT if i == subject else OTHER for i in range(columns))


def draw_varied(
    example: TableExample, reading: Reading, how: Augmentation, seeds: Seeds, *names: str | int
) -> Drawing:
    """Return the table with rows, columns, headers and cells varied."""
    random = seeds.generator("augment", *names)
    table = example.table
    columns = _some_columns(example, how, random)
    rows = _some_rows(table, how, random)
    bare = example.hide_headers or random.random() < how.hide_headers
    if random.random() < how.cut_cells:
        cut = int(random.integers(12, reading.cell_bytes + 1))
        reading = replace(reading, cell_bytes=cut)
    symbols = tuple(
        encode_column(_at_rows(table.columns[i], rows), reading, not bare) for i in columns
    )
    subject = columns.index(table.subject) if table.subject in columns else None
    likely = example.likely_subject
    shown = columns.index(likely) if likely in columns else subject
    if random.random() < how.hide_subject:
        shown = None
    labels = {head: tuple(right[i] for i in columns) for head, right in example.labels.items()}
    roles = mark_subject(len(columns), shown)
    seed = int(random.integers(1 << 62))
    vectors = None if example.vectors is None else example.vectors[columns]
    readings = None
    if example.readings is not None and random.random() >= how.hide_first:
        readings = example.readings[columns].astype(np.float32)
    heard = readings is None or random.random() >= how.hide_answers
    return Drawing(
        symbols=symbols,
        roles=roles,
        labels=labels,
        weights=example.weights,
        subject=subject,
        drop_grams=how.drop_grams,
        seed=seed,
        vectors=vectors,
        readings=readings,
        heard=heard,
    )


def _some_columns(
    example: TableExample, how: Augmentation, random: np.random.Generator
) -> list[int]:
    count = len(example.table.columns)
    chosen = list(range(count))
    most = how.most_columns
    if count > 2 and random.random() < how.drop_columns:
        most = min(most, max(2, round(count * 0.66)))
    if count > most:
        labelled = [any(right[i] is not None for right in example.labels.values()) for i in chosen]
        wish = random.random(count) + np.array(labelled)
        if example.table.subject is not None:
            wish[example.table.subject] += 2
        chosen = sorted(np.argsort(-wish, kind="stable")[:most].tolist())
    if random.random() < how.shuffle_columns:
        random.shuffle(chosen)
    return chosen


def _some_rows(table: Table, how: Augmentation, random: np.random.Generator) -> list[int]:
    count = len(table.columns[0].values) if table.columns else 0
    most = min(count, how.most_rows if count > 5 and random.random() < 0.3 else 5)
    if most > 2 and random.random() < how.fewer_rows:
        most = int(random.integers(2, most + 1))
    return [int(i) for i in random.permutation(count)[:most]]


def _at_rows(column: Column, rows: Sequence[int]) -> Column:
    """Return the column with these rows alone, or as it is if all its cells in them are missing."""
    cells = Column(column.name, tuple(column.values[i] for i in rows))
    return cells if cells.present else column


def batch_of(
    drawings: Sequence[Drawing], index: GramIndex, heads: Heads, noise_width: int = 0
) -> ColumnBatch:
    """Return the drawings as tensors, with targets for these heads."""
    symbols = [one for drawing in drawings for one in drawing.symbols]
    owner = np.repeat(np.arange(len(drawings)), [len(d.symbols) for d in drawings])
    order = np.argsort([len(one) for one in symbols], kind="stable")
    parts = [
        _part([symbols[i] for i in some], [drawings[owner[i]] for i in some], index)
        for some in _spans(order, [len(symbols[i]) for i in order])
    ]
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    targets, labelled, weights = {}, {}, {}
    for head, outputs in heads.items():
        if head == TEACHER_HEAD:
            wanted = np.concatenate([_vectors(drawing, len(outputs)) for drawing in drawings])
            targets[head] = torch.from_numpy(wanted[order])
            labelled[head] = torch.tensor([drawings[owner[i]].vectors is not None for i in order])
        else:
            right = [outputs for drawing in drawings for outputs in _right_outputs(drawing, head)]
            rows = [soft_target(right[i] or (), len(outputs)) for i in order]
            targets[head] = torch.from_numpy(np.array(rows).reshape(-1, len(outputs)))
            labelled[head] = torch.tensor([right[i] is not None for i in order])
        trust = np.array([drawing.weights.get(head, 0.0) for drawing in drawings], np.float32)
        weights[head] = torch.from_numpy(trust[owner][order])
    subjects = np.concatenate([_subjects(drawing) for drawing in drawings])[order]
    noise = np.concatenate([_noise(drawing, noise_width) for drawing in drawings])[order]
    readings, heard = None, None
    if any(drawing.readings is not None for drawing in drawings):
        readings = torch.from_numpy(np.concatenate([*map(_readings, drawings)])[order])
        heard = torch.tensor([float(drawings[owner[i]].heard) for i in order])
    return ColumnBatch(
        parts=parts,
        tables=_tables(drawings, position),
        targets=targets,
        labelled=labelled,
        weights=weights,
        subjects=torch.from_numpy(subjects),
        noise=torch.from_numpy(noise),
        order=order,
        readings=readings,
        heard=heard,
        symbols=sum(map(len, symbols)),
    )


def batch_of_varied(
    examples: Mapping[int, TableExample],
    architecture: Architecture,
    *,
    augmentation: Augmentation,
    seeds: Seeds,
    names: Sequence[str | int],
    index: GramIndex,
    heads: Heads,
    dropout: float,
) -> ColumnBatch:
    """Return the examples of a step, by their index in it, varied; `names` say of which step."""
    drawings = [
        draw_varied(example, architecture.reading, augmentation, seeds, *names, number)
        for number, example in examples.items()
    ]
    return batch_of(drawings, index, heads, DROPPED * architecture.column_width if dropout else 0)


def _noise(drawing: Drawing, width: int) -> npt.NDArray[np.float32]:
    random = np.random.default_rng([drawing.seed, 1])
    return random.random((len(drawing.symbols), width), np.float32)


def _spans(order: npt.NDArray[np.int64], lengths: Sequence[int]) -> list[npt.NDArray[np.int64]]:
    """Split columns, which are in order of length, where a part would grow too large."""
    spans, start = [], 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - start) * lengths[end] > PART_SYMBOLS:
            spans.append(order[start:end])
            start = end
    return spans


def _part(
    symbols: Sequence[Symbols], drawings: Sequence[Drawing], index: GramIndex
) -> tuple[Tensor, Tensor]:
    padded, _ = pad(symbols)
    rows = index.rows(padded)
    for row, one in zip(rows, drawings, strict=True):
        if one.drop_grams:
            lost = np.random.default_rng(one.seed).random(row.shape) < one.drop_grams
            row[lost] = index.missing
    return torch.from_numpy(padded.astype(np.int64)), torch.from_numpy(rows.astype(np.int64))


def _right_outputs(drawing: Drawing, head: str) -> tuple[RightOutputs, ...]:
    return drawing.labels.get(head, (None,) * len(drawing.symbols))


def _vectors(drawing: Drawing, width: int) -> F32:
    """Return the teacher's vectors (columns, width), zeros if there are none."""
    if drawing.vectors is None:
        return np.zeros((len(drawing.symbols), width), np.float32)
    return drawing.vectors


def _readings(drawing: Drawing) -> F32:
    """Return the first layer's readings (columns, FIRST_WIDTH), zeros if it has not read the table."""
    if drawing.readings is None:
        return np.zeros((len(drawing.symbols), FIRST_WIDTH), np.float32)
    return drawing.readings


def _subjects(drawing: Drawing) -> npt.NDArray[np.int64]:
    if drawing.subject is None:
        return np.full(len(drawing.symbols), NOT_KNOWN, np.int64)
    is_subject: npt.NDArray[np.bool_] = np.arange(len(drawing.symbols)) == drawing.subject
    return is_subject.astype(np.int64)


def _tables(drawings: Sequence[Drawing], position: npt.NDArray[np.int64]) -> TableBatch:
    sizes = np.array([len(drawing.symbols) for drawing in drawings])
    starts = np.cumsum(sizes) - sizes
    most = int(sizes.max(initial=0))
    mask = np.arange(most) < sizes[:, None]
    flat = np.where(mask, starts[:, None] + np.arange(most), 0)
    roles = np.zeros(mask.shape, np.int64)
    for row, drawing in zip(roles, drawings, strict=True):
        row[: len(drawing.roles)] = drawing.roles
    columns = np.where(mask, position[flat] if len(position) else flat, 0)
    return TableBatch(torch.from_numpy(columns), torch.from_numpy(mask), torch.from_numpy(roles))
