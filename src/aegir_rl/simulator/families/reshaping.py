"""Tables in another shape: from long to wide and back, and from one schema to another."""

from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    sample,
    split_cases,
    words,
    write_solution,
)
from aegir_rl.simulator.task import Case

AGGREGATES = options("pivot", "aggregates")
KINDS = options("schema_mapping", "kind_options")


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


def draw_pivot(random: Random, level: int) -> Draft:
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


def map_row(row: dict[str, Any], mapping: list[Any], drop: bool) -> dict[str, Any]:
    """The row with new names and kinds; a missing or empty value becomes the default, or is left out."""
    result: dict[str, Any] = {}
    for source, target, kind, default in mapping:
        value = row.get(source)
        text = "" if value is None else str(value).strip()
        if not text:
            if not (drop and default is None):
                result[target] = default
        elif kind == "upper":
            result[target] = text.upper()
        elif kind == "whole":
            result[target] = int(float(text))
        elif kind == "number":
            result[target] = float(text)
        elif kind == "flag":
            result[target] = text.lower() in ("yes", "true", "1")
        elif kind == "list":
            result[target] = [part.strip() for part in text.split(";") if part.strip()]
        else:
            result[target] = text
    return result


def _value(random: Random, kind: str) -> Any:
    word = random.choice(words("product"))
    return {
        "text": f" {word}" if chance(random, 0.3) else word,
        "upper": random.choice(words("city")),
        "whole": random.choice(
            [random.randint(0, 999), f"{random.randint(0, 999)}.0", f" {random.randint(0, 99)}"]
        ),
        "number": random.choice(
            [f"{random.randint(0, 999)}.{random.randint(1, 99)}", random.randint(1, 99)]
        ),
        "flag": random.choice(["yes", "no", "TRUE", "false", "1", "0", "maybe"]),
        "list": "; ".join(random.sample(words("colour"), random.randint(1, 3)))
        + random.choice(["", ";"]),
    }[kind]


def _draw_mapping(random: Random, level: int) -> list[Any]:
    """Source name, target name, kind and default of each column."""
    sources = random.sample(words("field"), 2 + level)
    kinds = list(KINDS)[: 2 + 2 * level]
    mapping = []
    for source in sources:
        target = random.choice(
            [f"{source}_value", source.upper(), f"the_{source}", source[:4], f"{source}2", source]
        )
        kind = random.choice(kinds)
        empty: list[Any] = [None, None, 0 if kind in ("whole", "number") else "unknown"]
        mapping.append((source, target, kind, random.choice(empty) if level > 1 else None))
    return mapping


def draw_schema_mapping(random: Random, level: int) -> Draft:
    """Level 1 has three columns and plain kinds, 3 five columns, flags, lists and defaults."""
    mapping, drop = _draw_mapping(random, level), chance(random, 0.5)

    def pair(*, empty: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
        row = {source: _value(random, kind) for source, _, kind, _ in mapping}
        for name in list(row):
            if chance(random, 0.7 if empty else 0.12):
                row[name] = random.choice([None, "", " "])
                if chance(random, 0.4):
                    del row[name]
        row["note"] = random.choice(words("region"))
        return row, map_row(row, mapping, drop)

    edges = [pair(empty=True), ({}, map_row({}, mapping, drop)), pair(empty=True)]
    public, hidden = split_cases(edges, [pair() for _ in range(14)], 4 + level)
    table = "source,target,kind,default\n" + "".join(
        f"{source},{target},{kind},{'' if default is None else default}\n"
        for source, target, kind, default in mapping
    )
    used = [f"{kind}, {KINDS[kind]}" for kind in KINDS if kind in [entry[2] for entry in mapping]]
    ending = "drop" if drop else "none"
    kinds = "; ".join(used)
    return Draft(
        statement=describe("schema_mapping", "start", ending, "end", kinds=kinds, table=table),
        solution=write_solution("schema_mapping", map_row, mapping, drop),
        public=public,
        hidden=hidden,
        files={"mapping.csv": table},
        difficulty={"columns": len(mapping)},
    )
