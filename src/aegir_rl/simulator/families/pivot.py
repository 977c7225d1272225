"""Pivot and unpivot: from long to wide tables, and back."""

from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    sample,
    words,
    write_solution,
)
from aegir_rl.simulator.task import Case

AGGREGATES = options("pivot", "aggregates")


def widen(
    rows: list[Any], index: str, column: str, value: str, aggregate: str, fill: Any, prefix: str
) -> list[Any]:
    """One row per value of `index`, one column per value of `column`, both sorted."""
    cells: dict[Any, dict[Any, list[Any]]] = {}
    names: dict[Any, None] = {}
    for row in rows:
        if row[value] is None:
            continue
        cells.setdefault(row[index], {}).setdefault(row[column], []).append(row[value])
        names[row[column]] = None
    functions: dict[str, Any] = {
        "sum": sum,
        "max": max,
        "min": min,
        "count": len,
        "last": lambda values: values[-1],
    }
    return [
        {
            index: key,
            **{
                f"{prefix}{name}": functions[aggregate](found[name]) if name in found else fill
                for name in sorted(names)
            },
        }
        for key, found in sorted(cells.items())
    ]


def lengthen(
    rows: list[Any], index: list[str], column: str, value: str, skip: bool, prefix: str
) -> list[Any]:
    """One row per row and column that is not of the index, in the order of the columns."""
    return [
        {**{name: row[name] for name in index}, column: name.removeprefix(prefix), value: row[name]}
        for row in rows
        for name in row
        if name not in index and not (skip and row[name] is None)
    ]


def draw(random: Random, level: int) -> Draft:
    """Levels 1 and 2 unpivot or pivot plainly; 3 has prefixes, gaps and several aggregates."""
    index, column, value = random.sample(["city", "product", "region", "year", "group", "item"], 3)
    prefix = random.choice(["", f"{column}_", "n_"]) if level > 1 else ""
    if chance(random, 0.45):
        return _draw_long(random, level, index, column, value, prefix)
    aggregate = random.choice(list(AGGREGATES)) if level > 1 else random.choice(["sum", "last"])
    fill = random.choice([0, None, -1, ""]) if level > 1 else 0

    def make(size: int) -> Case:
        keys, names = random.sample(words("city"), 3), random.sample(words("colour"), 3)
        rows: list[Any] = [
            {index: random.choice(keys), column: random.choice(names), value: random.randint(1, 50)}
            for _ in range(size)
        ]
        for row in rows:
            if level > 1 and chance(random, 0.12):
                row[value] = None
        return Case((rows,), widen(rows, index, column, value, aggregate, fill, prefix))

    public = [make(5), make(7), *(make(4) for _ in range(level))]
    hidden = [make(random.randint(3, 9)) for _ in range(6)] + [Case(([],), []), make(1)]
    statement = describe(
        "pivot",
        "wide",
        index=index,
        column=column,
        value=value,
        named=f"{prefix!r} followed by the value" if prefix else "named by the value",
        aggregate=AGGREGATES[aggregate],
        fill=fill,
    )
    return Draft(
        statement=statement,
        solution=write_solution("pivot", widen, index, column, value, aggregate, fill, prefix),
        public=public,
        hidden=hidden,
        difficulty={"pivot": 1},
    )


def _draw_long(
    random: Random, level: int, index: str, column: str, value: str, prefix: str
) -> Draft:
    ids = [index, *sample(random, ["id", "code", "owner"], 0, level - 1)]
    skip = level > 1 and chance(random, 0.6)

    def make(size: int) -> Case:
        names = [f"{prefix}{name}" for name in sample(random, words("colour"), 2, 4)]
        rows: list[Any] = []
        for number in range(size):
            row: dict[str, Any] = {name: f"{random.choice(words('city'))}{number}" for name in ids}
            cells = {name: None if chance(random, 0.2) else random.randint(1, 99) for name in names}
            rows.append({**row, **cells})
        return Case((rows,), lengthen(rows, ids, column, value, skip, prefix))

    public = [make(2), make(3), *(make(2) for _ in range(level))]
    hidden = [make(random.randint(1, 5)) for _ in range(6)] + [Case(([],), [])]
    statement = describe(
        "pivot",
        "long",
        "skipped" if skip else "kept",
        ids=", ".join(map(repr, ids)),
        column=column,
        value=value,
        without=f", without the prefix {prefix!r}" if prefix else "",
    )
    return Draft(
        statement=statement,
        solution=write_solution("pivot", lengthen, ids, column, value, skip, prefix),
        public=public,
        hidden=hidden,
        difficulty={"pivot": 0},
    )
