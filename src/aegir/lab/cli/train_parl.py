"""`aegir train parl`: train a swarm by reinforcement learning."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.cli.options import PathName, verb_options
from aegir.lab.cli.train import training_packages
from aegir.lab.cli.train_bytes import TrainingProgress

if TYPE_CHECKING:
    from aegir.lab.parl.config import ParlTraining

VARIANTS = (
    *("parl", "phase1", "longer", "always", "random", "average"),
    *("warm-start", "warm-start-longer"),
)


@click.command(
    "parl",
    epilog="Example: aegir train parl configs/parl-tiny.toml --specialists specialists --out runs/parl",
)
@click.argument("config", type=PathName(dir_okay=False))
@verb_options("training data", "train parl")
@click.option(
    "--variant",
    type=click.Choice(VARIANTS),
    help="A baseline with the same number of steps, instead of the file's [routing].",
)
def parl(
    config: Path,
    data: tuple[Path, ...],
    start: Path | None,
    specialists: tuple[str, ...],
    fold: int | None,
    seed: int | None,
    variant: str | None,
    rate: float | None,
    out: Path | None,
    warm: Path | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Teach a primary when to call frozen specialists, by reinforcement learning."""
    with training_packages():
        from aegir.lab.parl.build import load_out_of_fold, load_specialists, read_start
        from aegir.lab.parl.config import read_parl_training
        from aegir.lab.parl.loop import train_parl

    settings = _adjusted(read_parl_training(config), data, fold, seed, variant, rate)
    folder = out or Path("runs") / (config.stem if variant is None else f"{config.stem}-{variant}")
    progress = TrainingProgress(settings.steps)
    try:
        with training_packages():  # some are loaded when they are needed
            begin = read_start(start) if start and not resume else None
            given, kept_out = specialists or settings.specialists, settings.held_out
            frozen = load_specialists(given, kept_out.fold)
            others = load_out_of_fold(given, kept_out.folds, kept_out.fold)
            done = train_parl(settings, folder, progress, frozen, begin, resume, others, warm)
    finally:
        progress.close()
    shown = {name: value for name, value in done.metrics.items() if name.endswith("micro_f1")}
    shown |= {n: v for n, v in done.metrics.items() if n == "activation/rate"}
    scores = ", ".join(f"{name} {value:.3f}" for name, value in shown.items())
    progress.say(f"{settings.name} run in {folder}: {scores}")
    if as_json:
        click.echo(json.dumps(done.metrics))


def _adjusted(
    settings: "ParlTraining",
    data: tuple[Path, ...],
    fold: int | None,
    seed: int | None,
    variant: str | None,
    rate: float | None,
) -> "ParlTraining":
    if data:
        folders = tuple(map(str, data))
        settings = replace(settings, data=replace(settings.data, folders=folders))
    if fold is not None:
        settings = replace(settings, held_out=replace(settings.held_out, fold=fold))
    if seed is not None:
        settings = replace(settings, seed=seed)
    return settings if variant is None else settings.variant(variant, rate)
