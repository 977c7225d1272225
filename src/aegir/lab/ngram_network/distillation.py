"""What a sentence encoder knows of words, put into n-gram embeddings before the network is trained.

    texts of unlabelled tables --sentence encoder--> vectors E --main directions, evened out--> Y (texts, D)
    rows W of the embeddings:  minimise |X W - Y|^2 + ridge |W|^2,    X the texts as weighed n-grams

An n-gram that no labelled column has then begins near n-grams of like meaning instead of at a random place. Labels are
not involved. On headers that were left out, X W explains three quarters of the variance of Y.

Knowledge distillation as in Hinton, Vinyals and Dean 2015 (arXiv:1503.02531), with vectors as targets.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from aegir.readers.ngrams.column_inputs import header_view
from aegir.readers.ngrams.features import BUCKETS, hashed_in_parts
from aegir.readers.ngrams.network import weigh
from aegir.tables.labelled import read_labelled_tables
from aegir_rl.base.arrays import F32, I64
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from aegir_rl.base.text import parse_json

MOST_TEXTS = 60_000
"""Of headers, and of cells."""
CELLS_PER_FILE, CELLS_PER_COLUMN, CELL_CHARACTERS = 4000, 2, 80
RIDGE = 0.3
STEPS = 60
"""Of the conjugate gradient: more change nothing."""
EVENED = 0.5
"""Directions are divided by this power of their deviation, so that the first few do not drown the others."""
SPREAD, NOISE = 0.3, 0.1
"""Deviation of the vectors of texts, and of what is added to each row at random."""
SAMPLED = 20_000
"""Texts from which the main directions are taken."""
_A_WORD = re.compile(r"[^\W\d_]{3}")
Encode = Callable[[Sequence[str]], F32]


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """Texts and the encoder's vectors (texts, D) of them."""

    texts: tuple[str, ...]
    vectors: npt.NDArray[np.float16]


Knowledge = Mapping[str, EncodedTexts]
"""`headers` and `values`, as the embeddings are called."""


def choose_texts(raw: Sequence[Path], known: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the most frequent headers of unlabelled tables, known headers among them, and some cells with words."""
    random = Random(0)  # noqa: S311 (no secret)
    headers: Counter[str] = Counter()
    cells: list[str] = []
    for path in raw:
        count = 0
        for labelled in read_labelled_tables(path):
            for column in labelled.table.columns:
                headers.update(header_view(column.name))
                words = [cell for cell in column.values if cell and _A_WORD.search(cell)]
                if words and count < CELLS_PER_FILE:
                    drawn = random.sample(words, min(CELLS_PER_COLUMN, len(words)))
                    cells += [cell[:CELL_CHARACTERS] for cell in drawn]
                    count += CELLS_PER_COLUMN
    for header in known:
        headers.update(header_view(header) * 5)  # before those that occur a few times
    distinct = sorted(set(cells))
    random.shuffle(distinct)
    common = tuple(header for header, _ in headers.most_common(MOST_TEXTS))
    return {"headers": common, "values": tuple(distinct[:MOST_TEXTS])}


def read_knowledge(
    path: Path, raw: Sequence[Path], known: Sequence[str], encode: Encode
) -> Knowledge:
    """Return what is in the file; if there is none, ask the encoder, which takes minutes, and write it."""
    if not path.exists():
        tensors: dict[str, npt.NDArray[np.generic]] = {}
        for bag, texts in choose_texts(raw, known).items():
            tensors[f"{bag}.texts"] = np.frombuffer(json.dumps(texts).encode(), np.uint8)
            tensors[f"{bag}.vectors"] = encode(texts).astype(np.float16)
        replace_file(path, safetensors_bytes(tensors, {}))
    tensors, _ = read_safetensors(path)
    return {
        bag: EncodedTexts(
            tuple(parse_json(tensors[f"{bag}.texts"].tobytes())),
            tensors[f"{bag}.vectors"].astype(np.float16),
        )
        for bag in ("headers", "values")
    }


def distil_rows(known: EncodedTexts, kept: tuple[I64, F32], width: int) -> F32:
    """Return rows (kept n-grams, width) of embeddings that give texts the places the encoder gives them."""
    targets = main_directions(known.vectors.astype(np.float32), width)
    inputs = _weighed_ngrams(known.texts, kept)
    rows = solve_ridge(inputs, targets, RIDGE)
    return np.asarray(rows * (SPREAD / max(float((inputs @ rows).std()), 1e-6)), np.float32)


def main_directions(vectors: F32, width: int) -> F32:
    """Return (texts, width): the vectors in the directions in which they differ most, evened out."""
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred[:SAMPLED], full_matrices=False)
    projected = centred @ directions[:width].T
    deviation = np.maximum(projected.std(axis=0), 1e-6)
    padded = np.zeros((len(vectors), width), np.float32)  # fewer directions than asked for
    padded[:, : projected.shape[1]] = projected / deviation**EVENED
    return padded


def solve_ridge(inputs: csr_matrix, targets: F32, ridge: float) -> F32:
    """Return W (features, outputs) of least |X W - Y|^2 + ridge |W|^2, by the conjugate gradient method."""
    transposed = inputs.T.tocsr()
    solution = np.zeros((inputs.shape[1], targets.shape[1]), np.float32)
    residual = transposed @ targets
    direction, size = residual.copy(), (residual**2).sum(axis=0)
    for _ in range(STEPS):
        along = transposed @ (inputs @ direction) + ridge * direction
        rate = size / np.maximum((direction * along).sum(axis=0), 1e-12)
        solution += rate * direction
        residual -= rate * along
        before, size = size, (residual**2).sum(axis=0)
        direction = residual + size / np.maximum(before, 1e-12) * direction
    return solution


def _weighed_ngrams(texts: Sequence[str], kept: tuple[I64, F32]) -> csr_matrix:
    buckets, importance = kept
    index = np.full(BUCKETS, -1, np.int32)
    index[buckets] = np.arange(len(buckets), dtype=np.int32)
    rows = hashed_in_parts([(text,) for text in texts], index)
    return csr_matrix(
        (weigh(rows, importance), rows.features, rows.starts), shape=(len(rows), len(buckets))
    )
