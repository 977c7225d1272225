"""What a family of tasks is, and what the families share.

    FAMILY = Family("dates", "Read dates in several layouts, write them in one.", 3, draw)

`draw(random, level)` returns a `Draft`: statement, starter, known solution, and cases whose expected values are made
together with their arguments wherever that is possible, so that the solution is tested against something it did not make.
All randomness comes from `random`; the same state gives the same draft. The statement is complete: with the public
cases it determines the answers to the hidden ones, and names their edge cases.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from aegir_rl.base.tsv import read_tsv
from aegir_rl.simulator.task import Case


@dataclass(frozen=True, slots=True)
class Draft:
    """A task before it is verified."""

    statement: str
    signature: str
    """Name and parameters, such as `clean(value)`."""
    solution: str
    public: Sequence[Case]
    hidden: Sequence[Case]
    files: Mapping[str, str] = field(default_factory=dict)
    starter: str = ""
    """A stub that raises, unless the family has something to begin with."""
    difficulty: Mapping[str, float] = field(default_factory=dict)
    """Numbers that say how hard this one is, beside the level."""

    @property
    def function(self) -> str:
        """The name that a solution must define."""
        return self.signature.partition("(")[0]


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of task."""

    name: str
    about: str
    """One line."""
    levels: int
    draw: Callable[[Random, int], Draft]


def stub(signature: str) -> str:
    """The starter of a family that has none of its own."""
    return f"def {signature}:\n    raise NotImplementedError\n"


def to_cases(pairs: Sequence[tuple[Any, Any]]) -> list[Case]:
    """Cases of a function with one argument; pairs with an argument that came before are left out."""
    cases: dict[str, Case] = {}
    for argument, expected in pairs:
        cases.setdefault(repr(argument), Case((argument,), expected))
    return list(cases.values())


def split_cases(
    edges: Sequence[tuple[Any, Any]], usual: Sequence[tuple[Any, Any]], public: int
) -> tuple[list[Case], list[Case]]:
    """Public and hidden cases: the first edge and some usual ones are public, all others hidden."""
    shown = to_cases([*edges[:1], *usual])[:public]
    seen = {repr(case.arguments) for case in shown}
    rest = to_cases([*edges[1:], *usual])
    return shown, [case for case in rest if repr(case.arguments) not in seen]


def sample(random: Random, items: Sequence[Any], least: int, most: int) -> list[Any]:
    """Between `least` and `most` different items, in random order."""
    return random.sample(list(items), min(len(items), random.randint(least, most)))


def chance(random: Random, probability: float) -> bool:
    """True with this probability."""
    return random.random() < probability


def listing(items: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


@cache
def words(name: str) -> tuple[str, ...]:
    """A list of words.tsv: names, cities, streets, all made for these tasks."""
    lists = {
        key: tuple(texts.split("|"))
        for _, (key, texts) in read_tsv(Path(__file__).parent / "words.tsv", "list words")
    }
    return lists[name]
