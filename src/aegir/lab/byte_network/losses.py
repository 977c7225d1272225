"""The training loss of the byte network, and the metrics of one step.

    loss = sum over heads of share * cross-entropy(columns with a label for the head)
         + column-alone heads + subject + ratio loss per level of chunking + next symbol
         + sum over columns with a teacher's vector of 1 - cosine(output of the head TEACHER_HEAD, vector)

Where several names are acceptable, the cross-entropy is with their shares (`soft_target`). A head of one output
answers yes or no.

All terms are sums over columns or symbols divided by totals of the whole step, which may be spread over several
processes: gradients then add up to those of one process.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from aegir.lab.byte_network.batches import NOT_KNOWN, ColumnBatch
from aegir.lab.byte_network.examples import TEACHER_HEAD
from aegir.lab.nets.annotator import ByteNetwork
from aegir.lab.nets.hierarchy import StageOutput
from aegir.readers.bytes.byte_encoding import PAD
from aegir.readers.bytes.heads import ALONE, FINE_HEAD, PERSONAL_HEAD, RELATIONS_HEAD, TYPES_HEAD
from aegir_rl.base.settings import check_numbers

SumOverProcesses = Callable[[Tensor], Tensor]
ReadBatch = tuple[Tensor, list[StageOutput]]
"""The vectors (columns, width) of a batch, and the hierarchy's output for each of its parts."""


@dataclass(frozen=True, slots=True)
class LossWeights:
    """The weight of each term."""

    fine: float = 1.0
    personal: float = 0.5
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
        weights = ("fine", "personal", "alone", "subject", "ratio", "next_symbol", "auxiliary")
        check_numbers(self, *weights, at_least=0)
        check_numbers(self, "smoothing", "dropout", at_least=0, below=1)
        check_numbers(self, "chunk_symbols", above=1)

    def of_head(self, name: str) -> float:
        """Return the weight of a head; types and relations have weight 1."""
        if name.endswith(ALONE):
            return self.alone
        ours = {TYPES_HEAD: 1.0, RELATIONS_HEAD: 1.0, FINE_HEAD: self.fine}
        return ({**ours, PERSONAL_HEAD: self.personal}).get(name, self.auxiliary)


@dataclass(frozen=True, slots=True)
class StepLoss:
    """The loss of this process's part of a step, and how well it was answered."""

    total: Tensor
    metrics: dict[str, Tensor]
    """For the log; counts are of this process and are still to be added up."""
    success: Tensor
    """(tables,) share of the labelled columns answered right; NaN for a table without any."""


def _of_one_process(part: Tensor) -> Tensor:
    return part


def compute_loss(
    net: ByteNetwork,
    batch: ColumnBatch,
    weights: LossWeights,
    read: ReadBatch | None = None,
    add_up: SumOverProcesses = _of_one_process,
) -> StepLoss:
    """Return the loss and the metrics of this process's part of a step.

    `read` is the batch as it was read, by the network itself if None; `add_up` sums over processes.
    """
    vectors, outputs = read or net.read(batch.parts, batch.readings, batch.heard)
    keep = None
    if weights.dropout and batch.noise.shape[1]:
        keep = (batch.noise >= weights.dropout).float() / (1 - weights.dropout)
    embedded = net.mixer(vectors, batch.tables, keep)
    columns = add_up(torch.tensor(float(len(vectors))))
    metrics: dict[str, Tensor] = {"columns": columns}
    loss = vectors.new_zeros(())
    right, labelled = vectors.new_zeros(len(vectors)), vectors.new_zeros(len(vectors))
    for name, head in net.heads.items():
        if name == TEACHER_HEAD:
            term, plain, count = _teacher_loss(head, vectors, batch)
            loss = loss + term / columns
            metrics |= {f"{name}/loss": plain, f"{name}/count": count}
            continue
        task, alone = name.removesuffix(ALONE), name.endswith(ALONE)
        inputs = vectors if alone else embedded
        answer = _head_loss(head, inputs, batch, task, weights.smoothing)
        loss = loss + weights.of_head(name) * answer.weighted / columns
        metrics[f"{name}/loss"] = answer.plain
        metrics[f"{name}/right"], metrics[f"{name}/count"] = (
            answer.right.sum(),
            answer.labelled.sum(),
        )
        if not alone:
            right, labelled = right + answer.right, labelled + answer.labelled
    if weights.subject:
        loss = loss + weights.subject * _subject_loss(net, vectors, batch) / columns
    ratio, rates = _ratio_loss(outputs, weights.chunk_symbols, add_up)
    loss = loss + weights.ratio * ratio
    if weights.next_symbol:
        term, count = _next_symbol_loss(net, batch, outputs)
        total = add_up(count)
        loss = loss + weights.next_symbol * term / total
        metrics |= {"next/loss": term.detach(), "next/count": count}
    answered = torch.stack([right, labelled])[:, batch.tables.columns] * batch.tables.mask
    per_table = answered.sum(dim=-1)  # (2, tables)
    return StepLoss(loss, metrics | rates, per_table[0] / per_table[1])


@dataclass(frozen=True, slots=True)
class _HeadLoss:
    weighted: Tensor
    """Sum of cross-entropies, each weighted by how far its source is trusted."""
    plain: Tensor
    """Their plain sum, for the log."""
    right: Tensor
    """(columns,) 1 where the answer is right."""
    labelled: Tensor
    """(columns,) 1 where the column has a label."""


def _head_loss(
    head: torch.nn.Module, inputs: Tensor, batch: ColumnBatch, task: str, smoothing: float
) -> _HeadLoss:
    """Return the loss of one head; zeros where no column has a label.

    Processes add up their metrics in turn, so each must have those of every head.
    """
    labelled = batch.labelled[task]
    right = inputs.new_zeros(len(inputs))
    if not labelled.any():
        return _HeadLoss(right.sum(), right.sum(), right, labelled.float())
    logits, target = head(inputs[labelled]), batch.targets[task][labelled]
    if target.shape[1] == 1:
        softened = target * (1 - smoothing) + smoothing / 2
        each = functional.binary_cross_entropy_with_logits(logits, softened, reduction="none")[:, 0]
        right[labelled] = ((logits > 0) == (target > 0))[:, 0].float()
    else:
        each = functional.cross_entropy(logits, target, reduction="none", label_smoothing=smoothing)
        right[labelled] = (target.gather(1, logits.argmax(dim=1, keepdim=True)) > 0)[:, 0].float()
    trust = batch.weights[task][labelled]
    return _HeadLoss((each * trust).sum(), each.detach().sum(), right, labelled.float())


def _teacher_loss(
    head: torch.nn.Module, vectors: Tensor, batch: ColumnBatch
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the weighted sum of 1 - cosine over columns with a teacher's vector, the plain sum, and their number."""
    taught = batch.labelled[TEACHER_HEAD]
    wanted, trust = batch.targets[TEACHER_HEAD][taught], batch.weights[TEACHER_HEAD][taught]
    each = 1 - functional.cosine_similarity(head(vectors[taught]), wanted, dim=-1)
    return (each * trust).sum(), each.detach().sum(), taught.float().sum()


def _subject_loss(net: ByteNetwork, vectors: Tensor, batch: ColumnBatch) -> Tensor:
    known = batch.subjects != NOT_KNOWN
    logits = net.subject(vectors[known])[:, 0]
    return functional.binary_cross_entropy_with_logits(
        logits, batch.subjects[known].float(), reduction="sum"
    )


def _ratio_loss(
    outputs: list[StageOutput], symbols: float, add_up: SumOverProcesses
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the ratio loss over the whole step, and the share of boundaries at each level.

    N / (N - 1) ((N - 1) F G + (1 - F) (1 - G)), F the share of boundaries and G the mean p, is smallest where one position in
    N is a boundary. Once F is known it is linear in p; what does not depend on p is left out.
    """
    total, metrics = torch.zeros(()), {}
    for level in range(len(outputs[0].boundaries) if outputs else 0):
        cuts = [output.boundaries[level] for output in outputs]
        counts = [torch.stack([c.is_boundary.sum(), c.mask.sum()]).float() for c in cuts]
        boundaries, positions = add_up(torch.stack(counts).sum(dim=0))
        share = boundaries / positions
        mean = sum(((c.p * c.mask).sum() for c in cuts), torch.zeros(())) / positions
        slope = (symbols - 1) * share - (1 - share)
        total = total + symbols / (symbols - 1) * slope * mean
        metrics[f"boundaries/{level}"] = share
    return total, metrics


def _next_symbol_loss(
    net: ByteNetwork, batch: ColumnBatch, outputs: list[StageOutput]
) -> tuple[Tensor, Tensor]:
    term, count = torch.zeros(()), torch.zeros(())
    for (symbols, _), output in zip(batch.parts, outputs, strict=True):
        following = symbols[:, 1:]
        present = following != PAD
        logits = net.guess_next(output.x[:, :-1][present])
        term = term + functional.cross_entropy(logits, following[present], reduction="sum")
        count = count + present.sum()
    return term, count
