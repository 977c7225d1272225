"""The adapter for Stable-Baselines3, in training runs of the package."""

import runpy

import pytest
from installed import require_packages

require_packages("stable_baselines3")

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402

from aegir_rl.base.errors import UsageError  # noqa: E402
from aegir_rl.health import RULES, HealthMonitor, HealthRule  # noqa: E402
from aegir_rl.observe import APIPerformanceTracker  # noqa: E402
from aegir_rl.plugins.gymnasium import AegirWrapper  # noqa: E402
from aegir_rl.plugins.stable_baselines3 import HealthCallback  # noqa: E402
from aegir_rl.rl import Curriculum  # noqa: E402


class Levels(gymnasium.Env):
    """One step per episode: the level must be named, and level 0 is easiest to guess."""

    observation_space = gymnasium.spaces.Box(0, 1, (4,))
    action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level = (options or {}).get("task", 0)
        return np.eye(4, dtype=np.float32)[self.level], {}

    def step(self, action):
        won = float(action == self.level)
        return np.zeros(4, np.float32), won, True, False, {"is_success": won}


def train(algorithm=PPO, *, steps=512, env=None, **callback):
    watch = HealthCallback(**callback)
    settings = {"n_steps": 128, "batch_size": 64, "n_epochs": 2} if algorithm is PPO else {}
    model = algorithm("MlpPolicy", env or "CartPole-v1", seed=0, device="cpu", **settings)
    model.learn(steps, callback=watch)
    return model, watch


def test_every_update_is_judged_with_what_the_algorithm_logged():
    tracker = APIPerformanceTracker()
    _, watch = train(tracker=tracker)
    assert (watch.updates, watch.reasons) == (4, ())
    checked = {each.rule for each in watch.report.findings if each.verdict != "unchecked"}
    assert {
        "reward/mean",
        "advantage/centre",
        "kl",
        "entropy",
        "value/explained_variance",
    } <= checked
    rollout, trained = tracker.figures()
    assert (rollout.operation, rollout.calls) == ("rollout", 4)
    assert (trained.operation, trained.calls) == ("train", 4)


def test_an_unwell_run_ends_with_its_reasons():
    rules = {**RULES, "kl": HealthRule("kl", high=-1.0, stops_at_once=True)}
    model, watch = train(monitor=HealthMonitor(rules=rules), steps=1280)
    assert model.num_timesteps == 129  # the first step after the update
    assert watch.reasons[0].startswith("train/approx_kl (kl) was")
    _, told = train(monitor=HealthMonitor(rules=rules), stop=False)
    assert told.updates == 4
    assert told.reasons


def test_advantages_are_judged_as_they_are_used():
    monitors = []
    for algorithm in (PPO, A2C):
        _, watch = train(algorithm, steps=256)
        monitors.append({each.column: each.value for each in watch.report.findings})
    ppo, a2c = monitors
    assert ppo["advantage/centre"] < 1e-6 < ppo["raw_advantage_centre"]
    assert "raw_advantage_centre" not in a2c  # it uses them as they are


def test_a_curriculum_is_logged():
    curriculum = Curriculum(4, "competence", seed=0)
    model, _ = train(env=AegirWrapper(Levels(), curriculum=curriculum), curriculum=curriculum)
    assert model.logger.name_to_value["curriculum/drawn"] >= 512
    assert curriculum.metrics()["curriculum/tried_share"] == 1


def test_an_algorithm_without_rollouts_is_refused():
    with pytest.raises(UsageError, match="DQN has none; expected an on-policy algorithm"):
        train(DQN)


def test_the_example_runs(capsys):
    runpy.run_module("examples.plugins.stable_baselines3_health")
    assert "stopped: no after 3 updates" in capsys.readouterr().out
