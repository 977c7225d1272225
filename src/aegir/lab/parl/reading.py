"""Reading a batch of tables with the swarm, part by part; specialists read a column once, for all rollouts.

    scores = score_columns(policy, batch)                     first block -> routing hidden -> scores (columns, N)
    cached = run_activated(policy, batch, activation)         activated specialists, in parallel, without gradient
    reading = read_columns(policy, batch, drawn, executed, cached)

Columns are numbered as in the batch: those of its first part, of its second, and so on. Because specialists never change,
what they gave for a column holds for every rollout, for the update and for the same column with a specialist switched off.

A specialist that has learnt from a table is surer of it than it will be of the tables of users, and a router that learns from
such answers trusts it too much. `OutOfFold` holds the same specialist trained without one fold each: in training, a table is
read by the one that has not seen the table's fold.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from aegir.lab.byte_network.batches import ColumnBatch
from aegir.lab.byte_network.examples import TableExample
from aegir.lab.nets.hierarchy import StageOutput
from aegir.lab.parl.policy import SwarmPolicy
from aegir.readers.bytes.byte_encoding import PAD
from aegir.swarm.specialist import FrozenSpecialist, SpecialistOutput, run_specialists
from aegir_rl.episode import TimedStep

PartOutputs = Sequence[SpecialistOutput | None]
"""What each specialist gave for the columns of one part."""
OutOfFold = Mapping[str, Mapping[int, FrozenSpecialist]]
"""Name of a specialist to specialists of the same recipe, each by the fold whose tables it has not seen."""


@dataclass(frozen=True, slots=True)
class CachedOutputs:
    """What specialists gave for a batch."""

    parts: tuple[PartOutputs, ...]
    seconds: tuple[float, ...]
    """Of each specialist, over all parts."""
    dropped: Tensor
    """(columns, N) true where it gave numbers that are not finite, which are left out."""


@dataclass(frozen=True, slots=True)
class RolloutReading:
    """One reading of a batch."""

    vectors: Tensor
    """(columns, D), with the answers of specialists behind them if the swarm uses them."""
    outputs: list[StageOutput]
    """The primary's own, one per part."""
    routing_logits: Tensor
    """(columns, N) of the decisions; zeros if the primary read alone."""
    log_probabilities: Tensor
    """(columns, N) of what was drawn; zeros if the primary read alone."""
    dropped: Tensor
    """(columns, N) true where numbers that are not finite were left out."""
    steps: tuple[tuple[TimedStep, ...], ...]
    """What was done for each part, in seconds; the routing hidden counts to the router."""


def score_columns(policy: SwarmPolicy, batch: ColumnBatch) -> Tensor:
    """Return the router's scores (columns, N), without gradient."""
    with torch.no_grad():
        hidden = [policy.primary.routing_hidden(ids, ids != PAD) for ids, _ in batch.parts]
        return policy.swarm.router(torch.cat(hidden))


def column_folds(batch: ColumnBatch, examples: Sequence[TableExample]) -> Tensor:
    """Return (columns,) the fold that keeps each column's table out."""
    folds = torch.empty(len(batch.order), dtype=torch.long)
    for row, mask, example in zip(batch.tables.columns, batch.tables.mask, examples, strict=True):
        folds[row[mask]] = example.fold
    return folds


def run_activated(
    policy: SwarmPolicy,
    batch: ColumnBatch,
    activation: Tensor,
    out_of_fold: OutOfFold | None = None,
    folds: Tensor | None = None,
) -> CachedOutputs:
    """Let each specialist read the columns that `activation` (columns, N) routes to it.

    With `folds` (columns,), columns are read by the specialist that has not seen their fold, if there is one.
    """
    swarm, parts = policy.swarm, []
    readers = _readers(swarm.specialists, activation, out_of_fold or {}, folds)
    routed = torch.stack([reader.columns for reader in readers], dim=1)
    dropped = torch.zeros_like(activation)
    seconds = [0.0] * len(swarm.specialists)
    for (ids, _), columns in _parts(batch):
        read = run_specialists(
            [reader.model for reader in readers], ids, ids != PAD, routed[columns], swarm.workers
        )
        outputs = [
            _joined(
                specialist.name,
                [out for out, by in zip(read, readers, strict=True) if by.specialist == number],
            )
            for number, specialist in enumerate(swarm.specialists)
        ]
        for number, output in enumerate(outputs):
            if output is not None:
                seconds[number] += output.seconds
                dropped[columns.start + output.rows, number] = ~output.finite
        parts.append(outputs)
    return CachedOutputs(tuple(parts), tuple(seconds), dropped)


def read_columns(
    policy: SwarmPolicy,
    batch: ColumnBatch,
    drawn: Tensor | None = None,
    executed: Tensor | None = None,
    cached: CachedOutputs | None = None,
) -> RolloutReading:
    """Read with the specialists of `executed` (columns, N), or with the primary alone if it is None.

    Log probabilities are those of `drawn`, which a cap may have cut down to `executed`.
    """
    results, steps = [], []
    for number, ((ids, _), columns) in enumerate(_parts(batch)):
        mask, hidden, before = ids != PAD, None, 0.0
        if executed is not None:
            begin = time.perf_counter()
            hidden = policy.primary.routing_hidden(ids, mask)
            before = time.perf_counter() - begin
        result = policy.swarm(
            ids,
            mask,
            hidden,
            activation=None if executed is None else executed[columns],
            drawn=None if drawn is None else drawn[columns],
            cached=cached.parts[number] if cached else None,
        )
        results.append(result)
        router, *rest = result["steps"]
        steps.append((TimedStep(router.name, router.duration + before), *rest))

    def all_columns(name: str) -> Tensor:
        return torch.cat([result[name] for result in results])

    return RolloutReading(
        vectors=all_columns("output"),
        outputs=[result["reading"].detail for result in results],
        routing_logits=all_columns("routing_logits"),
        log_probabilities=all_columns("log_probabilities"),
        dropped=all_columns("dropped"),
        steps=tuple(steps),
    )


class _Reader(NamedTuple):
    model: FrozenSpecialist
    specialist: int
    """The number of the specialist whose columns it reads."""
    columns: Tensor
    """(columns,) which of them it reads."""


def _readers(
    specialists: Sequence[FrozenSpecialist],
    activation: Tensor,
    out_of_fold: OutOfFold,
    folds: Tensor | None,
) -> list[_Reader]:
    """Return who reads which columns; out-of-fold specialists take those of their fold."""
    readers = []
    for number, specialist in enumerate(specialists):
        left = activation[:, number]
        for fold, model in out_of_fold.get(specialist.name, {}).items():
            assert folds is not None, "out-of-fold specialists need the folds of the columns"
            readers.append(_Reader(model, number, left & (folds == fold)))
            left = left & (folds != fold)
        readers.append(_Reader(specialist, number, left))
    return readers


def _joined(name: str, outputs: Sequence[SpecialistOutput | None]) -> SpecialistOutput | None:
    """Return what several gave for different rows as the output of one of this name."""
    present = [output for output in outputs if output is not None]
    if len(present) <= 1:
        return replace(present[0], name=name) if present else None
    rows, order = torch.cat([each.rows for each in present]).sort()

    def joined(tensors: Sequence[Tensor | None]) -> Tensor | None:
        some = [tensor for tensor in tensors if tensor is not None]
        return torch.cat(some)[order] if some else None

    return SpecialistOutput(
        name=name,
        rows=rows,
        states=tuple(map(joined, zip(*(each.states for each in present), strict=True))),
        vectors=joined([each.vectors for each in present]),
        answers=joined([each.answers for each in present]),
        finite=joined([each.finite for each in present]),
        seconds=sum(each.seconds for each in present),
    )


def _parts(batch: ColumnBatch) -> Iterator[tuple[tuple[Tensor, Tensor], slice]]:
    """Yield each part with the numbers of its columns."""
    first = 0
    for part in batch.parts:
        yield part, slice(first, first + len(part[0]))
        first += len(part[0])
