"""Retrieval of templates: operations on whole tables, chosen by the words of the statement, with fitted parameters.

    statement ──words in common──▶ templates in order ──values from cases and statement──▶ first that fits the public cases

Every template lists key words and the parameters worth trying for a task: names come from the rows, numbers from the statement, choices
from a short list. The effort says how many combinations are tried in all, those of the best-matching template first.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, permutations, product
from types import MappingProxyType
from typing import Any

from aegir_rl.simulator.solvers import table_library as library
from aegir_rl.simulator.solvers.solver import Candidate, SearchSolver, fitting
from aegir_rl.simulator.task import PublicTask

COMBINATIONS = {1: 60, 2: 600, 3: 12_000}
SIGNS = "\n;|&,/:=>~-.x"
Grid = Callable[[PublicTask], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Template:
    """A library function, the words that speak for it, and the parameters to try."""

    function: Callable[..., Any]
    words: frozenset[str]
    grid: Grid


TEMPLATES: list[Template] = []


def _template(function: Callable[..., Any], words: str) -> Callable[[Grid], Grid]:
    """Make a template of this function; what is decorated gives the parameters to try."""

    def add(grid: Grid) -> Grid:
        TEMPLATES.append(Template(function, frozenset(words.split()), grid))
        return grid

    return add


def _rows(task: PublicTask, argument: int = 0) -> list[dict[str, Any]]:
    """All rows of an argument that is a list of objects, over the public cases."""
    return _objects(
        [case.arguments[argument] for case in task.public if len(case.arguments) > argument]
    )


def _results(task: PublicTask) -> list[dict[str, Any]]:
    """All expected rows, over the public cases."""
    return _objects([case.expected for case in task.public])


def _objects(tables: list[Any]) -> list[dict[str, Any]]:
    return [
        row for table in tables if isinstance(table, list) for row in table if isinstance(row, dict)
    ]


def _names(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _subsets(items: list[str], least: int, most: int) -> Iterator[list[str]]:
    return (list(chosen) for size in range(least, most + 1) for chosen in combinations(items, size))


def _mentioned(names: list[str], task: PublicTask) -> list[str]:
    """Names in the order in which the statement quotes them, those it does not quote last."""
    positions = {name: task.statement.find(repr(name)) for name in names}
    return sorted(
        names, key=lambda name: positions[name] if positions[name] >= 0 else len(task.statement)
    )


@_template(library.unique_rows, "deduplicate record same rows kept duplicates first")
def _unique(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    rows = _rows(task)
    names = _mentioned(_names(rows), task)
    numeric = [name for name in names if rows and all(type(row.get(name)) is int for row in rows)]
    kept = [("first", ""), ("last", ""), *(("most", name) for name in numeric), ("filled", "")]
    for keys in _subsets(names, 1, 3):
        for loose in chain([[]], [keys], _subsets(keys, 1, len(keys) - 1)):
            yield from ((keys, loose, keep, by) for keep, by in kept)


@_template(library.joined_ids, "join left right key pairs id")
def _join(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    left, right = _names(_rows(task)), _names(_rows(task, 1))
    pairs = [pair for pair in product(left, right) if "id" not in pair]
    steps = ["case", "blanks", "signs", "zeros", "accents", "prefix"]
    for keys, chosen in product(pairs, _subsets(steps, 0, 4)):
        yield from ((keys, chosen, kind) for kind in ("inner", "left", "anti"))


@_template(library.wide_table, "reshape long wide into pivot sorted sum largest")
def _wide(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    names = _names(_rows(task))
    made = _names(_results(task))
    prefixes = ["", *_common_starts([name for name in made if name not in names])]
    for order in (names[:3], *permutations(names[:3], 3)):
        for prefix, how, fill in product(
            prefixes, ("sum", "last", "max", "min", "count"), (0, None, -1, "")
        ):
            yield tuple(order), how, fill, prefix


def _common_starts(names: list[str]) -> list[str]:
    """What all names begin with, up to the last underscore."""
    start = names[0] if names else ""
    while start and not all(name.startswith(start) for name in names):
        start = start[:-1]
    return [start[: start.rfind("_") + 1]] if "_" in start else []


@_template(library.long_table, "reshape wide long unpivot turned identify column")
def _long(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    made = _names(_results(task))
    columns = _names(_rows(task))
    ids = [name for name in made if name in columns]
    new = [name for name in made if name not in columns]
    prefixes = ["", *_common_starts([name for name in columns if name not in ids])]
    for names, skip, prefix in product(product(new, new), (False, True), prefixes):
        yield ids, names, skip, prefix


def _numbers(task: PublicTask, pattern: str) -> list[float]:
    return [float(found) for found in re.findall(pattern, task.statement)]


@_template(library.far_values, "outlier outliers deviations median quartiles limit")
def _far(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    factors = _numbers(task, r"than (\d+(?:\.\d+)?)") or [1.5, 2.0, 2.5, 3.0]
    counts = [int(count) for count in _numbers(task, r"fewer than (\d+)")] or [2, 3, 4, 5]
    methods = ("pstdev", "stdev", "quartiles", "mad", "steps")
    return product(methods, factors, counts, ("both", "high", "low"))


@_template(library.key_values, "parse entries key value comment text")
def _entries(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    signs = [sign for sign in SIGNS if any(sign in str(case.arguments[0]) for case in task.public)]
    comments = [
        "",
        *(sign for sign in "#%!@" if any(sign in str(case.arguments[0]) for case in task.public)),
    ]
    pairs = [pair for pair in product(signs, signs) if pair[0] != pair[1]]
    for pair, comment in product(pairs, comments):
        yield from (
            (*pair, comment, options, again)
            for options in ("", "t", "l", "tl")
            for again in ("last", "first", "list")
        )


@_template(library.weighted_check, "valid digits sum multiplied divisible check")
def _checks(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    listed = re.findall(r"\d+(?:, \d+){3,}", task.statement)
    moduli = _numbers(task, r"divisible by (\d+)")
    prefixes = ["", *re.findall(r"'([A-Z]+)'", task.statement)]
    for text, modulus, prefix, gaps in product(
        listed, moduli, reversed(prefixes), ("", " ", "-", " -")
    ):
        yield prefix, [int(number) for number in text.split(", ")], int(modulus), gaps


@_template(library.numbers_in_ranges, "valid numbers ranges whole between ends")
def _ranges(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    ranges = [
        (int(least), int(most)) for least, most in re.findall(r"(\d+) to (\d+)", task.statement)
    ]
    yield from product([ranges], SIGNS, (False, True)) if ranges else ()


@_template(library.rolling_mean, "mean values before place rounded list")
def _windows(_task: PublicTask) -> Iterator[tuple[Any, ...]]:
    return product(range(2, 6), range(1, 4))


@_template(library.clipped, "values below above none leave range move")
def _bounds(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    numbers = [int(number) for number in re.findall(r"-?\d+", task.statement)]
    return combinations(sorted(set(numbers)), 2)


class TemplateSolver(SearchSolver):
    """Retrieves templates by words and fits their parameters."""

    name = "templates"
    about = "operations on whole tables, chosen by words of the statement, with fitted parameters"
    costs: Mapping[int, float] = MappingProxyType({1: 0.02, 2: 0.04, 3: 0.2})
    amounts = COMBINATIONS

    def search(self, task: PublicTask, effort: int, amount: int) -> Iterator[str]:
        """Templates and parameters that fit, those of the best-matching template first."""
        words = set(re.findall(r"[a-z]+", task.statement.lower()))
        ordered = sorted(TEMPLATES, key=lambda template: -len(template.words & words))[: effort + 1]
        candidates = (
            Candidate(template.function, tuple(parameters))
            for template in ordered
            for parameters in template.grid(task)
        )
        return fitting(task, candidates, amount)
