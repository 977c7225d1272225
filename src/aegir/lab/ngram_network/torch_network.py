"""The n-gram network in torch: the twin of readers/ngrams/network.py that learns.

`NgramBatch` holds the columns of some tables; `export` turns the learnt weights into the numpy network. Auxiliary heads learn the
words that readers have for a column and for a row; they shape the layers below them and are not exported.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from aegir.lab.ngram_network.embedding_rows import sum_rows
from aegir.readers.ngrams.column_inputs import FACTS
from aegir.readers.ngrams.network import (
    HEADER_VECTORS,
    LAYER_OUTPUTS,
    LAYERS,
    LEVELS,
    NORMS,
    TABLE_HEADS,
    HashedLinear,
    NgramNetwork,
)
from aegir_rl.base.arrays import F32, I64

EMBEDDING_SPREAD = 0.3
WORDS, ROW_WORDS = "words", "row_words"
AUXILIARY = (WORDS, ROW_WORDS)
"""Heads for the words that readers have for a column and for a row."""
TABLE_OUTPUTS = frozenset((*TABLE_HEADS, ROW_WORDS))
"""Heads that answer once per table."""


@dataclass(frozen=True, slots=True)
class Bag:
    """Rows of weighed n-grams for `sum_rows`."""

    features: Tensor
    offsets: Tensor
    weights: Tensor


@dataclass(frozen=True, slots=True)
class NgramBatch:
    """The columns of some tables; neighbours are numbers of columns, with `columns` for none."""

    headers: Bag
    names: Bag
    """One row per table."""
    values: Bag
    facts: Tensor
    """(columns, FACTS + 1): the last is 1 for the subject."""
    table: Tensor
    """(columns,) the number of each column's table."""
    left: Tensor
    right: Tensor
    shown: Tensor
    """(columns, 4) 0 where own header, other headers, table name or values are hidden; a name in all columns or in none."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Widths of the layers."""

    embedding: int = 64
    facts: int = 160
    width: int = 224


class TorchNetwork(nn.Module):  # type: ignore[misc]
    """Learns what `NgramNetwork` answers."""

    def __init__(
        self,
        header_rows: int,
        value_rows: int,
        sizes: Sizes,
        dropout: float,
        auxiliary: Mapping[str, int] | None = None,
    ) -> None:
        """`auxiliary` has the outputs of auxiliary heads by their names, those of AUXILIARY."""
        super().__init__()
        wide = sizes.embedding
        self.headers = nn.Embedding(max(header_rows, 1), wide)
        self.values = nn.Embedding(max(value_rows, 1), wide)
        for rows in (self.headers, self.values):
            nn.init.normal_(rows.weight, std=EMBEDDING_SPREAD)
        self.facts = nn.Linear(FACTS + 1, sizes.facts)
        self.own = nn.Linear((HEADER_VECTORS + 1) * wide + sizes.facts, sizes.width)
        self.own_norm = nn.LayerNorm(sizes.width)
        self.table = nn.Linear(4 * sizes.width, sizes.width)
        self.table_norm = nn.LayerNorm(sizes.width)
        self.pool = nn.Linear(2 * sizes.width + wide, sizes.width)
        self.pool_norm = nn.LayerNorm(sizes.width)
        self.heads = nn.ModuleDict(
            {head: nn.Linear(sizes.width, count) for head, count in LAYER_OUTPUTS.items()}
        )
        self.auxiliary = nn.ModuleDict(
            {head: nn.Linear(sizes.width, count) for head, count in (auxiliary or {}).items()}
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: NgramBatch) -> dict[str, Tensor]:
        """Return the outputs (columns, LAYER_OUTPUTS[head]) of every head; (tables, …) of those for tables.

        Those of `levels` are log probabilities given each state of a person.
        """
        own_shown, others_shown, name_shown, values_shown = batch.shown.T[..., None]
        headers = _embed(self.headers, batch.headers)
        tables = len(batch.names.offsets)
        counts = torch.bincount(batch.table, minlength=tables)[batch.table, None]
        others = (counts - 1).clamp(min=1)
        padded = torch.cat([headers, headers.new_zeros(1, headers.shape[1])])
        total = headers.new_zeros(tables, headers.shape[1]).index_add(0, batch.table, headers)
        of_tables = _embed(self.headers, batch.names)
        names = of_tables[batch.table]
        inputs = [
            headers * own_shown,
            padded[batch.left] * others_shown,
            padded[batch.right] * others_shown,
            (total[batch.table] - headers) / others * others_shown,
            names * name_shown,
            _embed(self.values, batch.values) * values_shown,
            torch.relu(self.facts(self.dropout(batch.facts))),
        ]
        own = torch.relu(self.own_norm(self.own(self.dropout(torch.cat(inputs, 1)))))
        width = own.shape[1]
        sums = own.new_zeros(tables, width).index_add(0, batch.table, own)
        index = batch.table[:, None].expand(-1, width)
        most = own.new_zeros(tables, width).scatter_reduce(0, index, own, "amax")
        subject = own.new_zeros(tables, width).index_add(0, batch.table, own * batch.facts[:, -1:])
        context = [own, (sums[batch.table] - own) / others, most[batch.table], subject[batch.table]]
        mixed = torch.relu(self.table_norm(self.table(self.dropout(torch.cat(context, 1)))))
        vectors = own + mixed
        filled = torch.bincount(batch.table, minlength=tables).clamp(min=1)[:, None]
        mean = own.new_zeros(tables, width).index_add(0, batch.table, vectors) / filled
        most = own.new_zeros(tables, width).scatter_reduce(0, index, vectors, "amax")
        shown = own.new_zeros(tables).scatter_reduce(0, batch.table, batch.shown[:, 2], "amax")
        pooled = torch.cat([mean, most, of_tables * shown[:, None]], 1)
        pooled = self.dropout(torch.relu(self.pool_norm(self.pool(self.dropout(pooled)))))
        vectors = self.dropout(vectors)
        outputs = {
            head: layer(pooled if head in TABLE_OUTPUTS else vectors)
            for head, layer in (*self.heads.items(), *self.auxiliary.items())
        }
        by_state = torch.log_softmax(outputs["levels"].unflatten(1, (-1, LEVELS)), 2)
        return {**outputs, "levels": by_state.flatten(1)}

    def export(
        self, header_buckets: tuple[I64, F32], value_buckets: tuple[I64, F32]
    ) -> NgramNetwork:
        """Return the network for numpy: embeddings rounded to int8, the rest to float16."""
        state = {name: tensor.detach().numpy() for name, tensor in self.state_dict().items()}
        tensors: dict[str, npt.NDArray[Any]] = {}
        for bag, (buckets, importance) in (("headers", header_buckets), ("values", value_buckets)):
            rounded = _rounded(state[f"{bag}.weight"][: len(buckets)], buckets, importance)
            fields = HashedLinear.__dataclass_fields__
            tensors |= {f"{bag}.{field}": getattr(rounded, field) for field in fields}
        for layer in (*LAYERS, *NORMS):
            for part in ("weight", "bias"):
                tensors[f"{layer}.{part}"] = state[f"{layer}.{part}"].astype(np.float16)
        return NgramNetwork.of(tensors)


def _embed(layer: nn.Embedding, bag: Bag) -> Tensor:
    return sum_rows(layer.weight, bag.features, bag.offsets, bag.weights)


def _rounded(weights: F32, buckets: I64, importance: F32) -> HashedLinear:
    scale = np.maximum(np.abs(weights).max(axis=1), 1e-8) / 127
    return HashedLinear(
        buckets.astype(np.int32),
        importance,
        np.round(weights / scale[:, None]).astype(np.int8),
        scale.astype(np.float32),
        np.zeros(weights.shape[1], np.float32),
    )
