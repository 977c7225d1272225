"""`python -m aegir.lab.figures engine`: who should read a column, on tables that no model has seen."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say, tell
from aegir.lab.cli.train import training_packages
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    from aegir.lab.engine.evidence import PlanRow


@click.command(
    "engine",
    epilog="Example: python -m aegir.lab.figures engine runs/deep-fold0 runs/deep-fold1 --data DATA --ngrams runs/ngrams-parts",
)
@click.argument("runs", nargs=-1, required=True, type=PathName())
@verb_options("figure-engine")
def engine(
    runs: tuple[Path, ...],
    data: tuple[Path, ...],
    ngrams: Path,
    others: tuple[str, ...],
    seeds: int,
    price: float,
    as_json: bool,
) -> None:
    """Compare plans of the engine on the held-out tables of fold runs: which columns the deep layers read, what is right then."""
    with training_packages():
        from aegir.lab.engine.evidence import compare_plans
        from aegir.lab.engine.plans import HeldOutEngine
        from aegir.lab.engine.router import RouterTraining

    tell("fitting what follows the readers")
    held_out = HeldOutEngine.load(runs, data, ngrams)
    apart = {
        name: HeldOutEngine.load(folders, data, ngrams) for name, folders in _named(others).items()
    }
    rows = compare_plans(held_out, runs, RouterTraining(price=price), seeds, tell, apart)
    if as_json:
        say(json.dumps([_record(row) for row in rows], indent=1))
    else:
        say(*_table(rows))


@click.command(
    "engine-ablate",
    epilog="Example: python -m aegir.lab.figures engine-ablate runs/bytes-fold0 --out runs/ablated",
)
@click.argument("runs", nargs=-1, required=True, type=PathName())
@verb_options("figure-ablate")
def engine_ablate(runs: tuple[Path, ...], out: Path) -> None:
    """Answer the held-out tables of fold runs again, with one channel from the first layer switched off at a time."""
    with training_packages():
        from aegir.lab.engine.ablation import answer_without

    for run in runs:
        for folder in answer_without(run, out):
            tell(f"wrote {folder}")


def _named(others: Sequence[str]) -> dict[str, list[Path]]:
    """Read NAME=RUN,RUN,…"""
    found = {}
    for text in others:
        name, equals, folders = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--other is {text!r}; expected NAME=RUN,RUN,… of fold runs")
        found[name] = [Path(folder) for folder in folders.split(",")]
    return found


def _record(row: "PlanRow") -> dict[str, object]:
    return {
        "plan": row.name,
        "activated": row.activated,
        "right": dict(row.right),
        "less the threshold": {name: gain.as_dict() for name, gain in row.gains.items()},
        "columns": dict(row.columns),
        "note": row.note,
    }


def _table(rows: Sequence["PlanRow"]) -> list[str]:
    """Return a Markdown table: the threshold's shares, and what every other plan has more or less, in points."""
    names = list(rows[0].right)
    lines = [
        "| plan | activated | " + " | ".join(names) + " |",
        "|---" * (len(names) + 2) + "|",
    ]
    for number, row in enumerate(rows):
        cells = [
            f"{row.right[name]:.4f} of {row.columns[name]:,}"
            if number == 0
            else f"{100 * gain.value:+.2f} ({100 * gain.low:+.2f} to {100 * gain.high:+.2f})"
            for name, gain in row.gains.items()
        ]
        lines.append(f"| {row.name} | {row.activated:.3f} | " + " | ".join(cells) + " |")
    return [*lines, *(f"{row.name}: {row.note}" for row in rows if row.note)]
