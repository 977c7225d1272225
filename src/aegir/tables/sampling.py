"""Choose the rows of a sample: spread over the whole table, in order, reproducibly.

    choose_rows(1_000_000, 4, generator)  ->  one row from each quarter, ascending
    choose_runs(1_000_000, 4, generator)  ->  short runs of rows, for sources in which seeking is
                                              expensive and reading on is cheap

Promises
  - the choice depends on the counts and the generator only;
  - every stretch of `total / rows` consecutive rows gives one row;
  - as many rows are chosen as were requested, or all if there are fewer.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from aegir_rl.base.seeding import Seeds

Row = TypeVar("Row")
Watch = Callable[[Sequence[str]], Iterable[str]]
"""Passes on the names of the tables of a source one by one, such as behind a progress bar."""


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of one read: names, the number of rows, the seed.

    `name` becomes the name of the table, `file_name` is the name of its file (for suffixes) and `label`
    names it in errors. None of them changes which rows are chosen. `schemas` and `tables` are patterns that choose
    tables of a database (database_urls.py); with none, all are read. `title` is what the table itself is called where
    its file says so.
    """

    name: str
    file_name: str
    label: str
    source: str | None
    rows: int
    seed: int
    schemas: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    title: str | None = None

    def part(self, shown: str, title: str | None) -> "Request":
        """Return the request for one table of a file with several: `shop.xlsx#Orders`.

        `title` is None if what is shown is no name that somebody gave to the table: `Sheet1`.
        """
        return replace(
            self,
            name=f"{self.name}#{shown}",
            file_name=f"{self.file_name}#{shown}",
            label=f"{self.label}#{shown}",
            title=self.title if title is None else title,
        )

    def generator(self, purpose: str) -> np.random.Generator:
        """Return the random generator for one purpose (`rows`, `pieces`); it depends on the seed only."""
        return Seeds(self.seed).generator(purpose)


def choose_rows(total: int, rows: int, generator: np.random.Generator) -> list[int]:
    """Return ascending row numbers below `total`, one from each of `rows` equal stretches."""
    if rows >= total:
        return list(range(total))
    edges = [total * index // rows for index in range(rows + 1)]
    jitter = generator.random(rows)
    return [
        low + min(int((high - low) * share), high - low - 1)  # above 2**53, floats round up
        for low, high, share in zip(edges, edges[1:], jitter, strict=False)
    ]


def choose_runs(
    total: int, rows: int, generator: np.random.Generator, runs: int = 20
) -> list[range]:
    """Return at most `runs` disjoint ranges with `rows` row numbers in all, spread over `total`."""
    if rows >= total:
        return [range(total)]
    runs = min(runs, rows)
    chosen = []
    for index, share in enumerate(generator.random(runs)):
        low, high = total * index // runs, total * (index + 1) // runs
        # The rows due before each edge: lengths add up to `rows`, and none exceeds its stretch.
        length = rows * high // total - rows * low // total
        start = low + int((high - low - length + 1) * share)
        chosen.append(range(start, start + length))
    return [run for run in chosen if run]


def merge_pieces(
    head: Sequence[Row], blocks: Sequence[Sequence[Row]], generator: np.random.Generator
) -> list[Row]:
    """Return the rows of a long head and of short blocks, the head thinned to the longest block.

    Otherwise most rows would come from the beginning of a large file.
    """
    largest = max(map(len, blocks), default=0)
    if largest:
        head = [head[index] for index in choose_rows(len(head), largest, generator)]
    return [*head, *(row for block in blocks for row in block)]
