"""Small training runs of the byte network: made-up tables of six types, a network that learns a step in 50 ms."""

from collections.abc import Mapping
from pathlib import Path

import torch

from aegir.lab.byte_network.config import ByteTraining, read_byte_training
from aegir.lab.byte_network.supervised import Trained, train
from synthetic_labels import write_synthetic_tables

SETTINGS = """
seed = {seed}
threads = 1

[architecture]
layout = ["w1", ["w1"], "w0"]
widths = [32, 32]
head_size = 32
hidden_ratio = 1
rank = 4
gram_rows = 512
column_width = 64

[data]
folders = ["{data}/made_up_train.jsonl", "{data}/made_up_val.jsonl"]
sources = {{ gold = true }}

[held_out]
validation = false

[pretrain]
steps = 2
tables_per_step = {{ made_up_train = 8 }}
check_every = 2
loss = {{ next_symbol = 1.0, dropout = 0.0 }}

[supervised]
steps = 6
tables_per_step = {{ made_up_train = 8 }}
learning_rate = 4e-3
check_every = 2
"""
TRAINING_TABLES, HELD_OUT_TABLES = 60, 20


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.figures: dict[int, dict[str, float]] = {}

    def say(self, line: str) -> None:
        self.lines.append(line)

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        self.figures[step] = dict(figures)


def write_settings(folder: Path, seed: int = 0, name: str = "small.toml") -> Path:
    """A configuration, and beside it the tables it names."""
    if not (folder / "made_up_train.jsonl").exists():
        write_synthetic_tables(folder / "made_up_train.jsonl", TRAINING_TABLES, seed=1)
        write_synthetic_tables(folder / "made_up_val.jsonl", HELD_OUT_TABLES, seed=2)
    path = folder / name
    path.write_text(SETTINGS.format(seed=seed, data=folder), encoding="utf-8")
    return path


def settings_in(folder: Path, seed: int = 0) -> ByteTraining:
    return read_byte_training(write_settings(folder, seed))


def train_small(config: ByteTraining, folder: Path, *, resume: bool = False) -> Trained:
    return train(config, "supervised", folder, Listener(), resume=resume)


def weights(trained: Trained) -> dict[str, torch.Tensor]:
    return {name: one.detach() for name, one in trained.net.named_parameters()}
