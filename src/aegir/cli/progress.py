"""Progress of long work on stderr: a bar on a terminal, a line now and then elsewhere."""

import sys
import time

from aegir.cli.terminal import Bar, say

SECONDS_BETWEEN_LINES = 15.0


class ProgressLine:
    """Shows how much of a total, which may grow, is done."""

    def __init__(self, doing: str, total: int, silent: bool = False) -> None:
        self.doing, self.total, self.silent = doing, total, silent
        self._printed = time.monotonic()
        self._bar = Bar(doing) if sys.stderr.isatty() and not silent else None

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar:
            self._bar.clear()
        if not self.silent:
            say(line, err=True)

    def show(self, done: int, description: str, ending: str = "") -> None:
        """Show how far the work is; `ending` is for lines only, as the bar has the time left."""
        if self._bar:
            self._bar.draw(done, self.total, description)
        elif time.monotonic() - self._printed >= SECONDS_BETWEEN_LINES or done == self.total:
            self._printed = time.monotonic()
            shown = (f"{self.doing} {done}/{self.total}", description, ending)
            self.say("  ".join(part for part in shown if part))

    def close(self) -> None:
        """Remove the bar."""
        if self._bar:
            self._bar.clear()
