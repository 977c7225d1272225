"""What the command line prints for people: sentences on stderr, a progress bar for long work."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

import click

Item = TypeVar("Item")
ITEMS_WORTH_A_BAR = 20
# A file may be called anything: line breaks would fake sentences, escape sequences would colour them.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def tell(sentence: str) -> None:
    """Print one sentence to stderr, on one line."""
    click.echo(f"aegir: {on_one_line(sentence)}", err=True)


def on_one_line(text: str) -> str:
    """The text with control characters written as escapes."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def track(items: Sequence[Item], doing: str) -> Iterator[Item]:
    """Yield the items, behind a progress bar when there are many and stderr is a terminal."""
    if len(items) < ITEMS_WORTH_A_BAR or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # rich takes 0.1 s to load; most runs show no bar
    from rich.progress import track as rich_track

    yield from rich_track(items, doing, console=Console(stderr=True), transient=True)
