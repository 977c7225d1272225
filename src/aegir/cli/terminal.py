"""What the command line prints for people: lines on stdout, sentences on stderr, a progress bar for long work.

Names and texts may come from anywhere: a line break would fake a line, an escape sequence would be interpreted by the
terminal. So every line is printed with its control characters written as escapes.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TextIO, TypeVar

import click

from aegir_rl.base.text import escape_controls

Item = TypeVar("Item")
ITEMS_WORTH_A_BAR = 20


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


def track(items: Sequence[Item], doing: str, *, by_thread: bool = True) -> Iterator[Item]:
    """Yield the items, behind a progress bar when there are many and stderr is a terminal.

    `by_thread` False draws the bar once per item and starts no thread, which a process that forks must not have.
    """
    if len(items) < ITEMS_WORTH_A_BAR or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # rich takes 0.1 s to load; most runs show no bar
    from rich.progress import track as rich_track

    console = Console(stderr=True)
    yield from rich_track(items, doing, console=console, transient=True, auto_refresh=by_thread)
