"""How good is a policy in the simulator? Against what anyone could do instead, and what nobody can beat (docs/simulator.md).

    report = evaluate(world, config, policies, start)

Policies of several seeds, each by its likeliest action, are compared with the best single solver on training tasks, the static
table, the policy that PPO began with, and the oracle. Every metric is the mean reward over all tasks of a part; the spread is the
standard deviation over seeds; the interval of a difference is over tasks, paired.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from aegir_rl.base.arrays import Floats
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.observe.plots import bar_plot, line_plot
from aegir_rl.offline.intervals import estimate_mean
from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.offline.reward_v1 import compute_reward_v1
from aegir_rl.simulator.playing import Choose, follow, prefer
from aegir_rl.simulator.ppo.config import PpoTraining
from aegir_rl.simulator.ppo.world import TaskPart, World
from aegir_rl.simulator.solvers.solver import EFFORTS

STYLE = "body{font-family:sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}svg{margin:6px}"


def evaluate_part(
    part: TaskPart, config: PpoTraining, choose: Choose
) -> tuple[Floats, dict[str, float]]:
    """Play every task of a part once: the rewards (T,), and the means of reward, success, attempts and seconds."""
    batch = part.play(config, choose, np.random.default_rng(0)).batch
    reward = compute_reward_v1(batch, config.reward)
    means = {
        "reward": reward.total,
        "success": reward.parts["accuracy"],
        "attempts": batch.decided.sum(axis=1),
        "seconds": reward.parts["seconds"],
    }
    return reward.total, {name: float(values.mean()) for name, values in means.items()}


def choose_single_solver(part: TaskPart, config: PpoTraining) -> tuple[str, list[int]]:
    """Name and chain of the single solver that earns most on these tasks."""
    efforts, names = len(EFFORTS), part.table.actions
    chains = {names[action]: [action] for action in range(part.table.retry_action)}
    for number, solver in enumerate(part.table.solvers):
        chains[f"{solver}, rising efforts"] = [number * efforts + at for at in range(efforts)]
    earned = {name: part.follow_chain(config, chain).mean() for name, chain in chains.items()}
    best = max(earned, key=lambda name: earned[name])
    return best, chains[best]


def compute_oracle(part: TaskPart, config: PpoTraining) -> Floats:
    """(T,) what the best attempt in hindsight earns on every task; 0 where nothing pays."""
    best = np.zeros(len(part))
    retry = part.table.retry_action
    for action in range(retry):
        for chain in ([action], [action, retry]):
            best = np.maximum(best, part.follow_chain(config, chain))
    return best


def evaluate(
    world: World,
    config: PpoTraining,
    policies: Sequence[RoutingPolicy],
    start: RoutingPolicy | None = None,
) -> dict[str, Any]:
    """Metrics of all parts, JSON-ready."""
    single, chain = choose_single_solver(world.training, config)
    report: dict[str, Any] = {
        "policies": [policy.version for policy in policies],
        "start": start.version if start else None,
        "single_solver": single,
        "parts": {},
    }
    for name, part in world.parts.items():
        baselines = {
            "single": part.follow_chain(config, chain),
            "static": evaluate_part(part, config, follow)[0],
        }
        if start is not None:
            baselines["start"] = evaluate_part(part, config, prefer(start, part.table))[0]
        report["parts"][name] = _compare(part, config, policies, baselines)
    return report


def _compare(
    part: TaskPart,
    config: PpoTraining,
    policies: Sequence[RoutingPolicy],
    baselines: dict[str, Floats],
) -> dict[str, Any]:
    evaluated = [evaluate_part(part, config, prefer(policy, part.table)) for policy in policies]
    oracle = float(compute_oracle(part, config).mean())
    means = np.array([metrics["reward"] for _, metrics in evaluated])
    mean, spread = float(means.mean()), float(means.std(ddof=1)) if len(means) > 1 else 0.0
    own = np.mean([rewards for rewards, _ in evaluated], axis=0)
    tasks = np.arange(len(part))
    return {
        "tasks": len(part),
        "ppo": {
            "reward": mean,
            "spread": spread,
            "seeds": means.tolist(),
            **{
                name: float(np.mean([metrics[name] for _, metrics in evaluated]))
                for name in ("success", "attempts", "seconds")
            },
        },
        **{name: {"reward": float(rewards.mean())} for name, rewards in baselines.items()},
        "oracle": {"reward": oracle},
        "share_of_oracle": mean / oracle if oracle > 0 else None,
        "gain": {
            name: estimate_mean(own - rewards, tasks).as_dict()
            for name, rewards in baselines.items()
        },
        "beats": {
            name: bool(mean - spread > rewards.mean()) for name, rewards in baselines.items()
        },
    }


def evaluation_page(report: dict[str, Any], runs: Sequence[RunFolder] = ()) -> str:
    """Bars of every part, and the learning curves of runs, as one HTML page."""
    plots = []
    for name, part in report["parts"].items():
        names = [each for each in ("single", "static", "start", "ppo", "oracle") if each in part]
        plots.append(
            bar_plot(
                f"{name}: {part['tasks']} tasks",
                {each: part[each]["reward"] for each in names},
                y_label="mean reward",
            )
        )
    for column in ("test/reward", "reward/mean", "entropy") if runs else ():
        points = {run.path.name: run.history().column(column) for run in runs}
        series = {
            name: ([step for step, _ in known], [value for _, value in known])
            for name, known in points.items()
        }
        plots.append(line_plot(column, series, x_label="iteration", y_label=column))
    title = "PPO in the simulator"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><h1>{escape(title)}</h1>{''.join(plots)}</html>\n"
    )
