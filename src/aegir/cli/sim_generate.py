"""`aegir sim generate`: tasks of the simulator."""

import json
from pathlib import Path

import click

from aegir.cli.options import PathName
from aegir.cli.terminal import say, track
from aegir_rl.base.text import amount
from aegir_rl.simulator.generate import generate_tasks
from aegir_rl.simulator.sandbox import open_sandbox
from aegir_rl.simulator.task import write_tasks


@click.command(
    "generate",
    epilog="Example: aegir sim generate --count 1000 --out datasets/sim_tasks.jsonl --seed 7",
)
@click.option(
    "--count", type=click.IntRange(min=1), default=1000, show_default=True, help="Tasks to make."
)
@click.option(
    "--out",
    type=PathName(dir_okay=False),
    required=True,
    help="File of tasks to write, JSON lines.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Another seed gives other tasks."
)
@click.option(
    "--families",
    metavar="NAMES",
    default="",
    help="Only these families, separated by commas. Default: all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as one JSON object.")
def generate(count: int, out: Path, seed: int, families: str, as_json: bool) -> None:
    """Make software tasks about tables, with known solutions that were verified in the sandbox.

    Count, seed and families determine the tasks. Starter code and trivial solutions fail the hidden tests, and no two tasks
    are near-duplicates.
    """
    names = [name.strip() for name in families.split(",") if name.strip()]
    with open_sandbox() as sandbox:
        result = generate_tasks(
            count,
            sandbox,
            seed=seed,
            families=names,
            track=lambda numbers: track(numbers, "generating", by_thread=False),
        )
    write_tasks(result.tasks, out)
    report = result.report()
    if as_json:
        click.echo(
            json.dumps(
                {"out": str(out), "tasks": len(result.tasks), "seed": seed, "families": report}
            )
        )
        return
    say(
        f"{amount(len(result.tasks), 'task')} in {out}",
        f"{'family':<22}{'tasks':>6}{'draws':>7}{'public':>8}{'hidden':>8}  drawn again",
    )
    for name, row in report.items():
        again = ", ".join(f"{count} {reason}" for reason, count in row["refused"].items())
        say(
            f"{name:<22}{row['tasks']:>6}{row['draws']:>7}{row['public_cases']:>8}{row['hidden_cases']:>8}  {again}"
        )
