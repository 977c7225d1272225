"""Which columns are read beside those that a reader is called about, and where their scores go."""

from dataclasses import replace

import numpy as np
import pytest

from aegir.pipeline.batch import TablePart
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table


def table_of(columns: int, subject: int | None = None) -> Table:
    return Table("t", tuple(Column(f"c{n}", (str(n),)) for n in range(columns)), subject=subject)


def scores_of(columns: int, value: float, subject: int | None = None) -> TableScores:
    return TableScores(
        np.full((columns, 82), value, np.float32),
        np.full((columns, 108), value, np.float32),
        subject,
        (Explanation(),) * columns,
        personal=np.full(columns, value, np.float32),
    )


def called_of(columns: int, *called: int) -> np.ndarray:
    return np.isin(np.arange(columns), called)


@pytest.mark.parametrize(
    ("called", "subject", "context", "columns"),
    [
        ((4,), 0, 0, (4,)),
        ((4,), 0, 1, (0, 4)),  # the subject first
        ((4,), 0, 2, (0, 3, 4)),  # then the nearest, the left one of two
        ((4,), None, 3, (2, 3, 4, 5)),
        ((1, 7), 0, 3, (0, 1, 2, 6, 7)),
        ((4,), 4, 1, (3, 4)),  # a called subject is no context
        ((4,), 0, None, tuple(range(9))),
        ((4,), 0, 8, tuple(range(9))),
        ((), 0, 2, ()),
    ],
)
def test_the_context_is_the_subject_and_the_nearest_columns(
    called: tuple[int, ...], subject: int | None, context: int | None, columns: tuple[int, ...]
):
    part = TablePart.of(table_of(9), scores_of(9, 0, subject), called_of(9, *called), context)
    assert part.columns == columns
    assert [name for name, awake in zip(part.columns, part.called, strict=True) if awake] == [
        *called
    ]
    if columns:
        assert [column.name for column in part.table.columns] == [f"c{n}" for n in columns]


def test_the_subject_that_a_table_names_is_found_in_its_part():
    part = TablePart.of(table_of(9, subject=3), scores_of(9, 0, 3), called_of(9, 5), 1)
    assert part.columns == (3, 5)
    assert part.table.subject == 0
    assert (
        TablePart.of(table_of(9, subject=3), scores_of(9, 0, 3), called_of(9, 5), 0).table.subject
        is None
    )


def test_types_and_relations_of_called_columns_alone_are_replaced():
    part = TablePart.of(table_of(4), scores_of(4, 0.0, 0), called_of(4, 2), 1)
    whole = part.put(scores_of(2, 1.0), into=scores_of(4, 0.0, 0))
    assert whole.types[:, 0].tolist() == [0, 0, 1, 0]
    assert whole.relations[:, 0].tolist() == [0, 0, 1, 0]
    assert whole.personal is not None
    assert whole.personal.tolist() == [0, 0, 0, 0]  # what the first reading says of persons stays
    assert whole.fine is None  # neither has them
    assert whole.subject == 0
    assert part.of_scores(whole).types[:, 0].tolist() == [0, 1]


def test_the_scores_of_a_part_are_those_of_its_columns_personal_ones_included():
    numbers = np.arange(9, dtype=np.float32)
    scores = replace(
        scores_of(9, 0.0, 0),
        types=np.tile(numbers[:, None], 82),
        personal=numbers,
        levels=np.tile(numbers[:, None], 4),
        special=numbers,
    )
    part = TablePart.of(table_of(9), scores, called_of(9, 4, 7), 1)
    of_part = part.of_scores(scores)
    for name in ("types", "personal", "levels", "special"):
        found = getattr(of_part, name)
        assert found.reshape(3, -1)[:, 0].tolist() == [0, 4, 7], name
