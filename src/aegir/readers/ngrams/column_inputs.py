"""What the n-gram network reads of a column: n-grams of values and headers, figures, and what the rules say.

    tables --read_columns--> ColumnInputs (one row per column of all tables)

Promise: a column's inputs depend on its table alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.readers.ngrams.features import SparseRows, View, hashed_in_parts
from aegir.readers.ngrams.figures import FIGURES, figures_of
from aegir.readers.rules.judge import Verdict
from aegir.readers.scores import type_places
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, TYPE_INDEX, TYPE_NAMES
from aegir_rl.base.arrays import F32, I32, I64

CELLS = 12
"""Cells read per column, evenly spread."""
HEADER_CHARACTERS = 80
_TYPES, _FINE = len(TYPE_NAMES), len(FINE_NAMES)
EVIDENCE = _FINE + 2 * _TYPES
"""One number per fine type that a rule may name, per type that it supports, and per type that it excludes."""
FACTS = FIGURES + EVIDENCE
_PARTS_OF_A_WORD = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
_NOT_A_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class ColumnInputs:
    """The inputs of the columns of some tables, in order."""

    values: SparseRows
    headers: SparseRows
    names: SparseRows
    """One row per table: the n-grams of its name."""
    facts: F32
    """(columns, FACTS) figures, then the evidence of the rules."""
    table: I64
    """(columns,) the number of each column's table."""
    is_subject: F32
    """(columns,) 1 for the subject that a table names."""


def read_columns(
    tables: Sequence[Table],
    verdicts: Sequence[Verdict],
    value_index: I32 | None = None,
    header_index: I32 | None = None,
    values: SparseRows | None = None,
) -> ColumnInputs:
    """Return the inputs of all columns; `verdicts` has one per column, and an index renumbers the n-grams.

    `values` are the rows of `hash_values` with the numbers of `value_index`, if they are known.
    """
    columns = [column for table in tables for column in table.columns]
    places = [
        (place, len(table.columns)) for table in tables for place in range(len(table.columns))
    ]
    facts = np.zeros((len(columns), FACTS), np.float32)
    for row, column, (place, width), verdict in zip(facts, columns, places, verdicts, strict=True):
        row[:FIGURES] = figures_of(column, place, width)
        _fill_evidence(row[FIGURES:], verdict)
    is_subject = [
        float(place == table.subject) for table in tables for place in range(len(table.columns))
    ]
    return ColumnInputs(
        hash_values(columns, value_index) if values is None else values,
        hashed_in_parts([header_view(column.name) for column in columns], header_index),
        hashed_in_parts([header_view(own_name(table)) for table in tables], header_index),
        facts,
        np.repeat(np.arange(len(tables)), [len(table.columns) for table in tables]),
        np.array(is_subject, np.float32),
    )


def hash_values(columns: Sequence[Column], index: I32 | None = None) -> SparseRows:
    """Return the n-grams of cells spread over each column."""
    return hashed_in_parts([column.spread(CELLS) for column in columns], index)


def header_view(header: str | None) -> View:
    """Return a header as its words in lower case: 'custEMail_2' becomes 'cust e mail 2'; no cell for no header."""
    spaced = _PARTS_OF_A_WORD.sub(" ", (header or "")[: 2 * HEADER_CHARACTERS])
    words = _NOT_A_WORD.sub(" ", spaced).strip().lower()[:HEADER_CHARACTERS]
    return (words,) if words else ()


def own_name(table: Table) -> str:
    """Return what a table is called, without database, folders and ending: `orders` for `shop.db#orders` and `data/orders.csv`."""
    name = table.name if table.title is None else table.title
    stem = name.rpartition("/")[2]
    return stem.partition(".")[0] or stem


def _fill_evidence(row: F32, verdict: Verdict) -> None:
    if verdict.fine_type:
        row[FINE_INDEX[verdict.fine_type]] = verdict.fine_confidence
    for name, strength in verdict.support:
        row[_FINE + TYPE_INDEX[name]] = strength
    if verdict.vetoes:
        row[_FINE + _TYPES + type_places(verdict.vetoes)] = 1.0
