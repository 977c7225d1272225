"""`aegir train pretrain | supervised | calibrate | export`: the verbs of the byte network.

What only training needs (torch, …) is imported inside the verbs, so that their help can be read without it.

Progress goes to stderr (cli/progress.py).

    step 120/2000  loss 1.832  cta 0.61  cpa 0.57  fine 0.44  personal 0.90  18.4 kB/s  0:14:02 left

Scores are right answers among the labelled columns of the last steps, as they were read (varied, with dropout).
"""

import json
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.progress import ProgressLine
from aegir.cli.terminal import tell
from aegir.lab.calibrate import calibrate_again, calibrate_folds
from aegir.lab.cli.train import adjusted, training_packages
from aegir.readers.bytes.annotator import load_byte_model
from aegir.readers.bytes.checkpoint import load_checkpoint, save_checkpoint
from aegir.readers.bytes.heads import OUTPUTS
from aegir.readers.swarm.network import PRIMARY_NAME
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import parse_json

if TYPE_CHECKING:
    from aegir.lab.byte_network.config import ByteTraining, PhaseName

STEPS_SHOWN = 20
"""Figures are means over this many steps."""


@click.command("pretrain", epilog="Example: aegir train pretrain configs/tiny.toml")
@click.argument("config", type=PathName(dir_okay=False))
@verb_options("byte training", "training data")
def pretrain(**asked: Any) -> None:
    """Teach the byte network to read: next bytes and headers of unlabelled tables."""
    _train_bytes("pretrain", **asked)


@click.command(
    "supervised",
    epilog="Example: aegir train supervised configs/tiny.toml --from runs/tiny-pretrain",
)
@click.argument("config", type=PathName(dir_okay=False))
@verb_options("byte training", "training data")
def supervised(**asked: Any) -> None:
    """Teach the byte network what columns are: types, fine types, relations, personal data."""
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
    with training_packages():
        from aegir.lab.byte_network.config import read_byte_training
        from aegir.lab.byte_network.supervised import train as run

    settings: ByteTraining = adjusted(read_byte_training(config), data, fold)
    if steps is not None:
        settings = settings.with_steps(phase, steps)
    folder = out or Path("runs") / f"{config.stem}-{phase}"
    silent = os.environ.get("RANK", "0") != "0"
    with training_progress(settings.phase(phase).steps, silent) as progress:
        done = run(settings, phase, folder, progress, start, resume)
    progress.say(f"{phase} run in {folder}: {metrics_sentence(done.metrics)}")
    if as_json and not silent:
        click.echo(json.dumps(done.metrics))


def metrics_sentence(figures: Mapping[str, float]) -> str:
    """The metrics of a run, for people."""
    return ", ".join(f"{name} {value:.3f}" for name, value in figures.items())


@click.command(
    "export", epilog="Example: aegir train export runs/tiny-supervised configs/tiny.toml"
)
@click.argument("run", type=PathName(file_okay=False))
@click.argument("config", type=PathName(dir_okay=False), required=False)
@verb_options("train export", "training data")
def export(
    run: Path,
    config: Path | None,
    calibration: Path | None,
    data: tuple[Path, ...],
    out: Path | None,
) -> None:
    """Write what a run has learnt as weights that annotators read; a collapsed network is refused.

    RUN is a folder of `aegir train supervised`, with its CONFIG, or of `aegir train parl`, without: its swarm becomes a
    folder, with the n-gram networks that ship.
    """
    if config is None:
        if calibration or data:
            raise UsageError(
                "--calibration and --data need the CONFIG of a run of `train supervised`"
            )
        return _export_swarm(run, out or Path("runs/swarm"))
    with training_packages():
        from aegir.lab.byte_network.config import read_byte_training
        from aegir.lab.byte_network.corpus import build_corpus
        from aegir.lab.byte_network.export import export_run, read_calibration

    out = out or Path("runs/bytes.safetensors")
    settings = adjusted(read_byte_training(config), data)
    out.parent.mkdir(parents=True, exist_ok=True)
    facts = read_calibration(calibration)
    with training_packages():  # some are loaded when they are needed
        corpus = build_corpus(settings.data, settings.held_out, settings.seed)
        figures = export_run(run, settings, corpus, out, facts)
    tell(f"saved {out} ({out.stat().st_size / 1e6:.1f} MB): {metrics_sentence(figures)}")
    return None


def _export_swarm(run: Path, out: Path) -> None:
    with training_packages():
        from aegir.lab.parl.export import export_swarm

    files = export_swarm(run, out)
    size = sum(file.stat().st_size for file in files)
    tell(f"saved {out}: {len(files)} files, {size / 1e6:.1f} MB")


@click.command(
    "calibrate",
    epilog="Example: aegir train calibrate runs/bytes-fold-* --data data --ngrams runs/ngrams-parts",
)
@click.argument("folds", nargs=-1, type=PathName(file_okay=False))
@verb_options("train calibrate")
def calibrate(
    folds: tuple[Path, ...], data: tuple[Path, ...], ngrams: Path, out: Path, into: Path | None
) -> None:
    """Fit confidence, and the mixture with n-grams and rules, on answers of fold runs.

    Without fold runs the mixture in --into is kept, and rules, pairs and thresholds are fitted to newly trained n-grams.
    """
    is_swarm = into is not None and into.is_dir()
    weights = into / PRIMARY_NAME if into is not None and is_swarm else into
    checkpoint = load_checkpoint(weights) if weights else None
    annotator = "swarm" if is_swarm else "byte_model"
    if folds:
        figures, everyday = calibrate_folds(folds, data, ngrams, out, annotator)
    elif weights and not is_swarm:
        figures, everyday = calibrate_again(load_byte_model(weights), data, ngrams, out)
    else:
        raise UsageError(
            "no fold run is given; name their folders, or with --into the weights of a byte network to fit again"
        )
    if weights and checkpoint:
        facts = {**checkpoint.facts, **parse_json(out.read_text(encoding="utf-8"))}
        save_checkpoint(weights, replace(checkpoint, facts=facts))
    for name, judgement in figures.items():
        tell(f"{name}: {judgement}")
    tell(
        f"combined on everyday tables: type right {everyday.type['right']}, label right {everyday.label['right']}"
    )


class TrainingProgress(ProgressLine):
    """Shows loss, scores, bytes per second and time left after each step."""

    def __init__(self, steps: int, silent: bool = False) -> None:
        super().__init__("step", steps, silent)
        self._printed = 0.0  # the first step is shown, too
        self._recent: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=STEPS_SHOWN)
        self._first: tuple[int, float] | None = None

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        """Show the figures of a step that was taken."""
        now = time.monotonic()
        self._recent.append((now, figures))
        self._first = self._first or (step, now)
        self.show(step, self._summary(), f"{self._left(step, now)} left")

    def _summary(self) -> str:
        totals: Counter[str] = Counter()
        for _, figures in self._recent:
            totals.update({name: float(value) for name, value in figures.items()})
        parts = [f"loss {totals['loss'] / len(self._recent):.3f}"]
        parts += [
            f"{head} {totals[f'{head}/right'] / totals[f'{head}/count']:.2f}"
            for head in OUTPUTS
            if totals[f"{head}/count"]
        ]
        if totals["teacher/count"]:
            parts.append(f"teacher {1 - totals['teacher/loss'] / totals['teacher/count']:.2f}")
        if totals["stage"]:  # steps of reinforcement learning
            parts.append(f"reward {totals['reward/total'] / totals['stage']:.2f}")
            parts.append(f"active {totals['activation/rate'] / totals['stage']:.2f}")
        if totals["next/count"]:
            parts.append(f"next symbol {totals['next/loss'] / totals['next/count']:.2f}")
        if len(self._recent) > 1:
            seconds = self._recent[-1][0] - self._recent[0][0]
            read = totals["symbols"] - self._recent[0][1]["symbols"]
            parts.append(f"{read / max(seconds, 1e-9) / 1000:.1f} kB/s")
        return "  ".join(parts)

    def _left(self, step: int, now: float) -> str:
        assert self._first is not None, "a step was taken"
        first, then = self._first
        if step == first:  # how long a step takes is known from the second on
            return "?"
        seconds = int((now - then) / (step - first) * (self.total - step))
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


@contextmanager
def training_progress(steps: int, silent: bool = False) -> Iterator[TrainingProgress]:
    """Show the progress of a training; packages that it loads when they are needed may be missing."""
    progress = TrainingProgress(steps, silent)
    try:
        with training_packages():
            yield progress
    finally:
        progress.close()
