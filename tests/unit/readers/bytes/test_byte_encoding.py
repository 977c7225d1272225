"""Symbols of a column, and n-gram hashes at once, in pieces and one by one."""

from dataclasses import fields

import numpy as np
import pytest

from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.byte_encoding import (
    COLUMN,
    CUT,
    END,
    GRAM_KINDS,
    HEADER,
    NO_GRAM,
    PAD,
    VALUE,
    GramReader,
    Symbols,
    decode_column,
    encode_column,
    gram_hashes,
    pad,
    read_grams,
)
from aegir.tables.table import Column
from byte_models import text_columns

WORD, CELL, CELL_SHAPE, PAIR = 5, 6, 7, 8


def symbols_of(*parts: str | int) -> Symbols:
    symbols: list[int] = []
    for part in parts:
        symbols += [part] if isinstance(part, int) else [*part.encode()]
    return np.array([symbols], np.int16)


def test_a_column_is_its_header_then_its_cells() -> None:
    column = Column("city", ("Oslo", "", "Bergen"))
    found = encode_column(column, Reading())
    assert found.tolist() == [
        *(COLUMN, HEADER, *b"city"),
        *(VALUE, *b"Oslo", VALUE, *b"Bergen", END),
    ]
    bare = encode_column(column, Reading(), header=False)
    assert bare.tolist() == [COLUMN, *found.tolist()[6:]]


def test_long_cells_are_cut_and_many_cells_are_spread() -> None:
    reading = Reading(cells=2, cell_bytes=3)
    column = Column(None, ("abcd", "x", "yé", "z"))
    expected = [COLUMN, VALUE, *b"abc", CUT, VALUE, *"yé".encode(), END]
    assert encode_column(column, reading).tolist() == expected


def test_symbols_are_decoded_to_header_and_cells() -> None:
    reading = Reading(cell_bytes=3, header_bytes=4)
    column = Column("cities", ("abcd", "x", "aé"))
    padded = np.append(encode_column(column, reading), [PAD, PAD]).astype(np.int16)
    assert decode_column(padded) == Column("citi", ("abc", "x", "aé"))
    cut = encode_column(Column(None, ("aaé",)), reading)  # in the middle of a character
    assert decode_column(cut) == Column(None, ("aa",))
    assert decode_column(np.full(3, PAD, np.int16)) == Column(None, ())


def test_padding_has_no_grams_and_changes_none() -> None:
    rows = [row[row != PAD] for row in text_columns([9, 30, 1])]
    symbols, lengths = pad(rows)
    together = gram_hashes(symbols)
    assert (together[symbols == PAD] == NO_GRAM).all()
    for row, length, one in zip(rows, lengths, together, strict=True):
        np.testing.assert_array_equal(gram_hashes(row[None])[0], one[:length])


def test_case_does_not_matter_to_a_word_but_its_shape_shows() -> None:
    upper, lower = (gram_hashes(symbols_of(VALUE, word, END))[0, -1] for word in ("OSLO", "oslo"))
    assert upper[WORD] == lower[WORD] != NO_GRAM
    assert upper[CELL] == lower[CELL] != NO_GRAM
    assert upper[CELL_SHAPE] != lower[CELL_SHAPE]


def test_a_word_is_the_same_wherever_it_stands() -> None:
    first = gram_hashes(symbols_of(VALUE, "red wine", VALUE))[0]
    second = gram_hashes(symbols_of(VALUE, "a fine red wine."))[0]
    assert first[8, WORD] == second[15, WORD]  # "wine" so far
    assert first[9, PAIR] == second[16, PAIR] != NO_GRAM  # "red wine", ended
    assert first[8, CELL] != second[15, CELL]


@pytest.mark.parametrize("cut", [0, 1, 2, 9, 17, 40])
def test_hashes_in_two_pieces_are_those_of_the_whole(cut: int) -> None:
    symbols = text_columns([40, 9, 17, 0, 1])
    first, reader = read_grams(symbols[:, :cut], GramReader.start(5))
    second, _ = read_grams(symbols[:, cut:], reader)
    pieces = np.concatenate([first, second], axis=1)
    np.testing.assert_array_equal(pieces, gram_hashes(symbols))


def test_hashes_one_by_one_are_those_of_the_whole_and_so_is_what_is_remembered() -> None:
    symbols = text_columns([60, 9, 17, 0, 1])
    whole, after = read_grams(symbols, GramReader.start(5))
    reader = GramReader.start(5)
    for at in range(symbols.shape[1]):
        np.testing.assert_array_equal(reader.step(symbols[:, at]), whole[:, at])
    for one in fields(GramReader):
        np.testing.assert_array_equal(getattr(reader, one.name), getattr(after, one.name))


def test_nothing_gives_nothing() -> None:
    assert gram_hashes(np.zeros((3, 0), np.int16)).shape == (3, 0, GRAM_KINDS)
