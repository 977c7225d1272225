"""A Gymnasium environment behind the wrapper: tasks in, outcomes out, nothing invented."""

import math
from functools import partial

import numpy as np
import pytest

from aegir_rl.observe.performance_tracker import APIPerformanceTracker
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.rl.curriculum import Curriculum

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not here (plugins extra)")
from aegir_rl.plugins.gymnasium import AegirWrapper  # noqa: E402


class Countdown(gymnasium.Env):  # type: ignore[name-defined]
    """Ends after three steps; the task is the reward of the last."""

    observation_space = gymnasium.spaces.Discrete(4)
    action_space = gymnasium.spaces.Discrete(2)
    says_success = True

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.task, self.left = (options or {}).get("task", 0), 3
        return self.left, {"began": True}

    def step(self, action):
        self.left -= 1
        done = self.left == 0
        info = {"is_success": self.task > 0} if done and self.says_success else {}
        return self.left, float(self.task), done, False, info


def play(env):
    env.reset()
    while True:
        _, reward, terminated, _, info = env.step(0)
        if terminated:
            return reward, info


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")  # it is a wrapper
def test_the_wrapped_environment_passes_the_checks_of_gymnasium():
    from gymnasium.utils.env_checker import check_env

    check_env(AegirWrapper(Countdown()), skip_render_check=True)


def test_tasks_are_drawn_and_outcomes_are_told():
    curriculum = Curriculum(2, seed=3)
    env = AegirWrapper(Countdown(), curriculum=curriculum)
    for _ in range(30):
        _, info = play(env)
        assert info["success"] == float(info["task"] > 0)
    known = curriculum.measured([0, 1])
    assert known.success[0] < 0.3
    assert known.success[1] > 0.7
    assert curriculum.metrics()["curriculum/missing"] == 0


def test_rewards_go_through_the_function_and_the_raw_one_is_kept():
    env = AegirWrapper(Countdown(), curriculum=Curriculum(1), reward=lambda raw: raw - 5)
    reward, info = play(env)
    assert (reward, info["raw_reward"]) == (-5.0, 0.0)


def test_an_outcome_nobody_told_is_missing_and_not_a_failure():
    silent = Countdown()
    silent.says_success = False
    curriculum = Curriculum(2)
    before = curriculum.probabilities()
    _, info = play(AegirWrapper(silent, curriculum=curriculum))
    assert math.isnan(info["success"])
    assert (curriculum.probabilities() == before).all()
    assert curriculum.metrics()["curriculum/missing"] == 1


def test_an_episode_broken_off_is_missing_too():
    curriculum = Curriculum(2)
    env = AegirWrapper(Countdown(), curriculum=curriculum)
    env.reset()
    env.step(0)
    env.reset()
    assert curriculum.metrics()["curriculum/missing"] == 1


def test_success_may_be_judged_from_the_return():
    env = AegirWrapper(
        Countdown(), curriculum=Curriculum(2), success=lambda total, info: float(total >= 3)
    )
    _, info = play(env)
    assert info["success"] == float(info["task"] == 1)


def test_steps_and_resets_are_timed():
    tracker = APIPerformanceTracker()
    play(AegirWrapper(Countdown(), tracker=tracker, node="countdown"))
    assert [(one.node, one.operation, one.calls) for one in tracker.figures()] == [
        ("countdown", "reset", 1),
        ("countdown", "step", 3),
    ]


def test_a_task_given_by_hand_is_played():
    env = AegirWrapper(Countdown(), curriculum=Curriculum(5))
    _, info = env.reset(options={"task": 4})
    assert info == {"began": True, "task": 4}


def test_a_task_given_by_hand_is_not_drawn_and_leaves_later_draws_alone():
    curriculum, untouched = Curriculum(50, seed=1), Curriculum(50, seed=1)
    env = AegirWrapper(Countdown(), curriculum=curriculum)
    env.reset(options={"task": 4})
    assert curriculum.metrics()["curriculum/drawn"] == 0
    assert env.reset()[1]["task"] == untouched.draw_one()
    assert curriculum.metrics()["curriculum/drawn"] == 1


def wrapped(curriculum):
    return AegirWrapper(Countdown(), curriculum=curriculum)


def test_forks_of_a_curriculum_work_in_environments_of_other_processes():
    curriculum = Curriculum(2, seed=3)
    forks = [curriculum.fork(worker) for worker in range(2)]
    envs = gymnasium.vector.AsyncVectorEnv([partial(wrapped, fork) for fork in forks])
    try:
        envs.reset(seed=0)
        for _ in range(40):  # ten episodes of three steps and a reset each, in both
            envs.step(np.zeros(2, np.int64))
        curriculum.absorb(*envs.get_attr("curriculum"))
        envs.set_attr("curriculum", [curriculum.fork(worker) for worker in range(2)])
        assert [one.metrics()["curriculum/drawn"] for one in envs.get_attr("curriculum")] == [0, 0]
    finally:
        envs.close()
    known = curriculum.measured([0, 1])
    assert known.success[0] < 0.3
    assert known.success[1] > 0.7
    assert curriculum.metrics()["curriculum/drawn"] >= 20


def test_an_ensemble_of_raters_gives_the_reward_of_every_step():
    seen = []

    def rate_task(steps):
        seen.extend(steps)
        return [steps[0].reward + 1]

    raters = {"task": rate_task, "same": rate_task, "wrong": lambda steps: [1e9]}
    env = AegirWrapper(Countdown(), reward=RewardEnsemble(raters))
    env.reset(options={"task": 4})
    _, reward, _, _, info = env.step(1)
    assert (reward, info["raw_reward"], info["reward_missing"]) == (5.0, 4.0, False)
    assert (seen[0].observation, seen[0].action, seen[0].terminated) == (2, 1, False)


def test_a_step_without_a_score_gets_the_mean_so_far_and_says_so():
    answers = iter([None, 1.0, 3.0, None])
    env = AegirWrapper(Countdown(), reward=RewardEnsemble({"a": lambda steps: [next(answers)]}))
    env.reset()
    found = []
    for _ in range(4):
        _, reward, _, _, info = env.step(0)
        found.append((reward, info["reward_missing"]))
    assert math.isnan(found[0][0])
    assert found[1:] == [(1.0, False), (3.0, False), (2.0, True)]
    assert found[0][1]
