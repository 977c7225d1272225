"""Rules of episodes, with worked numbers, and ways to choose; in the made-up simulator of simulator_worlds.py."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.offline.reward_v1 import RewardWeights
from aegir_rl.simulator.episodes import Budget, Episodes, feature_names
from aegir_rl.simulator.outcome_table import NOTHING, action_names
from aegir_rl.simulator.playing import (
    explore,
    follow,
    match_policy,
    play,
    prefer,
    static_choices,
)
from simulator_worlds import a_static, a_table

TABLE = a_table(60)
KIND = TABLE.features[:, :4].argmax(axis=1)
WEIGHTS = RewardWeights()


def number(name: str) -> int:
    return TABLE.actions.index(name)


def open_episodes(kinds: list[int], budget: Budget | None = None) -> tuple[Episodes, np.ndarray]:
    """One open episode for each of these kinds of tasks."""
    episodes = Episodes(TABLE, len(kinds), budget or Budget(), WEIGHTS)
    rows = np.arange(len(kinds))
    episodes.begin(rows, np.array([np.flatnonzero(kind == KIND)[0] for kind in kinds]))
    return episodes, rows


def observed(episodes: Episodes, name: str) -> list[float]:
    return episodes.observations[:, episodes.names.index(name)].tolist()


def test_actions_are_solvers_with_efforts_then_retry_and_give_up():
    assert action_names(["a", "b"]) == (
        "a@1",
        "a@2",
        "a@3",
        "b@1",
        "b@2",
        "b@3",
        "retry",
        "give up",
    )


def test_an_observation_begins_with_the_task_and_a_full_budget():
    episodes, _ = open_episodes([0, 1])
    assert observed(episodes, "attempts_left") == observed(episodes, "seconds_left") == [1.0, 1.0]
    assert observed(episodes, "tried_cheap") == [0.0, 0.0]
    assert len(feature_names(["a"])) == len(feature_names([])) + 3
    assert (episodes.observations[:, :4] == TABLE.features[episodes.task, :4]).all()


def test_every_kind_of_action_in_one_step():
    episodes, rows = open_episodes([0, 1, 2, 3])
    actions = [number("cheap@1"), number("give up"), number("deep@1"), number("retry")]
    moved = episodes.step(rows, np.array(actions))
    # an answer is handed in; giving up; an answer that fails; a retry of nothing
    assert moved.ended.tolist() == [True, True, False, False]
    # cheap@1 costs 0.1, deep@1 costs 1; each takes 0.1 CPU seconds
    assert moved.cost.tolist() == [0.1, 0.0, 1.0, 0.0]
    assert moved.seconds == pytest.approx([0.1, 0.0, 0.1, 0.0])
    right = 1 + WEIGHTS.verified - WEIGHTS.cost * 0.1 - WEIGHTS.seconds * 0.1
    assert moved.reward[:2] == pytest.approx([right, 0.0])
    assert moved.reward[2] == pytest.approx(-WEIGHTS.cost * 1.0 - WEIGHTS.seconds * 0.1)
    assert observed(episodes, "retries") == [0.0, 0.0, 0.0, 0.25]  # one of four attempts
    assert observed(episodes, "attempts_left") == [0.75, 1.0, 0.75, 0.75]


def test_what_each_solver_did_is_remembered():
    episodes, rows = open_episodes([3])
    episodes.step(rows, np.array([number("sharp@2")]))
    assert observed(episodes, "tried_sharp") == pytest.approx([2 / 3])
    assert observed(episodes, "passed_sharp") == observed(episodes, "last_public") == [0.5]
    assert observed(episodes, "last_sharp") == observed(episodes, "can_retry") == [1.0]
    episodes.step(rows, np.array([number("deep@1")]))
    assert observed(episodes, "last_sharp") == [0.0]
    assert observed(episodes, "passed_sharp") == [0.5]  # its best, not its last
    assert observed(episodes, "can_retry") == [0.0]


def test_rewards_of_the_steps_sum_to_the_reward_of_the_episode():
    episodes, rows = open_episodes([3])
    total = episodes.step(rows, np.array([number("sharp@1")])).reward
    last = episodes.step(rows, np.array([number("retry")]))
    assert last.ended.all()
    parts = {name: float(value[0]) for name, value in episodes.parts(rows).items()}
    assert parts["accuracy"] == parts["verified"] == parts["retries"] == 1.0
    expected = 1 + WEIGHTS.verified - WEIGHTS.cost * parts["cost"]
    expected -= WEIGHTS.seconds * parts["seconds"] + WEIGHTS.retries
    assert float((total + last.reward)[0]) == pytest.approx(expected)


@pytest.mark.parametrize("budget", [{"attempts": 0}, {"seconds": 0.0}, {"seconds": -1.0}])
def test_a_budget_that_allows_nothing_is_refused(budget: dict):
    with pytest.raises(UsageError, match="expected"):
        Budget(**budget)


def test_static_choices_go_down_the_chain_and_then_give_up():
    static = a_static(TABLE)
    tasks, attempts = np.array([0, 0, 0, 0]), np.array([0, 1, 2, 3])
    chosen = static_choices(static, tasks, attempts, TABLE)
    names = [TABLE.actions[action] for action in chosen]
    assert names == ["cheap@1", "sharp@1", "deep@2", "give up"]


def play_all(choose, **more):
    tasks = np.arange(len(TABLE))
    random = np.random.default_rng(0)
    return play(
        TABLE, tasks, choose, Budget(), WEIGHTS, static=a_static(TABLE), random=random, **more
    ).batch


def test_following_the_table_solves_what_its_chain_solves():
    batch = play_all(follow)
    # cheap solves kind 0, sharp kind 1, deep at effort 2 kind 2; kind 3 needs a retry
    assert (batch.rewards["accuracy"] == (KIND < 3)).all()
    assert (batch.propensity[batch.decided] == 1.0).all()
    assert batch.actions[batch.decided].tolist() == batch.baseline[batch.decided].tolist()


def test_exploring_logs_the_probability_of_what_was_done():
    batch = play_all(explore(0.5, len(TABLE.actions)))
    usual = (batch.actions == batch.baseline)[batch.decided][:, 0]
    chances = batch.propensity[batch.decided]
    other = 0.5 / len(TABLE.actions)
    assert chances[usual] == pytest.approx(0.5 + other)
    assert chances[~usual] == pytest.approx(other)
    assert 0.3 < usual.mean() < 0.8


def test_cut_off_episodes_are_not_terminated():
    batch = play_all(follow, longest=1)
    assert (batch.terminated == (KIND == 0)).all()
    assert np.isnan(batch.rewards["accuracy"][KIND != 0]).all()


def a_policy(actions: tuple[str, ...], floor: float = 0.0) -> RoutingPolicy:
    """Prefers its first action a little, whatever it sees."""
    names = feature_names(TABLE.solvers)[:2]
    bias = np.zeros(len(actions), np.float32)
    bias[0] = 1.0
    return RoutingPolicy(
        kind="clone",
        features=names,
        actions=actions,
        weights=(np.zeros((2, len(actions)), np.float32),),
        biases=(bias,),
        mean=np.zeros(2, np.float32),
        scale=np.ones(2, np.float32),
        floor=floor,
        training={},
    )


def test_a_policy_decides_where_it_is_sure_and_the_table_elsewhere():
    seen = np.zeros((3, len(feature_names(TABLE.solvers))), np.float32)
    static = np.array([number("cheap@1")] * 3)
    random = np.random.default_rng(0)
    actions = ("deep@3", "cheap@1")  # e / (e + 1) = 0.731 for the first
    assert set(prefer(a_policy(actions), TABLE)(seen, static, random)[0]) == {number("deep@3")}
    unsure = prefer(a_policy(actions, floor=0.74), TABLE)
    assert set(unsure(seen, static, random)[0]) == {number("cheap@1")}


def test_a_policy_with_other_actions_is_refused():
    columns, numbers = match_policy(a_policy(("give up", "cheap@2")), TABLE)
    assert columns.tolist() == [0, 1]
    assert numbers.tolist() == [number("give up"), number("cheap@2")]
    with pytest.raises(
        UsageError, match="the action 'oracle@1', which the simulator does not have"
    ):
        match_policy(a_policy(("oracle@1", "cheap@1")), TABLE)


def test_a_part_of_a_table_keeps_its_outcomes():
    part = TABLE.select(KIND == 3)
    assert set(part.features[:, :4].argmax(axis=1)) == {3}
    assert (part.retry[part.first[:, 3]] != NOTHING).all()
