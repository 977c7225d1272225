"""The router of the deep layers, learnt on recorded outcomes: for which columns are they activated?

    decisions = Decisions(hidden, gains, tables)            what the first layer made of columns, what activating gained
    router = warm_start(decisions, settings)                supervised: is the gain above the price?
    router = learn_by_reward(router, decisions, settings)   PARL: rollouts, three rewards, clipped updates, caps that rise

Both answers to every column are known, by models that have not seen its table, so every rollout has its true reward. One
decision per column, one specialist, the deep layers; a table is an episode:

    reward = mean of the gains of activated columns - price * share activated + lambda_p r_parallel + lambda_f r_finish

Advantages compare a table's rollouts with each other, and every activation gets the table's plus what it gained itself
(difference rewards, as in rewarding.py of parl). Primary and deep layers are not trained here.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.nn import functional

from aegir.swarm.router import SpecialistRouter, bernoulli_log_probabilities, limit_activations
from aegir_rl.base.arrays import F32, I64, Bools, Floats
from aegir_rl.base.seeding import Seeds
from aegir_rl.rewards.combined import CombinedReward
from aegir_rl.rewards.completion import compute_r_finish
from aegir_rl.rewards.parallelism import ParallelWeights, compute_r_parallel
from aegir_rl.rl.advantages import leave_one_out_advantages
from aegir_rl.rl.clipped_objective import PpoForm, compute_policy_loss
from aegir_rl.rl.schedules import LinearSchedule, SmoothLambdas


@dataclass(frozen=True, slots=True)
class RouterTraining:
    """Settings of one router."""

    seed: int = 0
    price: float = 0.01
    """What an activation costs, in right answers."""
    warm_steps: int = 300
    rl_steps: int = 300
    tables: int = 48
    """Per step."""
    rollouts: int = 4
    updates: int = 4
    """Optimiser steps on the rollouts of a step: from the second on, clipping can act."""
    learning_rate: float = 3e-3
    clip_start: float = 0.2
    clip_end: float = 0.1
    policy: float = 1.0
    """Weight of the policy loss; 0 leaves the supervised loss alone."""
    supervised: float = 1.0
    stretch: int = 25
    """Steps of a stretch with a cap, and of one without."""
    rise: int = 1
    """What the cap per table gains from one capped stretch to the next."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Columns for which both outcomes are known."""

    hidden: F32
    """(columns, D)"""
    gains: Floats
    """(columns,) right answers with the deep layers less those without, -1 to 1."""
    table: I64
    """(columns,) ascending numbers of tables, from 0."""

    def of_tables(self, chosen: I64) -> "Decisions":
        """Return the columns of these tables, numbered in their order."""
        starts = np.searchsorted(self.table, chosen)
        ends = np.searchsorted(self.table, chosen, side="right")
        rows = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)])
        number = np.repeat(np.arange(len(chosen)), ends - starts)
        return Decisions(self.hidden[rows], self.gains[rows], number)

    @property
    def tables(self) -> int:
        """How many tables there are."""
        return int(self.table[-1]) + 1 if len(self.table) else 0


@dataclass(slots=True)
class RouterLog:
    """What training reports: means over its steps, by stage."""

    clip_fraction: list[float]
    """Per update of a step, meaned over steps."""
    kl: list[float]
    cut: float
    """Share of drawn activations that caps cut off, in capped stretches."""


def warm_start(decisions: Decisions, settings: RouterTraining) -> SpecialistRouter:
    """Return a router that has learnt for which columns the gain is above the price."""
    router = SpecialistRouter(decisions.hidden.shape[1], 1)
    optimiser = torch.optim.Adam(router.parameters(), settings.learning_rate)
    for step in range(settings.warm_steps):
        batch = _draw(decisions, settings, "warm", step)
        optimiser.zero_grad()
        _supervised_loss(router, batch, settings).backward()
        optimiser.step()
    return router


def learn_by_reward(
    router: SpecialistRouter, decisions: Decisions, settings: RouterTraining
) -> RouterLog:
    """Go on with rollouts and clipped updates; the router is changed."""
    optimiser = torch.optim.Adam(router.parameters(), settings.learning_rate)
    combined, clip = (
        CombinedReward(lambdas=SmoothLambdas()),
        LinearSchedule(settings.clip_start, settings.clip_end),
    )
    fractions, kls, cuts = [], [], []
    for step in range(settings.rl_steps):
        progress = step / settings.rl_steps
        batch = _draw(decisions, settings, "rl", step)
        cap = _cap(step, settings)
        rollouts = [
            _roll_out(router, batch, cap, settings, step, n) for n in range(settings.rollouts)
        ]
        if cap is not None:
            drawn = sum(int(each.drawn.sum()) for each in rollouts)
            cuts.append(1 - sum(int(each.executed.sum()) for each in rollouts) / max(drawn, 1))
        advantages = _advantages(batch, rollouts, combined, progress, settings)
        form = PpoForm(clip(progress))
        of_step = []
        for _ in range(settings.updates):
            optimiser.zero_grad()
            logits = router.decision_logits(torch.from_numpy(batch.hidden))
            new = torch.stack(
                [
                    bernoulli_log_probabilities(logits, torch.from_numpy(each.drawn[:, None]))[:, 0]
                    for each in rollouts
                ]
            )
            loss = compute_policy_loss(
                new.detach().double().numpy(),
                np.stack([each.log_probabilities for each in rollouts]),
                advantages,
                form,
            )
            total = settings.policy * (new * torch.from_numpy(loss.gradient).to(new)).sum()
            (total + settings.supervised * _supervised_loss(router, batch, settings)).backward()
            optimiser.step()
            of_step.append((loss.figures["clip_fraction"], loss.figures["kl"]))
        fractions.append([each[0] for each in of_step])
        kls.append([each[1] for each in of_step])
    return RouterLog(
        np.mean(fractions, axis=0).tolist() if fractions else [],
        np.mean(kls, axis=0).tolist() if kls else [],
        float(np.mean(cuts)) if cuts else 0.0,
    )


def score_columns(router: SpecialistRouter, hidden: F32) -> F32:
    """Return the scores (columns,) of activating the deep layers."""
    with torch.no_grad():
        scores: F32 = router(torch.from_numpy(hidden))[:, 0].numpy()
    return scores


@dataclass(frozen=True, slots=True)
class _Rollout:
    drawn: Bools
    executed: Bools
    log_probabilities: Floats


def _roll_out(
    router: SpecialistRouter,
    batch: Decisions,
    cap: int | None,
    settings: RouterTraining,
    step: int,
    number: int,
) -> _Rollout:
    """Draw the activations of a batch; a cap holds for every table."""
    generator = torch.Generator().manual_seed(
        Seeds(settings.seed).derive("rollout", step, number) >> 1
    )
    hidden = torch.from_numpy(batch.hidden)
    with torch.no_grad():
        scores = router(hidden)
        drawn = router.sample(scores, generator)
        logs = router.log_probabilities(hidden, drawn)[:, 0].double().numpy()
    executed = drawn.clone()
    if cap is not None:
        for table in range(batch.tables):
            rows = torch.from_numpy(np.flatnonzero(batch.table == table))
            executed[rows] = limit_activations(drawn[rows], scores[rows], cap)
    return _Rollout(drawn[:, 0].numpy(), executed[:, 0].numpy(), logs)


def _advantages(
    batch: Decisions,
    rollouts: list[_Rollout],
    combined: CombinedReward,
    progress: float,
    settings: RouterTraining,
) -> Floats:
    """Return (rollouts, columns) advantages of every decision."""
    tables, count = batch.tables, len(rollouts)
    sizes = np.bincount(batch.table, minlength=tables)
    width = int(sizes.max())
    place = np.arange(len(batch.table)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    executed = np.zeros((count, tables, width), bool)
    gained = np.zeros((tables, width))
    gained[batch.table, place] = batch.gains
    for number, each in enumerate(rollouts):
        executed[number, batch.table, place] = each.executed
    decided = np.arange(width) < sizes[:, None]
    net = (executed * (gained - settings.price)).sum(axis=2) / sizes
    activations = executed.reshape(-1, width, 1)
    real = np.tile(decided, (count, 1))
    pool = np.repeat(np.arange(count), tables)
    parallel = compute_r_parallel(
        activations,
        score_gain=np.tile(gained, (count, 1))[..., None],
        decided=real,
        pool=pool,
        weights=ParallelWeights(least_gain=settings.price),
    ).reward
    finish = compute_r_finish(
        np.where(real, 1.0, np.nan), activations, decided=real, pool=pool
    ).reward
    total = combined.combine(net.ravel(), parallel, finish, progress).total
    shared = total - net.ravel()
    groups = np.tile(np.arange(tables), count)
    others = leave_one_out_advantages(shared, groups).reshape(count, tables)[:, batch.table]
    own = np.stack([each.executed for each in rollouts]) * (batch.gains - settings.price)
    centred = leave_one_out_advantages(
        own.ravel(), np.tile(np.arange(len(batch.table)), count)
    ).reshape(own.shape)
    advantages = centred + np.nan_to_num(others)
    return advantages / max(float(advantages.std()), 1e-9)


def _supervised_loss(
    router: SpecialistRouter, batch: Decisions, settings: RouterTraining
) -> torch.Tensor:
    """Return the cross entropy with whether the net gain is positive, weighted by its size."""
    net = torch.from_numpy((batch.gains - settings.price).astype(np.float32))
    logits = router.logits(torch.from_numpy(batch.hidden))[:, 0]
    each = functional.binary_cross_entropy_with_logits(logits, (net > 0).float(), reduction="none")
    return (each * net.abs()).sum() / net.abs().sum().clamp(min=1e-6)


def _draw(decisions: Decisions, settings: RouterTraining, stage: str, step: int) -> Decisions:
    random = Seeds(settings.seed).generator("tables", stage, step)
    count = min(settings.tables, decisions.tables)
    return decisions.of_tables(np.sort(random.choice(decisions.tables, count, replace=False)))


def _cap(step: int, settings: RouterTraining) -> int | None:
    number = step // settings.stretch
    return None if number % 2 else 1 + settings.rise * (number // 2)


def longer(settings: RouterTraining) -> RouterTraining:
    """Return the settings of the control: supervised for as many steps, without the policy loss."""
    return replace(settings, policy=0.0)
