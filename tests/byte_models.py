"""Byte networks with random weights, and columns for them to read: every weight matters, no file is needed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import PAD, Symbols, gram_hashes
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint, expected_shapes
from aegir.readers.bytes.network import ByteModel, ColumnReading

GRAM_ROWS = 600
LAYOUTS = {
    "no chunking": Architecture(
        layout=["w2"], widths=(64,), gram_rows=GRAM_ROWS, column_width=64, table_blocks=2
    ),
    "one level": Architecture(
        layout=["w1", ["w2"], "w1"], widths=(64, 96), gram_rows=GRAM_ROWS, column_width=64
    ),
    "two levels": Architecture(
        layout=["w1", ["w1", ["w2"], "w0"], "w1"],
        widths=(32, 64, 96),
        gram_rows=GRAM_ROWS,
        column_width=96,
        table_blocks=0,
    ),
    "bare": Architecture(layout=["w0", ["w1"], "w0"], widths=(32, 32), column_width=32),
}


def random_checkpoint(architecture: Architecture, seed: int = 0) -> Checkpoint:
    """Weights of about the sizes that training gives; n-grams of `text_columns` have rows."""
    random = np.random.default_rng(seed)
    tensors = {
        name: _weight(name, shape, random).astype(np.float32)
        for name, shape in expected_shapes(architecture).items()
    }
    tensors["reader.embedding.grams"][-1] = 0
    seen = np.unique(gram_hashes(text_columns([400] * 4, seed)))[1:]
    hashes = random.permutation(seen)[: architecture.gram_rows]
    assert len(hashes) == architecture.gram_rows
    return Checkpoint(architecture, tensors | {GRAM_HASHES: np.sort(hashes)}, {"seed": seed})


def _weight(name: str, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    drawn = random.standard_normal(shape)
    last = name.rsplit(".", 1)[-1]
    if last in ("mix", "key_rate"):
        return random.random(shape)
    if last in ("norm_weight", "key_scale") or ("norm" in name and last == "weight"):
        return 1 + 0.2 * drawn
    if last == "weight":
        return drawn / np.sqrt(shape[1])
    if len(shape) == 1 or last in ("bonus", "norm_bias", "symbols", "grams", "roles"):
        return 0.5 * drawn
    return drawn / np.sqrt(shape[0])


def annotating_checkpoint(facts: Mapping[str, Any], seed: int = 0) -> Checkpoint:
    """Weights that an annotator can use: with heads for columns alone."""
    random = random_checkpoint(LAYOUTS["one level"], seed)
    alone = {
        f"heads.{task}_alone.{kind}": random.tensors[f"heads.{task}.{kind}"].copy()
        for task in ("cta", "cpa")
        for kind in ("weight", "bias")
    }
    return Checkpoint(random.architecture, dict(random.tensors) | alone, facts)


def random_model(layout: str, seed: int = 0) -> ByteModel:
    return ByteModel(random_checkpoint(LAYOUTS[layout], seed))


def text_columns(lengths: list[int], seed: int = 0) -> Symbols:
    """(B, T) symbols that look like cells of words and numbers, padded."""
    random = np.random.default_rng(seed)
    alphabet = np.array([*b"aabcdeABC  0011.", 195, 257, 258, 259])
    longest = max([*lengths, 0])
    symbols = alphabet[random.integers(0, len(alphabet), (len(lengths), longest))].astype(np.int16)
    symbols[np.arange(longest) >= np.array(lengths)[:, None]] = PAD
    return symbols


def closest_call(reading: ColumnReading) -> float:
    """How near to 1/2 a boundary probability comes: nearer than rounding, either answer is right."""
    return min((float(np.abs(one.p - 0.5).min()) for one in reading.output.boundaries), default=1.0)
