"""The rollouts of a step as episodes: one per table and rollout, one decision per column.

    episodes = build_episodes(tables, rollouts, gains, workload)

Episodes and slots are counted as in step_tables.py. Actions are those that were executed, log probabilities those of what was drawn, the propensity is that of the executed action, and `decided_by` is
"cap" where the two differ. Cost is in millions of multiplications, `Workload`. Seconds are measured for the whole batch
and shared among its tables by the work that each had done.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import nn

from aegir.lab.byte_network.batches import ColumnBatch
from aegir.lab.parl.policy import SwarmPolicy
from aegir.lab.parl.reading import CachedOutputs
from aegir.lab.parl.rollouts import Rollout
from aegir.lab.parl.step_tables import StepTables
from aegir.readers.bytes.heads import OUTPUTS, TYPES_HEAD
from aegir.swarm.column_model import ByteColumnModel
from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.episode import ABSENT, LABEL, NO_CHOICE, EpisodeBatch, TimedStep
from aegir_rl.rl.critical_path import compute_stage_times

MILLION = 1e6
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class Workload:
    """Estimated work per symbol, in millions of multiplications: about the weights of a model's blocks."""

    primary: float
    specialists: tuple[float, ...]

    @classmethod
    def of(cls, policy: SwarmPolicy) -> "Workload":
        """Count weights; a model that is no torch module costs nothing here."""
        models = (each.model for each in policy.swarm.specialists)
        return cls(_work(policy.primary), tuple(map(_work, models)))


def build_episodes(
    tables: StepTables, rollouts: Sequence[Rollout], gains: Sequence[Floats], workload: Workload
) -> EpisodeBatch:
    """Return one episode per table and rollout, without rewards and times."""
    count, width = len(rollouts), len(tables.names)

    def all_of(values: Sequence[npt.NDArray[np.generic]], fill: float) -> npt.NDArray[np.generic]:
        return np.concatenate([tables.to_slots(each, fill) for each in values])

    routed = [rollout.executed(width) for rollout in rollouts]
    labels = [np.where(each.abstained, NO_CHOICE, each.labels) for each in rollouts]
    actions = [
        np.concatenate([on.astype(np.int64), label[:, None]], axis=1)
        for on, label in zip(routed, labels, strict=True)
    ]
    nothing = np.full((len(tables.batch.order), 1), np.nan)
    cut = [_cut(rollout) for rollout in rollouts]
    deciders = tuple(("router", str(tables.step), who, "") for who in ("policy", "cap"))
    identity = [f"{tables.step}/{number}" for number in range(len(tables.examples))]
    mask = np.tile(tables.mask, (count, 1))
    return EpisodeBatch.of(
        mask,
        (*tables.names, LABEL),
        all_of(actions, ABSENT).astype(np.int64),
        source="real",
        choices={LABEL: OUTPUTS[TYPES_HEAD]},
        log_probabilities=all_of([each.log_probabilities for each in rollouts], np.nan),
        propensity=all_of([_propensity(each) for each in rollouts], np.nan),
        deciders=deciders,
        decider=all_of(cut, 0).astype(np.int64),
        cost=all_of([_costs(tables.symbols, on, workload) for on in routed], 0.0),
        gold=np.tile(tables.to_slots(_accepted(tables.batch), NO_CHOICE), (count, 1, 1)),
        score_gain=all_of(
            [np.concatenate([gain[:, :width], nothing], axis=1) for gain in gains], np.nan
        ),
        ids=tuple(f"{name}/{k}" for k in range(count) for name in identity),
        sources=tuple("synthetic" if each.synthetic else "real" for each in tables.examples)
        * count,
        groups=tuple(identity) * count,
        tasks=tuple(each.table.name or "" for each in tables.examples) * count,
    )


@dataclass(frozen=True, slots=True)
class Work:
    """Estimated work of every episode (E,), in millions of multiplications."""

    critical_path: Floats
    """Primary and longest specialist."""
    total: Floats
    longer: Floats
    """How much longer the critical path is than the primary alone, as a share of that."""


def compute_work(episodes: EpisodeBatch, tables: StepTables, workload: Workload) -> Work:
    """Return critical path and total of every episode."""
    symbols = np.tile(
        tables.to_slots(tables.symbols, 0), (len(episodes) // len(tables.examples), 1)
    )
    on = np.nan_to_num(episodes.activations(tables.names))  # (E, D, N)
    read = (symbols[..., None] * on).sum(axis=1)  # symbols that each specialist read, (E, N)
    helpers = np.where(read > 0, read * np.array(workload.specialists[: on.shape[2]]), np.nan)
    alone = symbols.sum(axis=1) * workload.primary
    times = compute_stage_times(alone[:, None], helpers[:, None])
    return Work(times.critical_path, times.total_work, times.critical_path / alone - 1)


def measured_steps(
    cached: CachedOutputs | None, rollout: Rollout, names: Sequence[str]
) -> list[TimedStep]:
    """Return router, specialists at once, and primary, with the seconds of a batch in one rollout.

    Specialists read a column once for all rollouts: each counts for its columns in this one.
    """
    of_part = [{step.name: step.duration for step in steps} for steps in rollout.steps]
    router, primary = (sum(each[name] for each in of_part) for name in ("router", "primary"))
    ran: list[TimedStep] = []
    if cached is not None and rollout.activations is not None:
        used = rollout.activations.executed.sum(axis=0)
        for number, name in enumerate(names):
            outputs = [part[number] for part in cached.parts]
            read = sum(len(output.rows) for output in outputs if output is not None)
            if used[number]:
                seconds = cached.seconds[number] * int(used[number]) / max(read, 1)
                ran.append(TimedStep(f"specialist {name}", seconds, ("router",)))
    before = tuple(step.name for step in ran) or ("router",)
    return [TimedStep("router", router), *ran, TimedStep("primary", primary, before)]


def _work(model: object) -> float:
    if isinstance(model, ByteColumnModel):
        return _weights(model.network.reader.stage)
    return _weights(model) if isinstance(model, nn.Module) else 0.0


def _weights(module: nn.Module) -> float:
    return float(sum(parameter.numel() for parameter in module.parameters()) / MILLION)


def _cut(rollout: Rollout) -> Ints:
    """1 where the cap switched a specialist off."""
    if rollout.activations is None:
        return np.zeros(len(rollout.labels), np.int64)
    changed = rollout.activations.drawn != rollout.activations.executed
    return np.asarray(changed.any(axis=1), np.int64)


def _propensity(rollout: Rollout) -> Floats:
    label = np.exp(rollout.log_probabilities[:, -1])
    if rollout.activations is not None:
        label = label * rollout.activations.propensity.prod(axis=1)
    return np.clip(label, TINY, 1.0)


def _costs(symbols: Ints, on: Bools, workload: Workload) -> Floats:
    helpers = on @ np.array(workload.specialists[: on.shape[1]], np.float64)
    return symbols * (workload.primary + helpers)


def _accepted(batch: ColumnBatch) -> Ints:
    """Return (columns, A) the acceptable types of each column, NO_CHOICE where there are fewer."""
    accepted = batch.targets[TYPES_HEAD].numpy() > 0
    most = max(int(accepted.sum(axis=1).max(initial=0)), 1)
    order = np.argsort(-batch.targets[TYPES_HEAD].numpy(), axis=1, kind="stable")[:, :most]
    return np.where(np.take_along_axis(accepted, order, axis=1), order, NO_CHOICE)
