"""What is asked of a sentence encoder, what is kept of it, and what a network begins with."""

from pathlib import Path

import numpy as np
import pytest

from aegir.lab.specialists.teacher import (
    SPREAD,
    TaughtColumns,
    ask_teacher,
    choose_columns,
    column_text,
    encode_cached,
    first_rows,
)
from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.byte_encoding import encode_column, gram_hashes
from aegir.readers.bytes.gram_index import GramIndex
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError
from small_specialists import StandIn


def quiet(line: str) -> None:
    assert line


def test_the_encoder_reads_header_words_and_first_cells():
    cells = ("Oslo", "", " New\n York ", "x" * 90, "4", "5", "6")
    assert column_text(Column("homeTown", cells)) == f"home town: Oslo, New York, {'x' * 40}, 4, 5"
    assert column_text(Column(None, cells[:1])) == "Oslo"


def test_columns_have_words_and_no_collection_gives_more_than_a_quarter():
    words = [
        Table(f"{i}", (Column("a", ("word",)), Column("b", ("12",))), "large") for i in range(90)
    ]
    words += [Table(f"{i}", (Column("a", ("word",)),), f"small{i}") for i in range(60)]
    chosen = choose_columns(words, 40, seed=0)
    assert len(chosen) == 40
    assert {column.values for column in chosen} == {("word",)}
    assert 8 <= sum(column.name is None for column in chosen) <= 32  # half, drawn
    assert choose_columns(words, 40, seed=0) == chosen
    assert len(choose_columns(words[:90], 40, seed=0)) == 10


def test_the_encoder_is_asked_once_for_each_text_and_the_file_gives_the_same_numbers(
    tmp_path: Path,
):
    file, encode = tmp_path / "vectors.safetensors", StandIn()
    first = encode_cached(["sun", "leaf", "sun"], encode, file, quiet)
    again = encode_cached(["leaf", "iron", "sun"], encode, file, quiet)
    assert encode.asked == ["sun", "leaf", "iron"]
    assert np.array_equal(first[[1, 0]], again[[0, 2]])
    assert np.array_equal(encode_cached(["iron"], encode, file, quiet), again[1:2])


def test_a_file_of_something_else_is_one_sentence(tmp_path: Path):
    from aegir_rl.base.safetensors_file import safetensors_bytes

    file = tmp_path / "vectors.safetensors"
    file.write_bytes(safetensors_bytes({"a": np.zeros(2)}, {}))
    with pytest.raises(UsageError, match="has no vectors of a sentence encoder"):
        encode_cached(["sun"], StandIn(), file, quiet)


def test_vectors_are_centred_and_of_length_1(tmp_path: Path):
    def encode(texts):
        return np.array([[3.0, 1.0], [1.0, 1.0]], np.float32)

    columns = [Column(None, ("a",)), Column(None, ("b",))]
    taught = ask_teacher(columns, encode, tmp_path / "v", quiet)
    # Their mean is (2, 1): what is left is (1, 0) and (-1, 0).
    assert taught.vectors.tolist() == [[1.0, 0.0], [-1.0, 0.0]]


def test_first_rows_give_columns_the_places_of_their_vectors():
    groups = [("red", "crimson"), ("cold", "frost")]
    columns = [Column(None, (word,) * 3) for words in groups for word in words for _ in range(4)]
    vectors = np.repeat(np.eye(2, dtype=np.float32) - 0.5, 8, axis=0) * np.sqrt(2)
    reading = Reading()
    symbols = [encode_column(column, reading) for column in columns]
    kept = np.unique(np.concatenate([gram_hashes(one[None]).ravel() for one in symbols]))
    kept = kept[kept >= 0].astype(np.int32)
    rows = first_rows(TaughtColumns(tuple(columns), vectors), reading)(kept, 3)
    assert rows.shape == (len(kept), 3)

    def place(word: str):
        found = GramIndex.of(kept).rows(encode_column(Column(None, (word,)), reading)[None])
        return np.vstack([rows, np.zeros(3)])[found].sum(axis=(0, 1, 2))

    assert place("red") @ place("crimson") > 0
    assert place("red") @ place("frost") < 0
    assert SPREAD / 3 < float(np.sqrt((rows**2).mean())) < SPREAD * 3
