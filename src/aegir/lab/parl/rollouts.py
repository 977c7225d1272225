"""Rollouts: a batch of tables answered several times, each time with its own draw of specialists and labels.

    rollout = answer_columns(policy, batch, activations, cached, random)    states fused, forward pass, labels drawn
    ratings = rate_columns(batch, rollout, wrong_cost)                      (raters, columns)
    gains = measure_gains(policy, batch, rollouts, cached, random)          (columns, N) each, nan where not measured

Raters of a column, each missing (nan) where the column has no such label:

    label       1 for a right label, 0 for an abstention, -wrong_cost for a wrong label
    type, relation, fine    probability of the acceptable types, relations, fine types

A gain is what the mean of these probabilities loses when one specialist is switched off for one column and everything
else stays as it is. For every column with specialists, one of them is drawn and measured: a second forward pass of the
primary per rollout, and one run of the table stage per measured column.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from aegir.lab.byte_network.batches import ColumnBatch
from aegir.lab.nets.annotator import TableBatch
from aegir.lab.parl.policy import Activations, SwarmPolicy, draw_labels
from aegir.lab.parl.reading import CachedOutputs, read_columns
from aegir.lab.parl.step_tables import locate_columns
from aegir.readers.bytes.heads import FINE_HEAD, RELATIONS_HEAD, TYPES_HEAD
from aegir_rl.base.arrays import I64, Bools, Floats
from aegir_rl.episode import TimedStep

RATED_HEADS = {"type": TYPES_HEAD, "relation": RELATIONS_HEAD, "fine": FINE_HEAD}
RATERS = ("label", *RATED_HEADS)


@dataclass(frozen=True, slots=True)
class Rollout:
    """One answer to every column of a batch; arrays have one row per column."""

    activations: Activations | None
    """None if specialists are not used."""
    labels: I64
    """Outputs of the types head; the last number + 1 is an abstention."""
    log_probabilities: Floats
    """(columns, factors) of what was drawn: one per specialist, then the label."""
    label_probabilities: Floats
    """(columns, outputs + 1)"""
    chances: Floats
    """(heads of RATED_HEADS, columns) probability of the acceptable outputs, nan without a label."""
    vectors: Tensor
    steps: tuple[tuple[TimedStep, ...], ...]

    @property
    def abstained(self) -> Bools:
        """(columns,)"""
        return np.asarray(self.labels == self.label_probabilities.shape[1] - 1)

    def executed(self, specialists: int) -> Bools:
        """(columns, specialists) who read what; nobody if specialists are not used."""
        if self.activations is None:
            return np.zeros((len(self.labels), specialists), bool)
        return self.activations.executed


@torch.no_grad()  # type: ignore[untyped-decorator]
def answer_columns(
    policy: SwarmPolicy,
    batch: ColumnBatch,
    activations: Activations | None,
    cached: CachedOutputs | None,
    random: np.random.Generator,
) -> Rollout:
    """Read the batch with these specialists and draw a label, or an abstention, for every column."""
    drawn, executed = as_tensors(activations)
    reading = read_columns(policy, batch, drawn, executed, cached)
    embedded = policy.primary.network.mixer(reading.vectors, batch.tables)
    logs = policy.label_logits(embedded).double().log_softmax(dim=1).numpy()
    labels = draw_labels(logs, random)
    chosen = logs[np.arange(len(labels)), labels]
    routed = reading.log_probabilities.double().numpy()
    return Rollout(
        activations=activations,
        labels=labels,
        log_probabilities=np.concatenate(
            [routed if activations else routed[:, :0], chosen[:, None]], axis=1
        ),
        label_probabilities=np.exp(logs),
        chances=compute_chances(policy, batch, embedded),
        vectors=reading.vectors,
        steps=reading.steps,
    )


def as_tensors(activations: Activations | None) -> tuple[Tensor | None, Tensor | None]:
    """Return what was drawn and what was executed."""
    if activations is None:
        return None, None
    return torch.from_numpy(activations.drawn), torch.from_numpy(activations.executed)


def compute_chances(
    policy: SwarmPolicy, batch: ColumnBatch, embedded: Tensor, columns: I64 | None = None
) -> Floats:
    """Return (heads, columns) the probability of the acceptable outputs; `embedded` are these columns, or all."""
    rows = np.arange(len(batch.order)) if columns is None else columns
    chances = np.full((len(RATED_HEADS), len(rows)), np.nan)
    for rater, head in enumerate(RATED_HEADS.values()):
        labelled = batch.labelled[head].numpy()[rows]
        if labelled.any():
            logits = policy.primary.network.heads[head](embedded[torch.from_numpy(labelled)])
            accepted = batch.targets[head].numpy()[rows[labelled]] > 0
            probabilities = logits.double().softmax(dim=1).numpy()
            chances[rater, labelled] = (probabilities * accepted).sum(axis=1)
    return chances


def rate_columns(batch: ColumnBatch, rollout: Rollout, wrong_cost: float) -> Floats:
    """Return ratings (RATERS, columns)."""
    labelled = batch.labelled[TYPES_HEAD].numpy()
    drawn = np.where(rollout.abstained, 0, rollout.labels)
    right = batch.targets[TYPES_HEAD].numpy()[np.arange(len(drawn)), drawn] > 0
    label = np.where(rollout.abstained, 0.0, np.where(right, 1.0, -wrong_cost))
    return np.concatenate([np.where(labelled, label, np.nan)[None], rollout.chances])


@dataclass(frozen=True, slots=True)
class Gains:
    """What specialists gained in each rollout."""

    values: list[Floats]
    """(columns, N), nan where it was not measured."""
    seconds: float
    """What measuring took."""


def measure_gains(
    policy: SwarmPolicy,
    batch: ColumnBatch,
    rollouts: Sequence[Rollout],
    cached: CachedOutputs | None,
    random: np.random.Generator,
    due: bool = True,
) -> Gains:
    """Measure one specialist of every column and rollout; nothing if it is not due or there are no specialists."""
    begin = time.perf_counter()
    width = len(policy.swarm.specialists) if cached else 0
    values = [
        _measure(policy, batch, rollout, cached, random)
        if cached and due
        else np.full((len(rollout.labels), width), np.nan)
        for rollout in rollouts
    ]
    return Gains(values, time.perf_counter() - begin)


@torch.no_grad()  # type: ignore[untyped-decorator]
def _measure(
    policy: SwarmPolicy,
    batch: ColumnBatch,
    rollout: Rollout,
    cached: CachedOutputs,
    random: np.random.Generator,
) -> Floats:
    assert rollout.activations is not None, "gains are those of specialists"
    executed = rollout.activations.executed
    gains = np.full(executed.shape, np.nan)
    tested = np.flatnonzero(executed.any(axis=1))
    if not len(tested):
        return gains
    switched = (random.random(executed.shape) * executed).argmax(axis=1)[tested]
    without = executed.copy()
    without[tested, switched] = False
    reading = read_columns(policy, batch, None, torch.from_numpy(without), cached)
    vectors, tables = _tables_with_one_change(
        rollout.vectors, reading.vectors, batch.tables, tested
    )
    embedded = policy.primary.network.mixer(vectors, tables)[len(executed) :]
    after = compute_chances(policy, batch, embedded, tested)
    gains[tested, switched] = mean_present(rollout.chances[:, tested] - after)
    return gains


def _tables_with_one_change(
    before: Tensor, after: Tensor, tables: TableBatch, tested: I64
) -> tuple[Tensor, TableBatch]:
    """Return a table for every tested column, in which that column alone has its vector of `after`."""
    table, index = locate_columns(tables)
    rows = torch.from_numpy(table[tested])
    columns = tables.columns[rows].clone()
    numbers = torch.arange(len(tested))
    columns[numbers, torch.from_numpy(index[tested])] = len(before) + numbers
    vectors = torch.cat([before, after[torch.from_numpy(tested)]])
    return vectors, TableBatch(columns, tables.mask[rows], tables.roles[rows])


def mean_present(values: Floats) -> Floats:
    """Return the mean over the first axis of what is not nan; nan where all is."""
    present = ~np.isnan(values)
    counts = present.sum(axis=0)
    total = np.where(present, values, 0.0).sum(axis=0)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
