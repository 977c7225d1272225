"""Does a reward move a policy, and the right way? Measured on the toy router.

control        a constant reward gives no gradient
stands out     the gradient is larger than that of the same rewards given to the wrong tables, which is what
               chance alone yields at this batch size
learns         climbing the reward raises it on tables the router has not seen
collapse       from a router that is always on, r_finish pushes towards switching off
"""

from collections.abc import Iterator, Mapping

import numpy as np

from aegir.lab.reward_validation.cases import Component
from aegir.lab.reward_validation.config import ValidationConfig
from aegir.lab.reward_validation.report import RewardCheck, number_or_none
from aegir.lab.reward_validation.toy_router import (
    ToyRollout,
    ToyRouter,
    fresh_router,
    learn,
    policy_gradient,
    roll_out,
    without_misses,
)
from aegir_rl.base.arrays import Floats
from aegir_rl.base.seeding import Seeds

SHUFFLES = 20
COLLAPSED = 5.0
"""A bias at which all four specialists are on at 97 % of the decisions."""
ROUNDING = 1e-12
"""Gradients below this are what float64 leaves of zero."""


def gradient_checks(
    components: Mapping[str, Component],
    config: ValidationConfig,
    seeds: Seeds,
    curves: dict[str, tuple[float | None, ...]],
) -> Iterator[RewardCheck]:
    """Every gradient check; the learning curve of each component is left in `curves`."""
    router = fresh_router()
    rollout = roll_out(router, config.episodes, seeds, "gradient")
    control = float(np.linalg.norm(policy_gradient(router, rollout, np.ones(config.episodes))))
    yield RewardCheck.of(
        *("gradient", "control", "a constant reward gives none"),
        passed=control < ROUNDING,
        sentence=f"gradient norm {control:.2g}",
        norm=control,
    )
    for name, component in components.items():
        yield _stands_out(name, component(rollout.batch), router, rollout, config, seeds)
        after, curve = learn(
            router, component, config.learning_steps, config.learning_episodes, seeds
        )
        curves[name] = tuple(map(number_or_none, curve))
        yield _learns(name, component, router, after, config, seeds)
    yield _leaves_collapse(components["finish"], config, seeds)


def _stands_out(
    name: str,
    rewards: Floats,
    router: ToyRouter,
    rollout: ToyRollout,
    config: ValidationConfig,
    seeds: Seeds,
) -> RewardCheck:
    """The norm of the gradient against that of the same rewards given to the wrong tables."""
    norm = float(np.linalg.norm(policy_gradient(router, rollout, rewards)))
    draw = seeds.generator("shuffle", name)
    shuffled = [
        float(np.linalg.norm(policy_gradient(router, rollout, draw.permutation(rewards))))
        for _ in range(SHUFFLES)
    ]
    chance = float(np.mean(shuffled))
    floor = float(chance + config.limits.deviations * np.std(shuffled))
    return RewardCheck.of(
        *("gradient", name, "stands out from shuffled rewards"),
        passed=norm > floor > ROUNDING,
        sentence=f"gradient norm {norm:.4f}, shuffled {chance:.4f}, must exceed {floor:.4f}",
        norm=norm,
        shuffled=chance,
        floor=floor,
    )


def _learns(
    name: str,
    component: Component,
    before: ToyRouter,
    after: ToyRouter,
    config: ValidationConfig,
    seeds: Seeds,
) -> RewardCheck:
    """The mean reward on fresh tables after climbing it, against before, with its standard error."""
    batches = [
        roll_out(router, config.episodes, seeds, "fresh").batch for router in (before, after)
    ]
    pair = [component(batch) for batch in batches]
    means = [float(np.nanmean(one)) if np.isfinite(one).any() else np.nan for one in pair]
    error = (
        float(np.sqrt(sum(np.nanvar(one) / len(one) for one in pair)))
        if np.isfinite(means).all()
        else np.nan
    )
    return RewardCheck.of(
        *("gradient", name, "climbing it raises it on fresh tables"),
        passed=means[1] - means[0] > config.limits.deviations * error,
        sentence=f"mean {means[0]:.3f} before and {means[1]:.3f} after {config.learning_steps} steps "
        f"(standard error {error:.3f})",
        before=means[0],
        after=means[1],
        error=error,
        specialists_on=float(batches[1].activations().mean()),
    )


def _leaves_collapse(finish: Component, config: ValidationConfig, seeds: Seeds) -> RewardCheck:
    """From always on, with every column answered, the penalty must push the biases down."""
    router = fresh_router(COLLAPSED)
    rollout = without_misses(roll_out(router, config.episodes, seeds, "collapse"))
    push = float(policy_gradient(router, rollout, finish(rollout.batch))[-1].mean())
    return RewardCheck.of(
        *("gradient", "finish", "leaves a router that is always on"),
        passed=push < -1e-6,
        sentence=f"mean gradient of the biases {push:.2g}; expected below 0",
        push=push,
    )
