"""Progress of long work in the simulator, on stderr: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Mapping

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from aegir.cli.terminal import say
from aegir_rl.base.printable import escape_controls

SECONDS_BETWEEN_LINES = 15.0
SHOWN = {
    "reward/mean": "reward",
    "part/accuracy": "solved",
    "entropy": "entropy",
    "kl": "kl",
    "test/reward": "test reward",
}
"""Figures of an iteration, and how they are called on the line."""


class SimProgress:
    """Counts what is done of a total that may grow."""

    def __init__(self, doing: str, total: int) -> None:
        self.doing, self.total = doing, total
        self._printed = time.monotonic()
        self._figures: dict[str, float] = {}
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            self._bar = Progress(
                TextColumn(doing),
                BarColumn(),
                TextColumn("{task.completed}/{task.total}  {task.description}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                auto_refresh=False,  # no thread, because workers are forked
            )
            self._task = self._bar.add_task("", total=total)
            self._bar.start()

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar:
            self._bar.console.print(escape_controls(line), markup=False, highlight=False)
        else:
            say(line, err=True)

    def count(self, done: int, total: int) -> None:
        """Show how far the work is."""
        self.total = total
        if self._bar:
            text = "  ".join(f"{name} {value:.3f}" for name, value in self._figures.items())
            self._bar.update(self._task, completed=done, total=total, description=text)
            self._bar.refresh()
        elif time.monotonic() - self._printed >= SECONDS_BETWEEN_LINES or done == total:
            self._printed = time.monotonic()
            text = "".join(f"  {name} {value:.3f}" for name, value in self._figures.items())
            self.say(f"{self.doing} {done}/{total}{text}")

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        """Show the figures of an iteration; those that are not measured every time stay."""
        self._figures |= {SHOWN[name]: figures[name] for name in SHOWN if name in figures}
        self.count(step, self.total)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar:
            self._bar.stop()
