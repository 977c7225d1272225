"""The whole network: symbols -> columns -> table -> what each column is.

    bytes + hashed n-grams --> hierarchy --> mean and maximum at every level --> one vector per column
    vectors of one table --> RWKV-7 blocks read in both directions --> siblings, subject --> heads

The type of a column depends on its siblings too; the relation head also sees the subject column.
Names of parameters are the names in the checkpoint: `aegir.readers.bytes` reads the same ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from aegir.lab.nets.first_layer import FirstLayer
from aegir.lab.nets.hierarchy import StageNet, StageOutput, StageState
from aegir.lab.nets.rwkv7 import Block
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import PAD, SYMBOLS
from aegir.readers.bytes.heads import ANSWER_PLACES, HEAD_SIZES
from aegir.readers.bytes.table_mixer import SUBJECT

DROPPED = 7
"""Random numbers per unit of column width that dropout needs: for the vector, its surroundings, the hidden layer."""


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Which columns of a batch belong to which table."""

    columns: Tensor
    """(tables, most columns) numbers of columns; 0 where the mask is false."""
    mask: Tensor
    """(tables, most columns)"""
    roles: Tensor
    """(tables, most columns) OTHER, SUBJECT or UNKNOWN."""

    @property
    def subjects(self) -> Tensor:
        """(tables, most columns) true for the subject column."""
        return self.mask & (self.roles == SUBJECT)


class Embedding(nn.Module):  # type: ignore[misc]
    """The embedding of a position: its symbol, and the n-grams that end there."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        width = architecture.widths[0]
        self.symbols = nn.Parameter(torch.randn(SYMBOLS, width) * 0.5)
        self.grams = nn.Parameter(torch.randn(architecture.gram_rows + 1, width) * 0.1)
        """The last row is for n-grams without one of their own: it is zero, and stays so."""
        self.norm = nn.LayerNorm(width)
        with torch.no_grad():
            self.grams[-1] = 0

    def forward(self, symbols: Tensor, grams: Tensor) -> Tensor:
        """Embed symbols (B, T) and rows of n-grams (B, T, G) as (B, T, D)."""
        batch, length = symbols.shape
        bag = functional.embedding_bag(
            grams.flatten(0, 1), self.grams, mode="sum", padding_idx=len(self.grams) - 1
        )
        own = functional.embedding(symbols, self.symbols)
        return self.norm(own + bag.reshape(batch, length, -1))


class ColumnReader(nn.Module):  # type: ignore[misc]
    """Reads the symbols of columns and gives one vector per column."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.embedding = Embedding(architecture)
        self.stage = StageNet(architecture.stage, architecture)
        self.norm = nn.LayerNorm(architecture.pooled_width)
        self.column = nn.Linear(architecture.pooled_width, architecture.column_width)

    def forward(
        self, symbols: Tensor, grams: Tensor, state: StageState | None = None
    ) -> StageOutput:
        """Return the hierarchy's output at every position of (B, T)."""
        x = self.embedding(symbols, grams)
        before = state or self.stage.start(len(symbols))
        output: StageOutput = self.stage(x, symbols != PAD, before)
        return output

    def pool(self, output: StageOutput) -> Tensor:
        """Return mean and maximum at every level (B, pooled width)."""
        parts = []
        for x, mask in output.levels:
            present = mask[..., None]
            parts.append((x * present).sum(dim=1) / present.sum(dim=1).clamp(min=1))
            parts.append(x.masked_fill(~present, -torch.inf).amax(dim=1))
        return torch.cat(parts, dim=-1)

    def vectors(self, output: StageOutput) -> Tensor:
        """Return one vector per column (B, column width)."""
        return self.column(self.norm(self.pool(output)))


class TableMixer(nn.Module):  # type: ignore[misc]
    """Turns the vectors of columns into embeddings that depend on the other columns of their table."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        width = architecture.column_width
        sizes = (architecture.head_size, architecture.hidden_ratio, architecture.rank)
        self.roles = nn.Parameter(torch.zeros(3, width))
        self.blocks = nn.ModuleList(
            Block(width, *sizes, i == 0) for i in range(architecture.table_blocks)
        )
        self.hidden = nn.Linear(4 * width, 2 * width)
        self.out = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, vectors: Tensor, tables: TableBatch, keep: Tensor | None = None) -> Tensor:
        """Embed vectors (columns, width) in their tables; `keep` (columns, DROPPED * width) is the dropout mask.

        Answers behind the vectors are handed on as they are.
        """
        vectors, answers = vectors.tensor_split([self.norm.normalized_shape[0]], dim=1)
        x = vectors[tables.columns] + self.roles[tables.roles]
        if keep is not None:
            width = x.shape[-1]
            before, wide, narrow = keep[tables.columns].split([width, 4 * width, 2 * width], dim=-1)
            x = x * before
        x = x * tables.mask[..., None]
        backwards = _reversal(tables.mask)
        for block in self.blocks:
            forwards = block(x, block.start(len(x)), tables.mask, None)[0]
            reversed_x = x.gather(1, backwards[..., None].expand_as(x))
            backwards_out = block(reversed_x, block.start(len(x)), tables.mask, None)[0]
            x = (forwards + backwards_out.gather(1, backwards[..., None].expand_as(x))) / 2
        x = x * tables.mask[..., None]
        subject = (x * tables.subjects[..., None]).sum(dim=1, keepdim=True)
        subject = subject * ~tables.subjects[..., None]
        mean, most = _siblings(x, tables.mask)
        around = torch.cat([x, mean, most, subject], dim=-1)
        hidden = functional.relu(self.hidden(around if keep is None else around * wide)).square()
        x = self.norm(x + self.out(hidden if keep is None else hidden * narrow))
        result = torch.zeros_like(vectors)
        result = result.index_put((tables.columns[tables.mask],), x[tables.mask])
        return torch.cat([result, answers], dim=1) if answers.shape[1] else result


def _reversal(mask: Tensor) -> Tensor:
    """Return (tables, columns) the index that reverses the unmasked left part of each row."""
    counts = mask.sum(dim=1, keepdim=True)
    positions = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    return torch.where(mask, counts - 1 - positions, positions)


def _siblings(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and maximum over the other columns of the table; 0 where there is none."""
    counts = mask.sum(dim=1)[:, None, None]
    mean = (x.sum(dim=1, keepdim=True) - x) / (counts - 1).clamp(min=1)
    if x.shape[1] == 1:
        return mean * 0, mean * 0
    low = x.masked_fill(~mask[..., None], -torch.inf)
    best, where = low.topk(2, dim=1).values, low.argmax(dim=1, keepdim=True)
    positions = torch.arange(x.shape[1], device=x.device)[None, :, None]
    most = torch.where(positions == where, best[:, 1:], best[:, :1])
    alone = counts <= 1
    return mean * ~alone, most.masked_fill(alone, 0.0)


class OutputHead(nn.Linear):  # type: ignore[misc]
    """Reads a column's vector; answers of specialists that stand behind it are added to the outputs they are about."""

    def __init__(self, width: int, outputs: int, name: str = "") -> None:
        super().__init__(width, outputs)
        known = HEAD_SIZES.get(name) == outputs
        self.answer_slice = ANSWER_PLACES[name] if known else None

    def forward(self, x: Tensor) -> Tensor:
        """Return outputs (columns, outputs) for (columns, width) or (columns, width + ANSWER_WIDTH)."""
        own, answers = x.tensor_split([self.in_features], dim=1)
        logits = super().forward(own)
        if self.answer_slice is None or not answers.shape[1]:
            return logits
        return logits + answers[:, self.answer_slice]


class ByteNetwork(nn.Module):  # type: ignore[misc]
    """Reads tables and scores what their columns are (readers/bytes/heads.py) and, while training, other label spaces."""

    def __init__(self, architecture: Architecture, heads: Mapping[str, int]) -> None:
        """Make a network with new weights; `heads` gives the number of outputs of each head."""
        super().__init__()
        self.architecture = architecture
        self.reader = ColumnReader(architecture)
        self.mixer = TableMixer(architecture)
        width = architecture.column_width
        self.heads = nn.ModuleDict({name: OutputHead(width, n, name) for name, n in heads.items()})
        self.subject = OutputHead(width, 1)
        self.next_symbol = nn.Parameter(torch.zeros(SYMBOLS))
        if architecture.first:
            self.first = FirstLayer(architecture)

    def read(
        self,
        parts: Sequence[tuple[Tensor, Tensor]],
        readings: Tensor | None = None,
        heard: Tensor | None = None,
    ) -> tuple[Tensor, list[StageOutput]]:
        """Return vectors (columns, width) of columns given in parts of similar length, and each part's output.

        `readings` (columns, FIRST_WIDTH) are the first layer's; its answers then stand behind the vectors, but for columns
        where `heard` (columns,) is 0.
        """
        sizes = [len(symbols) for symbols, _ in parts]
        if readings is None or not self.architecture.first:
            outputs = [self.reader(symbols, grams) for symbols, grams in parts]
            return torch.cat([self.reader.vectors(output) for output in outputs]), outputs
        first = self.first(readings, heard)
        states = zip(*(state.split(sizes) for state in first.states), strict=True)
        outputs = [
            self.reader(symbols, grams, self.reader.stage.start(len(symbols)).with_matrices(begins))
            for (symbols, grams), begins in zip(parts, states, strict=True)
        ]
        vectors = torch.cat([self.reader.vectors(output) for output in outputs])
        return torch.cat([vectors + first.vectors, first.answers], dim=1), outputs

    def guess_next(self, x: Tensor) -> Tensor:
        """Return logits (..., SYMBOLS) of the next symbol from the hierarchy's output (..., D)."""
        symbols = self.reader.embedding.symbols
        return x @ symbols.T / symbols.shape[1] ** 0.5 + self.next_symbol
