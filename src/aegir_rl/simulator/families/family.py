"""What a family of tasks is, and what the families share.

A family is a table in families.toml with `about`, `signature`, its sentences, and the module that has `draw_NAME`.
`draw_NAME(random, level)` returns a `Draft`: statement, starter, known solution, and cases whose expected values are made
together with their arguments wherever that is possible, so that the solution is tested against something it did not make.
All randomness comes from `random`; the same state gives the same draft. phrasings.toml has other ways to begin a statement. The statement is complete: with the public
cases it determines the answers to the hidden ones, and names their edge cases.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from aegir_rl.base.text import read_tsv
from aegir_rl.simulator.source import call_source, module_source
from aegir_rl.simulator.task import FUNCTION, REPOSITORY, Case

LEVELS = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """A task before it is verified."""

    statement: str
    solution: str
    public: Sequence[Case]
    hidden: Sequence[Case]
    files: Mapping[str, str] = field(default_factory=dict)
    starter: str = ""
    """A stub that raises, unless the family has something to begin with."""
    difficulty: Mapping[str, float] = field(default_factory=dict)
    """Numbers that say how hard this one is, beside the level."""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of task, of `LEVELS` levels of difficulty."""

    name: str
    about: str
    """One line."""
    signature: str
    """Name and parameters of what a solution must define, such as `clean(value)`."""
    write: Callable[[Random, int], Draft]
    """`draw_NAME`: a draft with the plain statement."""
    kind: str = FUNCTION

    def draw(self, random: Random, level: int) -> Draft:
        """A draft whose statement begins in one of several ways; all else is what `write` made."""
        draft = self.write(random, level)
        return replace(draft, statement=rephrase(self, draft.statement, random))

    @property
    def function(self) -> str:
        """The name that a solution must define."""
        return self.signature.partition("(")[0]

    @property
    def stub(self) -> str:
        """The starter of tasks that have none of their own; an empty patch for a repository."""
        if self.kind == REPOSITORY:
            return ""
        return f"def {self.signature}:\n    raise NotImplementedError\n"


def write_solution(
    family: str,
    function: Callable[..., Any],
    *parameters: Any,
    helpers: Sequence[Callable[..., Any]] = (),
) -> str:
    """A module whose function of the family's signature calls one of ours with these parameters after its arguments.

    `helpers` come before what the function uses otherwise.
    """
    signature = signature_of(family)
    arguments = signature.partition("(")[2].rstrip(")")
    call = call_source(function, *parameters, first=arguments)
    return module_source(signature, call, *helpers, function)


def signature_of(family: str) -> str:
    """Name and parameters of what a solution of this family must define."""
    return str(family_tables()[family]["signature"])


def describe(family: str, *parts: object, **values: Any) -> str:
    """The sentences of these names in families.toml, with their values; names that are empty or False are left out."""
    texts = family_tables()[family]
    return "".join(texts[str(part)] for part in parts if part).format(**values)


def rephrase(family: Family, statement: str, random: Random) -> str:
    """The statement with another beginning, half of the time after a sentence about where the task comes from."""
    table = read_table("phrasings.toml")
    for frames in (table["write"], table["repair"]):
        plain = frames[0].format(family.signature)
        statement = statement.replace(plain, random.choice(frames).format(family.signature), 1)
    contexts = table["contexts"].get(family.name, [])
    if contexts and chance(random, 0.5):
        statement = f"{random.choice(contexts)} {statement}"
    return statement


def options(family: str, name: str) -> dict[str, Any]:
    """A table of families.toml."""
    table: dict[str, Any] = family_tables()[family][name]
    return table


def family_tables() -> dict[str, dict[str, Any]]:
    """families.toml: a table for each family."""
    return read_table("families.toml")


@cache
def read_table(name: str) -> dict[str, Any]:
    """A table of this folder."""
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))


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
