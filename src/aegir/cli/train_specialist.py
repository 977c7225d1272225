"""`aegir train specialist`: one small network for a domain, frozen in a file with a manifest.

What only training needs (torch, …) is imported inside the verb, so that its help can be read without it.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import click

from aegir.cli.options import PathName
from aegir.cli.terminal import tell
from aegir.cli.train import data_option, training_packages
from aegir.cli.train_bytes import TrainingProgress
from aegir.errors import UsageError


@click.command(
    "specialist",
    epilog="Example: aegir train specialist configs/specialists/tiny.toml --out runs/tiny.safetensors",
)
@click.argument("config", type=PathName(dir_okay=False))
@data_option
@click.option("--fold", type=int, help="The fold kept out, -1 for none.")
@click.option("--steps", type=click.IntRange(1), help="Steps, instead of the file's.")
@click.option(
    "--from",
    "start",
    type=PathName(),
    help="A run folder or checkpoint whose weights to begin with.",
)
@click.option(
    "--out",
    type=PathName(dir_okay=False),
    help="The specialist's file [default: runs/specialists/NAME.safetensors]; its run folder stands beside it.",
)
@click.option(
    "--scores-from",
    type=PathName(dir_okay=False),
    multiple=True,
    help="The same specialist trained on a fold, whose scores to take over; may be repeated.",
)
@click.option("--resume", is_flag=True, help="Go on with the run beside --out.")
@click.option("--json", "as_json", is_flag=True, help="Manifest and final figures as one object.")
def specialist(
    config: Path,
    data: tuple[Path, ...],
    fold: int | None,
    steps: int | None,
    start: Path | None,
    out: Path | None,
    scores_from: tuple[Path, ...],
    resume: bool,
    as_json: bool,
) -> None:
    """Train a small network for one domain, to be a frozen specialist of a swarm."""
    with training_packages():
        from aegir.training.specialists.config import read_specialist_training
        from aegir.training.specialists.recipe import train_specialist

    settings = read_specialist_training(config)
    if data:
        settings = replace(settings, data=replace(settings.data, folders=tuple(map(str, data))))
    if fold is not None:
        settings = replace(settings, held_out=replace(settings.held_out, fold=fold))
    if steps is not None:
        settings = replace(settings, supervised=replace(settings.supervised, steps=steps))
    file = out or Path("runs/specialists") / f"{settings.specialist.name}.safetensors"
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise UsageError("a specialist is trained by one process; run it without torchrun")
    progress = TrainingProgress(settings.supervised.steps)
    try:
        with training_packages():  # some are loaded when they are needed
            done = train_specialist(settings, file, progress, start, resume, scores_from)
    finally:
        progress.close()
    manifest = done.manifest
    tell(
        f"saved {file} ({file.stat().st_size / 1e6:.1f} MB, SHA-256 {manifest.weights_sha256[:12]})"
    )
    for place, scores in (("inside", manifest.scores_inside), ("outside", manifest.scores_outside)):
        if scores:
            tell(f"{place} its domain: {_sentence(scores)}")
    if as_json:
        click.echo(json.dumps({**asdict(manifest), "figures": done.figures}))


def _sentence(scores: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in scores.items())
