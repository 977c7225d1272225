"""The toy router: its gradient is the true one, and its tables behave as described."""

import numpy as np
import pytest

from aegir.lab.reward_validation.config import ValidationConfig
from aegir.lab.reward_validation.toy_router import (
    ToyRouter,
    fresh_router,
    learn,
    policy_gradient,
    roll_out,
)
from aegir.lab.reward_validation.validation import default_components
from aegir_rl.base.seeding import Seeds

torch = pytest.importorskip("torch", reason="the policy gradient is torch's")


def test_the_gradient_is_the_score_function_worked_out_by_hand():
    """grad log pi of a Bernoulli is (a - p) x; so the gradient is mean (r - mean r) * sum over columns (a - p) x."""
    draw = np.random.default_rng(0)
    router = ToyRouter(draw.normal(size=(5, 4)), draw.normal(size=4))
    rollout = roll_out(router, 50, Seeds(1))
    rewards = draw.random(50)
    on = 1 / (1 + np.exp(-(rollout.features @ router.weight + router.bias)))
    inputs = np.concatenate([rollout.features, np.ones((50, 8, 1))], 2)
    scores = np.einsum("edf,edn->efn", inputs, rollout.batch.activations() - on)
    expected = np.einsum("e,efn->fn", rewards - rewards.mean(), scores) / 50
    assert policy_gradient(router, rollout, rewards) == pytest.approx(expected, abs=1e-12)


def test_missing_rewards_are_left_out_of_the_gradient():
    router = fresh_router()
    rollout = roll_out(router, 20, Seeds(0))
    rewards = np.random.default_rng(0).random(20)
    rewards[:10] = np.nan
    assert np.isfinite(policy_gradient(router, rollout, rewards)).all()
    assert np.isnan(policy_gradient(router, rollout, np.full(20, np.nan))).all()


def test_only_the_needed_specialist_gains():
    batch = roll_out(fresh_router(), 500, Seeds(0)).batch
    useful = np.argwhere(batch.score_gain > 0)
    assert len(useful) > 100
    assert (batch.gold[useful[:, 0], useful[:, 1], 0] == useful[:, 2] + 1).all()
    assert (batch.activations()[batch.gain("score_gain") != 0] == 1).all()


def test_the_same_names_give_the_same_tables():
    first, again, other = (roll_out(fresh_router(), 9, Seeds(0), name) for name in "aab")
    assert np.array_equal(first.features, again.features)
    assert not np.array_equal(first.features, other.features)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_r_parallel_learns_whom_to_call_and_r_perf_calls_everyone(seed: int):
    """Half are on at the start, 15 % would suffice; after 40 steps 0.28 +- 0.02 and 0.89 +- 0.06 (n = 3)."""
    components = default_components(ValidationConfig())
    on = {}
    for name in ("parallel", "perf"):
        router, _ = learn(fresh_router(), components[name], 40, 256, Seeds(seed))
        on[name] = roll_out(router, 512, Seeds(seed), "fresh").batch.activations().mean()
    assert on["parallel"] < 0.4
    assert on["perf"] > 0.7
