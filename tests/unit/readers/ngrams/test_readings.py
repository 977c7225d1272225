"""Readings of columns: choosing and joining them."""

import numpy as np

from aegir.readers.ngrams.network import ColumnReadings
from taught_types import cloud


def rows_of(readings: ColumnReadings) -> list[tuple[bytes, bytes, bytes, str]]:
    parts = (readings.names, readings.vectors, readings.values)
    return [
        (*(part[row].tobytes() for part in parts), header)
        for row, header in enumerate(readings.headers)
    ]


def test_columns_are_chosen_by_numbers_in_any_order_or_by_a_slice():
    readings = ColumnReadings.join([cloud(3, 0, 0, "a"), cloud(2, 0, 1, "b")])
    rows = rows_of(readings)
    assert len(readings) == 5
    assert rows_of(readings.at([4, 0, 4])) == [rows[4], rows[0], rows[4]]
    assert rows_of(readings.at(slice(1, 4))) == rows[1:4]
    assert rows_of(readings.at(np.array([], np.int64))) == []
    assert readings.at([]).vectors.shape == (0, readings.vectors.shape[1])


def test_joined_parts_keep_their_order():
    parts = [cloud(2, 0, 0, "a"), cloud(0, 0, 0), cloud(1, 0, 1, "b")]
    assert rows_of(ColumnReadings.join(parts)) == [row for part in parts for row in rows_of(part)]
