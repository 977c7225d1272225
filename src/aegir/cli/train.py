"""`aegir train`: learn from labelled tables."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aegir.cli.options import data_folders
from aegir.cli.talk import tell
from aegir.cli.train_data import data_report
from aegir.cli.training_packages import training_packages

if TYPE_CHECKING:
    from aegir.training.byte_network.config import ByteTraining, PhaseName


@click.group("train")
def train() -> None:
    """Train a model from labelled tables."""


train.add_command(data_report)


@train.command("ngrams", epilog="Example: aegir train ngrams --data data/ --out ngrams.safetensors")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="A folder of known files, or labelled .jsonl files; may be repeated.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("runs/ngrams.safetensors"),
    show_default=True,
    help="Where the weights go.",
)
@click.option(
    "--raw",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Unlabelled tables to learn header names from [default: raw/ below --data].",
)
@click.option(
    "--folds",
    default=5,
    type=click.IntRange(2),
    show_default=True,
    help="Folds over the *_val tables.",
)
@click.option(
    "--features", default=32768, type=click.IntRange(64), show_default=True, help="n-grams kept."
)
@click.option("--seed", default=0, show_default=True, help="Which tables go into which fold.")
@click.option(
    "--jobs", default=2, type=click.IntRange(1), show_default=True, help="Folds trained at once."
)
@click.option(
    "--keep-answers",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the answers to held-out tables here, for `aegir train calibrate`.",
)
@click.option("--json", "as_json", is_flag=True, help="The held-out figures as one JSON object.")
def train_ngrams(
    data: tuple[Path, ...],
    out: Path,
    raw: tuple[Path, ...],
    folds: int,
    features: int,
    seed: int,
    jobs: int,
    keep_answers: Path | None,
    as_json: bool,
) -> None:
    """Cross-validate, calibrate and train the n-gram model."""
    from aegir.data.sources import raw_files, read_training_tables

    with training_packages():
        import joblib  # noqa: F401 (the recipe imports these late, after minutes of work)
        import sklearn  # noqa: F401

        from aegir.training.ngrams import NgramTraining
        from aegir.training.ngrams import train_ngrams as run

    tables = read_training_tables(data)
    config = NgramTraining(seed=seed, folds=folds, features=features, jobs=jobs)
    for path in (out, keep_answers or out):
        path.parent.mkdir(parents=True, exist_ok=True)
    raw_tables = raw_files(raw or data)
    model = run(tables, raw_tables, config, lambda line: click.echo(line, err=True), keep_answers)
    model.save(out)
    size = out.stat().st_size / 1e6
    click.echo(f"saved {out} ({size:.1f} MB)", err=True)
    if as_json:
        click.echo(json.dumps(model.facts["held_out"]))


def _byte_options(command: Callable[..., None]) -> Callable[..., None]:
    """What `pretrain` and `supervised` have in common."""
    for option in reversed(
        (
            click.argument("config", type=click.Path(path_type=Path, dir_okay=False)),
            click.option(
                "--out",
                type=click.Path(path_type=Path, file_okay=False),
                help="The run folder [default: runs/NAME of the configuration-PHASE].",
            ),
            click.option(
                "--from",
                "start",
                type=click.Path(path_type=Path),
                help="A run folder or checkpoint whose weights to begin with.",
            ),
            data_folders,
            click.option("--resume", is_flag=True, help="Go on with the run in --out."),
            click.option("--fold", type=int, help="The fold kept out, -1 for none."),
            click.option("--steps", type=click.IntRange(1), help="Steps, instead of the file's."),
            click.option("--json", "as_json", is_flag=True, help="Final figures as one object."),
        )
    ):
        command = option(command)
    return command


@train.command("pretrain", epilog="Example: aegir train pretrain configs/tiny.toml")
@_byte_options
def pretrain(**asked: Any) -> None:
    """Teach the byte network to read: next bytes and headers of unlabelled tables."""
    _train_bytes("pretrain", **asked)


@train.command(
    "supervised",
    epilog="Example: aegir train supervised configs/tiny.toml --from runs/tiny-pretrain",
)
@_byte_options
def supervised(**asked: Any) -> None:
    """Teach the byte network types and relations from labelled tables."""
    _train_bytes("supervised", **asked)


def _train_bytes(
    phase: "PhaseName",
    config: Path,
    out: Path | None,
    start: Path | None,
    data: tuple[Path, ...],
    resume: bool,
    fold: int | None,
    steps: int | None,
    as_json: bool,
) -> None:
    from dataclasses import replace

    from aegir.cli.training_progress import TrainingProgress

    with training_packages():
        from aegir.training.byte_network.config import read_byte_training
        from aegir.training.byte_network.supervised import train as run

    settings = _with_data(read_byte_training(config), data)
    if fold is not None:
        settings = replace(settings, held_out=replace(settings.held_out, fold=fold))
    if steps is not None:
        settings = settings.with_steps(phase, steps)
    folder = out or Path("runs") / f"{config.stem}-{phase}"
    silent = os.environ.get("RANK", "0") != "0"
    progress = TrainingProgress(settings.phase(phase).steps, silent)
    try:
        with training_packages():  # some are loaded when they are needed
            done = run(settings, phase, folder, progress, start, resume)
    finally:
        progress.close()
    progress.say(f"{phase} run in {folder}: {_sentence(done.figures)}")
    if as_json and not silent:
        click.echo(json.dumps(done.figures))


def _with_data(settings: "ByteTraining", data: tuple[Path, ...]) -> "ByteTraining":
    from dataclasses import replace

    if not data:
        return settings
    return replace(settings, data=replace(settings.data, folders=tuple(map(str, data))))


def _sentence(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in figures.items())


@train.command(
    "export", epilog="Example: aegir train export runs/tiny-supervised configs/tiny.toml"
)
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--calibration",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What `aegir train calibrate` found; without it confidence is not calibrated.",
)
@data_folders
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("runs/bytes.safetensors"),
    show_default=True,
    help="Where the weights go.",
)
def export(
    run: Path, config: Path, calibration: Path | None, data: tuple[Path, ...], out: Path
) -> None:
    """Write a run's network as the small file that annotators read; a collapsed one is refused."""
    with training_packages():
        from aegir.training.byte_network.config import read_byte_training
        from aegir.training.byte_network.corpus import build_corpus
        from aegir.training.byte_network.export import export_run, read_calibration

    settings = _with_data(read_byte_training(config), data)
    out.parent.mkdir(parents=True, exist_ok=True)
    facts = read_calibration(calibration)
    with training_packages():  # some are loaded when they are needed
        figures = export_run(run, settings, build_corpus(settings), out, facts)
    tell(f"saved {out} ({out.stat().st_size / 1e6:.1f} MB): {_sentence(figures)}")


@train.command(
    "calibrate",
    epilog="Example: aegir train calibrate runs/bytes-fold-* --data data --ngrams runs/answers.safetensors",
)
@click.argument("folds", nargs=-1, required=True, type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="Folders of the tables that were held out; may be repeated.",
)
@click.option(
    "--ngrams",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Answers kept by `aegir train ngrams --keep-answers`, to combine with.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("runs/calibration.json"),
    show_default=True,
    help="Where temperatures, weights and figures go.",
)
def calibrate(
    folds: tuple[Path, ...], data: tuple[Path, ...], ngrams: Path | None, out: Path
) -> None:
    """Fit confidence, and the mixture with n-grams and rules, on answers of fold runs."""
    with training_packages():
        from aegir.data.sources import read_training_tables
        from aegir.training.byte_network.supervised import ANSWERS
        from aegir.training.combine import calibrate_bytes, combine, facts_of, scores_per_class
        from aegir.training.held_out import load_answers, stack_folds
        from aegir.training.ngrams import compatibility_of

    from aegir.files import replace_file

    answers = stack_folds([load_answers(folder / ANSWERS) for folder in folds])
    temperatures, figures = calibrate_bytes(answers)
    combined = None
    if ngrams is not None:
        tables = read_training_tables(data)
        combined, more = combine(load_answers(ngrams), answers, tables, compatibility_of(tables))
        figures |= more
    out.parent.mkdir(parents=True, exist_ok=True)
    facts = facts_of(temperatures, combined, figures, scores_per_class(answers))
    replace_file(out, (json.dumps(facts, indent=1) + "\n").encode())
    for name, judgement in figures.items():
        tell(
            f"{name}: {judgement.columns} columns, micro F1 {judgement.micro_f1:.4f}, "
            f"macro F1 {judgement.macro_f1:.4f}, ECE {judgement.ece:.4f}"
        )
