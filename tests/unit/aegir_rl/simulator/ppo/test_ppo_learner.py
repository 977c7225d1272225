"""The update of PPO: its gradients, truncation, and what it starts from. The simulator is made up (simulator_worlds.py)."""

from dataclasses import replace

import numpy as np
import pytest

from aegir_rl.base.arrays import softmax
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.network import Adam, Network
from aegir_rl.offline.policy import RoutingPolicy, always
from aegir_rl.offline.reward_v1 import RewardWeights, compute_reward_v1
from aegir_rl.rl.clipped_objective import PpoForm
from aegir_rl.simulator.episodes import Budget, feature_names
from aegir_rl.simulator.playing import match_policy, play
from aegir_rl.simulator.ppo.config import PpoSettings
from aegir_rl.simulator.ppo.learner import (
    ActorStart,
    PpoLearner,
    _actor_loss,
    _critic_gradient,
    _Rollout,
)
from simulator_worlds import a_static, a_table

TABLE = a_table(60)
NAMES = feature_names(TABLE.solvers)
SETTINGS = PpoSettings(hidden=(16,), epochs=2, minibatch=64, critic_first=0)


def a_learner(settings: PpoSettings = SETTINGS) -> PpoLearner:
    seen = np.random.default_rng(0).normal(size=(50, len(NAMES)))
    return PpoLearner(settings, ActorStart.new(seen, NAMES, TABLE, settings.hidden, 0), seed=0)


def played_by(learner: PpoLearner, longest: int = 0):
    return play(
        *(TABLE, np.arange(60), learner.choose, Budget(), RewardWeights()),
        static=a_static(TABLE),
        random=np.random.default_rng(0),
        longest=longest,
    )


def a_rollout(random, rows: int, actions: int) -> _Rollout:
    return _Rollout(
        x=random.normal(size=(rows, 3)).astype(np.float32),
        action=random.integers(actions, size=rows),
        old=np.log(random.uniform(0.1, 0.5, size=rows)),
        advantage=random.normal(size=rows),
        returns=random.normal(size=rows).astype(np.float32),
        value=random.normal(size=rows).astype(np.float32),
    )


def test_the_gradient_by_the_logits_is_the_slope_of_clipped_loss_and_entropy():
    random = np.random.default_rng(1)
    part, logits = a_rollout(random, 12, 4), random.normal(size=(12, 4))

    def total(z) -> float:
        loss, _ = _actor_loss(z, part, PpoForm(0.2), 0.0)
        p = softmax(z)
        return loss.value + 0.3 * float((p * np.log(p)).sum(axis=1).mean())

    _, gradient = _actor_loss(logits, part, PpoForm(0.2), 0.3)
    step = 1e-6
    for row, column in ((0, 0), (3, 2), (7, 1), (11, 3)):
        moved = logits.copy()
        moved[row, column] += step
        slope = (total(moved) - total(logits)) / step
        assert gradient[row, column] == pytest.approx(slope, abs=2e-5)


def test_values_follow_returns_and_are_clipped_only_if_asked():
    part = replace(
        a_rollout(np.random.default_rng(0), 2, 2),
        returns=np.array([1.0, 1.0], np.float32),
        value=np.array([0.0, 0.0], np.float32),
    )
    values = np.array([0.5, 2.0], np.float32)
    # (V - return) / n: -0.25, 0.5
    assert _critic_gradient(values, part, 0.0).tolist() == [-0.25, 0.5]
    # within 0.2 of the old value, 0: 0.2 is farther from 1 than 0.5 is, so the first is stopped; 2 is farther than 0.2
    assert _critic_gradient(values, part, 0.2).tolist() == [0.0, 0.5]


def test_cut_off_episodes_are_bootstrapped_and_ended_ones_are_not():
    learner = a_learner()
    learner.critic.flat[:] = 0
    learner.critic.biases[-1][:] = 10.0  # every state is worth 10
    played = played_by(learner, longest=1)
    batch = played.batch
    cut = ~batch.terminated
    assert 0 < cut.sum() < 60
    rewards = compute_reward_v1(batch).steps
    values = np.full(batch.decided.sum(), 10.0, np.float32)
    gae = learner._advantages(played, rewards, values)
    # one decision: advantage = reward + 10 - 10 if cut off, reward - 10 if the episode is over
    assert gae.advantages[cut, 0] == pytest.approx(rewards[cut, 0])
    assert gae.advantages[~cut, 0] == pytest.approx(rewards[~cut, 0] - 10)


def test_drawn_probabilities_are_those_of_the_policy_that_is_saved():
    learner = a_learner()
    batch = played_by(learner).batch
    policy = learner.policy({})
    chances = policy.probabilities(batch.features[batch.decided])
    taken = chances[np.arange(len(chances)), batch.actions[batch.decided][:, 0]]
    assert batch.propensity[batch.decided] == pytest.approx(taken, rel=1e-5)
    assert policy.kind == "ppo"


def test_a_start_keeps_the_probabilities_of_its_policy_in_any_order_of_features_and_actions():
    random = np.random.default_rng(3)
    actions = tuple(sorted(TABLE.actions))[1:]  # one action is unknown to it
    network = Network((4, 8, len(actions)), random)
    policy = RoutingPolicy(
        kind="values",
        features=(NAMES[3], NAMES[0], "attempts_left", "passed_deep"),
        actions=actions,
        weights=tuple(network.weights),
        biases=tuple(network.biases),
        mean=np.zeros(4, np.float32),
        scale=np.full(4, 2.0, np.float32),
        temperature=0.5,
    )
    columns, numbers = match_policy(policy, TABLE)
    learner = PpoLearner(SETTINGS, ActorStart.of_policy(policy, TABLE), 0)
    seen = random.normal(size=(20, len(NAMES))).astype(np.float32)
    mine = softmax(learner.actor.output(learner.standardise(seen)))
    given = policy.probabilities(seen[:, columns])
    assert mine[:, numbers] == pytest.approx(
        given * mine[:, numbers].sum(axis=1)[:, None], abs=1e-6
    )
    unknown = np.setdiff1d(np.arange(len(TABLE.actions)), numbers)
    assert (mine[:, unknown] < 0.1).all()


def test_an_update_raises_the_probability_of_what_paid():
    learner = a_learner(replace(SETTINGS, epochs=20, kl_stop=0.0, actor_rate=3e-3))
    played = played_by(learner)
    reward = compute_reward_v1(played.batch)
    figures = learner.update(played, reward.steps, 0, 0.0)
    batch = played.batch
    rows, last = np.arange(60), batch.decided.sum(axis=1) - 1
    after = learner.policy({}).probabilities(batch.features[rows, last])
    rise = after[rows, batch.actions[rows, last, 0]] / batch.propensity[rows, last]
    solved = reward.total > 0.5
    assert rise[solved].mean() > 1.2 > 0.9 > rise[~solved].mean()
    assert figures["epochs"] == 20


def test_a_large_kl_stops_the_actor_and_the_first_iterations_train_the_critic_alone():
    settings = replace(SETTINGS, epochs=30, actor_rate=0.02, kl_stop=0.01, critic_first=1)
    learner = a_learner(settings)
    played = played_by(learner)
    steps = compute_reward_v1(played.batch).steps
    before = learner.actor.flat.copy()
    assert learner.update(played, steps, 0, 0.0)["epochs"] == 0
    assert (learner.actor.flat == before).all()
    figures = learner.update(played, steps, 1, 0.5)
    assert 0 < figures["epochs"] < 30
    assert figures["clip_range"] == pytest.approx(0.15)
    assert figures["entropy_bonus"] == pytest.approx(0.01)


def test_an_optimiser_goes_on_from_its_saved_state():
    random = np.random.default_rng(0)
    first, second = Adam(5), Adam(5)
    flats = [np.ones(5, np.float32), np.ones(5, np.float32)]
    for number in range(6):
        gradient = random.normal(size=5).astype(np.float32)
        first.step(flats[0], gradient, 0.1)
        if number == 3:
            flats[1] = flats[0].copy()
            second.load_state_dict(first.state_dict())
        elif number > 3:
            second.step(flats[1], gradient, 0.1)
    assert (flats[0] == flats[1]).all()


def test_a_policy_that_always_takes_one_action_is_no_start():
    with pytest.raises(UsageError, match="always takes one action, so PPO would never see another"):
        ActorStart.of_policy(always(TABLE.actions[0], NAMES, TABLE.actions), TABLE)
