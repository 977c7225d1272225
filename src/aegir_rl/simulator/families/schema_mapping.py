"""Schema mapping: rows of one schema become rows of another."""

from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    split_cases,
    words,
    write_solution,
)

KINDS = options("schema_mapping", "kind_options")


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


def draw(random: Random, level: int) -> Draft:
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
