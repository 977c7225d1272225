"""`aegir sim generate`, `sim verify`, `sim solvers` and `sim table`: tasks of the simulator and the programs that solve them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import PathName, annotation_options, llm_from
from aegir.cli.terminal import say, tell, track
from aegir_rl.base.llm_client import ChatClient
from aegir_rl.base.wording import amount
from aegir_rl.simulator.generate import generate_tasks
from aegir_rl.simulator.sandbox import open_sandbox
from aegir_rl.simulator.solver_table import SolverTable, measure_solvers
from aegir_rl.simulator.solvers.registry import find_solver, known_solvers
from aegir_rl.simulator.solvers.solver import EFFORTS, Solver
from aegir_rl.simulator.task import read_tasks, write_tasks
from aegir_rl.simulator.verification import verify_tasks

TASKS = click.option(
    "--tasks",
    type=PathName(dir_okay=False),
    required=True,
    help="Tasks made by `aegir sim generate`.",
)


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


@click.command("verify", epilog="Example: aegir sim verify --tasks datasets/sim_tasks.jsonl")
@TASKS
def verify(tasks: Path) -> None:
    """Check in the sandbox that every task's solution passes, and that starter and trivial solutions do not."""
    found = read_tasks(tasks)
    with open_sandbox() as sandbox:
        verify_tasks(track(found, "verifying", by_thread=False), sandbox)
    say(f"{amount(len(found), 'task')} of {tasks} verified")


@click.command("solvers", epilog="Example: aegir sim solvers --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per solver.")
@annotation_options("llm")
def list_solvers(
    as_json: bool, llm_endpoint: str | None, llm_model: str | None, llm_price: tuple[float, float]
) -> None:
    """List the solvers and what each effort costs, in seconds of CPU as stated."""
    for name, solver in known_solvers(_client(llm_endpoint, llm_model, llm_price)).items():
        if as_json:
            costs = {str(effort): cost for effort, cost in solver.costs.items()}
            click.echo(json.dumps({"name": name, "about": solver.about, "costs": costs}))
        else:
            stated = " ".join(f"{solver.costs[effort]:>6.3f}" for effort in EFFORTS)
            say(f"{name:<13}{stated}  {solver.about}")
    if llm_endpoint is None and not as_json:
        tell("the solver llm is off; name an endpoint with --llm-endpoint and --llm-model")


@click.command(
    "table", epilog="Example: aegir sim table --tasks datasets/sim_tasks.jsonl --limit 150"
)
@TASKS
@click.option("--limit", type=click.IntRange(min=1), help="Only the first tasks of the file.")
@click.option(
    "--solvers",
    "names",
    metavar="NAMES",
    default="",
    help="Only these solvers, separated by commas.",
)
@click.option(
    "--effort", type=click.IntRange(1, 3), multiple=True, help="Only this effort; may be repeated."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per solver and effort."
)
@annotation_options("llm")
def table(
    tasks: Path,
    limit: int | None,
    names: str,
    effort: tuple[int, ...],
    as_json: bool,
    llm_endpoint: str | None,
    llm_model: str | None,
    llm_price: tuple[float, float],
) -> None:
    """Let every solver try the tasks, and show the share of each family whose hidden tests pass."""
    client = _client(llm_endpoint, llm_model, llm_price)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    solvers: Mapping[str, Solver] = (
        {name: find_solver(name, client) for name in wanted} if wanted else known_solvers(client)
    )
    found = read_tasks(tasks)[:limit]
    with open_sandbox() as sandbox:
        result = measure_solvers(
            found,
            solvers,
            sandbox,
            efforts=effort or EFFORTS,
            track=lambda items: track(items, "solving", by_thread=False),
        )
    for error in sorted({each.error for each in result.outcomes if each.error}):
        tell(error)
    if as_json:
        for row in result.as_rows():
            click.echo(json.dumps(row))
    else:
        _show(result)


def _show(result: SolverTable) -> None:
    columns = result.columns
    say(
        f"{'':<22}"
        + "".join(f"{f'{solver[:9]} {effort}':>13}" for solver, effort in columns)
        + f"{'any':>8}"
    )
    for family in [*result.families, None]:
        rates = "".join(f"{result.rate(*column, family):>13.2f}" for column in columns)
        say(f"{family or 'all':<22}{rates}{result.best(family):>8.2f}")
    seconds = "".join(f"{result.seconds(*column):>13.4f}" for column in columns)
    say(f"{'CPU seconds':<22}{seconds}")


def _client(endpoint: str | None, model: str | None, price: Any) -> ChatClient | None:
    """A client for the endpoint that is named, or None."""
    settings = llm_from(endpoint, model, price)
    return None if settings is None else ChatClient(settings)
