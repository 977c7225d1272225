"""Which rows stand for a table: spread over all of it, in order, the same every time.

    choose_rows(1_000_000, 4, generator)  ->  one row from each quarter, ascending
    choose_runs(1_000_000, 4, generator)  ->  the same idea in short runs, for sources where
                                              jumping is dear and reading on is cheap

Promises
  - the choice depends on the counts and the generator only;
  - every stretch of `total / rows` consecutive rows gives one row; asking for all gives all;
  - as many rows come as were asked for, or all there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from aegir.seeding import Seeds

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Request:
    """What the caller asked for, carried to every reader: names, how many rows, which seed.

    `name` is what the table will be called; `file_name` is what its file is called, for suffixes;
    `label` is how errors call it. None of them decides which rows are taken.
    """

    name: str
    file_name: str
    label: str
    source: str | None
    rows: int
    seed: int

    def part(self, title: str) -> "Request":
        """The request for one table inside a file of several: `shop.xlsx#Orders`."""
        return replace(
            self,
            name=f"{self.name}#{title}",
            file_name=f"{self.file_name}#{title}",
            label=f"{self.label}#{title}",
        )

    def generator(self, purpose: str) -> np.random.Generator:
        """The random stream for one purpose (`rows`, `pieces`): a copy of a table gives its rows."""
        return Seeds(self.seed).generator(purpose)


def choose_rows(total: int, rows: int, generator: np.random.Generator) -> list[int]:
    """Ascending row numbers below `total`, one drawn from each of `rows` equal stretches."""
    if rows >= total:
        return list(range(total))
    edges = [total * index // rows for index in range(rows + 1)]
    jitter = generator.random(rows)
    return [
        low + int((high - low) * share)
        for low, high, share in zip(edges, edges[1:], jitter, strict=False)
    ]


def choose_runs(
    total: int, rows: int, generator: np.random.Generator, runs: int = 20
) -> list[range]:
    """At most `runs` disjoint ranges of row numbers holding `rows` rows, spread over `total`."""
    if rows >= total:
        return [range(total)]
    runs = min(runs, rows)
    chosen = []
    for index, share in enumerate(generator.random(runs)):
        low, high = total * index // runs, total * (index + 1) // runs
        # By the share of rows before each edge: lengths add up to `rows`, none exceeds its stretch.
        length = rows * high // total - rows * low // total
        start = low + int((high - low - length + 1) * share)
        chosen.append(range(start, start + length))
    return [run for run in chosen if run]


def merge_pieces(
    head: Sequence[Row], blocks: Sequence[Sequence[Row]], generator: np.random.Generator
) -> list[Row]:
    """The rows of a long head and short blocks, the head thinned to what a full block holds.

    Without that, the beginning of a large file would stand for most of it.
    """
    largest = max(map(len, blocks), default=0)
    if largest:
        head = [head[index] for index in choose_rows(len(head), largest, generator)]
    return [*head, *(row for block in blocks for row in block)]
