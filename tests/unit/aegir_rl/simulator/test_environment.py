"""Episodes and their Gymnasium environments, in the made-up simulator of simulator_worlds.py."""

import time
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from aegir_rl.base.errors import UsageError
from aegir_rl.offline.reward_v1 import RewardWeights, compute_reward_v1
from aegir_rl.rl.curriculum import Curriculum
from aegir_rl.simulator.environment import SimulatorEnv, SimulatorVectorEnv
from aegir_rl.simulator.episodes import Budget, Episodes
from aegir_rl.simulator.playing import explore, follow, play
from simulator_worlds import a_static, a_table

TABLE = a_table()
NAMES = TABLE.actions
KIND = TABLE.features[:, :4].argmax(axis=1)
WEIGHTS = RewardWeights()
RANDOM = np.random.default_rng(0)


def act(env: SimulatorEnv, name: str):
    return env.step(np.int64(NAMES.index(name)))


def seen(observation, name: str) -> float:
    names = Episodes(TABLE, 1, Budget(), WEIGHTS).names
    return float(observation[names.index(name)])


def a_task_of(kind: int) -> dict:
    return {"task": int(np.flatnonzero(kind == KIND)[0])}


def test_the_environment_passes_gymnasiums_own_checker():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Box.*(minimum|maximum) value is.*infinity")
        check_env(SimulatorEnv(TABLE), skip_render_check=True)


def test_a_right_answer_ends_the_episode_with_its_reward():
    env = SimulatorEnv(TABLE)
    env.reset(seed=0, options=a_task_of(1))
    _, reward, terminated, truncated, info = act(env, "sharp@1")
    # accuracy 1 + verified 0.05 - 0.1 · cost 0.5 - 0.05 · 0.1 s
    assert reward == pytest.approx(0.995)
    assert (terminated, truncated, info["success"]) == (True, False, 1.0)


def test_an_answer_that_fails_public_cases_is_paid_for_and_the_episode_goes_on():
    env = SimulatorEnv(TABLE)
    env.reset(options=a_task_of(3))
    observation, reward, terminated, _, _ = act(env, "sharp@2")
    assert reward == pytest.approx(-0.1 * 1.0 - 0.05 * 0.2)
    assert not terminated
    assert seen(observation, "attempts_left") == 0.75
    assert seen(observation, "last_public") == seen(observation, "passed_sharp") == 0.5
    assert seen(observation, "tried_sharp") == pytest.approx(2 / 3)
    assert (seen(observation, "can_retry"), seen(observation, "last_sharp")) == (1.0, 1.0)
    assert seen(observation, "tried_deep") == 0.0


def test_a_retry_gives_the_same_solver_its_feedback():
    env = SimulatorEnv(TABLE)
    env.reset(options=a_task_of(3))
    act(env, "sharp@1")
    _, reward, terminated, _, info = act(env, "retry")
    # 1 + 0.05 - 0.1 · 1 - 0.05 · 0.2 - 0.02 for a retry, in all; the first attempt paid 0.055 of it
    assert reward == pytest.approx(1.05 - 0.1 - 0.01 - 0.02 + 0.055)
    assert terminated
    assert info["reward_parts"]["retries"] == 1


def test_a_retry_of_nothing_uses_up_an_attempt():
    env = SimulatorEnv(TABLE, Budget(attempts=2))
    env.reset(options=a_task_of(0))
    observation, reward, terminated, _, _ = act(env, "retry")
    assert (reward, terminated, seen(observation, "attempts_left")) == (0.0, False, 0.5)
    _, reward, terminated, _, _ = act(env, "retry")
    assert (reward, terminated) == (pytest.approx(-0.04), True)


def test_the_end_of_the_budget_terminates_because_the_policy_can_see_it_coming():
    env = SimulatorEnv(TABLE, Budget(attempts=2))
    env.reset(options=a_task_of(2))
    act(env, "cheap@1")
    observation, _, terminated, truncated, _ = act(env, "sharp@1")
    assert (terminated, truncated, seen(observation, "attempts_left")) == (True, False, 0.0)


def test_an_attempt_is_stopped_when_the_seconds_are_over():
    env = SimulatorEnv(TABLE, Budget(seconds=0.15))
    env.reset(options=a_task_of(2))
    observation, reward, terminated, _, info = act(env, "deep@2")  # would be right after 0.2 s
    assert reward == pytest.approx(-0.1 * 2.0 - 0.05 * 0.15 - 0.1)
    assert terminated
    assert (info["success"], info["reward_parts"]["timeouts"]) == (0.0, 1.0)
    assert (seen(observation, "last_timed_out"), seen(observation, "tried_deep")) == (1.0, 0.0)


def test_giving_up_at_once_earns_nothing_and_costs_nothing():
    env = SimulatorEnv(TABLE)
    env.reset(options=a_task_of(2))
    _, reward, terminated, _, _ = act(env, "give up")
    assert (reward, terminated) == (0.0, True)


def test_steps_are_paid_as_reward_v1_pays_the_logged_episodes():
    weights = RewardWeights(low=-0.3)  # so that some are clipped
    tasks = np.arange(len(TABLE))
    batch = play(
        *(TABLE, tasks, explore(0.5, len(NAMES)), Budget(), weights),
        static=a_static(TABLE),
        random=np.random.default_rng(1),
    ).batch
    expected = compute_reward_v1(batch, weights)
    assert expected.clipped > 0
    for row in range(len(batch)):
        env = SimulatorEnv(TABLE, weights=weights)
        env.reset(options={"task": row})
        for at in np.flatnonzero(batch.decided[row]):
            _, reward, ended, _, _ = env.step(np.int64(batch.actions[row, at, 0]))
            assert reward == pytest.approx(expected.steps[row, at], abs=1e-12)
        assert ended


def test_both_environments_give_the_same_episodes():
    actions = np.random.default_rng(2).integers(len(NAMES), size=(40, 8))
    many = SimulatorVectorEnv(TABLE, 8)
    observations, info = many.reset(seed=3)
    singles = [SimulatorEnv(TABLE) for _ in range(8)]
    for number, env in enumerate(singles):
        observation, _ = env.reset(options={"task": int(info["task"][number])})
        assert (observation == observations[number]).all()
    ended = np.zeros(8, bool)
    for row in actions:
        before = ended
        observations, rewards, ended, _, info = many.step(row)
        for number, env in enumerate(singles):
            if before[number]:
                observation, _ = env.reset(options={"task": int(info["task"][number])})
                assert (rewards[number], ended[number]) == (0.0, False)
            else:
                observation, reward, done, _, _ = env.step(row[number])
                assert (reward, done) == (rewards[number], ended[number])
            assert (observation == observations[number]).all()


def test_a_curriculum_chooses_tasks_and_learns_from_their_outcome():
    curriculum = Curriculum(len(TABLE), "competence", seed=0)
    env = SimulatorEnv(TABLE, curriculum=curriculum)
    for _ in range(30):
        env.reset()
        if not act(env, "deep@3")[2]:
            act(env, "give up")
    assert curriculum.metrics()["curriculum/drawn"] == 30
    assert 0 < curriculum.metrics()["curriculum/mean_success"] < 1
    with pytest.raises(UsageError, match="10 items but there are 200 tasks"):
        SimulatorEnv(TABLE, curriculum=Curriculum(10))


def test_wrong_use_is_refused_with_a_sentence():
    env = SimulatorEnv(TABLE)
    with pytest.raises(UsageError, match="reset"):
        env.step(np.int64(0))
    with pytest.raises(UsageError, match="task 200 is not one of 0 to 199"):
        env.reset(options={"task": 200})
    env.reset()
    with pytest.raises(UsageError, match="action 99 is not one of 0 to 10"):
        env.step(np.int64(99))
    with pytest.raises(UsageError, match="attempts is 0"):
        Budget(attempts=0)


def test_cut_off_episodes_have_costs_but_no_outcome():
    chain = a_static(TABLE)
    tasks = np.flatnonzero(KIND == 2)[:5]
    batch = play(
        *(TABLE, tasks, follow, Budget(), WEIGHTS), static=chain, random=RANDOM, longest=2
    ).batch
    assert not batch.terminated.any()
    reward = compute_reward_v1(batch)
    assert np.isnan(reward.total).all()
    assert reward.steps[0] == pytest.approx([-0.015, -0.055])


def test_the_vectorised_environment_makes_20_000_steps_a_second():
    env = SimulatorVectorEnv(TABLE, 256)
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(len(NAMES), size=(100, 256))
    begin = time.process_time()
    for row in actions:
        env.step(row)
    assert 100 * 256 / (time.process_time() - begin) > 20_000
