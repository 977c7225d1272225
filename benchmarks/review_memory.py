"""Is a reviewed column found again when its table has grown, and is no other column taken for it?

Made-up columns of every property of the data engine, three of each. A column of 30 rows, beside five others, is reviewed; then

  grown        the same column in the same table, of which 200 of 300 rows are looked at: should be recalled
  other rows   the same, but all rows are new: should be recalled
  content      a column of another property, drawn at random, under the same header in the same table: must not be recalled
  like content the same with the next property of the list, which is often alike: opens and closes, prepTime and cookTime
  name         the same values under another header in the same table: must not be recalled, but offered
  elsewhere    the same values and header beside other columns: must not be recalled, but offered

The last figures: CPU milliseconds per column of looking up 1,000 reviews, and reviews lost to 100 kills with SIGKILL.
"""

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from aegir.lab.data.generators.tables import PROPERTIES
from aegir.memory.recall import ReviewMemory
from aegir.memory.review import Review
from aegir.tables.fingerprint import Fingerprint, fingerprint_column, fingerprint_table
from aegir.tables.table import Column, Table
from benchmarks import killed_reviewers
from benchmarks.killed_writers import kill_writers
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least, at_most

QUESTION = "share of made-up columns recalled and offered, ms per column, reviews lost to kill -9"
ROWS, GROWN, LOOKED_AT = 30, 300, 200
OTHERS, ELSEWHERE = ("id", "city", "note", "price", "date"), ("ref", "lot", "shelf")
KILLS, REVIEWS = 100, 1000
ZERO = 1e-12
"""Shown for a figure that is exactly 0, which no ratio likes."""


def run(options: Options) -> Result:
    """Review every column and look for its variants."""
    seeds = 1 if options.quick else 3
    made = list(_columns(seeds, options.seed))
    shuffled = random.Random(options.seed).sample(made, len(made))
    shares = {
        "grown": _share(made, lambda each, _: _print(each.grown)),
        "other rows": _share(made, lambda each, _: _print(each.later)),
        "content": _share(shuffled, lambda _, other: _print(other.later)),
        "like content": _share(made, lambda _, other: _print(other.later)),
        "name": _share(made, lambda each, _: _print(each.first, name="renamed")),
        "elsewhere": _share(made, lambda each, _: _print(each.first, others=ELSEWHERE)),
    }
    recalled = [_measured(f"recalled: {name}", found) for name, (found, _) in shares.items()]
    offered = [_measured(f"offered: {name}", shares[name][1]) for name in ("name", "elsewhere")]
    speed = Measurement("looking up", "CPU ms per column", Runs([_milliseconds(made)]))
    lost = Measurement(
        "lost reviews", "reviews", Runs([_lost(2 if options.quick else KILLS, options.seed)])
    )
    by_name = {each.name.removeprefix("recalled: "): each for each in recalled}
    return Result(
        benchmark="review_memory",
        question=QUESTION,
        data=f"{len(made)} synthetic columns of {len(PROPERTIES)} properties",
        measurements=(*recalled, *offered, speed, lost),
        ratios=(Ratio(by_name["content"], by_name["grown"]),),
        targets=(
            at_least(by_name["grown"], 0.98),
            at_least(by_name["other rows"], 0.95),
            at_most(by_name["content"], 0.02),
            at_most(by_name["name"], ZERO),
            at_most(by_name["elsewhere"], ZERO),
            at_most(lost, ZERO),
        ),
        settings={"rows": ROWS, "grown": GROWN, "kills": KILLS, "reviews": REVIEWS},
    )


class _Made:
    """A made-up column as it is reviewed, when it has grown, and later with other rows."""

    def __init__(self, property_name: str, seed: str) -> None:
        self.property = property_name
        cell = PROPERTIES[property_name].make(random.Random(seed))
        cells = [str(cell()) for _ in range(GROWN)]
        self.first = tuple(cells[:ROWS])
        self.grown = tuple(cells[i * GROWN // LOOKED_AT] for i in range(LOOKED_AT))
        self.later = tuple(cells[ROWS : ROWS + LOOKED_AT])


def _columns(seeds: int, seed: int) -> Iterator[_Made]:
    for number in range(seeds):
        for name in PROPERTIES:
            yield _Made(name, f"{seed} {number} {name}")


def _print(
    values: Sequence[str], name: str = "value", others: Sequence[str] = OTHERS
) -> Fingerprint:
    return fingerprint_column(Column(name, tuple(values)), 2, others)


def _review(column: Fingerprint, number: int = 0) -> Review:
    return Review(
        id=f"r{number}",
        at="2030-01-01T00:00:00.000000+00:00",
        by="benchmark",
        label="status",
        kind="category",
        personal=None,
        said=None,
        table="made-up.csv",
        source=None,
        column=column,
    )


def _share(
    made: Sequence[_Made], variant: Callable[[_Made, _Made], Fingerprint]
) -> tuple[float, float]:
    """Return the shares of columns whose review is recalled, and offered, for a variant of them."""
    recalled = offered = tried = 0
    for each, other in pairwise([*made, made[0]]):
        if each.property == other.property:
            continue
        memory = ReviewMemory([_review(_print(each.first))])
        looked_for = variant(each, other)
        tried += 1
        recalled += memory.find(looked_for) is not None
        offered += bool(memory.find_similar(looked_for))
    return recalled / tried, offered / tried


def _measured(name: str, share: float) -> Measurement:
    return Measurement(name, "share of columns", Runs([share or ZERO]))


def _milliseconds(made: Sequence[_Made]) -> float:
    """CPU milliseconds per column of fingerprints and of looking up many reviews."""
    prints = [
        _print(made[i % len(made)].later, f"column {i}", (f"beside {i}",)) for i in range(REVIEWS)
    ]
    memory = ReviewMemory([_review(each, number) for number, each in enumerate(prints)])
    table = Table("new.csv", tuple(Column(each.property, each.grown) for each in made[:50]))

    def look_up() -> None:
        for each in fingerprint_table(table):
            memory.find(each)
            memory.find_similar(each)

    return 1000 * cpu_seconds(look_up) / len(table.columns)


def _lost(kills: int, seed: int) -> float:
    with tempfile.TemporaryDirectory(prefix="aegir-") as folder:
        address = str(Path(folder) / "memory.db")
        program = killed_reviewers.__file__
        acknowledged = kill_writers(address, kills, random.Random(seed), program)
        return killed_reviewers.count_lost(address, acknowledged) or ZERO
