"""The byte network's answers on tables it was not trained on, and checks that it has not collapsed.

    answers = answer(net, examples, index)     logits for every column, in the order of the tables
    liveness(answers)                          embedding spread, effective rank, most predicted class, boundary rates

Tables are read as the annotator reads them: relations with the subject that it would choose where a table names none.
A network that answers the same to everything can still have a falling loss for a while; these metrics show it at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from aegir.lab.byte_network.batches import ColumnBatch, batch_of, draw_as_is, mark_subject
from aegir.lab.byte_network.examples import Heads, TableExample
from aegir.lab.byte_network.losses import ReadBatch
from aegir.lab.nets.annotator import ByteNetwork, TableBatch
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import OUTPUTS, RELATIONS_HEAD, TYPES_HEAD
from aegir.readers.bytes.scoring import SUBJECT_SCALE
from aegir.readers.scores import choose_subject
from aegir_rl.base.arrays import F32, I64, Bools
from aegir_rl.base.errors import CheckFailed
from aegir_rl.base.metrics import compute_class_f1
from aegir_rl.health.measures import measure_predictions, measure_representation
from aegir_rl.health.report import HealthReport, check
from aegir_rl.health.rules import RULES, HealthRule

ReadColumns = Callable[[ColumnBatch], ReadBatch]
"""Reads the columns of a batch."""
NO_LABEL = -1
TABLES_AT_ONCE = 32
ALIVE = {
    "representation/spread": HealthRule("representation/spread", low=0.1),
    "prediction/overrated": HealthRule("prediction/overrated", high=5.0),
}
MOST_COMMON = "prediction/most_common_share"
COMMON_LABEL = 0.05
"""`overrated` is the share of the most frequent answer over that of the commonest label, or over this: a network
that answers the same to everything comes to 10 and more."""
LEAST_RANK, RANK_PER_TYPE = 20.0, 0.5
"""Least effective rank of the embeddings, and per type among the labels if that is lower: types that are told apart
perfectly, a point each, span one direction less than there are types, and fewer effective ones if some are rare."""
BOUNDARY_RATE = (0.1, 0.6)
"""Outside, chunking has collapsed: everything is one chunk, or every byte is its own."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Logits, labels and embeddings of columns, table after table."""

    logits: Mapping[str, F32]
    """Head to (columns, outputs)."""
    labels: Mapping[str, I64]
    """Head to (columns,) the best right output; NO_LABEL for a column without one."""
    accepted: Mapping[str, Bools]
    """Head to (columns, outputs) true for every right output."""
    known: Mapping[str, Bools]
    """Head to (columns,) true where the column has a label."""
    embeddings: F32
    table: I64
    """(columns,) which of the tables."""
    boundary_rates: tuple[float, ...]

    @property
    def types(self) -> int:
        """The number of different types among the labels."""
        labels = self.labels[TYPES_HEAD]
        return len(np.unique(labels[labels != NO_LABEL]))

    def per_column(self, of_tables: Sequence[object]) -> npt.NDArray[Any]:
        """Return (columns,) what the table of each column has."""
        return np.array(of_tables)[self.table]

    def micro_f1(self, head: str, among: Bools | None = None) -> float | None:
        """Return the share of labelled columns, of those in `among` (columns,), answered right; None without labels."""
        labelled_rows = self.labels[head] != NO_LABEL
        if among is not None:
            labelled_rows &= among
        if not labelled_rows.any():
            return None
        answers = self.logits[head][labelled_rows].argmax(axis=1)
        return compute_class_f1(self.labels[head][labelled_rows], answers).micro_f1


@dataclass(frozen=True, slots=True)
class _Part:
    """The answers to some of the tables."""

    logits: dict[str, F32]
    targets: dict[str, F32]
    known: dict[str, Bools]
    embeddings: F32
    rates: npt.NDArray[np.float64]
    """(levels, 2) boundaries and positions."""


def answer(
    net: ByteNetwork,
    examples: Sequence[TableExample],
    index: GramIndex,
    heads: Heads | None = None,
    read: ReadColumns | None = None,
) -> Answers:
    """Return the answers of these heads, or of our own, to tables as users would give them.

    `read` replaces the network's own reading of columns.
    """
    heads = dict(OUTPUTS) if heads is None else heads
    net.eval()
    parts = [
        _answer(net, examples[first : first + TABLES_AT_ONCE], index, heads, read)
        for first in range(0, len(examples), TABLES_AT_ONCE)
    ]
    counts = np.array([len(one.table.columns) for one in examples])
    rates = np.array([part.rates for part in parts])
    targets = {head: np.concatenate([part.targets[head] for part in parts]) for head in heads}
    return Answers(
        logits={head: np.concatenate([part.logits[head] for part in parts]) for head in heads},
        labels={
            head: np.where(target.any(axis=1), target.argmax(axis=1), NO_LABEL)
            for head, target in targets.items()
        },
        accepted={head: target > 0 for head, target in targets.items()},
        known={head: np.concatenate([part.known[head] for part in parts]) for head in heads},
        embeddings=np.concatenate([part.embeddings for part in parts]),
        table=np.repeat(np.arange(len(examples)), counts),
        boundary_rates=tuple((rates[:, :, 0].sum(axis=0) / rates[:, :, 1].sum(axis=0)).tolist()),
    )


@torch.no_grad()  # type: ignore[untyped-decorator]
def _answer(
    net: ByteNetwork,
    examples: Sequence[TableExample],
    index: GramIndex,
    heads: Heads,
    read: ReadColumns | None,
) -> _Part:
    drawings = [draw_as_is(one, net.architecture.reading) for one in examples]
    batch = batch_of(drawings, index, heads)
    vectors, outputs = read(batch) if read else net.read(batch.parts, batch.readings)
    embedded = net.mixer(vectors, batch.tables)
    likeness = net.subject(vectors)[:, 0].numpy()
    related = net.mixer(vectors, _with_subjects(examples, batch.tables, likeness))
    back = np.empty(len(batch.order), np.int64)
    back[batch.order] = np.arange(len(batch.order))
    cuts = list(zip(*(output.boundaries for output in outputs), strict=True))
    rates = [
        [sum(int(c.is_boundary.sum()) for c in level), sum(int(c.mask.sum()) for c in level)]
        for level in cuts
    ]
    return _Part(
        logits={
            head: net.heads[head](related if head == RELATIONS_HEAD else embedded).numpy()[back]
            for head in heads
        },
        targets={head: batch.targets[head].numpy()[back] for head in heads},
        known={head: batch.labelled[head].numpy()[back] for head in heads},
        embeddings=embedded.numpy()[back, : net.architecture.column_width],
        rates=np.array(rates, np.float64).reshape(-1, 2),
    )


def _with_subjects(
    examples: Sequence[TableExample], tables: TableBatch, likeness: F32
) -> TableBatch:
    """Return the tables with a chosen subject where none is named; `likeness` (columns,) is the network's score."""
    roles = tables.roles.clone()
    for row, example in enumerate(examples):
        if example.table.columns:
            own = likeness[tables.columns[row][tables.mask[row]].numpy()]
            subject = choose_subject(example.table, own, SUBJECT_SCALE)
            roles[row][tables.mask[row]] = torch.tensor(mark_subject(len(own), subject))
    return replace(tables, roles=roles)


def liveness(answers: Answers) -> dict[str, float]:
    """Return the metrics that tell a network that works from one that has collapsed."""
    labels = answers.labels[TYPES_HEAD]
    labelled = labels != NO_LABEL
    predicted = answers.logits[TYPES_HEAD][labelled if labelled.any() else slice(None)]
    common = measure_predictions(predicted.argmax(axis=1))
    if common and labelled.any():  # a handful of columns has no shares
        usual = measure_predictions(labels[labelled])[MOST_COMMON]
        common["prediction/overrated"] = common[MOST_COMMON] / max(usual, COMMON_LABEL)
    return {
        **measure_representation(answers.embeddings),
        **common,
        **{f"boundaries/{level}": rate for level, rate in enumerate(answers.boundary_rates)},
    }


def check_alive(metrics: Mapping[str, float], types: int = 0) -> HealthReport:
    """Check liveness metrics, measured on columns of so many types (0: unknown), against their bounds."""
    low, high = BOUNDARY_RATE
    rank = "representation/effective_rank"
    rules = ALIVE | {
        rank: HealthRule(rank, low=min(LEAST_RANK, RANK_PER_TYPE * types or LEAST_RANK))
    }
    if types != 1:  # the same answer to everything is no answer
        rules[MOST_COMMON] = RULES[MOST_COMMON]
    rules |= {
        name: HealthRule(name, low=low, high=high)
        for name in metrics
        if name.startswith("boundaries/")
    }
    return check(metrics, rules)


def refuse_if_collapsed(metrics: Mapping[str, float], what: str, types: int = 0) -> None:
    """Raise for a network that does not tell its inputs apart."""
    report = check_alive(metrics, types)
    if not report.well:
        reasons = "; ".join(finding.sentence for finding in report.unwell)
        raise CheckFailed(f"{what} is not exported, it has collapsed: {reasons}")
