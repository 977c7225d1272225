"""`aegir sim generate | run`: make tasks of the simulator, and solve them in sandboxes."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

from aegir.cli.engines import LOCAL, check_engine, engine_options, open_ray
from aegir.cli.options import llm_from, verb_options
from aegir.cli.terminal import say, tell, track
from aegir.engines.solving import results_over
from aegir_rl.base.errors import UsageError
from aegir_rl.base.llm_client import ChatClient
from aegir_rl.base.text import amount
from aegir_rl.simulator.generate import generate_tasks
from aegir_rl.simulator.runner import ResultFile, TaskResult, TaskRun
from aegir_rl.simulator.sandbox import Sandbox, open_sandbox
from aegir_rl.simulator.solvers.registry import find_solve
from aegir_rl.simulator.task import read_tasks, write_tasks


@click.command(
    "generate",
    epilog="Example: aegir sim generate --count 1000 --out datasets/sim_tasks.jsonl --seed 7",
)
@verb_options("sim-generate")
@click.option(
    "--families",
    metavar="NAMES",
    default="",
    help="Only these families, separated by commas. Default: all but repositories.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as one JSON object.")
def generate(
    count: int, out: Path, seed: int, level: int | None, families: str, as_json: bool
) -> None:
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
            level=level,
            track=lambda numbers: track(numbers, "generating"),
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


@click.command(
    "run",
    epilog="Example: aegir sim run --tasks datasets/sim_tasks.jsonl --workers 4 --solver known --out results.jsonl",
)
@verb_options("sim-run")
@verb_options("llm")
@engine_options
def run(
    path: Path,
    workers: int,
    solver: str,
    effort: int,
    docker: bool,
    podman: bool,
    cold: bool,
    packages: tuple[Path, ...],
    out: Path | None,
    as_json: bool,
    llm_endpoint: str | None,
    llm_model: str | None,
    llm_price: tuple[float, float],
    engine: str,
    address: str | None,
) -> None:
    """Solve tasks in sandboxes, in parallel, and write a result per task; resumable.

    A task is solved if what the solver proposes passes its hidden cases; the solver sees the public ones. Leaves with 2 when a
    task is rejected, because its own solution fails.
    """
    if docker and podman:
        raise UsageError("--docker and --podman exclude each other; choose one")
    backend = "docker" if docker else "podman" if podman else "local"

    def open_one() -> Sandbox:
        return open_sandbox(backend, cold=cold, packages=packages)

    check_engine(engine, address)
    if engine != LOCAL and llm_endpoint is not None:
        raise UsageError(
            "the key of --llm-endpoint is not sent to other machines; leave it or --engine ray out"
        )
    llm = llm_from(llm_endpoint, llm_model, llm_price)
    known = read_tasks(path)
    solve = find_solve(solver, effort, None if llm is None else ChatClient(llm), known)
    tasks = TaskRun(known, solve, solver=solver, effort=effort)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
    file = ResultFile(out) if out else None
    finished = file.of(tasks) if file else []
    if engine == LOCAL and len(finished) < len(tasks.tasks):
        open_one().close()  # what the machine lacks is said once, before any worker starts
    if finished:
        tell(f"{len(finished)} of {len(tasks.tasks)} tasks have a result in {out} already")
    done = file.done() if file else frozenset()
    try:
        with ExitStack() as ended_after:
            if engine == LOCAL or len(finished) == len(tasks.tasks):
                new = tasks.results(open_one, workers=workers, done=done)
            else:
                ray = ended_after.enter_context(open_ray(address, workers))
                new = results_over(
                    ray, tasks, backend=backend, cold=cold, packages=packages, done=done
                )
            for result in _show_progress(new, len(tasks.tasks) - len(finished)):
                if file:
                    file.append(result)
                finished.append(result)
                if as_json:
                    click.echo(json.dumps(asdict(result)))
    except (KeyboardInterrupt, SystemExit):
        if out:
            tell(f"{len(finished)} results are in {out}; the same command goes on from there")
        raise
    _report(tasks, finished, as_json)


def _show_progress(results: Iterator[TaskResult], count: int) -> Iterator[TaskResult]:
    """The results, behind a progress bar when there are many."""
    for _ in track(range(count), "solving"):
        yield next(results)
    yield from results


def _report(run: TaskRun, results: list[TaskResult], as_json: bool) -> None:
    """Print solved tasks by family and how fast they were; raise if tasks were rejected."""
    total, solved = (
        Counter(one.family for one in results),
        Counter(one.family for one in results if one.solved),
    )
    if not as_json:
        for family in sorted(total):
            say(f"{family:<24} {solved[family]:>6} of {total[family]:>6} solved")
        say(f"{'all':<24} {solved.total():>6} of {total.total():>6} solved by {run.solver}")
        for figures in run.tracker.figures():
            times = ", ".join(
                f"{name} {value * 1000:.1f} ms"
                for name in ("p50", "p95", "p99")
                if (value := getattr(figures, name)) is not None
            )
            say(f"{figures.items_per_second or 0:.1f} tasks/s; {times}")
    rejected = [one for one in results if one.rejected]
    if rejected:
        raise UsageError(
            f"{len(rejected)} of {len(results)} tasks are rejected; the first: {rejected[0].error}"
        )
