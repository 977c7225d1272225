"""A sentence encoder's vectors of unlabelled columns, for a byte network to learn from.

    columns of raw/ --text: header and first cells--> encoder --centred, length 1--> vectors (columns, D)

A student that gives these vectors from bytes arranges columns by meaning, whether or not anybody labelled them. Half of the
columns are read without their header, by teacher and student alike; of the others the student may not see the header and
then learns to guess at it. The encoder is asked once: its vectors are kept in a file.

`first_rows` is the same knowledge as a start: rows of the n-gram embedding by a ridge regression onto the vectors, as for
the n-gram networks (lab/ngram_network/distillation.py).
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from aegir.lab.byte_network.corpus import FirstRows
from aegir.lab.byte_network.examples import TEACHER_HEAD, TableExample
from aegir.lab.ngram_network.distillation import (
    RIDGE,
    Encode,
    main_directions,
    solve_ridge,
)
from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.byte_encoding import encode_column, pad
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.ngrams.column_inputs import header_view
from aegir.tables.table import Column, Table
from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import parse_json

DISTIL = "distil"
"""The name of these columns in tables_per_step."""
CELLS, CELL_CHARACTERS = 5, 40
"""Of a column, as the encoder reads it."""
PER_COLLECTION = 0.25
"""No collection of tables gives more than this share of the columns."""
WITHOUT_HEADER = 0.5
ASKED_AT_ONCE = 4096
"""The encoder's vectors are kept after every so many."""
ROWS_AT_ONCE = 512
MOST_FOR_ROWS = 6000
"""Columns that the first rows are fitted to; twice as many take a minute."""
SPREAD = 0.1
"""Root mean square of the first rows, over the n-grams as they occur: that of random ones."""
_A_WORD = re.compile(r"[^\W\d_]{3}")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TaughtColumns:
    """Unlabelled columns with a teacher's vectors."""

    columns: tuple[Column, ...]
    """Without a name where the header is not read."""
    vectors: F32
    """(columns, D) of length 1; their mean is taken out."""

    @classmethod
    def none(cls) -> "TaughtColumns":
        """No columns."""
        return cls((), np.zeros((0, 0), np.float32))

    def at(self, part: slice) -> "TaughtColumns":
        """Return the columns of this part."""
        return TaughtColumns(self.columns[part], self.vectors[part])

    def examples(self, weight: float) -> list[TableExample]:
        """Return one-column tables to learn from."""
        return [
            TableExample(
                Table("", (column,)),
                {},
                {TEACHER_HEAD: weight},
                DISTIL,
                vectors=vector[None],
            )
            for column, vector in zip(self.columns, self.vectors, strict=True)
        ]


def ask_teacher(columns: Sequence[Column], encode: Encode, cache: Path, say: Say) -> TaughtColumns:
    """Return the columns with the encoder's vectors, which are taken from the file as far as it has them."""
    vectors = encode_cached([column_text(column) for column in columns], encode, cache, say)
    centred = vectors - vectors.mean(axis=0)
    lengths = np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-6)
    return TaughtColumns(tuple(columns), np.asarray(centred / lengths, np.float32))


def choose_columns(tables: Sequence[Table], most: int, seed: int) -> list[Column]:
    """Return at most so many columns with words in their cells, half of them without their header."""
    random = Seeds(seed).generator("taught columns")
    taken: Counter[str | None] = Counter()
    chosen: list[Column] = []
    for number in random.permutation(len(tables)):
        table = tables[number]
        for column in table.columns:
            if len(chosen) == most:
                return chosen
            if taken[table.source] < most * PER_COLLECTION and _has_words(column):
                taken[table.source] += 1
                bare = random.random() < WITHOUT_HEADER
                chosen.append(Column(None, column.values) if bare else column)
    return chosen


def column_text(column: Column) -> str:
    """Return what the encoder reads: `home town: Oslo, Bergen`, or the cells alone."""
    cells = [" ".join(cell.split())[:CELL_CHARACTERS] for cell in column.present[:CELLS]]
    return ": ".join([*header_view(column.name), ", ".join(cells)])


def encode_cached(texts: Sequence[str], encode: Encode, path: Path, say: Say) -> F32:
    """Return the vectors (texts, D); those that the file lacks are asked for and added to it."""
    known = _read_vectors(path) if path.exists() else {}
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    for at in range(0, len(missing), ASKED_AT_ONCE):
        say(f"asking the sentence encoder: {at} of {len(missing)} columns done")
        some = missing[at : at + ASKED_AT_ONCE]
        # float16 as in the file, so that a run that reads the file learns the same
        known |= zip(some, encode(some).astype(np.float16), strict=True)
        _write_vectors(path, known)
    return np.array([known[text] for text in texts], np.float32)


def first_rows(taught: TaughtColumns, reading: Reading) -> FirstRows:
    """Return the function that gives the rows with which the embedding of n-grams begins."""
    some = taught.at(slice(MOST_FOR_ROWS))

    def rows(hashes: npt.NDArray[np.int32], width: int) -> F32:
        inputs = vstack(list(_bags(some.columns, GramIndex.of(hashes), reading)))
        fitted = solve_ridge(inputs, main_directions(some.vectors, width), RIDGE)
        often = np.asarray(inputs.sum(axis=0)).ravel()
        size = np.sqrt((often[:, None] * fitted**2).sum() / max(float(often.sum()) * width, 1e-6))
        return np.asarray(fitted * (SPREAD / max(float(size), 1e-6)), np.float32)

    return rows


def _bags(columns: Sequence[Column], index: GramIndex, reading: Reading) -> Iterator[csr_matrix]:
    """Yield (columns, n-grams): how often a kept n-gram ends at a position of the column, over its positions."""
    for at in range(0, len(columns), ROWS_AT_ONCE):
        some = [encode_column(column, reading) for column in columns[at : at + ROWS_AT_ONCE]]
        symbols, lengths = pad(some)
        grams = index.rows(symbols).reshape(len(some), -1)  # (B, T G)
        row, column = np.nonzero(grams < index.missing)
        shares = (1 / lengths[row]).astype(np.float32)
        yield csr_matrix((shares, (row, grams[row, column])), shape=(len(some), index.missing))


def _has_words(column: Column) -> bool:
    return any(_A_WORD.search(cell) for cell in column.present[:CELLS])


def _read_vectors(path: Path) -> dict[str, npt.NDArray[np.float16]]:
    tensors, _ = read_safetensors(path)
    try:
        texts = parse_json(tensors["texts"].tobytes())
        return dict(zip(texts, tensors["vectors"].astype(np.float16), strict=True))
    except (KeyError, ValueError, TypeError) as error:
        raise UsageError(
            f"{path} has no vectors of a sentence encoder ({error!r}); remove it, or name another file"
        ) from None


def _write_vectors(path: Path, known: dict[str, npt.NDArray[np.float16]]) -> None:
    tensors = {
        "texts": np.frombuffer(json.dumps([*known]).encode(), np.uint8),
        "vectors": np.array([*known.values()]),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, safetensors_bytes(tensors, {}))
