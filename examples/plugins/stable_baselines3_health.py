"""PPO of Stable-Baselines3 on CartPole, ended with reasons if it is unwell.

python examples/plugins/stable_baselines3_health.py           # pip install stable-baselines3; a few CPU seconds
"""
# ruff: noqa: T201

from stable_baselines3 import PPO

from aegir_rl.observe import APIPerformanceTracker
from aegir_rl.plugins.stable_baselines3 import HealthCallback

tracker = APIPerformanceTracker()
watch = HealthCallback(tracker=tracker)
PPO("MlpPolicy", "CartPole-v1", seed=0, device="cpu").learn(3 * 2048, callback=watch)
print("stopped:", watch.reasons or "no", "after", watch.updates, "updates")
print({each.operation: each.items_per_second for each in tracker.figures()})
