"""`aegir train parl | parl-hard | parl-compare`: train a swarm by reinforcement learning, and compare runs of it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.cli.options import PathName
from aegir.cli.terminal import say, tell
from aegir.lab.cli.train import data_option, training_packages
from aegir.lab.cli.train_bytes import TrainingProgress
from aegir_rl.base.wording import amount

if TYPE_CHECKING:
    from aegir.lab.figures.parl_evidence import Comparison
    from aegir.lab.parl.config import ParlTraining

VARIANTS = (
    *("parl", "phase1", "longer", "always", "random", "average"),
    *("warm-start", "warm-start-longer"),
)
COLUMNS = {
    "web/f1": "web",
    "web/easy_f1": "easy",
    "web/hard_f1": "hard",
    "open/type_right": "everyday",
    "activation/rate": "activation",
    "routing/information": "bits",
    "routing/information_shuffled": "shuffled",
}


@click.command(
    "parl",
    epilog="Example: aegir train parl configs/parl-tiny.toml --specialists specialists --out runs/parl",
)
@click.argument("config", type=PathName(dir_okay=False))
@data_option
@click.option(
    "--from",
    "start",
    type=PathName(),
    help="The primary: a run of `train supervised`, or an exported network [default: new weights].",
)
@click.option(
    "--specialists",
    metavar="PATH",
    multiple=True,
    help="Specialists, or folders of them, instead of the file's; may be repeated. `ngrams` are the n-gram networks "
    "that ship, `ngrams=PARTS` those of the fold in the folder of parts that `train ngrams` left.",
)
@click.option("--fold", type=int, help="The fold kept out, -1 for none.")
@click.option("--seed", type=int, help="Instead of the file's.")
@click.option(
    "--variant",
    type=click.Choice(VARIANTS),
    help="A baseline with the same number of steps, instead of the file's [routing].",
)
@click.option("--rate", type=float, help="Activation rate of `--variant random`.")
@click.option(
    "--out",
    type=PathName(file_okay=False),
    help="The run folder [default: runs/NAME of the configuration].",
)
@click.option(
    "--warm-start",
    "warm",
    type=PathName(file_okay=False),
    help="A run of `--variant warm-start` with the same configuration and seed: begin where it ended.",
)
@click.option("--resume", is_flag=True, help="Go on with the run in --out.")
@click.option("--json", "as_json", is_flag=True, help="Final figures as one object.")
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


@click.command(
    "parl-export",
    epilog="Example: aegir train parl-export runs/parl-0 --out swarm",
)
@click.argument("run", type=PathName(file_okay=False))
@click.option(
    "--out", type=PathName(file_okay=False), required=True, help="The folder of the swarm."
)
def parl_export(run: Path, out: Path) -> None:
    """Write the swarm of a run as a folder that can ship, with the n-gram networks that ship."""
    with training_packages():
        from aegir.lab.parl.export import export_swarm

    files = export_swarm(run, out)
    size = sum(file.stat().st_size for file in files)
    tell(f"saved {out}: {len(files)} files, {size / 1e6:.1f} MB")


@click.command(
    "parl-hard", epilog="Example: aegir train parl-hard runs/bytes-fold-1 --out hard-types.json"
)
@click.argument("runs", nargs=-1, required=True, type=PathName(file_okay=False))
@click.option(
    "--out",
    type=PathName(dir_okay=False),
    default=Path("hard-types.json"),
    show_default=True,
    help="Where they go.",
)
@click.option("--json", "as_json", is_flag=True, help="Hard types, median and F1 as one object.")
def parl_hard(runs: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Choose hard types: those whose F1 in these Phase 1 runs is below the median.

    Choose them on folds that are not reported; `parl-compare` refuses tables that they were chosen on.
    """
    with training_packages():
        from aegir.lab.figures.parl_evidence import find_hard_types, save_hard_types

    hard = find_hard_types(runs)
    save_hard_types(out, hard)
    tell(f"{len(hard.types)} hard types, below F1 {hard.median:.3f}, in {out}")
    if as_json:
        found = asdict(hard)
        del found["tables"]
        click.echo(json.dumps(found))


@click.command(
    "parl-compare",
    epilog="Example: aegir train parl-compare runs/parl-0 runs/longer-0 --hard hard-types.json",
)
@click.argument("runs", nargs=-1, required=True, type=PathName(file_okay=False))
@click.option(
    "--hard",
    type=PathName(dir_okay=False),
    help="The file of `parl-hard`, for easy and hard types.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="One object per variant, with activation per type."
)
@click.option(
    "--plots",
    type=PathName(file_okay=False),
    help="Draw activation per type, rewards, lambdas and times into this folder, as SVG.",
)
def parl_compare(
    runs: tuple[Path, ...], hard: Path | None, as_json: bool, plots: Path | None
) -> None:
    """Compare finished runs on held-out tables: F1, routing, time; mean and spread over seeds."""
    with training_packages():
        from aegir.lab.figures.parl_evidence import compare_runs, load_hard_types, names_of_runs
        from aegir.lab.figures.parl_plots import save_plots

    rows = compare_runs(runs, load_hard_types(hard) if hard else None)
    if plots:
        drawn = save_plots(plots, rows, names_of_runs(runs))
        tell(f"{amount(len(drawn), 'plot')} in {plots}")
    if as_json:
        for row in rows:
            click.echo(json.dumps(asdict(row)))
    else:
        say(*_table(rows))


def _table(rows: Sequence["Comparison"]) -> list[str]:
    shown = [name for name in COLUMNS if any(name in row.mean for row in rows)]
    lines = [["variant", "seeds", *(COLUMNS[name] for name in shown)]]
    for row in rows:
        cells = [
            f"{row.mean[name]:.3f} ± {row.spread[name]:.3f}" if name in row.mean else "–"
            for name in shown
        ]
        lines.append([row.name, str(len(row.seeds)), *cells])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
