"""Join keys: match the rows of two tables whose keys are written differently."""

import unicodedata
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import Draft, Family, chance, listing, sample, words
from aegir_rl.simulator.source import call_source, module_source
from aegir_rl.simulator.task import Case

SIGNATURE = "join(left, right)"
STEPS = {
    "case": "upper and lower case do not matter",
    "blanks": "blanks do not matter, wherever they stand",
    "signs": "only letters and digits count",
    "zeros": "zeros in front do not count",
    "accents": "accents do not count (é is e)",
    "prefix": "a prefix up to and with the first ':' does not count",
}


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

    def make(size: int, *, empty: bool = False) -> Case:
        keys = [
            f"{random.choice(words('company'))[:5]}{random.randint(1, 9)}e" for _ in range(size)
        ]
        left: list[Any] = [
            {"id": number, left_key: _vary(random, key, steps)}
            for number, key in enumerate(keys, 1)
        ]
        chosen = [key for key in keys if chance(random, 0.7)] + [
            f"{random.choice(words('city'))}{random.randint(1, 9)}"
        ]
        chosen += sample(random, keys, 0, 1)
        random.shuffle(chosen)
        right: list[Any] = [
            {"id": f"r{number}", right_key: _vary(random, key, steps)}
            for number, key in enumerate(chosen, 1)
        ]
        if empty:
            left.append({"id": 90, left_key: None})
            right += [{"id": "r90", right_key: ""}, {"id": "r91", right_key: None}]
        return Case((left, right), match_rows(left, right, left_key, right_key, steps, kind))

    tables = [make(random.randint(3, 6)) for _ in range(8)]
    public = [make(4, empty=True), *tables[: 1 + level]]
    hidden = [make(5, empty=True), make(2), *tables[1 + level :], Case(([], []), [])]
    what = {
        "inner": "returns the pairs [id of the left row, id of the right row] of rows with the same key",
        "left": "returns the pairs [id of the left row, id of the right row] of rows with the same key, and [id, None] for left rows without one",
        "anti": "returns the ids of the left rows without a row of the same key on the right",
    }
    return Draft(
        f"Write join(left, right), which {what[kind]}. Both are lists of objects with an `id`; the key of left rows is {left_key!r}, of right rows {right_key!r}. "
        f"Of keys, {listing([STEPS[step] for step in steps])}; blanks at both ends never count. A key that is None or empty (then) matches nothing. "
        "The order is that of the left rows, for the same left row that of the right rows.",
        SIGNATURE,
        module_source(
            SIGNATURE,
            call_source(match_rows, left_key, right_key, steps, kind, first="left, right"),
            plain_key,
            match_rows,
            imports="unicodedata",
        ),
        public,
        hidden,
        difficulty={"steps": len(steps)},
    )


FAMILY = Family("join_keys", "Match rows of two tables with differently written keys.", 3, draw)
