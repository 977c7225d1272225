"""Tasks of the simulator, who solves them, and what a routing policy gains there.

python -m aegir.lab.figures sim-solvers | sim-table | sim-card | sim-verify | sim-eval
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import PathName, llm_from, verb_options
from aegir.cli.rl_data import write_text
from aegir.cli.sim_train import load_tasks, read_policy
from aegir.cli.terminal import say, tell, track
from aegir.lab.figures.text_table import text_table
from aegir_rl.base.llm_client import ChatClient
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.base.text import amount
from aegir_rl.simulator.card import card_text, describe_tasks
from aegir_rl.simulator.checking import verify_tasks
from aegir_rl.simulator.ppo.config import read_ppo_training
from aegir_rl.simulator.ppo.evaluation import evaluate, evaluation_page
from aegir_rl.simulator.runner import ResultFile
from aegir_rl.simulator.sandbox import open_sandbox
from aegir_rl.simulator.solver_table import SolverTable, measure_solvers
from aegir_rl.simulator.solvers.registry import find_solver, known_solvers
from aegir_rl.simulator.solvers.solver import EFFORTS, Solver
from aegir_rl.simulator.task import read_tasks

TASKS = click.option(
    "--tasks",
    type=PathName(dir_okay=False),
    required=True,
    help="Tasks made by `aegir sim generate`.",
)
ROWS = {
    "single": "best single solver",
    "static": "static table",
    "start": "starting policy",
    "ppo": "ppo",
    "oracle": "oracle",
}


@click.command(
    "sim-verify",
    epilog="Example: python -m aegir.lab.figures sim-verify --tasks datasets/sim_tasks.jsonl",
)
@TASKS
def verify(tasks: Path) -> None:
    """Check in the sandbox that every task's solution passes, and that starter and trivial solutions do not."""
    listed = read_tasks(tasks)
    with open_sandbox() as sandbox:
        verify_tasks(track(listed, "verifying"), sandbox)
    say(f"{amount(len(listed), 'task')} of {tasks} verified")


@click.command("sim-solvers", epilog="Example: python -m aegir.lab.figures sim-solvers --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per solver.")
@verb_options("llm")
def list_solvers(as_json: bool, **llm: Any) -> None:
    """List the solvers and what each effort costs, in seconds of CPU as stated."""
    for name, solver in known_solvers(_client(**llm)).items():
        if as_json:
            costs = {str(effort): cost for effort, cost in solver.costs.items()}
            click.echo(json.dumps({"name": name, "about": solver.about, "costs": costs}))
        else:
            stated = " ".join(f"{solver.costs[effort]:>6.3f}" for effort in EFFORTS)
            say(f"{name:<13}{stated}  {solver.about}")
    if llm["llm_endpoint"] is None and not as_json:
        tell("the solver llm is off; name an endpoint with --llm-endpoint and --llm-model")


@click.command(
    "sim-table",
    epilog="Example: python -m aegir.lab.figures sim-table --tasks datasets/sim_tasks.jsonl --limit 150",
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
@verb_options("figure-table")
@verb_options("llm")
def table(
    tasks: Path,
    limit: int | None,
    names: str,
    effort: tuple[int, ...],
    as_json: bool,
    **llm: Any,
) -> None:
    """Let every solver try the tasks, and show the share of each family whose hidden tests pass."""
    client = _client(**llm)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    solvers: Mapping[str, Solver] = (
        {name: find_solver(name, client) for name in wanted} if wanted else known_solvers(client)
    )
    chosen = read_tasks(tasks)[:limit]
    with open_sandbox() as sandbox:
        result = measure_solvers(
            chosen,
            solvers,
            sandbox,
            efforts=effort or EFFORTS,
            track=lambda items: track(items, "solving"),
        )
    for error in sorted({each.error for each in result.outcomes if each.error}):
        tell(error)
    if as_json:
        for row in result.as_rows():
            click.echo(json.dumps(row))
    else:
        _show_rates(result)


@click.command(
    "sim-card",
    epilog="Example: python -m aegir.lab.figures sim-card --tasks datasets/sim_tasks.jsonl --out card.md",
)
@TASKS
@verb_options("figure-card")
def card(
    tasks: Path, mutants: int, results: tuple[Path, ...], out: Path | None, as_json: bool
) -> None:
    """Describe a file of tasks: difficulty by level, mutation scores, and how alike tasks are, by family."""
    recorded = [each for path in results for each in ResultFile(path).results()]
    with open_sandbox() as sandbox:
        cards = describe_tasks(read_tasks(tasks), sandbox, mutants=mutants, results=recorded)
    text = card_text(cards)
    if out is not None:
        write_text(out, text)
    if as_json:
        for each in cards:
            click.echo(json.dumps(asdict(each)))
    elif out is None:
        click.echo(text, nl=False)


def _show_rates(result: SolverTable) -> None:
    columns = result.columns
    lines = [("", *(f"{solver[:9]} {effort}" for solver, effort in columns), "any")]
    for family in [*result.families, None]:
        rates = (f"{result.rate(*column, family):.2f}" for column in columns)
        lines.append((family or "all", *rates, f"{result.best(family):.2f}"))
    seconds = (f"{result.seconds(*column):.4f}" for column in columns)
    say(*text_table([*lines, ("CPU seconds", *seconds, "")]))


def _client(llm_endpoint: str | None, llm_model: str | None, llm_price: Any) -> ChatClient | None:
    """A client for the endpoint that is named, or None."""
    settings = llm_from(llm_endpoint, llm_model, llm_price)
    return None if settings is None else ChatClient(settings)


@click.command(
    "sim-eval",
    epilog="Example: python -m aegir.lab.figures sim-eval configs/ppo.toml runs/ppo-0 runs/ppo-1 runs/ppo-2 --from cql.safetensors --out eval.json",
)
@click.argument("config", type=PathName(dir_okay=False))
@click.argument("policies", nargs=-1, required=True, type=PathName())
@verb_options("figure-evaluation")
def evaluation(
    config: Path,
    policies: tuple[Path, ...],
    start: Path | None,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Compare policies, one per seed, with single solvers, the static table, their start and the oracle."""
    settings = read_ppo_training(config)
    report = evaluate(
        load_tasks(settings),
        settings,
        [read_policy(path) for path in policies],
        read_policy(start) if start else None,
    )
    if out is not None:
        write_text(out, json.dumps(report, indent=2, allow_nan=False) + "\n")
    if plot is not None:
        runs = [RunFolder(path) for path in policies if path.is_dir()]
        write_text(plot, evaluation_page(report, runs))
    if as_json:
        click.echo(json.dumps(report, allow_nan=False))
    else:
        _show_parts(report)


def _show_parts(report: dict[str, Any]) -> None:
    say(f"best single solver on training tasks: {report['single_solver']}")
    for name, part in report["parts"].items():
        say(f"{name}, {amount(part['tasks'], 'task')}")
        for key, label in ROWS.items():
            if key not in part:
                continue
            line = f"  {label:<20} {part[key]['reward']:8.4f}"
            gain, share = part["gain"].get(key), part["share_of_oracle"]
            if key == "ppo":
                line += f" ± {part[key]['spread']:.4f}"
                line += f"  {share:.1%} of the oracle" if share is not None else ""
            elif gain:
                line += "  ppo gains {value:+.4f} ({low:+.4f} to {high:+.4f})".format(**gain)
            say(line)
