"""`python -m aegir.lab.figures run`: a training run on one page."""

import json
from pathlib import Path

import click

from aegir.cli.options import PathName
from aegir.cli.page_output import page_option, page_target, write_page
from aegir.cli.terminal import tell
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.health.run_page import render_run_page
from aegir_rl.health.run_summary import read_run

NOTES_TOLD = 5
"""Notes on a run that are repeated on stderr; the page has them too."""


@click.command("run", epilog="Example: python -m aegir.lab.figures run runs/tiny --out tiny.html")
@click.argument("run", type=PathName())
@page_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object instead of a page: count, last value and range of every metric, checks, health.",
)
def draw_run(run: Path, out: Path | None, as_json: bool) -> None:
    """Draw a run's curves, checks, heat maps and health on one HTML page.

    RUN is a folder with metrics.jsonl, written by any program; it may still be running. The page needs nothing beside it.
    """
    out = page_target(out, as_json, "page.html")
    summary = read_run(RunFolder(run))
    for note in summary.notes[:NOTES_TOLD]:
        tell(note)
    if len(summary.notes) > NOTES_TOLD:
        tell(f"and {len(summary.notes) - NOTES_TOLD} more notes like these")
    text = json.dumps(summary.as_dict()) + "\n" if as_json else render_run_page(summary)
    write_page(out, text, str(run))
