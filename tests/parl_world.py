"""A world in which one specialist knows the answer for one kind of column, and nobody can help with the other.

Cells of the first kind are `k37`: the column is `email` if the two digits have an even sum, `telephone` otherwise, which a
tiny network does not find out in a few steps. The specialist `digits` says it. Cells of the second kind are `date xyx`: the
network reads them without help, and the specialist says nothing of use.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import torch
from torch import Tensor, nn

from aegir.lab.parl.config import ParlTraining, read_parl_training
from aegir.readers.bytes.byte_encoding import SYMBOLS
from aegir.readers.bytes.heads import OUTPUTS, TYPES_HEAD
from aegir.swarm.column_model import ModelOutput

KNOWN, OTHER = ("email", "telephone"), "Date"
DATE = OUTPUTS[TYPES_HEAD].index(OTHER)
SIGNS = torch.sign(torch.randn(3, 32, generator=torch.Generator().manual_seed(0)))
SETTINGS = """
seed = {seed}
threads = 1

[architecture]
layout = ["w1"]
widths = [32]
head_size = 32
hidden_ratio = 1
rank = 4
column_width = 32
table_blocks = 0

[data]
folders = ["{data}/world_train.jsonl", "{data}/world_val.jsonl"]
sources = {{ gold = true }}

[held_out]
validation = false

[curriculum]
strategy = "off"

[learning]
check_every = 1000
primary_rate = 1.0
augmentation = {{ shuffle_columns = 0, drop_columns = 0, fewer_rows = 0, hide_headers = 1, hide_subject = 0, cut_cells = 0 }}
loss = {{ dropout = 0, fine = 0, personal = 0, subject = 0 }}

[warm_start]
steps = {warm}
tables_per_step = {{ world_train = 16 }}
learning_rate = 1e-2

[rl]
steps = {steps}
tables_per_step = {{ world_train = 12 }}
rollouts = 4
learning_rate = 1e-2
path_cost = 0.1
smooth_lambdas = false

[budget]
stretch = 10
first_cap = 1
"""


class DigitsKnown(nn.Module):
    """One of two vectors by the sum of the first two digits; a third where there are none."""

    symbols, state_shapes = SYMBOLS, ()
    vector_width: int | None = 32

    def forward(
        self, input_ids: Tensor, mask: Tensor, initial: Sequence[Tensor] | None = None
    ) -> ModelOutput:
        digit = mask & (input_ids >= ord("0")) & (input_ids <= ord("9"))
        first = digit & (digit.cumsum(dim=1) <= 2)
        odd = (input_ids * first).sum(dim=1) % 2
        place = torch.where(first.any(dim=1), odd, 2)
        return ModelOutput(SIGNS[place])


def write_world(path: Path, tables: int, seed: int) -> None:
    random = Random(seed)
    lines = []
    for number in range(tables):
        odd = random.randrange(2)
        pairs = [(a, b) for a in range(10) for b in range(10) if (a + b) % 2 == odd]
        known = [f"k{a}{b}" for a, b in random.sample(pairs, 5)]
        other = ["date " + "".join(random.choices("xyz", k=3)) for _ in range(5)]
        columns = [
            {"name": "a", "values": known, "cta": KNOWN[odd]},
            {"name": "b", "values": other, "cta": OTHER},
        ]
        random.shuffle(columns)
        lines.append(json.dumps({"id": f"world {seed}/{number}", "columns": columns}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def world_settings(folder: Path, seed: int, warm: int, steps: int) -> ParlTraining:
    if not (folder / "world_train.jsonl").exists():
        write_world(folder / "world_train.jsonl", 120, seed=1)
        write_world(folder / "world_val.jsonl", 40, seed=2)
    path = folder / f"world-{seed}-{warm}-{steps}.toml"
    text = SETTINGS.format(seed=seed, data=folder, warm=warm, steps=steps)
    path.write_text(text, encoding="utf-8")
    return read_parl_training(path)
