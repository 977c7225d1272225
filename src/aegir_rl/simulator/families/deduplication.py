"""Deduplication: rows that are the same record become one."""

from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    listing,
    options,
    sample,
    words,
    write_solution,
)
from aegir_rl.simulator.task import Case

COLUMNS = {
    "name": "given",
    "city": "city",
    "company": "company",
    "region": "region",
    "product": "product",
}
"""Name of a column to the words in it."""


def drop_duplicates(rows: list[Any], keys: list[str], loose: list[str], keep: str) -> list[Any]:
    """One row per record, in the order in which records first occur; loose keys ignore case and blanks."""
    groups: dict[Any, list[Any]] = {}
    for number, row in enumerate(rows):
        values: list[Any] = [number]
        if not any(row[key] is None for key in keys):
            values = [
                "".join(row[key].lower().split()) if key in loose else row[key] for key in keys
            ]
        groups.setdefault((len(values), *values), []).append(row)
    return [choose_row(group, keep) for group in groups.values()]


def choose_row(group: list[Any], keep: str) -> Any:
    """The row that stands for a group."""
    if keep == "last":
        return group[-1]
    if keep == "largest":
        return max(group, key=lambda row: row["version"])
    if keep == "fullest":
        return min(group, key=lambda row: sum(value is None for value in row.values()))
    if keep == "merge":
        return {
            name: next((row[name] for row in group if row[name] is not None), None)
            for name in group[0]
        }
    return group[0]


def draw(random: Random, level: int) -> Draft:
    """Level 1 compares exactly and keeps one of the rows; 2 and 3 compare two or three columns loosely and may merge."""
    keys = sorted(sample(random, list(COLUMNS), min(level, 2), max(level, 2)))
    loose = sorted(sample(random, keys, 1, len(keys))) if level > 1 else []
    about = options("deduplication", "keep_options")
    keep = random.choice(list(about)[:3] if level == 1 else list(about))
    others = sample(random, [name for name in COLUMNS if name not in keys], 1, 2)

    def write(name: str, value: str) -> str:
        if name not in loose or not chance(random, 0.4):
            return value
        return random.choice([value.upper(), f" {value}", f"{value[:2]} {value[2:]}"])

    def make(size: int, *, gaps: bool = False) -> Case:
        pools = {name: random.sample(words(COLUMNS[name]), 2) for name in keys}
        rows: list[Any] = []
        for _ in range(size):
            row: dict[str, Any] = {name: random.choice(pools[name]) for name in keys}
            row |= {name: write(name, row[name]) for name in loose}
            row |= {name: random.choice([None, *words(COLUMNS[name])[:6]]) for name in others}
            rows.append({**row, "version": random.randint(1, 9)})
        if gaps:
            rows += [{**rows[0], keys[0]: None}, {**rows[-1], keys[0]: None}, dict(rows[0])]
        return Case((rows,), drop_duplicates(rows, keys, loose, keep))

    tables = [make(random.randint(3, 7)) for _ in range(8)]
    public = [make(3, gaps=True), *tables[: 1 + level]]
    hidden = [*tables[1 + level :], make(4, gaps=True), make(6, gaps=True)]
    hidden += [Case(([],), []), make(1)]
    statement = describe(
        "deduplication",
        *("start", loose and "loose", "end"),
        keys=listing([repr(key) for key in keys]),
        loose=listing([repr(key) for key in loose or [""]]),
        keep=about[keep],
    )
    parameters = (keys, loose, keep)
    return Draft(
        statement=statement,
        solution=write_solution("deduplication", drop_duplicates, *parameters),
        public=public,
        hidden=hidden,
        difficulty={"keys": len(keys), "loose": len(loose)},
    )
