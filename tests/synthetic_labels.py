"""Labelled tables made up for tests of training: six types that their values tell apart.

Every table has a name column (the subject) and two others; values are drawn from small grammars, so a model
that learnt nothing answers one in six rightly, and one that learnt finds nearly all.
"""

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
