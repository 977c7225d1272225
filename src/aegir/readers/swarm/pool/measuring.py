"""What a specialist costs, and how well it answers columns of each kind.

Every column is read alone, as in a swarm. Costs are CPU time on made-up columns, so they are those of the machine that measured them.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from aegir.answers.gold_labels import kind_of_labels, within_vocabulary
from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.byte_encoding import encode_column, pad
from aegir.readers.bytes.heads import ANSWER_PLACES, ANSWER_WIDTH, NONE, TYPES_HEAD
from aegir.readers.bytes.scoring import batches_by_length
from aegir.readers.swarm.judged_columns import TYPES
from aegir.readers.swarm.pool.entry import KindScore
from aegir.readers.swarm.specialists import ByteSpecialist, SpecialistModel
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column
from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import UsageError

REPEATS = 3
"""How often the made-up columns are read; the fastest time counts."""


def measure_cost(model: SpecialistModel) -> float:
    """Return CPU nanoseconds per byte of column text."""
    symbols = [encode_column(column, reading_of(model)) for column in made_up_columns()]
    padded, _ = pad(symbols)
    text = sum(int((each < 256).sum()) for each in symbols)
    fastest = np.inf
    for _ in range(REPEATS):
        started = time.thread_time_ns()
        model.contribute(padded)
        fastest = min(fastest, time.thread_time_ns() - started)
    return float(fastest) / text


def measure_kinds(model: SpecialistModel, tables: Iterable[LabelledTable]) -> dict[str, KindScore]:
    """Return the scores per kind, on the columns whose type or fine type is a name of the vocabulary."""
    columns: list[Column] = []
    labels: list[ColumnLabels] = []
    for labelled in map(within_vocabulary, tables):
        for column, known in zip(labelled.table.columns, labelled.labels, strict=True):
            if kind_of_labels(known) is not None:
                columns.append(column)
                labels.append(known)
    if not columns:
        raise UsageError(
            "no column of the tables has a type or fine type of the vocabulary; see: aegir types list"
        )
    said = [TYPES[best] for best in specialist_types(model, columns).argmax(axis=1).tolist()]
    by_kind: dict[str, list[int]] = defaultdict(list)
    for number, known in enumerate(labels):
        by_kind[kind_of_labels(known) or ""].append(number)
    return {
        kind: _score([labels[i] for i in numbers], [said[i] for i in numbers])
        for kind, numbers in sorted(by_kind.items())
    }


def specialist_types(model: SpecialistModel, columns: Sequence[Column]) -> F32:
    """Return a specialist's log probabilities (columns, 83) of the types, up to a constant; zeros if it gives no answers."""
    symbols = [encode_column(column, reading_of(model)) for column in columns]
    answers = np.zeros((len(columns), ANSWER_WIDTH), np.float32)
    for batch in batches_by_length(symbols):
        own = model.contribute(pad([symbols[i] for i in batch])[0]).answers
        if own is not None:
            answers[batch] = own
    return answers[:, ANSWER_PLACES[TYPES_HEAD]]


def reading_of(model: SpecialistModel) -> Reading:
    """Return how a specialist was trained to read columns."""
    return model.model.architecture.reading if isinstance(model, ByteSpecialist) else Reading()


def made_up_columns() -> list[Column]:
    """Return columns of numbers, dates, codes, words and sentences, always the same."""
    words = (
        *("amber", "birch", "cedar", "delta", "ember", "fjord"),
        *("grove", "haven", "inlet", "jetty", "knoll", "ledge"),
    )
    columns = []
    for seed in range(8):
        at = [(7919 * (seed + 1) * (row + 3)) % 9973 for row in range(8)]
        cells = {
            "amount": [f"{x / 7:.2f}" for x in at],
            "since": [f"{1950 + x % 75}-{1 + x % 12:02}-{1 + x % 28:02}" for x in at],
            "code": [f"{words[x % 12][:2].upper()}-{x:05}" for x in at],
            "name": [f"{words[x % 12].title()} {words[x // 12 % 12].title()}" for x in at],
            "remark": [" ".join(words[(x + step) % 12] for step in range(8)) for x in at],
        }
        columns += [Column(name, tuple(values)) for name, values in cells.items()]
    return columns


def _score(labels: Sequence[ColumnLabels], said: Sequence[str]) -> KindScore:
    judged = [
        known.accepts_type(None if answer == NONE else answer)
        for known, answer in zip(labels, said, strict=True)
        if known.types
    ]
    return KindScore(
        columns=len(labels),
        type_right=sum(map(bool, judged)) / len(judged) if judged else None,
        none_share=sum(answer == NONE for answer in said) / len(said),
    )
