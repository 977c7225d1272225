"""A small differentiable router on invented tables: what a reward does to a policy can be measured on it.

    features (E, D, F) --W, b--> logits --sigmoid--> Bernoulli per specialist --> outcome --> reward (E,)

A column is easy (the primary knows it) or needs one of four specialists. With its specialist on, it is answered more
often and more often rightly; other specialists do nothing for it. The gain of an activation is the difference to the same
column without it, luck kept equal. Everything is drawn from named seeds; float64; torch is imported when used.

The policy gradient is that of REINFORCE with the batch mean as baseline, through torch's autograd:
mean over episodes of (r - mean r) * grad log pi(activations).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aegir.lab.reward_validation.cases import Component, routed_batch
from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.base.seeding import Seeds
from aegir_rl.episode import LABEL, NO_CHOICE, EpisodeBatch

if TYPE_CHECKING:
    import torch

COLUMNS, SPECIALISTS = 8, 4
EASY_SHARE = 0.4
# Answered, and right when answered: easy columns, helped ones, those that got no help.
ANSWERED = (0.95, 0.9, 0.4)
RIGHT = (0.95, 0.9, 0.15)


@dataclass(frozen=True, slots=True)
class ToyRouter:
    """A linear layer to one logit per specialist."""

    weight: Floats
    """(F, N)"""
    bias: Floats
    """(N,)"""

    def moved(self, step: Floats, amount: float) -> "ToyRouter":
        """The router after a step along a gradient from `policy_gradient`."""
        return ToyRouter(self.weight + amount * step[:-1], self.bias + amount * step[-1])


@dataclass(frozen=True, slots=True)
class ToyRollout:
    """What a router saw and did in one batch."""

    features: Floats
    """(E, D, F)"""
    batch: EpisodeBatch


def fresh_router(bias: float = 0.0) -> ToyRouter:
    """A router that does not look at its input; bias 0 switches every specialist on half the time."""
    return ToyRouter(np.zeros((SPECIALISTS + 1, SPECIALISTS)), np.full(SPECIALISTS, bias))


def roll_out(
    router: ToyRouter, episodes: int, seeds: Seeds, *names: str | int, spread: float = 0.0
) -> ToyRollout:
    """Route a batch of invented tables; `spread` moves each table's biases at random, for variety."""
    draw = seeds.generator("toy router", *names)
    kinds = draw.integers(1, SPECIALISTS + 1, (episodes, COLUMNS))
    kinds[draw.random(kinds.shape) < EASY_SHARE] = 0
    features = np.eye(SPECIALISTS + 1)[kinds] + 0.3 * draw.normal(
        size=(*kinds.shape, SPECIALISTS + 1)
    )
    shift = spread * draw.uniform(-1, 1, (episodes, 1, SPECIALISTS))
    logits = features @ router.weight + router.bias + shift
    activations = (draw.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.int64)
    needed = np.eye(SPECIALISTS + 1)[kinds][..., 1:]  # (E, D, N), all 0 for an easy column
    helped = np.asarray((activations * needed).sum(2) > 0)
    luck = draw.random((2, *kinds.shape))
    answered, right = _outcome(kinds, helped, luck)
    alone = _outcome(kinds, np.zeros_like(helped), luck)[1]
    gain = activations * needed * (right.astype(float) - alone)[..., None]
    predicted = np.where(right, kinds, np.where(answered, SPECIALISTS + 1, NO_CHOICE))
    return ToyRollout(
        features, routed_batch(activations, predicted, kinds, gain, np.zeros_like(gain))
    )


def policy_gradient(router: ToyRouter, rollout: ToyRollout, rewards: Floats) -> Floats:
    """Gradient of the mean reward by the router, (F + 1, N), bias last; missing rewards are left out."""
    import torch

    present = np.isfinite(rewards)
    if not present.any():
        return np.full((SPECIALISTS + 2, SPECIALISTS), np.nan)
    weight = torch.tensor(router.weight, requires_grad=True)
    bias = torch.tensor(router.bias, requires_grad=True)
    log_policy = _log_policy(weight, bias, rollout)  # (E,)
    advantage = np.where(present, rewards - rewards[present].mean(), 0.0)
    objective = (torch.from_numpy(advantage) * log_policy).sum() / int(present.sum())
    objective.backward()
    return np.concatenate([weight.grad.numpy(), bias.grad.numpy()[None]])


def learn(
    router: ToyRouter, component: Component, steps: int, episodes: int, seeds: Seeds
) -> tuple[ToyRouter, list[float]]:
    """Climb one reward by policy gradient; the router and the mean reward before every step."""
    curve = []
    for step in range(steps):
        rollout = roll_out(router, episodes, seeds, "learn", step)
        rewards = component(rollout.batch)
        gradient = policy_gradient(router, rollout, rewards)
        norm = float(np.linalg.norm(gradient))
        curve.append(float(np.nanmean(rewards)) if np.isfinite(rewards).any() else np.nan)
        if not np.isfinite(norm) or norm == 0:
            continue
        router = router.moved(gradient / norm, 0.5)  # only the direction is trusted
    return router, curve


def without_misses(rollout: ToyRollout) -> ToyRollout:
    """The same rollout with every column answered: what is left of r_finish is its routing penalty."""
    actions = rollout.batch.actions.copy()
    answers = actions[..., rollout.batch.factors.index(LABEL)]
    answers[answers == NO_CHOICE] = SPECIALISTS + 1
    return replace(rollout, batch=replace(rollout.batch, actions=actions))


def _log_policy(
    weight: "torch.Tensor", bias: "torch.Tensor", rollout: ToyRollout
) -> "torch.Tensor":
    import torch

    logits = torch.from_numpy(rollout.features) @ weight + bias
    signs = torch.from_numpy(2 * rollout.batch.activations() - 1)
    return torch.nn.functional.logsigmoid(signs * logits).sum((1, 2))


def _outcome(kinds: Ints, helped: Bools, luck: Floats) -> tuple[Bools, Bools]:
    """Which columns are answered, and which rightly; each (E, D)."""
    case = np.where(kinds == 0, 0, np.where(helped, 1, 2))
    answered = luck[0] < np.asarray(ANSWERED)[case]
    return answered, answered & (luck[1] < np.asarray(RIGHT)[case])
