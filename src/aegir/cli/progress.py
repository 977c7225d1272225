"""A progress bar on stderr for long work, and silence where nobody watches."""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
WORTH_A_BAR = 20


def track(items: Sequence[Item], doing: str) -> Iterator[Item]:
    """The items, with a bar when there are many and stderr is a terminal."""
    if len(items) < WORTH_A_BAR or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as rich_track

    yield from rich_track(items, doing, console=Console(stderr=True), transient=True)
