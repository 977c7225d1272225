"""`aegir train parl`: train a swarm by reinforcement learning."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.cli.options import PathName, verb_options
from aegir.lab.cli.train import adjusted, training_packages
from aegir.lab.cli.train_bytes import metrics_sentence, training_progress
from aegir_rl.base.training_run import will_resume

if TYPE_CHECKING:
    from aegir.lab.parl.config import ParlTraining


@click.command(
    "parl",
    epilog="Example: aegir train parl configs/parl-tiny.toml --specialists specialists --out runs/parl",
)
@click.argument("config", type=PathName(dir_okay=False))
@verb_options("training data", "train parl")
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

    settings: ParlTraining = adjusted(read_parl_training(config), data, fold, seed=seed)
    if variant is not None:
        settings = settings.variant(variant, rate)
    folder = out or Path("runs") / (config.stem if variant is None else f"{config.stem}-{variant}")
    with training_progress(settings.steps) as progress:
        begin = read_start(start) if start and not (resume and will_resume(folder)) else None
        names, kept_out = specialists or settings.specialists, settings.held_out
        frozen = load_specialists(names, kept_out.fold)
        others = load_out_of_fold(names, kept_out.folds, kept_out.fold)
        done = train_parl(settings, folder, progress, frozen, begin, resume, others, warm)
    shown = {name: value for name, value in done.metrics.items() if name.endswith("micro_f1")}
    shown |= {n: v for n, v in done.metrics.items() if n == "activation/rate"}
    progress.say(f"{settings.name} run in {folder}: {metrics_sentence(shown)}")
    if as_json:
        click.echo(json.dumps(done.metrics))
