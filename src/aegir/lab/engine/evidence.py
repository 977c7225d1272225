"""Evidence on who reads a column: plans compared on all folds, paired, with intervals over groups of tables.

    rows = compare_plans(engine, runs, settings)       first layer · deep layers · threshold · random · learnt routers

Every learnt router is trained on the folds that it is not measured on, from what the deep layers of its fold make of a reading.
Routers activate as many columns as the threshold does, so rows differ in which columns, not in how many.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aegir.lab.byte_network.config import read_byte_training
from aegir.lab.engine.plans import MEASURES, Called, HeldOutEngine, Outcomes
from aegir.lab.engine.router import (
    Decisions,
    RouterTraining,
    learn_by_reward,
    longer,
    score_columns,
    warm_start,
)
from aegir.lab.torch_training import read_learner
from aegir.readers.bytes.first_layer import SCALE
from aegir.readers.bytes.heads import ANSWER_WIDTH
from aegir_rl.base.arrays import F32, I64, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.training_run import CHECKPOINT
from aegir_rl.offline.intervals import Estimate, estimate_gain

THRESHOLD = 0.7
"""Confidence below which the shipped routing table activates the deep layers."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One plan."""

    name: str
    activated: float
    """Share of labelled columns for which the deep layers are activated."""
    right: Mapping[str, float]
    """Measure to the share right."""
    gains: Mapping[str, Estimate]
    """The same less that of the threshold, with its 95 % interval."""
    columns: Mapping[str, int]
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Routed:
    """Columns of all origins that routers are trained and measured on, web first."""

    engine: HeldOutEngine
    hidden: Mapping[int, F32]
    """Fold to (columns, D) what its deep layers make of all readings, and 1."""
    gains: Floats
    table: I64
    fold: I64
    counted: I64
    """Numbers of the columns with known gains."""

    def decisions(self, fold: int) -> Decisions:
        """Return what the router of a fold may learn from."""
        rows = self.counted[self.fold[self.counted] != fold]
        numbers = np.unique(self.table[rows], return_inverse=True)[1]
        return Decisions(self.hidden[fold][rows], self.gains[rows], numbers)


def compare_plans(
    engine: HeldOutEngine,
    runs: Sequence[Path],
    settings: RouterTraining,
    seeds: int,
    say: Say,
    others: Mapping[str, HeldOutEngine] | None = None,
) -> list[PlanRow]:
    """Return the rows; `others` are engines with other deep layers, which are activated always."""
    base = engine.by_threshold(THRESHOLD)
    known = {
        origin: held.known["types"] | held.known["relations"]
        for origin, held in engine.combined.held.items()
    }
    before = engine.outcomes(base)

    def row(name: str, called: Called, by: HeldOutEngine = engine, note: str = "") -> PlanRow:
        say(name)
        return _row(name, _share(called, known), by.outcomes(called), before, note)

    rows = [
        _row("threshold", _share(base, known), before, before),
        row("first layer alone", engine.nowhere),
        row("without reranking", base, engine.without_reranking()),
        row("first layer alone, without reranking", engine.nowhere, engine.without_reranking()),
        row("deep layers always", engine.everywhere),
    ]
    rows += [row(name, each.everywhere, each) for name, each in (others or {}).items()]
    routed = _routed(engine, runs)
    for seed in range(seeds):
        rows.append(row(f"random, seed {seed}", _random(base, seed)))
    for seed in range(seeds):
        for name, scores, note in _learnt(routed, replace(settings, seed=seed)):
            called = _most_wanted(routed, scores, base)
            rows.append(row(f"{name}, seed {seed}", called, note=note))
    return rows


def _learnt(routed: _Routed, settings: RouterTraining) -> Iterator[tuple[str, Floats, str]]:
    """Yield the scores of routers learnt in three ways, every column by a router that has not seen its fold."""
    names = ("warm start", "warm start, as long as PARL", "PARL")
    scores = {name: np.zeros(len(routed.fold)) for name in names}
    clipped = []
    for fold in routed.hidden:
        decisions, here = routed.decisions(fold), routed.fold == fold
        for name in names:
            router = warm_start(decisions, settings)
            if name != names[0]:
                training = settings if name == names[2] else longer(settings)
                log = learn_by_reward(router, decisions, training)
                if name == names[2]:
                    clipped.append([*log.clip_fraction, log.cut])
            scores[name][here] = score_columns(router, routed.hidden[fold][here])
    shares = np.mean(clipped, axis=0)
    note = f"clip fraction {', '.join(f'{each:.3f}' for each in shares[:-1])}; caps cut {shares[-1]:.2f}"
    for name in names:
        yield name, scores[name], note if name == names[2] else ""


def _routed(engine: HeldOutEngine, runs: Sequence[Path]) -> _Routed:
    origins = list(engine.combined.held)
    readings = np.concatenate([engine.readings[origin] for origin in origins])
    gains = np.concatenate([engine.gains(origin) for origin in origins])
    tables, offset = [], 0
    for origin in origins:
        sizes = [len(t.labelled.table.columns) for t in engine.combined.held[origin].tables]
        tables.append(np.repeat(np.arange(len(sizes)) + offset, sizes))
        offset += len(sizes)
    fold = np.concatenate([engine.fold[origin] for origin in origins])
    reachable = np.concatenate([engine.everywhere[origin] for origin in origins])
    hidden = {}
    for run in runs:
        number, read = _hidden_of(run, readings)
        hidden[number] = read
    return _Routed(
        engine,
        hidden,
        gains,
        np.concatenate(tables),
        fold,
        np.flatnonzero(np.isfinite(gains) & reachable),
    )


def _hidden_of(run: Path, readings: F32) -> tuple[int, F32]:
    """Return the fold of a run, and what the first layer's readings become in its network: (columns, R + 1)."""
    saved = read_learner(run / CHECKPOINT)
    if "net.first.hidden.weight" not in saved.tensors:
        raise UsageError(f"the network of {run} does not begin with what the first layer says")
    weight, bias = (
        saved.tensors[f"net.first.hidden.{name}"].numpy() for name in ("weight", "bias")
    )
    inputs = np.hstack([readings[:, :ANSWER_WIDTH] * SCALE, readings[:, ANSWER_WIDTH:-1]])
    hidden = np.maximum(inputs @ weight.T + bias, 0)
    fold = read_byte_training(run / CONFIG).held_out.fold
    return fold, np.hstack([hidden, np.ones((len(hidden), 1), np.float32)]).astype(np.float32)


def _most_wanted(routed: _Routed, scores: Floats, base: Called) -> Called:
    """Return the columns with the highest scores, as many of each origin as `base` has."""
    called, start = {}, 0
    for origin, flags in base.items():
        here = np.where(routed.engine.everywhere[origin], scores[start : start + len(flags)], -1.0)
        chosen = np.zeros(len(flags), bool)
        chosen[np.argsort(-here, kind="stable")[: int(flags.sum())]] = True
        called[origin] = chosen
        start += len(flags)
    return called


def _random(base: Called, seed: int) -> Called:
    random = Seeds(seed).generator("random plan")
    return {origin: random.permutation(flags) for origin, flags in base.items()}


def _share(called: Called, known: Called) -> float:
    flags = np.concatenate([called[origin][known[origin]] for origin in called])
    return float(flags.mean())


def _row(
    name: str,
    activated: float,
    after: Mapping[str, Outcomes],
    before: Mapping[str, Outcomes],
    note: str = "",
) -> PlanRow:
    measured = [part for part in MEASURES if len(before[part].right)]
    return PlanRow(
        name,
        activated,
        {part: float(after[part].right.mean()) for part in measured},
        {
            part: estimate_gain(
                after[part].right.astype(float) - before[part].right, before[part].group
            )
            for part in measured
        },
        {part: len(after[part].right) for part in measured},
        note,
    )
