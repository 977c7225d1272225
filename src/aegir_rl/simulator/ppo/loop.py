"""PPO in the simulator: a routing policy learns which solver to try, how hard, and when to stop (docs/simulator.md).

    aegir sim train-ppo configs/ppo.toml --from cql.safetensors --out runs/ppo

A run folder holds config.toml, environment.json, metrics.jsonl, checkpoint.safetensors, policy.safetensors (as `aegir rl`
and dispatch read it), episodes.jsonl (the last training episodes) and summary.json.

Promises
  - killed at any moment and resumed, a run ends with the bits of one that was not;
  - test tasks and held-out families are evaluated and never learnt from;
  - a run that is unwell (aegir_rl.health) stops with the reasons, exit code 3.

Numpy only: the networks are small, and a step of torch costs more than their arithmetic.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import parse_json
from aegir_rl.base.training_run import TrainingRun, Watcher, join_state, open_run, split_state
from aegir_rl.health import HealthMonitor
from aegir_rl.health.measures import measure_rewards
from aegir_rl.offline.log_files import write_log
from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.offline.reward_v1 import RoutingReward, compute_reward_v1
from aegir_rl.rl.curriculum import Curriculum
from aegir_rl.simulator.playing import Played, prefer
from aegir_rl.simulator.ppo.config import PpoTraining
from aegir_rl.simulator.ppo.evaluation import evaluate_part
from aegir_rl.simulator.ppo.learner import ActorStart, PpoLearner
from aegir_rl.simulator.ppo.world import World

POLICY, EPISODES, SUMMARY = "policy.safetensors", "episodes.jsonl", "summary.json"
STATE_KEY = "aegir_ppo"
KEPT_EPISODES = 100


@dataclass(frozen=True, slots=True)
class TrainedPolicy:
    """The result of a finished run."""

    policy: RoutingPolicy
    figures: dict[str, float]
    """`PART/reward`, `PART/success` … of every part of the tasks, by the likeliest action."""


def train_ppo(
    config: PpoTraining,
    folder: Path,
    watch: Watcher,
    world: World,
    start: RoutingPolicy | None = None,
    resume: bool = False,
) -> TrainedPolicy:
    """Train a policy; `start` is the one to begin with, a random one if it is None."""
    with open_run(folder, config, watch, resume=resume) as run:
        state = _RunState.prepare(config, run, world, start)
        played: Played | None = None
        for iteration in range(state.done, config.iterations):
            tasks = state.curriculum.draw(config.episodes)
            played = world.training.play(
                config,
                state.learner.choose,
                Seeds(config.seed).generator("rollout", iteration),
                tasks=tasks,
                name=f"{config.name}-{config.seed}-{iteration + 1}",
                decider="ppo",
                longest=config.longest,
            )
            reward = compute_reward_v1(played.batch, config.reward)
            state.curriculum.update(tasks, reward.parts["accuracy"])
            figures = state.learner.update(
                played, reward.steps, iteration, iteration / config.iterations
            )
            figures |= _measure(played, reward)
            done = iteration + 1
            due = done % config.check_every == 0 or done == config.iterations
            evaluated = state.evaluate() if due else {}
            run.record(done, **figures, **evaluated, **state.curriculum.metrics())
            watch.step(done, {**figures, **evaluated})
            state.monitor.observe(done, figures).raise_if_unwell()
            if due:
                state.save_checkpoint(done)
        return state.finish(played)


def _measure(played: Played, reward: RoutingReward) -> dict[str, float]:
    """Metrics of the episodes that were learnt from."""
    batch, known = played.batch, np.isfinite(reward.total)
    figures = measure_rewards(reward.total, missing=~known)
    means = {part: float(values[known].mean()) for part, values in reward.parts.items()}
    return {
        **figures,
        **{f"part/{part}": value for part, value in means.items()},
        "episode/decisions": float(batch.decided.sum(axis=1).mean()),
        "decisions": float(batch.decided.sum()),
    }


@dataclass(slots=True)
class _RunState:
    """A run between two iterations."""

    config: PpoTraining
    run: TrainingRun
    world: World
    learner: PpoLearner
    curriculum: Curriculum
    monitor: HealthMonitor
    start: str
    """Version of the policy it began with."""
    done: int = 0

    @classmethod
    def prepare(
        cls,
        config: PpoTraining,
        run: TrainingRun,
        world: World,
        start: RoutingPolicy | None,
    ) -> "_RunState":
        """Begin a run, or go on with the one in the folder."""
        items, how = len(world.training), config.curriculum
        curriculum = Curriculum(
            items,
            how.strategy,
            difficulty=world.training.table.features.mean(axis=1).astype(np.float64),
            exploration=how.exploration,
            seed=config.seed,
        )
        run.watch.say(
            f"{items} tasks to learn from, {len(world.test)} to test on, {len(world.families)} of held-out families; "
            f"{len(world.training.table.actions)} actions"
        )
        if run.resumes:
            learner, saved = _restore(config, run, world)
            curriculum.load_state_dict(saved["curriculum"])
        else:
            learner, saved = PpoLearner(config.ppo, _begin(config, world, start), config.seed), {}
        state = cls(
            config=config,
            run=run,
            world=world,
            learner=learner,
            curriculum=curriculum,
            monitor=HealthMonitor(),
            start=saved.get("start", start.version if start else ""),
            done=saved.get("done", 0),
        )
        if run.resumes:
            state.monitor.load_state_dict(saved["monitor"])
            run.resume_after(state.done, config.iterations, "iteration")
        else:
            run.record(0, **state.evaluate())
            state.save_checkpoint(0)
        return state

    def evaluate(self) -> dict[str, float]:
        """How the likeliest actions do on each part."""
        policy, figures = self.learner.policy({}), dict[str, float]()
        for name, part in self.world.parts.items():
            _, metrics = evaluate_part(part, self.config, prefer(policy, part.table))
            figures |= {f"{name}/{metric}": value for metric, value in metrics.items()}
        return figures

    def save_checkpoint(self, done: int) -> None:
        """Write the policy and a checkpoint after `done` iterations."""
        self.done = done
        self.policy().save(self.run.path / POLICY)
        state = {
            "learner": self.learner.state_dict(),
            "curriculum": self.curriculum.state_dict(),
            "monitor": self.monitor.state_dict(),
        }
        facts, arrays = split_state(state)
        known = {"done": done, "start": self.start, "world": self.world.fingerprint, "state": facts}
        content = safetensors_bytes(arrays, {STATE_KEY: json.dumps(known)})
        replace_file(self.run.checkpoint, content)

    def policy(self) -> RoutingPolicy:
        """The policy as it is now, with what it was trained on."""
        return self.learner.policy(
            {
                "method": "PPO",
                "start": self.start,
                "data": self.config.tasks.training,
                "data_sha256": self.world.fingerprint,
                "data_sources": sorted(set(self.world.training.table.sources)),
                "tasks": len(self.world.training),
                "iterations": self.done,
                "settings": asdict(self.config),
            }
        )

    def finish(self, played: Played | None) -> TrainedPolicy:
        """Write the last episodes and the summary."""
        figures, policy = self.evaluate(), self.policy()
        if played is not None:
            episodes = list(played.batch.episodes())[:KEPT_EPISODES]
            write_log(episodes, self.run.path / EPISODES)
        summary = {
            "policy": policy.version,
            "start": self.start or None,
            "iterations": self.done,
            "seed": self.config.seed,
            "figures": figures,
        }
        text = json.dumps(summary, indent=1, allow_nan=False) + "\n"
        replace_file(self.run.path / SUMMARY, text.encode())
        return TrainedPolicy(policy, figures)


def _restore(
    config: PpoTraining, run: TrainingRun, world: World
) -> tuple[PpoLearner, dict[str, Any]]:
    """The learner in a run's checkpoint, and what else is saved there: done, start, curriculum and monitor."""
    arrays, metadata = read_safetensors(run.checkpoint)
    try:
        known = parse_json(metadata[STATE_KEY])
        saved = join_state(known["state"], arrays)
        if known["done"] not in range(config.iterations + 1) or not isinstance(known["start"], str):
            raise ValueError(f"{known['done']!r} iterations after {known['start']!r}")
        saved |= {"done": int(known["done"]), "start": known["start"]}
        if not all(isinstance(saved[part], dict) for part in ("learner", "curriculum", "monitor")):
            raise ValueError("its states are no objects")
        fingerprint = known["world"]
        learner = PpoLearner.restored(
            saved["learner"], config.ppo, world.training.table.actions, config.seed
        )
    except UsageError:
        raise
    except (AttributeError, KeyError, ValueError, TypeError) as error:
        raise UsageError(f"{run.checkpoint} is no checkpoint of a PPO run ({error})") from None
    if fingerprint != world.fingerprint:
        raise UsageError(
            f"tasks, solvers or outcomes are not those that {run.path} began with; resume it with the same files"
        )
    return learner, saved


def _begin(config: PpoTraining, world: World, start: RoutingPolicy | None) -> ActorStart:
    if start is not None:
        return ActorStart.of_policy(start, world.training.table)
    random = Seeds(config.seed).generator("first look")
    table = world.training.table

    def anything(seen: Any, _: Any, chance: np.random.Generator) -> tuple[Any, Any]:
        drawn = chance.integers(len(table.actions), size=len(seen))
        return drawn, np.full(len(seen), 1 / len(table.actions))

    batch = world.training.play(config, anything, random).batch
    seen = batch.features[batch.decided]
    return ActorStart.new(seen, batch.feature_names, table, config.ppo.hidden, config.seed)
