"""How many tiny programs per second a sandbox runs, beside cold pytest processes; whether anything is left behind.

Two workers each way. The sandboxed way is `aegir sim run` with known solutions; the other starts an interpreter with pytest for
every task, without any isolation, on a file that holds the same solution and the same cases. Rounds alternate, so that
other work on the machine disturbs both.

The long run executes `--count` programs one after the other in a warm sandbox and then looks for processes, mounts, open files
and temporary files that were not there before.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from aegir_rl.simulator.runner import KNOWN, TaskRun
from aegir_rl.simulator.sandbox import Program, open_sandbox
from aegir_rl.simulator.sandbox.interpreter import interpreter_files
from aegir_rl.simulator.sandbox.launch import sandbox_user
from aegir_rl.simulator.task import Case, Task
from benchmarks.measuring import CommandFailed, Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least, at_most

QUESTION = "tasks per second of wall time with two workers; what a long run leaves behind"
SPEED = "tasks/s"
WORKERS = 2
SOLUTION = "def double(text):\n    return text.strip().upper() * 2\n"
FASTER = 6.0


def run(options: Options) -> Result:
    rounds = 1 if options.quick else options.repeats
    warm_tasks, cold_tasks, pytest_tasks = (4, 1, 1) if options.quick else (200, 20, 8)
    speeds: dict[str, list[float]] = {"warm": [], "cold": [], "pytest": []}
    for _ in range(rounds):
        speeds["warm"].append(_sandbox_speed(_tasks(warm_tasks), cold=False))
        speeds["pytest"].append(_pytest_speed(_tasks(pytest_tasks)))
        speeds["cold"].append(_sandbox_speed(_tasks(cold_tasks), cold=True))
    warm = Measurement("warm sandbox", SPEED, Runs(tuple(speeds["warm"])))
    cold = Measurement("cold sandbox", SPEED, Runs(tuple(speeds["cold"])))
    reference = Measurement("cold pytest process", SPEED, Runs(tuple(speeds["pytest"])))
    pairs = zip(speeds["warm"], speeds["pytest"], strict=True)
    gain = Measurement("warm sandbox over pytest", "times", Runs(tuple(a / b for a, b in pairs)))
    count = 20 if options.quick else options.count
    seconds, left = _long_run(count)
    steady = Measurement(f"{count} programs in a row", SPEED, Runs((count / seconds,)))
    leaks = Measurement("left behind", "items", Runs((float(len(left)),)))
    return Result(
        benchmark="sandbox",
        question=QUESTION,
        data="made-up tasks of four cases, each with a solution of two lines",
        measurements=(warm, cold, reference, gain, steady, leaks),
        ratios=(Ratio(warm, reference), Ratio(cold, reference)),
        targets=(at_least(gain, FASTER), at_most(leaks, 0)),
        settings={"rounds": rounds, "workers": WORKERS, "count": count, "left": left},
    )


def _tasks(count: int) -> list[Task]:
    texts = ("a", " b ", "Straße", "")
    return [
        Task(
            id=f"double-{number}",
            family="double",
            statement="Strip a text, write it in capitals, twice.",
            function="double",
            files={},
            starter="",
            solution=SOLUTION,
            public=(Case(("x",), "XX"),),
            hidden=tuple(
                Case((f"{text}{number}",), f"{text}{number}".strip().upper() * 2) for text in texts
            ),
        )
        for number in range(count)
    ]


def _sandbox_speed(tasks: Sequence[Task], *, cold: bool) -> float:
    work = TaskRun(tasks, lambda task, _run: (task.solution, None), solver=KNOWN)
    results = work.results(partial(open_sandbox, cold=cold), workers=WORKERS)
    started = time.perf_counter()
    solved = sum(result.solved for result in results)
    if solved != len(tasks):
        raise CommandFailed(f"{len(tasks) - solved} of {len(tasks)} tasks were not solved")
    return len(tasks) / (time.perf_counter() - started)


def _pytest_speed(tasks: Sequence[Task]) -> float:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as threads:
        files = []
        for task in tasks:
            file = Path(folder) / f"test_{task.id.replace('-', '_')}.py"
            asserts = "".join(
                f"    assert double({case.arguments[0]!r}) == {case.expected!r}\n"
                for case in task.hidden
            )
            file.write_text(f"{task.solution}\n\ndef test_it():\n{asserts}", encoding="utf-8")
            files.append(file)
        started = time.perf_counter()
        for done in threads.map(_run_pytest, files):
            if done.returncode:
                raise CommandFailed(f"pytest left with {done.returncode}: {done.stdout[-300:]}")
        return len(tasks) / (time.perf_counter() - started)


def _run_pytest(file: Path) -> "subprocess.CompletedProcess[str]":
    plain = ["-q", "-p", "no:cacheprovider", "--rootdir", str(file.parent), "-c", os.devnull]
    command = [sys.executable, "-m", "pytest", *plain, str(file)]
    return subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)


def _long_run(count: int) -> tuple[float, list[str]]:
    """Seconds for so many programs in one sandbox, and what was left behind afterwards."""
    program = Program(SOLUTION, "double", (("a",), (" b ",)))
    with tempfile.TemporaryDirectory() as folder:
        kept, tempfile.tempdir = tempfile.tempdir, folder
        try:
            interpreter_files()  # made once and kept open by this process
            before = _things(folder)
            with open_sandbox() as sandbox:
                started = time.perf_counter()
                for _ in range(count):
                    if sandbox.run(program).ended != "finished":
                        raise CommandFailed("a program of the long run did not finish")
                seconds = time.perf_counter() - started
            return seconds, sorted(_things(folder) - before)
        finally:
            tempfile.tempdir = kept


def _things(folder: str) -> set[str]:
    """Processes of this sandbox's user, mounts and open files of this process, and temporary files."""
    user, processes = sandbox_user(), set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            deep = len((path / "status").read_text().partition("NSpid:")[2].split("\n")[0].split())
            if path.stat().st_uid == user and deep > 1:
                processes.add(f"process {path.name}")
        except OSError:
            continue
    mounts = {f"mount {line}" for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    files = {f"open file {path.readlink()}" for path in _open_files()}
    return processes | mounts | files | {f"file {path}" for path in Path(folder).rglob("*")}


def _open_files() -> list[Path]:
    return [path for path in Path("/proc/self/fd").iterdir() if path.is_symlink() and path.exists()]
