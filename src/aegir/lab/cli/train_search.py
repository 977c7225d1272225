"""`aegir train search-figures`: what effort is worth on tables that no model has seen."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.cli.options import PathName
from aegir.cli.terminal import say, tell
from aegir.lab.cli.train import training_packages
from aegir.pipeline.settings import parse_effort
from aegir.readers.swarm.annotator import SwarmAnnotator, load_swarm_annotator
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    from aegir.lab.figures.search_figures import EffortFigures

fold_swarms_option = click.option(
    "--swarm",
    "swarms",
    multiple=True,
    metavar="RUN=FOLDER",
    help="A calibrated swarm that has not seen the tables of this run, by the run's name; may be repeated.",
)


def load_fold_swarms(given: Sequence[str], runs: Sequence[Path]) -> dict[str, SwarmAnnotator]:
    """Return the swarms that --swarm names, by the name of the run whose tables they have not seen."""
    known = {}
    for text in given:
        name, sign, folder = text.partition("=")
        if not sign or name not in {run.name for run in runs}:
            raise UsageError(
                f"--swarm is {text!r}; expected RUN=FOLDER with the name of a given run"
            )
        known[name] = load_swarm_annotator(Path(folder))
    return known


@click.command(
    epilog="Example: aegir train search-figures runs/bytes-fold0 runs/bytes-fold1 --data DATA --ngrams runs/ngrams-parts"
)
@click.argument("runs", nargs=-1, required=True, type=PathName())
@click.option("--data", multiple=True, required=True, type=PathName(), help="Labelled tables.")
@click.option(
    "--ngrams",
    required=True,
    type=PathName(file_okay=False),
    help="The folder of intermediate results of `aegir train ngrams`.",
)
@fold_swarms_option
@click.option(
    "--efforts", default="0,0.25,0.5,0.75,1", show_default=True, help="Efforts to compare."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def search_figures(
    runs: tuple[Path, ...],
    data: tuple[Path, ...],
    ngrams: Path,
    swarms: tuple[str, ...],
    efforts: str,
    as_json: bool,
) -> None:
    """Search the held-out tables of fold runs with several efforts; say what is right, and at which cost."""
    with training_packages():
        from aegir.lab.figures.search_figures import measure_efforts
        from aegir.lab.held_out_dispatch import load_held_out

    wanted = [parse_effort(text.strip()) for text in efforts.split(",")]
    folds = load_held_out(runs, data, ngrams, swarms=load_fold_swarms(swarms, runs))
    figures = measure_efforts(folds, wanted, tell)
    if as_json:
        say(json.dumps([asdict(each) for each in figures], indent=1))
        return
    say(*_table(figures))


def _table(figures: "list[EffortFigures]") -> list[str]:
    lines = [
        f"{'effort':<22} {'web types':>9} {'gain, 95 %':>24} {'hardest':>8} {'relations':>9} {'everyday':>8} {'CPU ms':>7}"
    ]
    for each in figures:
        gain, low, high = each.gain
        interval = f"{gain:+.4f} ({low:+.4f} to {high:+.4f})"
        lines.append(
            f"{each.name:<22} {each.web_types:>9.4f} {interval:>24} {each.hardest:>8.4f} {each.web_relations:>9.4f} "
            f"{each.everyday_types:>8.4f} {1000 * each.seconds:>7.2f}"
        )
    types, relations, everyday, hardest = figures[0].columns
    said = (
        f"{types} web columns with a type, {hardest} of them of the hardest quarter of the types; {relations} with a "
        f"relation; {everyday} everyday columns"
    )
    return [*lines, "", said]
