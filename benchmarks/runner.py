"""`python -m benchmarks [NAME…]`: run, print, record, and say which targets were reached.

Answers go to stdout (`--json`: one object per benchmark), talk goes to stderr. Exit codes are those of the
`aegir` command: 0 done, 1 a benchmark failed, 2 asked wrongly. A target that was missed is not a failure.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from aegir_rl.base.errors import AegirError
from benchmarks.measuring import CommandFailed
from benchmarks.options import Options, parse_size
from benchmarks.recording import ROOT, Environment, as_record, describe_environment, save_record
from benchmarks.result import Result

BENCHMARKS = (
    "columns",
    "folder",
    "profile",
    "cold_start",
    "agent_start",
    "large_file",
    "mutated_files",
    "install_size",
    "rewards",
    "agreement",
    "normaliser",
    "curriculum",
    "tracker",
    "drift",
    "health",
    "policy_loss",
    "offline",
    "ppo",
    "review_memory",
    "declared_keys",
    "refreshed_tables",
    "time_mix",
    "byte_model",
    "swarm",
    "killed_workers",
    "killed_training",
    "locked_store",
    "sandbox",
    "service",
    "soak",
    "accuracy",
    "taught_types",
)
NEED_DATA = ("accuracy", "taught_types", "refreshed_tables")


def main(arguments: Sequence[str]) -> int:
    """Run the benchmarks that were asked for, all of them when none was named."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if unknown := sorted(set(asked.names) - set(BENCHMARKS)):
        parser.error(f"unknown benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    if asked.repeats < 1:
        parser.error(f"--repeats is {asked.repeats}; expected at least 1")
    if asked.files < 1:
        parser.error(f"--files is {asked.files}; expected at least 1")
    if asked.count < 1:
        parser.error(f"--count is {asked.count}; expected at least 1")
    options = Options(
        seed=asked.seed,
        repeats=asked.repeats,
        quick=asked.quick,
        size=asked.size,
        files=asked.files,
        count=asked.count,
        data=asked.data,
        types=asked.types,
        csv_detective=asked.csv_detective,
    )
    for name in NEED_DATA:
        if name in asked.names and options.data is None:
            parser.error(f"{name} needs --data FOLDER with labelled tables")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data is {options.data}, which is not a folder")
    environment = describe_environment()
    _say(_describe(environment, options))
    names = asked.names or [name for name in BENCHMARKS if name not in NEED_DATA or options.data]
    outcomes = [_run_one(name, options, environment, asked.json) for name in names]
    results = [outcome for outcome in outcomes if outcome is not None]
    if not asked.json:
        print(_target_table(results, "targets (rough: --quick)" if options.quick else "targets"))
    return 0 if len(results) == len(names) else 1


def _run_one(name: str, options: Options, environment: Environment, as_json: bool) -> Result | None:
    """Run, print and record one benchmark; None when it failed, so that the others still run."""
    _say(f"{name}: measuring …")
    try:
        result = import_module(f"benchmarks.{name}").run(options)
    except (AegirError, CommandFailed, OSError) as error:
        _say(f"{name}: failed, {error}")
        return None
    record = as_record(result, environment, options.seed)
    print(json.dumps(record) if as_json else _page(result), flush=True)
    refusal = "not recorded: --quick figures are rough" if options.quick else environment.refusal
    kept = refusal or f"recorded in {save_record(record, environment).relative_to(ROOT)}"
    _say(f"{name}: {kept}")
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure Aegir beside named references; docs/benchmarks.md explains each.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--seed", type=int, default=0, help="of the synthetic tables")
    parser.add_argument("--repeats", type=int, default=5, help="runs behind a median (default 5)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes; never recorded")
    parser.add_argument("--json", action="store_true", help="one JSON object per benchmark")
    parser.add_argument("--size", type=_size, default="2GB", help="of the large file (default 2GB)")
    parser.add_argument("--files", type=int, default=5_000, help="to mutate (default 5,000)")
    parser.add_argument(
        "--count", type=int, default=10_000, help="of programs in a sandbox (default 10,000)"
    )
    parser.add_argument(
        "--data", type=Path, help=f"folder of labelled tables, for {', '.join(NEED_DATA)}"
    )
    parser.add_argument(
        "--types", type=_names, default=(), metavar="A,B", help="fine names, for taught_types"
    )
    parser.add_argument(
        "--csv-detective",
        type=_interpreter,
        metavar="PYTHON",
        help="a Python that has csv-detective",
    )
    return parser


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of names; expected A,B")
    return names


def _interpreter(text: str) -> Path:
    """Absolute, because commands run elsewhere; not resolved, or a virtual environment is lost."""
    path = Path(text).absolute()
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is not a file; expected a Python interpreter")
    return path


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _describe(environment: Environment, options: Options) -> str:
    commit = (environment.commit or "unknown")[:10] + (" with changes" if environment.dirty else "")
    threads = "".join(f" · {name}={n}" for name, n in environment.thread_settings.items())
    return (
        f"seed {options.seed} · commit {commit} · {environment.cpu}, {environment.cores} cores, "
        f"{environment.memory_gb} GB · Python {environment.python} · {environment.date}{threads}"
    )


def _page(result: Result) -> str:
    """What a person reads: figures with their spread, then ratios."""
    wide = max(len(one.name) for one in result.measurements)
    lines = [f"{result.benchmark}: {result.question}", f"  on {result.data}"]
    for one in result.measurements:
        runs = one.runs.values
        spread = f"  ({min(runs):.4g} to {max(runs):.4g}, n={len(runs)})" if len(runs) > 1 else ""
        lines.append(f"  {one.name:<{wide}}  {one.value:>9.4g} {one.unit}{spread}")
    lines += [f"  {one.of.name} is {one.value:.3g} times {one.to.name}" for one in result.ratios]
    lines += [f"  left out: {reason}" for reason in result.left_out]
    return "\n".join(lines) + "\n"


def _target_table(results: Sequence[Result], title: str) -> str:
    lines = [title]
    for target in (target for result in results for target in result.targets):
        bound = f"{'at least' if target.at_least else 'at most'} {target.bound:g}"
        verdict = "reached" if target.reached else "MISSED"
        one = target.measurement
        lines.append(f"  {verdict:<8} {one.name}: {one.value:.4g} {one.unit}, wanted {bound}")
    return "\n".join(lines if len(lines) > 1 else ["no targets"])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
