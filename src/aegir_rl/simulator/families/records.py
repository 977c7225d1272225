"""Rows that are the same record: made one within a table, matched between two."""

import unicodedata
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
STEPS = options("join_keys", "step_options")


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


def draw_deduplication(random: Random, level: int) -> Draft:
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


def match_rows(
    left: list[Any], right: list[Any], left_key: str, right_key: str, steps: list[str], kind: str
) -> list[Any]:
    """Pairs of row ids whose keys are the same after the steps; unmatched left rows with None for a left join."""
    found: dict[str, list[Any]] = {}
    for row in right:
        key = plain_key(row[right_key], steps)
        if key:
            found.setdefault(key, []).append(row["id"])
    pairs = []
    for row in left:
        key = plain_key(row[left_key], steps)
        ids = found.get(key, []) if key else []
        if kind == "anti":
            pairs += [] if ids else [row["id"]]
        else:
            pairs += [[row["id"], other] for other in ids]
            pairs += [[row["id"], None]] if kind == "left" and not ids else []
    return pairs


def plain_key(value: str | None, steps: list[str]) -> str:
    """A key without what does not count."""
    text = value or ""
    if "prefix" in steps:
        text = text.split(":", 1)[-1]
    if "accents" in steps:
        text = "".join(
            letter
            for letter in unicodedata.normalize("NFD", text)
            if not unicodedata.combining(letter)
        )
    if "case" in steps:
        text = text.lower()
    if "signs" in steps:
        text = "".join(letter for letter in text if letter.isalnum())
    text = "".join(text.split()) if "blanks" in steps else text.strip()
    return text.lstrip("0") if "zeros" in steps else text


def _vary(random: Random, key: str, steps: list[str]) -> str:
    """The same key, written differently in ways that the steps remove."""
    if "accents" in steps and chance(random, 0.5):
        key = key.replace("e", "é", 1)
    if "signs" in steps and chance(random, 0.6):
        key = key[:2] + random.choice("-./_") + key[2:]
    if "zeros" in steps and chance(random, 0.6):
        key = "00" + key
    if "case" in steps and chance(random, 0.6):
        key = random.choice([key.upper(), key.lower(), key.title()])
    if "blanks" in steps and chance(random, 0.6):
        key = f" {key[:3]} {key[3:]}"
    if "prefix" in steps and chance(random, 0.6):
        key = f"{random.choice(['id', 'eu', 'x'])}:{key}"
    return key


def draw_join_keys(random: Random, level: int) -> Draft:
    """Level 1 has one step, 3 up to four; keys may be missing or occur several times."""
    steps = sorted(sample(random, list(STEPS), level, level + 1))
    kind = random.choice(["inner", "left", "anti"])
    left_key, right_key = random.sample(["code", "name", "ref", "key", "label", "number"], 2)
    parameters = (left_key, right_key, steps, kind)

    def make(size: int, *, empty: bool = False) -> Case:
        companies = words("company")
        keys = [f"{random.choice(companies)[:5]}{random.randint(1, 9)}e" for _ in range(size)]
        left: list[Any] = [
            {"id": number, left_key: _vary(random, key, steps)}
            for number, key in enumerate(keys, 1)
        ]
        chosen = [key for key in keys if chance(random, 0.7)]
        chosen += [f"{random.choice(words('city'))}{random.randint(1, 9)}"]
        chosen += sample(random, keys, 0, 1)
        random.shuffle(chosen)
        right: list[Any] = [
            {"id": f"r{number}", right_key: _vary(random, key, steps)}
            for number, key in enumerate(chosen, 1)
        ]
        if empty:
            left.append({"id": 90, left_key: None})
            right += [{"id": "r90", right_key: ""}, {"id": "r91", right_key: None}]
        return Case((left, right), match_rows(left, right, *parameters))

    tables = [make(random.randint(3, 6)) for _ in range(8)]
    public = [make(4, empty=True), *tables[: 1 + level]]
    hidden = [make(5, empty=True), make(2), *tables[1 + level :], Case(([], []), [])]
    said = listing([STEPS[step] for step in steps])
    return Draft(
        statement=describe(
            "join_keys", kind, "end", left_key=left_key, right_key=right_key, steps=said
        ),
        solution=write_solution("join_keys", match_rows, *parameters),
        public=public,
        hidden=hidden,
        difficulty={"steps": len(steps)},
    )
