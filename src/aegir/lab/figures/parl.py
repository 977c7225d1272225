"""Finished runs of PARL, side by side: `python -m aegir.lab.figures parl-hard | parl-compare`."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say, tell
from aegir.lab.cli.train import training_packages
from aegir.lab.figures.text_table import text_table
from aegir_rl.base.text import amount

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
    "parl-hard",
    epilog="Example: python -m aegir.lab.figures parl-hard runs/bytes-fold-1 --out hard-types.json",
)
@click.argument("runs", nargs=-1, required=True, type=PathName(file_okay=False))
@verb_options("figure-parl-hard", out=Path("hard-types.json"))
def parl_hard(runs: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Choose hard types: those whose F1 in these Phase 1 runs is below the median.

    Choose them on folds that are not reported; `parl-compare` refuses tables that they were chosen on.
    """
    with training_packages():
        from aegir.lab.figures.parl_metrics import find_hard_types, save_hard_types

    hard = find_hard_types(runs)
    save_hard_types(out, hard)
    tell(f"{len(hard.types)} hard types, below F1 {hard.median:.3f}, in {out}")
    if as_json:
        record = asdict(hard)
        del record["tables"]
        click.echo(json.dumps(record))


@click.command(
    "parl-compare",
    epilog="Example: python -m aegir.lab.figures parl-compare runs/parl-0 runs/longer-0 --hard hard-types.json",
)
@click.argument("runs", nargs=-1, required=True, type=PathName(file_okay=False))
@verb_options("figure-parl-compare")
def parl_compare(
    runs: tuple[Path, ...], hard: Path | None, as_json: bool, plots: Path | None
) -> None:
    """Compare finished runs on held-out tables: F1, routing, time; mean and spread over seeds."""
    with training_packages():
        from aegir.lab.figures.parl_metrics import compare_runs, load_hard_types, save_plots

    rows = compare_runs(runs, load_hard_types(hard) if hard else None)
    if plots:
        drawn = save_plots(plots, rows)
        tell(f"{amount(len(drawn), 'plot')} in {plots}")
    if as_json:
        for row in rows:
            click.echo(json.dumps(asdict(row)))
    else:
        shown = [name for name in COLUMNS if any(name in row.mean for row in rows)]
        lines = [("variant", "seeds", *(COLUMNS[name] for name in shown))]
        for row in rows:
            cells = (
                f"{row.mean[name]:.3f} ± {row.spread[name]:.3f}" if name in row.mean else "–"
                for name in shown
            )
            lines.append((row.name, str(len(row.seeds)), *cells))
        say(*text_table(lines))
