"""The first layer's reading of a column, as the deep layers begin with it.

    scores of n-grams and rules --read_first--> (columns, FIRST_WIDTH) --FirstLayer--> hidden, states, vectors, answers

A reading is what the first layer answers: log probabilities of types, relations and fine types, none of them included, and the log
odds of personal data (heads.py); the probability that the table is one of the web, of every class of its rows and of whose they are;
and 1, or 0 where the first layer has not read. Answers, not hidden units: first layers that were trained apart say the same
thing in the same places, so deep layers learn from readings by networks that had not seen the table, and read beside another.

From its reading come the hidden vector of a column, which the router reads, too; the matrix state from which every RWKV block begins;
what is added to the column's vector; and the answers that the heads correct. lab/nets/first_layer.py is the same in torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aegir.readers.bytes.architecture import Architecture, StateShape
from aegir.readers.bytes.heads import (
    ANSWER_WIDTH,
    FINE_HEAD,
    LEAST,
    PERSONAL_HEAD,
    RELATIONS_HEAD,
    TYPES_HEAD,
    join_answer,
)
from aegir.readers.mixing import with_none
from aegir.readers.scores import TableScores
from aegir.vocabulary.terms import PERSON_STATES, ROW_NAMES
from aegir_rl.base.arrays import F32, Linear, Tensors, rows_times

TABLE_WIDTH = 1 + len(ROW_NAMES) + len(PERSON_STATES)
"""Probabilities of the table: of being one of the web, of every class of its rows, of whose they are."""
FIRST_WIDTH = ANSWER_WIDTH + TABLE_WIDTH + 1
SCALE = np.float32(-1 / LEAST)
"""By which answers are multiplied before the hidden layer reads them."""
RARE = np.float32(1e-6)


def read_first(scores: TableScores) -> F32:
    """Return the reading (columns, FIRST_WIDTH) of a table by what the first layer says of it."""
    table = np.zeros(TABLE_WIDTH, np.float32)
    for part, place in (
        (scores.rows, slice(1, 1 + len(ROW_NAMES))),
        (scores.person, slice(1 + len(ROW_NAMES), None)),
    ):
        if part is not None:
            table[place] = part
    table[0] = scores.web
    return join_reading(
        {
            TYPES_HEAD: scores.types,
            RELATIONS_HEAD: scores.relations,
            FINE_HEAD: scores.fine,
            PERSONAL_HEAD: scores.personal,
        },
        np.tile(table, (len(scores.types), 1)),
    )


def join_reading(parts: Mapping[str, F32 | None], tables: F32) -> F32:
    """Return readings of probabilities without "none of these", of every head, and of the table (columns, TABLE_WIDTH) of each column."""
    logits: dict[str, F32] = {}
    for head, part in parts.items():
        if part is None:
            continue
        if head == PERSONAL_HEAD:
            chance = np.clip(part, RARE, 1 - RARE)
            logits[head] = (np.log(chance) - np.log1p(-chance))[:, None]
        else:
            logits[head] = np.log(np.maximum(with_none(part), RARE))
    known = np.ones((len(tables), 1), np.float32)
    return np.hstack([join_answer(logits, len(tables)), tables, known]).astype(np.float32)


class FirstReading(NamedTuple):
    """What the deep layers begin with."""

    hidden: F32
    """(B, R)"""
    states: list[F32]
    """(B, H, K, V) for every RWKV block."""
    vectors: F32
    """(B, D) added to the columns' vectors."""
    answers: F32
    """(B, ANSWER_WIDTH) added to what the heads say."""


@dataclass(frozen=True, slots=True)
class FirstLayer:
    """Where the deep layers take over from the first."""

    hidden: Linear
    states: list[F32]
    """(R, H * K * V) for every RWKV block."""
    shapes: tuple[StateShape, ...]
    vector: F32
    """(R, D)"""
    gates: F32
    """(ANSWER_WIDTH,) how far each answer counts."""

    @classmethod
    def of(cls, tensors: Tensors, name: str, architecture: Architecture) -> "FirstLayer":
        """Return the layer of this name."""
        return cls(
            Linear.of(tensors, f"{name}.hidden"),
            [
                np.ascontiguousarray(tensors[f"{name}.states.{block}"].T)
                for block in range(len(architecture.state_shapes))
            ],
            architecture.state_shapes,
            np.ascontiguousarray(tensors[f"{name}.vector"].T),
            tensors[f"{name}.gates"],
        )

    def __call__(self, readings: F32) -> FirstReading:
        """Read (B, FIRST_WIDTH)."""
        answers, known = readings[:, :ANSWER_WIDTH], readings[:, -1:]
        inputs = np.hstack([answers * SCALE, readings[:, ANSWER_WIDTH:-1]])
        hidden = np.maximum(self.hidden(inputs), 0) * known
        return FirstReading(
            hidden,
            [
                rows_times(hidden, weight).reshape(-1, *shape)
                for weight, shape in zip(self.states, self.shapes, strict=True)
            ],
            rows_times(hidden, self.vector),
            answers * self.gates * known,
        )
