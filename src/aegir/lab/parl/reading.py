"""Reading a batch of tables with the swarm, part by part; specialists read a column once, for all rollouts.

    scores = score_columns(policy, batch)                     first block -> routing hidden -> scores (columns, N)
    known = run_activated(policy, batch, activation)          activated specialists, in parallel, without gradient
    reading = read_columns(policy, batch, drawn, executed, known)

Columns are numbered as in the batch: those of its first part, of its second, and so on. Because specialists never change,
what they gave for a column holds for every rollout, for the update and for the same column with a specialist switched off.

A specialist that has learnt from a table is surer of it than it will be of the tables of users, and a router that learns from
such answers trusts it too much. `StandIns` are its twins, each trained without one fold: in training the twin of the
table's own fold reads in its place.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from aegir.lab.byte_network.batches import Batch
from aegir.lab.byte_network.examples import Example
from aegir.lab.nets.hierarchy import StageOutput
from aegir.lab.parl.policy import Policy
from aegir.readers.bytes.byte_encoding import PAD
from aegir.swarm.specialist import FrozenSpecialist, SpecialistOutput, run_specialists
from aegir_rl.episode import TimedStep

PartOutputs = Sequence[SpecialistOutput | None]
"""What each specialist gave for the columns of one part."""
StandIns = Mapping[str, Mapping[int, FrozenSpecialist]]
"""Name of a specialist to its twins, each by the fold whose tables it has not seen."""


@dataclass(frozen=True, slots=True)
class Known:
    """What specialists gave for a batch."""

    parts: tuple[PartOutputs, ...]
    seconds: tuple[float, ...]
    """Of each specialist, over all parts."""
    dropped: Tensor
    """(columns, N) true where it gave numbers that are not finite, which are left out."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a batch."""

    vectors: Tensor
    """(columns, D), with the answers of specialists behind them if the swarm uses them."""
    outputs: list[StageOutput]
    """The primary's own, one per part."""
    routing_logits: Tensor
    """(columns, N) whose sigmoid is the score; no columns if specialists were not asked for."""
    log_probabilities: Tensor
    """(columns, N) of what was drawn."""
    dropped: Tensor
    """(columns, N) true where numbers that are not finite were left out."""
    steps: tuple[tuple[TimedStep, ...], ...]
    """What was done for each part, in seconds; the routing hidden counts to the router."""


def score_columns(policy: Policy, batch: Batch) -> Tensor:
    """Return the router's scores (columns, N), without gradient."""
    with torch.no_grad():
        hidden = [policy.primary.routing_hidden(ids, ids != PAD) for ids, _ in batch.parts]
        return policy.swarm.router(torch.cat(hidden))


def column_folds(batch: Batch, examples: Sequence[Example]) -> Tensor:
    """Return (columns,) the fold that keeps each column's table out."""
    folds = torch.empty(len(batch.order), dtype=torch.long)
    for row, mask, example in zip(batch.tables.columns, batch.tables.mask, examples, strict=True):
        folds[row[mask]] = example.fold
    return folds


def run_activated(
    policy: Policy,
    batch: Batch,
    activation: Tensor,
    stand_ins: StandIns | None = None,
    folds: Tensor | None = None,
) -> Known:
    """Let each specialist read the columns that `activation` (columns, N) routes to it.

    With `folds` (columns,), columns of a fold that a specialist has a twin for are read by the twin.
    """
    swarm, parts = policy.swarm, []
    readers, places, share = _with_stand_ins(swarm.specialists, activation, stand_ins or {}, folds)
    dropped = torch.zeros_like(activation)
    seconds = [0.0] * len(swarm.specialists)
    for (ids, _), columns in _parts(batch):
        read = run_specialists(readers, ids, ids != PAD, share[columns], swarm.workers)
        given = [
            _joined([output for output, at in zip(read, places, strict=True) if at == number])
            for number in range(len(swarm.specialists))
        ]
        for number, output in enumerate(given):
            if output is not None:
                seconds[number] += output.seconds
                dropped[columns.start + output.rows, number] = ~output.finite
        parts.append(given)
    return Known(tuple(parts), tuple(seconds), dropped)


def read_columns(
    policy: Policy,
    batch: Batch,
    drawn: Tensor | None = None,
    executed: Tensor | None = None,
    known: Known | None = None,
) -> Reading:
    """Read with the specialists of `executed` (columns, N), or with the primary alone if it is None.

    Log probabilities are those of `drawn`, which a cap may have cut.
    """
    swarm, vectors, outputs, logits, chosen, dropped, steps = policy.swarm, [], [], [], [], [], []
    for number, ((ids, _), columns) in enumerate(_parts(batch)):
        mask = ids != PAD
        if executed is None:
            result, before = swarm(ids, mask), 0.0
        else:
            begin = time.perf_counter()
            hidden = policy.primary.routing_hidden(ids, mask)
            before = time.perf_counter() - begin
            result = swarm(
                ids,
                mask,
                hidden,
                activation=executed[columns],
                known=known.parts[number] if known else None,
            )
            now = executed[columns] if drawn is None else drawn[columns]
            logits.append(policy.routing_logits(hidden))
            chosen.append(functional.logsigmoid(torch.where(now, logits[-1], -logits[-1])))
        vectors.append(result["output"])
        outputs.append(result["reading"].detail)
        dropped.append(result["dropped"])
        router, *rest = result["steps"]
        steps.append((TimedStep(router.name, router.duration + before), *rest))
    none = vectors[0].new_zeros(0, len(swarm.specialists))
    return Reading(
        torch.cat(vectors),
        outputs,
        torch.cat(logits) if logits else none,
        torch.cat(chosen) if chosen else none,
        torch.cat(dropped),
        tuple(steps),
    )


def _with_stand_ins(
    specialists: Sequence[FrozenSpecialist],
    activation: Tensor,
    stand_ins: StandIns,
    folds: Tensor | None,
) -> tuple[list[FrozenSpecialist], list[int], Tensor]:
    """Return who reads, whose place each of them takes, and (columns, readers) what each reads."""
    readers, places = list(specialists), list(range(len(specialists)))
    share = list(activation.clone().unbind(dim=1))
    for number, specialist in enumerate(specialists):
        for fold, twin in stand_ins.get(specialist.name, {}).items():
            assert folds is not None, "stand-ins need the folds of the columns"
            readers.append(twin)
            places.append(number)
            share.append(activation[:, number] & (folds == fold))
            share[number] &= folds != fold
    return readers, places, torch.stack(share, dim=1)


def _joined(outputs: Sequence[SpecialistOutput | None]) -> SpecialistOutput | None:
    """Return what several gave for different rows as the output of one."""
    found = [output for output in outputs if output is not None]
    if len(found) <= 1:
        return found[0] if found else None
    rows, order = torch.cat([each.rows for each in found]).sort()
    vectors = [each.vectors for each in found if each.vectors is not None]
    answers = [each.answers for each in found if each.answers is not None]
    return SpecialistOutput(
        rows,
        tuple(
            torch.cat(layer)[order] for layer in zip(*(each.states for each in found), strict=True)
        ),
        torch.cat(vectors)[order] if vectors else None,
        torch.cat(answers)[order] if answers else None,
        torch.cat([each.finite for each in found])[order],
        sum(each.seconds for each in found),
    )


def _parts(batch: Batch) -> Iterator[tuple[tuple[Tensor, Tensor], slice]]:
    """Yield each part with the numbers of its columns."""
    at = 0
    for part in batch.parts:
        yield part, slice(at, at + len(part[0]))
        at += len(part[0])
