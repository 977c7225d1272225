"""Small training runs of specialists: made-up labelled tables, made-up unlabelled ones, a stand-in for the encoder."""

import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from aegir.lab.specialists.config import SpecialistTraining, read_specialist_training
from aegir_rl.base.arrays import F32
from small_runs import HELD_OUT_TABLES, TRAINING_TABLES
from synthetic_labels import write_synthetic_tables

SETTINGS = """
seed = {seed}
threads = 1

[specialist]
name = "contacts"
domain = "who to write to and where"
kinds = ["person"]
types = ["URL"]
outside = 0.25

[architecture]
layout = ["w1", ["w1"], "w0"]
widths = [32, 32]
head_size = 16
hidden_ratio = 1
rank = 4
gram_rows = 512
column_width = 32
table_blocks = 0

[data]
folders = ["{data}/made_up_train.jsonl", "{data}/made_up_val.jsonl", "{data}/raw/words.jsonl.gz"]
sources = {{ gold = true }}

[held_out]
validation = false

[supervised]
steps = 4
tables_per_step = {{ made_up_train = 12 }}
learning_rate = 1e-2
check_every = 2
"""
DISTIL = "\n[distil]\ntexts = 60\n"
WORDS = {
    "stars": ["sun", "moon", "comet", "orbit", "planet"],
    "plants": ["root", "leaf", "bark", "branch", "flower"],
    "metals": ["iron", "copper", "silver", "nickel", "cobalt"],
}
DIMENSIONS = 6


class StandIn:
    """Stands in for a sentence encoder: the mean of a vector per word, the same for the words of one row of WORDS."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> F32:
        self.asked.extend(texts)
        vectors = [np.mean([_vector(word) for word in _words(text)], axis=0) for text in texts]
        return np.array(vectors, np.float32)


def _words(text: str) -> list[str]:
    return "".join(c if c.isalpha() else " " for c in text).split() or [""]


def _vector(word: str) -> F32:
    meaning = next((name for name, words in WORDS.items() if word in words), word)
    seed = int.from_bytes(hashlib.blake2b(meaning.encode(), digest_size=4).digest(), "little")
    return np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)


def write_raw_tables(folder: Path, tables: int = 40) -> Path:
    """A file of unlabelled tables where such files are, below the folder."""
    path = folder / "raw" / "words.jsonl.gz"
    path.parent.mkdir(exist_ok=True)
    lines = []
    for number in range(tables):
        random = Random(number)
        columns = [
            {"name": name, "values": [f"{random.choice(words)} {number}" for _ in range(5)]}
            for name, words in WORDS.items()
        ]
        line = {"id": f"{number}.csv", "source": f"made/up{number % 6}", "columns": columns}
        lines.append(json.dumps(line))
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def write_specialist_settings(
    folder: Path, name: str = "contacts.toml", distil: bool = False, seed: int = 0
) -> Path:
    """A configuration, and beside it the tables it names."""
    if not (folder / "made_up_train.jsonl").exists():
        write_synthetic_tables(folder / "made_up_train.jsonl", TRAINING_TABLES, seed=1)
        write_synthetic_tables(folder / "made_up_val.jsonl", HELD_OUT_TABLES, seed=2)
        write_raw_tables(folder)
    text = SETTINGS.format(seed=seed, data=folder)
    if distil:
        text = text.replace("made_up_train = 12", "made_up_train = 12, distil = 6") + DISTIL
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def specialist_settings(folder: Path, distil: bool = False, seed: int = 0) -> SpecialistTraining:
    return read_specialist_training(write_specialist_settings(folder, distil=distil, seed=seed))
