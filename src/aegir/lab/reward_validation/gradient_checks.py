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
from aegir.lab.reward_validation.report import Check, number_or_none
from aegir.lab.reward_validation.toy_router import (
    Rollout,
    Router,
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
) -> Iterator[Check]:
    """Every gradient check; the learning curve of each component is left in `curves`."""
    router = fresh_router()
    rollout = roll_out(router, config.episodes, seeds, "gradient")
    control = float(np.linalg.norm(policy_gradient(router, rollout, np.ones(config.episodes))))
    yield Check(
        "gradient",
        "control",
        "a constant reward gives none",
        control < ROUNDING,
        f"gradient norm {control:.2g}",
        {"norm": control},
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
    router: Router,
    rollout: Rollout,
    config: ValidationConfig,
    seeds: Seeds,
) -> Check:
    """The norm of the gradient against that of the same rewards given to the wrong tables."""
    norm = float(np.linalg.norm(policy_gradient(router, rollout, rewards)))
    draw = seeds.generator("shuffle", name)
    shuffled = [
        float(np.linalg.norm(policy_gradient(router, rollout, draw.permutation(rewards))))
        for _ in range(SHUFFLES)
    ]
    floor = float(np.mean(shuffled) + config.limits.deviations * np.std(shuffled))
    return Check(
        "gradient",
        name,
        "stands out from shuffled rewards",
        norm > floor > ROUNDING,
        f"gradient norm {norm:.4f}, shuffled {np.mean(shuffled):.4f}, must exceed {floor:.4f}",
        {
            "norm": number_or_none(norm),
            "shuffled": number_or_none(float(np.mean(shuffled))),
            "floor": number_or_none(floor),
        },
    )


def _learns(
    name: str,
    component: Component,
    before: Router,
    after: Router,
    config: ValidationConfig,
    seeds: Seeds,
) -> Check:
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
    return Check(
        "gradient",
        name,
        "climbing it raises it on fresh tables",
        bool(means[1] - means[0] > config.limits.deviations * error),
        f"mean {means[0]:.3f} before and {means[1]:.3f} after {config.learning_steps} steps "
        f"(standard error {error:.3f})",
        {
            "before": number_or_none(means[0]),
            "after": number_or_none(means[1]),
            "error": number_or_none(error),
            "specialists_on": float(batches[1].activations().mean()),
        },
    )


def _leaves_collapse(finish: Component, config: ValidationConfig, seeds: Seeds) -> Check:
    """From always on, with every column answered, the penalty must push the biases down."""
    router = fresh_router(COLLAPSED)
    rollout = without_misses(roll_out(router, config.episodes, seeds, "collapse"))
    push = float(policy_gradient(router, rollout, finish(rollout.batch))[-1].mean())
    return Check(
        "gradient",
        "finish",
        "leaves a router that is always on",
        push < -1e-6,
        f"mean gradient of the biases {push:.2g}; expected below 0",
        {"push": number_or_none(push)},
    )
