"""Progress of long work on stderr: a bar on a terminal, a line now and then elsewhere."""

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from aegir.cli.terminal import say
from aegir_rl.base.text import escape_controls

SECONDS_BETWEEN_LINES = 15.0


class ProgressLine:
    """Shows how much of a total, which may grow, is done."""

    def __init__(self, doing: str, total: int, silent: bool = False) -> None:
        self.doing, self.total, self.silent = doing, total, silent
        self._printed = time.monotonic()
        self._bar: Progress | None = None
        if sys.stderr.isatty() and not silent:
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
        elif not self.silent:
            say(line, err=True)

    def show(self, done: int, description: str, ending: str = "") -> None:
        """Show how far the work is; `ending` is for lines only, as the bar has the time left."""
        if self._bar:
            self._bar.update(self._task, completed=done, total=self.total, description=description)
            self._bar.refresh()
        elif time.monotonic() - self._printed >= SECONDS_BETWEEN_LINES or done == self.total:
            self._printed = time.monotonic()
            shown = (f"{self.doing} {done}/{self.total}", description, ending)
            self.say("  ".join(part for part in shown if part))

    def close(self) -> None:
        """Remove the bar."""
        if self._bar:
            self._bar.stop()
