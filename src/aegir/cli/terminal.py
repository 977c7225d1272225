"""What the command line prints for people: sentences on stderr, a progress bar for long work."""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

import click

from aegir.answers.printable import escape_controls

Item = TypeVar("Item")
ITEMS_WORTH_A_BAR = 20


def tell(sentence: str) -> None:
    """Print one sentence to stderr, on one line.

    A file may be called anything: line breaks would fake sentences, escape sequences would colour them.
    """
    click.echo(f"aegir: {escape_controls(sentence)}", err=True)


def track(items: Sequence[Item], doing: str) -> Iterator[Item]:
    """Yield the items, behind a progress bar when there are many and stderr is a terminal."""
    if len(items) < ITEMS_WORTH_A_BAR or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # rich takes 0.1 s to load; most runs show no bar
    from rich.progress import track as rich_track

    yield from rich_track(items, doing, console=Console(stderr=True), transient=True)
