"""`aegir train specialist`: one small network for a domain, frozen in a file with a manifest, or several side by side.

What only training needs (torch, …) is imported inside the verb, so that its help can be read without it.
"""

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aegir.cli.engines import LOCAL, check_engine, engine_options, make_job, open_ray
from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import tell
from aegir.engines.engine import Engine
from aegir.engines.job import FOR_TRAINING
from aegir.engines.local import LocalEngine
from aegir.lab.cli.train import training_packages
from aegir.lab.cli.train_bytes import training_progress
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount
from aegir_rl.processes import count_cores

if TYPE_CHECKING:
    from aegir.lab.specialists.sharded import Training


@click.command(
    "specialist",
    epilog="Example: aegir train specialist configs/specialists/tiny.toml --out runs/tiny.safetensors",
)
@click.argument(
    "configs", metavar="CONFIG...", type=PathName(dir_okay=False), nargs=-1, required=True
)
@verb_options("training data", "train specialist")
@engine_options
def specialist(
    configs: tuple[Path, ...],
    data: tuple[Path, ...],
    fold: int | None,
    steps: int | None,
    start: Path | None,
    out: Path | None,
    scores_from: tuple[Path, ...],
    resume: bool,
    as_json: bool,
    workers: int | None,
    engine: str,
    address: str | None,
) -> None:
    """Train a small network for one domain, to be a frozen specialist of a swarm.

    Several CONFIGs are trained side by side, with `threads` of each, or 1; each gives what it gives alone.
    """
    with training_packages():
        from aegir.lab.specialists.recipe import train_specialist

    check_engine(engine, address)
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise UsageError("a specialist is trained by one process; run it without torchrun")
    trainings = _trainings(configs, data, fold, steps, start, out)
    if len(trainings) == 1 and engine == LOCAL:
        (training,) = trainings
        settings, file = training.settings(), Path(training.out)
        with training_progress(settings.supervised.steps) as progress:
            done = train_specialist(settings, file, progress, start, resume, scores_from)
        _tell(training.out, asdict(done.manifest))
        if as_json:
            click.echo(json.dumps({**asdict(done.manifest), "figures": done.metrics}))
        return
    if scores_from:
        raise UsageError(
            "--scores-from is for one CONFIG on this machine; leave it or the others out"
        )
    failed = 0
    for result in _side_by_side(trainings, resume, workers, engine, address):
        name = result.pop("out")
        if "error" in result:
            tell(f"{name} is not made: {result['error']}")
            failed = max(failed, result["exit_code"])
            continue
        _tell(name, result)
        if as_json:
            click.echo(json.dumps(result))
    if failed:
        raise click.exceptions.Exit(failed)


def _trainings(
    configs: tuple[Path, ...],
    data: tuple[Path, ...],
    fold: int | None,
    steps: int | None,
    start: Path | None,
    out: Path | None,
) -> "list[Training]":
    """What is to be trained, each into a file of its own."""
    from aegir.lab.specialists.config import read_specialist_training
    from aegir.lab.specialists.sharded import Training

    if out is not None and len(configs) > 1:
        raise UsageError(
            f"--out {out} is one file, and {len(configs)} CONFIGs are given; leave it out"
        )
    names = [read_specialist_training(config).specialist.name for config in configs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"several CONFIGs are called {twice!r}; give each specialist its own name")
    return [
        Training(
            str(config),
            str(out or Path("runs/specialists") / f"{name}.safetensors"),
            tuple(map(str, data)),
            fold,
            steps,
            None if start is None else str(start),
        )
        for config, name in zip(configs, names, strict=True)
    ]


def _side_by_side(
    trainings: "Sequence[Training]",
    resume: bool,
    workers: int | None,
    engine: str,
    address: str | None,
) -> Iterator[dict[str, Any]]:
    """Yield manifest, figures and file of each specialist as it is trained."""
    from aegir.lab.specialists.recipe import run_folder_of
    from aegir.lab.specialists.sharded import OPEN

    for training in trainings:
        if training.began and not resume:
            raise UsageError(
                f"{run_folder_of(Path(training.out))} holds a run already; go on with it by --resume, or choose another --out"
            )
    settings = [training.settings() for training in trainings]
    threads = max(1, *(each.threads for each in settings))
    with ExitStack() as ended_after:
        folders = {Path(training.out).parent for training in trainings}
        marks = [ended_after.enter_context(_mark(folder)) for folder in sorted(folders)]
        data = {folder for each in settings for folder in each.data.folders}
        files = [*(each.config for each in trainings), trainings[0].start, *sorted(data), *marks]
        job = make_job(OPEN, {}, files)
        # Threads of torch that the configuration leaves open; read when torch is loaded.
        omp = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS") or str(threads)}
        job = replace(job, environment={**job.environment, **omp}, packages=FOR_TRAINING)
        if engine == LOCAL:
            places = workers or max(count_cores() // threads, 1)
            opened: Engine = LocalEngine(min(places, len(trainings)))
        else:
            opened = open_ray(address, workers, cpus_per_place=threads)
        ended_after.enter_context(opened)
        first = run_folder_of(Path(trainings[0].out))
        tell(
            f"{amount(len(trainings), 'specialist')} to train; to look at one: python -m aegir.lab.figures run {first}"
        )
        items = map(asdict, trainings)
        yield from opened.map(job, items, len(trainings), ordered=False)


@contextmanager
def _mark(folder: Path) -> Iterator[Path]:
    """A file that other machines see if they see this folder."""
    path = folder / f".aegir-shared-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise UsageError(f"cannot write to {folder} ({error.strerror})") from None
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _tell(out: str, manifest: Mapping[str, Any]) -> None:
    file = Path(out)
    tell(
        f"saved {file} ({file.stat().st_size / 1e6:.1f} MB, SHA-256 {manifest['weights_sha256'][:12]})"
    )
    for place in ("inside", "outside"):
        if scores := manifest[f"scores_{place}"]:
            tell(f"{place} its domain: {_sentence(scores)}")


def _sentence(scores: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in scores.items())
