"""`aegir runs`: look at training runs."""

import json
from pathlib import Path

import click

from aegir.cli.options import NumberRange, PathName
from aegir.cli.page_output import page_option, page_target, write_page
from aegir.cli.terminal import say, tell
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.health.report import Unwell
from aegir_rl.health.run_health import check_run
from aegir_rl.health.run_page import render_run_page
from aegir_rl.health.run_summary import read_run

NOTES_TOLD = 5
"""Notes on a run that `show` repeats on stderr; the page has them too."""


@click.command("health", epilog="Example: aegir runs health runs/tiny --json")
@click.argument("run", type=PathName())
@click.option(
    "--false-alarm-every",
    type=NumberRange(min=1, min_open=True),
    default=100_000,
    show_default=True,
    metavar="STEPS",
    help="Steps between false alarms, at least, on average.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def health(run: Path, false_alarm_every: float, as_json: bool) -> None:
    """Say whether a run is well, from the metrics in its folder.

    RUN is a folder with metrics.jsonl, written by any program. Leaves with 3 when something is unwell, or when no
    column that can be checked was recorded.
    """
    report = check_run(RunFolder(run).history(), mean_steps=false_alarm_every)
    if as_json:
        click.echo(json.dumps(report.as_dict()))
    else:
        marks = {"well": "well", "warning": "warning", "unwell": "UNWELL"}
        for finding in report.findings:
            if finding.verdict in marks:
                say(f"{marks[finding.verdict]:<7} {finding.sentence}")
        if report.unchecked:
            say(f"not recorded, so not checked: {', '.join(report.unchecked)}")
    for note in report.notes:
        tell(note)
    if not report.well:
        raise Unwell(report)


@click.command("show", epilog="Example: aegir runs show runs/tiny --out tiny.html")
@click.argument("run", type=PathName())
@page_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object instead of a page: count, last value and range of every metric, checks, health.",
)
def show(run: Path, out: Path | None, as_json: bool) -> None:
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
