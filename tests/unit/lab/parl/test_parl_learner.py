"""The clipped update: what it pushes, what it leaves alone, which tokens weigh more."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aegir.lab.parl.config import ParlTraining, RoutingSettings
from aegir.lab.parl.learner import SwarmLearner, Update, hand_over, share_rollouts
from aegir.lab.parl.policy import Activations, SwarmPolicy
from aegir.lab.parl.reading import run_activated, score_columns
from aegir.lab.parl.rollouts import answer_columns
from aegir.lab.parl.step_tables import StepTables
from parl_runs import parl_settings, policy_and_tables


def settings(folder: Path, **rl: float) -> ParlTraining:
    """The policy loss alone, without entropy."""
    config = parl_settings(folder)
    alone = {"supervised": 0.0, "router_entropy": 0.0, "learning_rate": 1e-2, "updates": 1, **rl}
    return replace(
        config,
        learning=replace(config.learning, warm_up=0.0),
        rl=replace(config.rl, rollouts=2, **alone),
    )


def update(
    policy: SwarmPolicy, tables: StepTables, config: ParlTraining, rewarded: int
) -> tuple[np.ndarray, Update]:
    """One step in which specialist `rewarded` was on in the better of two rollouts; the change of scores."""
    batch = tables.batch
    shape = (len(batch.order), 2)
    before = score_columns(policy, batch).numpy()
    known = run_activated(policy, batch, torch.ones(shape, dtype=torch.bool))
    rollouts = []
    for on in (True, False):
        drawn = np.zeros(shape, bool)
        drawn[:, rewarded] = on
        plan = Activations(drawn, drawn, np.full(shape, 0.5))
        random = np.random.default_rng(0)
        rollouts.append(answer_columns(policy, batch, plan, known, random))
    advantages = np.array([[1.0] * shape[0], [-1.0] * shape[0]])
    learner = SwarmLearner(policy, config)
    learner.set_reference()
    done = learner.update(tables, rollouts, advantages, known, 0)
    return score_columns(policy, batch).numpy() - before, done


@pytest.mark.parametrize("rewarded", [0, 1])
def test_a_specialist_that_was_on_in_the_better_rollout_is_activated_more_often(
    tmp_path: Path, rewarded: int
):
    policy, _, tables = policy_and_tables(tmp_path)
    change, done = update(policy, tables, settings(tmp_path), rewarded)
    # the other specialist was off in both rollouts: its advantages cancel, up to the labels drawn beside it
    assert change[:, rewarded].mean() > 0.01
    assert change[:, rewarded].mean() > 2 * abs(change[:, 1 - rewarded].mean())
    assert done.loss.figures["ratio/mean"] == pytest.approx(
        1.0, abs=1e-4
    )  # drawn by this very policy


def test_every_rollout_is_used_once_or_again_and_again():
    assert share_rollouts(4, 1) == [[0, 1, 2, 3]]
    assert share_rollouts(4, 2) == [[0, 1], [2, 3]]
    assert share_rollouts(2, 5) == [[0], [1], [0], [1], [0]]


def test_clipping_acts_from_the_second_update_on_and_every_update_is_reported(tmp_path: Path):
    policy, _, tables = policy_and_tables(tmp_path)
    # a learning rate at which one update moves the policy by more than the clip range of 0.2
    _, done = update(policy, tables, settings(tmp_path, learning_rate=0.05, updates=4), 0)
    figures = done.metrics
    assert figures["update/1/ratio/mean"] == pytest.approx(1.0, abs=1e-4)
    assert figures["update/1/clip_fraction"] == 0.0
    assert figures["update/1/kl"] == pytest.approx(0.0, abs=1e-6)
    for number in (2, 3, 4):
        assert figures[f"update/{number}/clip_fraction"] > 0.05
        assert figures[f"update/{number}/kl"] > 1e-3
    assert "update/5/kl" not in figures
    assert done.loss.clipped.any()
    # both rollouts were used twice: the figures of the step are those of their last use
    last = (figures["update/3/clip_fraction"] + figures["update/4/clip_fraction"]) / 2
    assert done.loss.figures["clip_fraction"] == pytest.approx(last)


def test_with_one_update_nothing_is_clipped(tmp_path: Path):
    policy, _, tables = policy_and_tables(tmp_path)
    _, done = update(policy, tables, settings(tmp_path, learning_rate=0.05), 0)
    assert not done.loss.clipped.any()
    assert done.loss.figures["clip_fraction"] == done.metrics["update/1/clip_fraction"] == 0.0


def test_without_advantages_nothing_moves(tmp_path: Path):
    policy, batch, tables = policy_and_tables(tmp_path)
    config = settings(tmp_path, policy=0.0)
    frozen = replace(config, learning=replace(config.learning, weight_decay=0.0))
    before = {name: each.clone() for name, each in policy.state_dict().items()}
    update(policy, tables, frozen, 0)
    assert all(torch.equal(before[name], each) for name, each in policy.state_dict().items())
    assert len(batch.order) > 0


def test_routing_of_another_kind_has_no_tokens(tmp_path: Path):
    policy, _, tables = policy_and_tables(tmp_path)
    config = replace(settings(tmp_path), routing=RoutingSettings("random"))
    _, done = update(policy, tables, config, 0)
    assert not done.loss.counted[:, :2].any()
    assert done.loss.counted[:, 2].any()


def test_routing_stands_where_a_column_begins_and_weighs_more(tmp_path: Path):
    policy, _, tables = policy_and_tables(tmp_path)
    _, done = update(policy, tables, settings(tmp_path, information=0.0), 0)
    # strengths 0 and 1: routing 2, labels 1, mean (2 + 2 + 1) / 3: weights 1.2 and 0.6
    assert done.weights.weights[0] == pytest.approx([1.2, 1.2, 0.6])


def test_kl_to_the_policy_after_the_warm_start_is_0_at_first(tmp_path: Path):
    policy, _, tables = policy_and_tables(tmp_path)
    _, done = update(policy, tables, settings(tmp_path, kl=0.5), 0)
    assert done.metrics["reference_kl"] == pytest.approx(0.0, abs=1e-9)


def test_a_gradient_that_numpy_computed_is_handed_over_to_torch():
    # the gradient of 3 x0 - 2 x1 reaches x through x = w^2: 3 * 2 w0 = 6 and -2 * 2 w1 = -8
    weights = torch.tensor([1.0, 2.0], requires_grad=True)
    hand_over(weights.square(), np.array([3.0, -2.0])).backward()
    assert weights.grad.tolist() == [6.0, -8.0]
