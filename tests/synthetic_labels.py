"""Labelled tables made up for tests of training: web tables of six types, and everyday ones in the open form.

Every web table has a name column (the subject) and two others; values are drawn from small grammars, so a model
that learnt nothing answers one in six rightly, and one that learnt finds nearly all.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

SYLLABLES = ["ka", "lo", "mi", "ren", "tu", "shi", "bar", "den", "vo", "nel", "sa", "qui"]
MAKERS: dict[str, tuple[str, Callable[[Random], str]]] = {
    "Person/name": ("author", lambda r: f"{_word(r)} {_word(r)}"),
    "email": ("email", lambda r: f"{_word(r).lower()}@{_word(r).lower()}.example"),
    "Date": (
        "datePublished",
        lambda r: f"{r.randint(1950, 2020)}-{r.randint(10, 12)}-{r.randint(10, 28)}",
    ),
    "telephone": ("telephone", lambda r: f"+{r.randint(10, 99)} 555 {r.randint(1000, 9999)}"),
    "price": ("price", lambda r: f"{r.randint(1, 300)}.{r.randint(10, 99)} EUR"),
    "URL": ("url", lambda r: f"https://{_word(r).lower()}.example/{r.randint(1, 999)}"),
}


def _word(random: Random) -> str:
    return "".join(random.choices(SYLLABLES, k=2)).capitalize()


def synthetic_table(number: int, seed: int) -> dict[str, object]:
    """One table as a line of a labelled file; its three types depend on the number."""
    random = Random(f"{seed}/{number}")
    names = list(MAKERS)
    chosen = [names[0], names[1 + number % 5], names[1 + (number // 5 + number + 1) % 5]]
    columns = []
    for place, name in enumerate(chosen):
        relation, make = MAKERS[name]
        values = [make(random) for _ in range(6)]
        column = {"name": f"{relation} {place}", "values": values, "cta": name}
        columns.append(column | ({"cpa": relation} if place else {}))
    return {"id": f"synthetic {seed}/{number}", "columns": columns}


def write_synthetic_tables(path: Path, tables: int, seed: int) -> Path:
    """A labelled file of that many tables."""
    lines = (json.dumps(synthetic_table(number, seed)) for number in range(tables))
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


TABLES_PER_GROUP = 2
STATES = ["open", "closed", "waiting", "lost"]


def everyday_table(number: int) -> dict[str, object]:
    """A key, a state, a price and one column that nobody labelled, as a line of a file in the open form.

    Four tables are about spare parts, the next four about patients, and so on.
    """
    random = Random(number)
    keys = [f"K{random.randrange(10**6):06d}" for _ in range(12)]
    states = [random.choice(STATES) for _ in keys]
    prices = [f"{random.randrange(100, 99999) / 100}" for _ in keys]
    patients = is_about_patients(number)
    labels = (
        {"types": ["IdentifierAT"], "fine": ["primary_key"], "relation": []}
        | _levels("direct", patients),
        {"types": [], "fine": ["status"], "relation": []}
        | _levels("about", patients, special=True),
        {"types": ["price", "Number"], "fine": [], "relation": ["price"]}
        | _levels("about", patients),
    )
    columns = [
        {"name": name, "values": values} | label
        for name, values, label in zip(
            ("patient id" if patients else "id", "state", "cost"),
            (keys, states, prices),
            labels,
            strict=True,
        )
    ]
    return {
        "id": f"table {number}",
        "group": f"owner/{number // TABLES_PER_GROUP}",
        "row": "patient" if patients else "spare part",
        "row_class": "person" if patients else "product",
        "person": "self" if patients else "none",
        "columns": [
            *columns,
            {"name": "note", "values": ["patient seen" if patients else "part seen"] * len(keys)},
        ],
    }


def is_about_patients(number: int) -> bool:
    """Whether this everyday table is about patients."""
    return number // 4 % 2 == 1


def _levels(level: str, patients: bool, *, special: bool = False) -> dict[str, object]:
    return {
        "personal": patients,
        "personal_level": level if patients else None,
        "special": special and patients,
        "meaning": f"{level} thing",
    }


def write_everyday_tables(folder: Path, groups: int) -> Path:
    """A labelled file of everyday tables where such files are, below the folder."""
    path = folder / "open" / "tables.jsonl.gz"
    path.parent.mkdir()
    lines = (json.dumps(everyday_table(i)) for i in range(groups * TABLES_PER_GROUP))
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))
    return path
