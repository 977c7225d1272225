"""What the command line prints for people: lines on stdout, sentences on stderr, a progress bar for long work.

Names and texts may come from anywhere: a line break would fake a line, an escape sequence would be obeyed by the
terminal. So every line is printed with its control characters written as escapes.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

import click

from aegir.answers.printable import escape_controls

Item = TypeVar("Item")
ITEMS_WORTH_A_BAR = 20


def tell(sentence: str) -> None:
    """Print one sentence to stderr, on one line."""
    click.echo(f"aegir: {escape_controls(sentence)}", err=True)


def say(*lines: str, err: bool = False) -> None:
    """Print lines to stdout or stderr."""
    for line in lines:
        click.echo(escape_controls(line), err=err)


def track(items: Sequence[Item], doing: str) -> Iterator[Item]:
    """Yield the items, behind a progress bar when there are many and stderr is a terminal."""
    if len(items) < ITEMS_WORTH_A_BAR or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # rich takes 0.1 s to load; most runs show no bar
    from rich.progress import track as rich_track

    yield from rich_track(items, doing, console=Console(stderr=True), transient=True)
