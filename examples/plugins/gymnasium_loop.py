"""A plain Gymnasium loop with a curriculum, a tracker and health checks (pip install 'aegir-tables[plugins]').

    python examples/plugins/gymnasium_loop.py

The environment holds 50 levels of a guessing game; an agent of some skill plays them. Two agents are trained by the same
loop: watch the curriculum give them different levels.
"""
# ruff: noqa: T201

import gymnasium
import numpy as np

from aegir_rl.health import check, measure_rewards
from aegir_rl.observe import APIPerformanceTracker, render_prometheus
from aegir_rl.plugins.gymnasium import AegirWrapper
from aegir_rl.rl import Curriculum

LEVELS = 50


class Guessing(gymnasium.Env):
    """An episode of one step: the chance to win is sigmoid(action - level / 5)."""

    observation_space = gymnasium.spaces.Discrete(LEVELS)
    action_space = gymnasium.spaces.Box(-20, 20, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level = (options or {}).get("task", 0)
        return self.level, {}

    def step(self, action):
        chance = 1 / (1 + np.exp(self.level / 5 - float(action[0])))
        won = float(self.np_random.random() < chance)
        return self.level, won, True, False, {"is_success": won}


def practise(skill, episodes=3000):
    """Play with this skill; the mean level drawn at the end, the rewards and the tracker."""
    tracker, curriculum = APIPerformanceTracker(), Curriculum(LEVELS, "competence", seed=1)
    env = AegirWrapper(Guessing(), curriculum=curriculum, tracker=tracker, node="guessing")
    env.reset(seed=0)
    rewards = []
    for _ in range(episodes):
        env.reset()
        _, reward, _, _, _ = env.step(np.array([skill]))
        rewards.append(reward)
    return curriculum.probabilities() @ np.arange(LEVELS), rewards, tracker


def main():
    levels = {}
    for name, skill in (("beginner", 2.0), ("expert", 8.0)):
        levels[name], rewards, tracker = practise(skill)
        report = check(measure_rewards(rewards))
        print(
            f"{name}: mean level {levels[name]:.1f}, won {np.mean(rewards):.0%}, well: {report.well}"
        )
        report.raise_if_unwell()
    print("\n".join(render_prometheus(tracker).splitlines()[:6]))
    assert levels["expert"] - levels["beginner"] > 3


if __name__ == "__main__":
    main()
