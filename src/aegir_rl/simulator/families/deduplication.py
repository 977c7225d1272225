"""Deduplication: rows that are the same record become one."""

from random import Random
from typing import Any

from aegir_rl.simulator.families.family import Draft, Family, chance, listing, sample, words
from aegir_rl.simulator.source import call_source, module_source
from aegir_rl.simulator.task import Case

SIGNATURE = "deduplicate(rows)"
KEEP = {
    "first": "the first is kept",
    "last": "the last is kept",
    "largest": "the one with the largest `version` is kept, the first of several",
    "fullest": "the one with the fewest None is kept, the first of several",
    "merge": "the first is kept, with its None replaced by the first value of the others that is not None",
}


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
    columns = {
        "name": "given",
        "city": "city",
        "company": "company",
        "region": "region",
        "product": "product",
    }
    keys = sorted(sample(random, list(columns), min(level, 2), max(level, 2)))
    loose = sorted(sample(random, keys, 1, len(keys))) if level > 1 else []
    keep = random.choice(list(KEEP)[:3] if level == 1 else list(KEEP))
    others = sample(random, [name for name in columns if name not in keys], 1, 2)

    def make(size: int, *, gaps: bool = False) -> Case:
        pools = {name: random.sample(words(columns[name]), 2) for name in keys}
        rows: list[Any] = []
        for _ in range(size):
            row: dict[str, Any] = {name: random.choice(pools[name]) for name in keys}
            for name in loose:
                if chance(random, 0.4):
                    row[name] = random.choice(
                        [row[name].upper(), f" {row[name]}", f"{row[name][:2]} {row[name][2:]}"]
                    )
            row |= {name: random.choice([None, *words(columns[name])[:6]]) for name in others}
            rows.append({**row, "version": random.randint(1, 9)})
        if gaps:
            rows += [{**rows[0], keys[0]: None}, {**rows[-1], keys[0]: None}, dict(rows[0])]
        return Case((rows,), drop_duplicates(rows, keys, loose, keep))

    tables = [make(random.randint(3, 7)) for _ in range(8)]
    public = [make(3, gaps=True), *tables[: 1 + level]]
    hidden = [
        *tables[1 + level :],
        make(4, gaps=True),
        make(6, gaps=True),
        Case(([],), []),
        make(1),
    ]
    return Draft(
        f"Write deduplicate(rows), which returns a list of objects with one row per record. Rows with the same {listing([repr(key) for key in keys])} are the same record"
        + (
            f"; of {listing([repr(key) for key in loose])}, case and blanks do not count"
            if loose
            else ""
        )
        + f". A row with None in one of these columns is a record of its own. Of the rows of a record {KEEP[keep]}. Records stay in the order in which they first occur; rows are returned unchanged otherwise.",
        SIGNATURE,
        module_source(
            SIGNATURE,
            call_source(drop_duplicates, keys, loose, keep, first="rows"),
            choose_row,
            drop_duplicates,
        ),
        public,
        hidden,
        difficulty={"keys": len(keys), "loose": len(loose)},
    )


FAMILY = Family("deduplication", "Make one row of those that are the same record.", 3, draw)
