"""The training loss of the byte network, and the figures of one step.

    loss = sum over heads of share * cross-entropy(columns with a label)
         + column-alone heads + subject + ratio loss per level of chunking + next symbol

All terms are sums over columns or symbols divided by totals of the whole step, which may be spread over several
processes: gradients then add up to those of one process.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from aegir.config.settings import check_numbers
from aegir.model.byte_encoding import PAD
from aegir.nets.annotator import ByteNetwork
from aegir.nets.hierarchy import StageOutput
from aegir.training.byte_network.batches import Batch
from aegir.training.byte_network.examples import NO_LABEL

ALONE = "_alone"
"""Suffix of the heads that see a column without its table."""
SumOverProcesses = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class LossWeights:
    """The weight of each term."""

    alone: float = 0.3
    subject: float = 0.1
    ratio: float = 0.05
    next_symbol: float = 0.0
    chunk_symbols: float = 4.5
    """Symbols per chunk that the ratio loss aims at, at every level."""
    smoothing: float = 0.05
    auxiliary: float = 0.5
    dropout: float = 0.2

    def __post_init__(self) -> None:
        check_numbers(self, "alone", "subject", "ratio", "next_symbol", "auxiliary", at_least=0)
        check_numbers(self, "smoothing", "dropout", at_least=0, below=1)
        check_numbers(self, "chunk_symbols", above=1)


@dataclass(frozen=True, slots=True)
class StepLoss:
    """The loss of this process's part of a step, and how well it was answered."""

    total: Tensor
    figures: dict[str, Tensor]
    """For the log; counts are of this process and are still to be added up."""
    success: Tensor
    """(tables,) share of the labelled columns answered right; NaN for a table without any."""


def loss_of(
    net: ByteNetwork, batch: Batch, weights: LossWeights, add_up: SumOverProcesses
) -> StepLoss:
    """Return the loss and the figures of this process's part of a step."""
    vectors, outputs = net.read(batch.parts)
    keep = None
    if weights.dropout and batch.noise.shape[1]:
        keep = (batch.noise >= weights.dropout).float() / (1 - weights.dropout)
    embedded = net.mixer(vectors, batch.tables, keep)
    columns = add_up(torch.tensor(float(len(vectors))))
    figures: dict[str, Tensor] = {"columns": columns}
    loss = vectors.new_zeros(())
    right, asked = vectors.new_zeros(len(vectors)), vectors.new_zeros(len(vectors))
    for name, head in net.heads.items():
        task, alone = name.removesuffix(ALONE), name.endswith(ALONE)
        share = weights.alone if alone else 1.0 if task in ("cta", "cpa") else weights.auxiliary
        inputs = vectors if alone else embedded
        answer = _head_loss(head, inputs, batch, task, weights.smoothing)
        loss = loss + share * answer.weighted / columns
        figures[f"{name}/loss"] = answer.plain
        figures[f"{name}/right"], figures[f"{name}/count"] = answer.right.sum(), answer.asked.sum()
        if not alone:
            right, asked = right + answer.right, asked + answer.asked
    if weights.subject:
        loss = loss + weights.subject * _subject_loss(net, vectors, batch) / columns
    ratio, rates = _ratio_loss(outputs, weights.chunk_symbols, add_up)
    loss = loss + weights.ratio * ratio
    if weights.next_symbol:
        term, count = _next_symbol_loss(net, batch, outputs)
        total = add_up(count)
        loss = loss + weights.next_symbol * term / total
        figures |= {"next/loss": term.detach(), "next/count": count}
    places, counted = batch.tables.columns, batch.tables.mask
    per_table = (torch.stack([right, asked])[:, places] * counted).sum(dim=-1)  # (2, tables)
    return StepLoss(loss, figures | rates, per_table[0] / per_table[1])


@dataclass(frozen=True, slots=True)
class _HeadLoss:
    weighted: Tensor
    """Sum of cross-entropies, each weighted by how far its source is trusted."""
    plain: Tensor
    """Their plain sum, for the log."""
    right: Tensor
    """(columns,) 1 where the answer is right."""
    asked: Tensor
    """(columns,) 1 where the column has a label."""


def _head_loss(
    head: torch.nn.Module, inputs: Tensor, batch: Batch, task: str, smoothing: float
) -> _HeadLoss:
    """Return the loss of one head; zeros where no column has a label.

    Processes add up their figures one by one, so each must have those of every head.
    """
    labels = batch.labels[task]
    kept = labels != NO_LABEL
    right = inputs.new_zeros(len(inputs))
    if not kept.any():
        return _HeadLoss(right.sum(), right.sum(), right, kept.float())
    logits = head(inputs[kept])
    each = functional.cross_entropy(
        logits, labels[kept], reduction="none", label_smoothing=smoothing
    )
    right[kept] = (logits.argmax(dim=1) == labels[kept]).float()
    trust = batch.weights[task][kept]
    return _HeadLoss((each * trust).sum(), each.detach().sum(), right, kept.float())


def _subject_loss(net: ByteNetwork, vectors: Tensor, batch: Batch) -> Tensor:
    known = batch.subjects != NO_LABEL
    logits = net.subject(vectors[known])[:, 0]
    return functional.binary_cross_entropy_with_logits(
        logits, batch.subjects[known].float(), reduction="sum"
    )


def _ratio_loss(
    outputs: list[StageOutput], symbols: float, add_up: SumOverProcesses
) -> tuple[Tensor, dict[str, Tensor]]:
    """The ratio loss over the whole step: linear in p once the share of boundaries is known."""
    total, figures = torch.zeros(()), {}
    for level in range(len(outputs[0].boundaries) if outputs else 0):
        cuts = [output.boundaries[level] for output in outputs]
        counts = [torch.stack([c.is_boundary.sum(), c.mask.sum()]).float() for c in cuts]
        boundaries, positions = add_up(torch.stack(counts).sum(dim=0))
        share = boundaries / positions
        mean = sum(((c.p * c.mask).sum() for c in cuts), torch.zeros(())) / positions
        slope = (symbols - 1) * share - (1 - share)
        total = total + symbols / (symbols - 1) * slope * mean
        figures[f"boundaries/{level}"] = share
    return total, figures


def _next_symbol_loss(
    net: ByteNetwork, batch: Batch, outputs: list[StageOutput]
) -> tuple[Tensor, Tensor]:
    term, count = torch.zeros(()), torch.zeros(())
    for (symbols, _), output in zip(batch.parts, outputs, strict=True):
        wanted = symbols[:, 1:]
        kept = wanted != PAD
        logits = net.guess_next(output.x[:, :-1][kept])
        term = term + functional.cross_entropy(logits, wanted[kept], reduction="sum")
        count = count + kept.sum()
    return term, count
