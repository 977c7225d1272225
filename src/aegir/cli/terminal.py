"""What the command line prints for people: lines on stdout, sentences on stderr, a progress bar for long work.

Names and texts may come from anywhere: a line break would fake a line, an escape sequence would be interpreted by the
terminal. So every line is printed with its control characters written as escapes.
"""

import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TextIO, TypeVar

import click

from aegir.answers.cells import first_cells, terminal_width
from aegir_rl.base.text import escape_controls

Item = TypeVar("Item")
ITEMS_WORTH_A_BAR = 20
BAR_CELLS = 30
SECONDS_BETWEEN_DRAWINGS = 0.1
TO_END_OF_LINE = "\x1b[K"
"""Erases what stood there before."""


def tell(sentence: str) -> None:
    """Print one sentence to stderr, on one line."""
    say(f"aegir: {sentence}", err=True)


def say(*lines: str, err: bool = False) -> None:
    """Print lines to stdout, or to stderr if anyone can read them there."""
    try:
        for line in lines:
            click.echo(escape_controls(line), err=err)
    except OSError:
        if not err:
            raise
        discard(sys.stderr)  # answers matter more than messages


def discard(stream: TextIO) -> None:
    """Send what is still buffered to /dev/null: Python flushes its streams once more at exit."""
    with suppress(OSError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def track(items: Sequence[Item], doing: str) -> Iterator[Item]:
    """Yield the items, behind a progress bar when there are many and stderr is a terminal."""
    if len(items) < ITEMS_WORTH_A_BAR or not sys.stderr.isatty():
        yield from items
        return
    bar = Bar(doing)
    try:
        for done, item in enumerate(items):
            bar.draw(done, len(items))
            yield item
    finally:
        bar.clear()


class Bar:
    """A bar on the last line of the terminal, drawn by whoever works: it needs no thread, which a forking process must not have."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self._started = time.monotonic()
        self._drawn = -math.inf

    def draw(self, done: int, total: int, description: str = "") -> None:
        """Draw how much is done, ten times a second at most, with the time that the rest will take."""
        now = time.monotonic()
        if done < total and now - self._drawn < SECONDS_BETWEEN_DRAWINGS:
            return
        self._drawn = now
        filled = BAR_CELLS * min(done, total) // max(total, 1)
        bar = "#" * filled + "-" * (BAR_CELLS - filled)
        left = round((now - self._started) / done * (total - done)) if done else 0
        time_left = f"{left // 60}:{left % 60:02} left" if left else ""
        shown = (self.doing, f"[{bar}]", f"{done}/{total}", description, time_left)
        line = escape_controls("  ".join(part for part in shown if part))
        self._write(first_cells(line, terminal_width() - 1))

    def clear(self) -> None:
        """Remove the bar."""
        self._write("")

    def _write(self, line: str) -> None:
        with suppress(OSError):
            sys.stderr.write(f"\r{line}{TO_END_OF_LINE}")
            sys.stderr.flush()
