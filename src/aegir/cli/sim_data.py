"""`aegir sim import | export`: suites that were published elsewhere as tasks, and tasks as data sets for other trainers."""

import json
from pathlib import Path

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say, tell, track
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount
from aegir_rl.simulator.datasets import write_dataset
from aegir_rl.simulator.sandbox import open_sandbox
from aegir_rl.simulator.suites import SUITES, read_suite, verify_suite
from aegir_rl.simulator.task import read_tasks, write_tasks


@click.command(
    "import", epilog="Example: aegir sim import humaneval HumanEval.jsonl.gz --out humaneval.jsonl"
)
@click.argument("suite", type=click.Choice(list(SUITES)))
@click.argument("path", metavar="FILE", type=PathName(dir_okay=False))
@verb_options("sim-import")
def import_suite(
    suite: str, path: Path, packages: tuple[Path, ...], out: Path, as_json: bool
) -> None:
    """Turn the problems of a suite, in the format in which it is published, into tasks.

    Every reference solution and every starter runs in the sandbox; a problem whose solution fails, or whose starter passes, is left out and
    named. Packages that problems need (numpy and pandas for ds1000) are mounted with --packages.
    """
    tasks = read_suite(suite, path)
    with open_sandbox(packages=packages) as sandbox:
        verified = verify_suite(track(tasks, "verifying"), sandbox)
    for sentence in verified.refused:
        tell(f"left out: {sentence}")
    if not verified.tasks:
        raise UsageError(
            f"no problem of {path} holds in the sandbox; the first: {verified.refused[0]}"
        )
    write_tasks(verified.tasks, out)
    counts = {
        "problems": len(tasks),
        "solutions_passed": verified.solved,
        "starters_passed": verified.starters_passed,
        "tasks": len(verified.tasks),
    }
    if as_json:
        click.echo(json.dumps({"out": str(out), **counts}))
    else:
        say(
            f"{verified.solved} of {len(tasks)} solutions pass, {verified.starters_passed} of {len(tasks)} starters",
            f"{amount(len(verified.tasks), 'task')} in {out}",
        )


@click.command("export", epilog="Example: aegir sim export tasks.jsonl --out dataset.parquet")
@click.argument("path", metavar="TASKS", type=PathName(dir_okay=False))
@verb_options("sim-export")
def export(path: Path, out: Path, as_json: bool) -> None:
    """Write tasks as a data set for other trainers: prompt, answer and info, as JSON lines or Parquet.

    `info` holds the whole task with its hidden tests; show a model the prompt alone.
    """
    tasks = read_tasks(path)
    write_dataset(tasks, out)
    if as_json:
        click.echo(json.dumps({"out": str(out), "entries": len(tasks)}))
    else:
        say(f"{len(tasks):,} entries in {out}")
