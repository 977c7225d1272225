"""How often the health callback stops stock PPO: runs with default settings on four environments.

    python examples/plugins/stable_baselines3_runs.py --runs 5 --updates 30

Prints one JSON line per run, with the sentences that would have stopped it, and the share of runs stopped. Leaves with 3 if that
is more than 5 %. Twenty runs of 30 updates take about 20 CPU minutes.
"""
# ruff: noqa: T201

import argparse
import json
import sys

import torch
from stable_baselines3 import PPO

from aegir_rl.plugins.stable_baselines3 import HealthCallback

ENVIRONMENTS = ("CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCarContinuous-v0")
MOST_STOPPED = 0.05


def run(name, seed, updates):
    """The reasons for which one run would have been stopped, and the raw centre of its advantages."""
    watch, centres = HealthCallback(stop=False), []
    model = PPO("MlpPolicy", name, seed=seed, device="cpu")
    observe = watch.monitor.observe
    watch.monitor.observe = lambda step, metrics: (
        centres.append(metrics.get("raw_advantage_centre", 0.0)),
        observe(step, metrics),
    )[1]
    model.learn(updates * model.n_steps, callback=watch)
    return {
        "environment": name,
        "seed": seed,
        "updates": watch.updates,
        "reasons": list(watch.reasons),
        "largest_raw_advantage_centre": round(max(centres), 2),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5, help="of each environment")
    parser.add_argument("--updates", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(1)
    stopped = []
    for seed in range(options.runs):
        for name in ENVIRONMENTS:
            line = run(name, seed, options.updates)
            stopped.append(bool(line["reasons"]))
            print(json.dumps(line), flush=True)
    share = sum(stopped) / len(stopped)
    print(json.dumps({"runs": len(stopped), "stopped": share}))
    sys.exit(3 if share > MOST_STOPPED else 0)


if __name__ == "__main__":
    main()
