"""`aegir runs health`: whether a training run is well."""

import json
from pathlib import Path

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say, tell
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.health.report import Unwell
from aegir_rl.health.run_health import check_run


@click.command("health", epilog="Example: aegir runs health runs/tiny --json")
@click.argument("run", type=PathName())
@verb_options("runs health")
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
