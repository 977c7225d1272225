"""`aegir sim collect | log | train-ppo`: execute solvers, log decisions, train a routing policy."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from aegir.cli.options import PathName, verb_options
from aegir.cli.progress import ProgressLine
from aegir.cli.rl_data import save_log
from aegir.cli.terminal import tell
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import amount
from aegir_rl.base.training_run import will_resume
from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.simulator.collecting import collect as collect_outcomes
from aegir_rl.simulator.collecting import require_complete
from aegir_rl.simulator.outcomes import OutcomeCache
from aegir_rl.simulator.playing import explore
from aegir_rl.simulator.ppo.config import PpoTraining, read_ppo_training
from aegir_rl.simulator.ppo.loop import POLICY, train_ppo
from aegir_rl.simulator.ppo.world import World, load_world
from aegir_rl.simulator.sandbox import open_sandbox
from aegir_rl.simulator.solvers.registry import find_solvers
from aegir_rl.simulator.task import read_tasks

CONFIG = click.argument("config", type=PathName(dir_okay=False))
SHOWN = {
    "reward/mean": "reward",
    "part/accuracy": "solved",
    "entropy": "entropy",
    "kl": "kl",
    "test/reward": "test reward",
}
"""Metrics of an iteration, and how they are called on the line."""


class SimProgress(ProgressLine):
    """Counts what is done of a total that may grow."""

    def __init__(self, doing: str, total: int) -> None:
        super().__init__(doing, total)
        self._metrics: dict[str, float] = {}

    def count(self, done: int, total: int) -> None:
        """Show how far the work is."""
        self.total = total
        self.show(done, "  ".join(f"{name} {value:.3f}" for name, value in self._metrics.items()))

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        """Show the metrics of an iteration; those that are not measured every time stay."""
        self._metrics |= {SHOWN[name]: figures[name] for name in SHOWN if name in figures}
        self.count(step, self.total)


@click.command(
    "collect",
    epilog="Example: aegir sim collect --tasks training.jsonl --tasks test.jsonl --out outcomes.db",
)
@verb_options("sim-collect")
def collect(
    tasks: tuple[Path, ...],
    out: Path,
    names: tuple[str, ...],
    workers: int,
    retries: int,
    as_json: bool,
) -> None:
    """Let every solver try every task for real, and keep the outcomes for training."""
    known = [task for path in tasks for task in read_tasks(path)]
    (name, count), *_ = Counter(task.id for task in known).most_common(1)
    if count > 1:
        raise UsageError(f"two files have the task {name!r}; generate them with different seeds")
    progress = SimProgress("attempts", len(known))
    try:
        with OutcomeCache(out) as cache:
            collected = collect_outcomes(
                *(cache, known, find_solvers(names, known), open_sandbox),
                workers=workers,
                retries=retries,
                watch=progress.count,
            )
            size = len(cache)
    finally:
        progress.close()
    tell(
        f"executed {amount(collected.executed, 'attempt')}, {collected.known:,} were known; {out} holds {size:,}"
    )
    if as_json:
        counts = {"executed": collected.executed, "known": collected.known, "outcomes": size}
        click.echo(json.dumps({**counts, "lost": collected.lost}))
    require_complete(collected)


@click.command("log", epilog="Example: aegir sim log configs/ppo.toml --out decisions.jsonl")
@CONFIG
@verb_options("sim-log")
def log(config: Path, out: Path, episodes: int, epsilon: float, part: str, seed: int) -> None:
    """Log decisions of the static table with exploration, for `aegir rl train-bc` and `train-cql`."""
    settings = read_ppo_training(config)
    chosen = load_tasks(settings).parts.get(part)
    if chosen is None:
        raise UsageError(f"{config} leaves no tasks in the part {part!r}")
    random = Seeds(seed).generator("log", part)
    order = np.concatenate(
        [random.permutation(len(chosen)) for _ in range(-(-episodes // len(chosen)))]
    )
    played = chosen.play(
        *(settings, explore(epsilon, len(chosen.table.actions)), random),
        tasks=order[:episodes],
        name=f"simulator-{part}-{epsilon:g}-{seed}",
        decider="exploration",
    )
    save_log(list(played.batch.episodes()), out)


@click.command(
    "train-ppo",
    epilog="Example: aegir sim train-ppo configs/ppo.toml --from cql.safetensors --out runs/ppo",
)
@CONFIG
@verb_options("sim-train")
def train(
    config: Path,
    start: Path | None,
    seed: int | None,
    resume: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Fine-tune a routing policy by PPO in the simulator."""
    settings = read_ppo_training(config)
    if seed is not None:
        settings = replace(settings, seed=seed)
    folder = out or Path("runs") / config.stem
    resumes = resume and will_resume(folder)
    begin = read_policy(start) if start is not None and not resumes else None
    world = load_tasks(settings)
    progress = SimProgress("iteration", settings.iterations)
    try:
        done = train_ppo(settings, folder, progress, world, begin, resume)
    finally:
        progress.close()
    shown = ", ".join(f"{part} {done.figures[f'{part}/reward']:.4f}" for part in world.parts)
    tell(f"{done.policy.version} in {folder}: mean reward {shown}")
    if as_json:
        click.echo(json.dumps({"policy": done.policy.version, **done.figures}))


def load_tasks(settings: PpoTraining) -> World:
    """Return the tasks of a configuration with the outcomes of all solvers."""
    files = (settings.tasks.training, settings.tasks.test)
    tasks = [task for path in files for task in read_tasks(Path(path))]
    return load_world(settings, find_solvers(settings.tasks.solvers, tasks))


def read_policy(path: Path) -> RoutingPolicy:
    """Read a policy from its file, or from the folder of a run."""
    return RoutingPolicy.load(path / POLICY if path.is_dir() else path)
