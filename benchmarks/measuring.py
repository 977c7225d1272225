"""What work costs: CPU seconds of calls and of commands, and the peak memory of commands.

CPU time, not wall time: other work on the machine disturbs it far less. Threads and child processes count.

Promises
  - a repeated measurement keeps every run, and its value is their median;
  - peak memory is the command's own, however large the process that measures it (see launcher.py).

Not here: a cold disk. Files and byte code are warm, because every command is run once before it is timed.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launcher.py")


class CommandFailed(Exception):
    """A measured command left with an error; the text says which and what it said."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one run of a command used."""

    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Runs:
    """The figures of repeated runs of the same work."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def per(self, amount: float) -> "Runs":
        """Amount of work per unit measured, such as columns per CPU second."""
        return Runs(tuple(amount / value for value in self.values))


def run_command(command: Sequence[str | Path], output: Path | None = None) -> Usage:
    """Run a command once, from a temporary folder; its stdout goes to `output` or nowhere."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "usage.json"
        launch = [sys.executable, "-I", "-S", str(LAUNCHER), str(report), *map(str, command)]
        stdout = output.open("wb") if output else subprocess.DEVNULL
        try:
            done = subprocess.run(
                launch, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, check=False
            )
        finally:
            if output:
                stdout.close()
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip()[-600:]
            raise CommandFailed(
                f"{' '.join(map(str, command))} left with {done.returncode}: {said}"
            )
        return Usage(**json.loads(report.read_text(encoding="utf-8")))


def time_command(command: Sequence[str | Path], repeats: int) -> Runs:
    """CPU seconds (user and system) of a command, after one run that is not counted."""
    run_command(command)
    return Runs(tuple(run_command(command).cpu_seconds for _ in range(repeats)))


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call, all threads of this process."""
    started = time.process_time()
    work()
    return max(time.process_time() - started, 1e-9)
