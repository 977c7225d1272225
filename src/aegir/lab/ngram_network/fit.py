"""Fits the n-gram network: which tables a step reads, the loss, the loop, and answers to held-out tables.

A step reads some everyday tables, some of the web's own and some of other sources, a number of columns of which
only a header is known, and, once there is a teacher, unlabelled tables with the teacher's answers as targets
(self-training; Xie et al. 2020). What is hidden and changed in a step is in batches.py.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from aegir.lab.ngram_network.batches import Batches, HeaderNames
from aegir.lab.ngram_network.columns import TARGETS, Columns, choose_buckets
from aegir.lab.ngram_network.distillation import NOISE
from aegir.lab.ngram_network.embedding_rows import RowAdam
from aegir.lab.ngram_network.torch_network import (
    AUXILIARY,
    EMBEDDING_SPREAD,
    ROW_WORDS,
    WORDS,
    Sizes,
    TorchNetwork,
)
from aegir.readers.ngrams.features import stack_rows
from aegir.readers.ngrams.network import LAYER_OUTPUTS, NgramNetwork
from aegir_rl.base.arrays import F16, F32, I64, Bools

LOSS_WEIGHTS = {
    "types": 1.0,
    "fine": 1.0,
    "relations": 0.7,
    "levels": 1.0,
    "special": 0.7,
    "web": 0.1,
    "rows": 0.7,
    "person": 1.0,
    WORDS: 0.2,
    ROW_WORDS: 0.2,
}
RARE_HEADER, RARE_VALUE = 2, 4
"""N-grams in fewer headers or columns are not embedded."""
WARM_UP = 60
TABLES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class NetworkTraining:
    """Settings of one fit."""

    epochs: int = 12
    """How often the everyday tables are read."""
    everyday: int = 24
    """Everyday tables per step."""
    web: int = 48
    other: int = 32
    made_up: int = 32
    """Made-up columns per step."""
    raw: int = 20
    learning_rate: float = 2e-3
    weight_decay: float = 0.02
    dropout: float = 0.5
    header_rows: int = 32768
    value_rows: int = 32768
    sizes: Sizes = field(default_factory=Sizes)


class Fit:
    """One network in training; `used` marks the tables (tables,) that may be learnt from."""

    def __init__(
        self,
        columns: Columns,
        used: Bools,
        names: HeaderNames,
        settings: NetworkTraining,
        seed: int,
    ) -> None:
        self.columns, self.used, self.settings = columns, used, settings
        self.random = np.random.default_rng(seed)
        sizes = np.diff(columns.starts)
        learnt = np.flatnonzero(np.repeat(used, sizes))
        with_headers = used & np.array([not table.source.web for table in columns.tables])
        header_buckets = choose_buckets(
            stack_rows([columns.headers, names.rows]),
            np.append(
                np.flatnonzero(np.repeat(with_headers, sizes)),
                len(columns) + np.arange(len(names.fine)),
            ),
            RARE_HEADER,
            settings.header_rows,
        )
        value_buckets = choose_buckets(columns.values, learnt, RARE_VALUE, settings.value_rows)
        self.buckets = {"headers": header_buckets, "values": value_buckets}
        """The n-grams that are embedded, and their importance."""
        self.batches = Batches(columns, names, header_buckets, value_buckets, learnt, self.random)
        torch.manual_seed(seed)
        self.network = TorchNetwork(
            len(header_buckets[0]),
            len(value_buckets[0]),
            settings.sizes,
            settings.dropout,
            {head: words for head in AUXILIARY if (words := columns.targets[head].shape[1])},
        )

    def start_from(self, rows: Mapping[str, F32]) -> None:
        """Begin with these rows (n-grams, width) of `headers` and `values`, and a little noise, instead of at random."""
        with torch.no_grad():
            for bag, found in rows.items():
                weight = getattr(self.network, bag).weight[: len(found)]
                start = torch.from_numpy(found)
                noise = torch.where(start.any(dim=1), NOISE, EMBEDDING_SPREAD)
                weight.mul_(noise[:, None] / EMBEDDING_SPREAD).add_(start)

    def run(
        self,
        teacher: Mapping[str, F16] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Train; `teacher` has the probabilities (columns, outputs) to aim at in unlabelled tables."""
        settings = self.settings
        groups = self._groups(teacher is not None)
        everyday, at_once = groups[0]
        steps = settings.epochs * (len(everyday) // at_once)
        streams = [_endless(tables, count, self.random) for tables, count in groups]
        dense = [p for name, p in self.network.named_parameters() if not _is_sparse(name)]
        sparse = [p for name, p in self.network.named_parameters() if _is_sparse(name)]
        optimisers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(dense, weight_decay=settings.weight_decay),
            RowAdam(sparse),
        ]
        self.network.train()
        for step in range(steps):
            rate = settings.learning_rate * _schedule(step, steps)
            for optimiser in optimisers:
                optimiser.zero_grad()
                for group in optimiser.param_groups:
                    group["lr"] = rate
            tables = np.concatenate([next(stream) for stream in streams])
            read = self.batches.varied(tables, teacher)
            loss = compute_loss(self.network(read.batch), read.targets, read.weights)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(dense, 1.0)
            for optimiser in optimisers:
                optimiser.step()
            if say and ((step + 1) % 200 == 0 or step + 1 == steps):
                say(f"step {step + 1} of {steps}, loss {float(loss.detach()):.3f}")

    def predict(self, tables: I64) -> dict[str, F32]:
        """Return the outputs of the layers of all heads for the columns of these tables, or for the tables, in order."""
        self.network.eval()
        with torch.no_grad():
            parts = [
                self.network(self.batches.plain(tables[at : at + TABLES_AT_ONCE]))
                for at in range(0, len(tables), TABLES_AT_ONCE)
            ]
        return {
            head: torch.cat([torch.zeros(0, count), *(part[head] for part in parts)]).numpy()
            for head, count in LAYER_OUTPUTS.items()
        }

    def export(self) -> NgramNetwork:
        """Return the network for numpy."""
        return self.network.export(self.buckets["headers"], self.buckets["values"])

    def _groups(self, with_raw: bool) -> list[tuple[I64, int]]:
        """Return the tables of each kind that are learnt from, and how many are read per step."""
        names = ("everyday", "web", "other", "made up", "raw")
        kinds: dict[str, list[int]] = {name: [] for name in names}
        columns = self.columns
        table = np.repeat(np.arange(len(columns.tables)), np.diff(columns.starts))
        weights = np.sum([columns.weights[head] for head in TARGETS], axis=0)
        labelled = np.bincount(table, weights, minlength=len(columns.tables))
        for number in np.flatnonzero(self.used).tolist():
            source = columns.tables[number].source
            if source.everyday:
                kinds["everyday"].append(number)
            elif source.raw:
                kinds["raw"].append(number)
            elif labelled[number] > 0:
                whole = source.web and source.in_context
                kinds["web" if whole else "other" if source.web else "made up"].append(number)
        if not with_raw:
            kinds["raw"] = []
        settings = self.settings
        counts = {
            "everyday": settings.everyday,
            "web": settings.web,
            "other": settings.other,
            "made up": settings.made_up,
            "raw": settings.raw,
        }
        groups = [(np.array(tables), counts[kind]) for kind, tables in kinds.items() if tables]
        return [(tables, min(count, len(tables))) for tables, count in groups]


def compute_loss(
    outputs: Mapping[str, Tensor], targets: Mapping[str, Tensor], weights: Mapping[str, Tensor]
) -> Tensor:
    """Return the weighted sum of each head's mean cross entropy."""
    total = torch.zeros(())
    for head, factor in LOSS_WEIGHTS.items():
        if head not in outputs:  # tables without words of readers
            continue
        if head == "levels":  # log probabilities already
            losses = -(outputs[head] * targets[head]).sum(1)
        elif outputs[head].shape[1] == 1:
            losses = functional.binary_cross_entropy_with_logits(
                outputs[head][:, 0], targets[head][:, 0], reduction="none"
            )
        else:
            losses = -(torch.log_softmax(outputs[head], 1) * targets[head]).sum(1)
        total = total + factor * (losses * weights[head]).sum() / weights[head].sum().clamp(min=1)
    return total


def _is_sparse(name: str) -> bool:
    return name.split(".")[0] in ("headers", "values")


def _schedule(step: int, steps: int) -> float:
    """Return the share of the learning rate: a short rise, then half a cosine down to 0.2 %."""
    return min(1, (step + 1) / WARM_UP) * (1 + math.cos(math.pi * step / steps)) / 2 + 0.002


def _endless(tables: I64, count: int, random: np.random.Generator) -> Iterator[I64]:
    while True:
        order = random.permutation(tables)
        for at in range(0, len(order) - count + 1, count):
            yield order[at : at + count]
