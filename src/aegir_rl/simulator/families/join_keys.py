"""Join keys: match the rows of two tables whose keys are written differently."""

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

STEPS = options("join_keys", "step_options")


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


def draw(random: Random, level: int) -> Draft:
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
