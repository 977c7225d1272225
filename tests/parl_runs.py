"""Small PARL runs: made-up tables of six types, a tiny primary, two frozen specialists with random weights."""

from dataclasses import replace
from pathlib import Path

import torch

from aegir.lab.byte_network.batches import ColumnBatch, batch_of, draw_as_is
from aegir.lab.byte_network.corpus import build_corpus
from aegir.lab.parl.build import build_policy
from aegir.lab.parl.config import ParlTraining, read_parl_training
from aegir.lab.parl.loop import TrainedSwarm, train_parl
from aegir.lab.parl.policy import SwarmPolicy
from aegir.lab.parl.step_tables import StepTables
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.swarm.weights_file import save_specialist
from aegir.swarm.specialist import FrozenSpecialist
from byte_models import random_checkpoint
from small_runs import Listener
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
gram_rows = 256
column_width = 32

[data]
folders = ["{data}/made_up_train.jsonl", "{data}/made_up_val.jsonl"]
sources = {{ gold = true }}

[held_out]
validation = false

[learning]
check_every = 2

[warm_start]
steps = 2
tables_per_step = {{ made_up_train = 4 }}

[rl]
steps = 4
tables_per_step = {{ made_up_train = 4 }}
rollouts = 2
kept_episodes = 3

[budget]
stretch = 1
"""
SAME = Architecture(
    layout=["w1", ["w1"], "w0"],
    widths=(32, 32),
    head_size=32,
    rank=4,
    gram_rows=64,
    column_width=32,
)
OTHER = replace(SAME, layout=["w1"], widths=(16,), head_size=16, column_width=16)
NAMES = ("codes", "places")


def write_parl_settings(folder: Path, seed: int = 0) -> Path:
    """A configuration, and beside it the tables it names."""
    if not (folder / "made_up_train.jsonl").exists():
        write_synthetic_tables(folder / "made_up_train.jsonl", 30, seed=1)
        write_synthetic_tables(folder / "made_up_val.jsonl", 8, seed=2)
    path = folder / "parl.toml"
    path.write_text(SETTINGS.format(seed=seed, data=folder), encoding="utf-8")
    return path


def parl_settings(folder: Path, seed: int = 0) -> ParlTraining:
    return read_parl_training(write_parl_settings(folder, seed))


def write_specialists(folder: Path) -> Path:
    """Two files of `save_specialist`, the second of another width and head size."""
    folder.mkdir(exist_ok=True)
    for number, (name, layout) in enumerate(zip(NAMES, (SAME, OTHER), strict=True)):
        checkpoint = random_checkpoint(layout, number + 1)
        save_specialist(folder / f"{name}.safetensors", checkpoint, name, f"made up: {name}")
    return folder


def two_specialists(folder: Path) -> list[FrozenSpecialist]:
    files = sorted(write_specialists(folder).glob("*.safetensors"))
    return [FrozenSpecialist.load(file) for file in files]


def train_small_parl(
    config: ParlTraining, folder: Path, specialists: list[FrozenSpecialist], *, resume: bool = False
) -> TrainedSwarm:
    return train_parl(config, folder, Listener(), specialists, resume=resume)


def policy_and_tables(folder: Path) -> tuple[SwarmPolicy, ColumnBatch, StepTables]:
    """A swarm whose own weights are random and whose gates are open, and four tables."""
    config = parl_settings(folder)
    corpus = build_corpus(config.data, config.held_out, config.data_seed)
    grams = corpus.grams(config.architecture)
    policy = build_policy(config, config.architecture, grams, corpus, two_specialists(folder / "s"))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in policy.swarm.named_parameters():
            if "primary_model" not in name:
                parameter.add_(0.5 * torch.randn(parameter.shape, generator=generator))
    examples = corpus.training[:4]
    drawings = [draw_as_is(one, config.architecture.reading) for one in examples]
    batch = batch_of(drawings, policy.primary.index, corpus.heads)
    return policy, batch, StepTables(batch, examples, NAMES, 7)
