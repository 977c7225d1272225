"""`python -m aegir.lab.figures search`: what effort gains on tables that no model has seen."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say, tell
from aegir.lab.cli.train import training_packages
from aegir.lab.figures.text_table import text_table
from aegir.pipeline.settings import parse_effort


@click.command(
    "search",
    epilog="Example: python -m aegir.lab.figures search runs/bytes-fold0 runs/bytes-fold1 --data DATA --ngrams runs/ngrams-parts",
)
@click.argument("runs", nargs=-1, required=True, type=PathName())
@verb_options("figure-search")
def search(
    runs: tuple[Path, ...],
    data: tuple[Path, ...],
    ngrams: Path,
    efforts: str,
    as_json: bool,
) -> None:
    """Search the held-out tables of fold runs with several efforts; say what is right, and at which cost."""
    with training_packages():
        from aegir.lab.figures.effort_metrics import measure_efforts
        from aegir.lab.held_out_dispatch import load_held_out

    wanted = [parse_effort(text.strip()) for text in efforts.split(",")]
    folds = load_held_out(runs, data, ngrams)
    metrics = measure_efforts(folds, wanted, tell)
    if as_json:
        say(json.dumps([asdict(each) for each in metrics], indent=1))
        return
    rows: list[tuple[str, ...]] = [
        ("effort", "web types", "gain, 95 %", "hardest", "relations", "everyday", "CPU ms")
    ]
    for each in metrics:
        gain = "{:+.4f} ({:+.4f} to {:+.4f})".format(*each.gain)
        shares = (each.hardest, each.web_relations, each.everyday_types)
        right = (f"{each.web_types:.4f}", gain, *(f"{share:.4f}" for share in shares))
        rows.append((each.name, *right, f"{1000 * each.seconds:.2f}"))
    types, relations, everyday, hardest = metrics[0].columns
    say(
        *text_table(rows),
        "",
        f"{types} web columns with a type, {hardest} of them of the hardest quarter of the types; {relations} with a "
        f"relation; {everyday} everyday columns",
    )
