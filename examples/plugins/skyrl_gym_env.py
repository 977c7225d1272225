"""Tasks of the simulator as a text environment of SkyRL-Gym: an answer, what failed, another answer.

aegir sim generate --count 100 --out tasks.jsonl
python examples/plugins/skyrl_gym_env.py tasks.jsonl          # pip install skyrl-gym
"""
# ruff: noqa: T201

import sys
from pathlib import Path

import skyrl_gym

from aegir_rl.plugins.skyrl_gym import ID, register_code_env
from aegir_rl.simulator import read_tasks


def main(path):
    register_code_env()
    task = read_tasks(Path(path))[0]
    config = {"tasks": path, "attempts": 2}
    environment = skyrl_gym.make(ID, env_config=config, extras={"task": task.id})
    first = environment.step(task.starter)
    print("starter:", first["reward"], first["observations"][-1]["content"])
    last = environment.step(task.solution)
    print("known solution:", last["reward"], environment.get_metrics())
    return last["reward"]


if __name__ == "__main__":
    main(sys.argv[1])
