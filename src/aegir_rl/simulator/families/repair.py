"""Repair: a cleaning function with one to three seeded bugs; the cases show what it should do.

The rules of the functions in words and the bugs to seed are in families.toml. A bug replaces a piece of the function's text
by another: an index that is off by one, a wrong operator, an edge case that is not handled, a wrong encoding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    options,
    sample,
    to_cases,
    words,
    write_solution,
)
from aegir_rl.simulator.source import function_source

YES = ["yes", "y", "true", "on", "ja", "oui", "1"]
NO = ["no", "n", "false", "off", "nein", "non", "0"]
ENCODINGS = ["utf-8", "latin-1", "cp1252", "utf-16-le", "utf-16-be"]
LEFT_OUT = ["cup", "raw", "data", "lamp", "logs", "desk"]


def shorten(value: str, limit: int, ending: str) -> str:
    value = " ".join(value.split())
    if len(value) <= limit:
        return value
    return value[: limit - len(ending)].strip() + ending


def mask(value: str, shown: int, sign: str) -> str:
    digits = [letter for letter in value if letter.isdigit()]
    if len(digits) <= shown:
        return "".join(digits)
    return sign * (len(digits) - shown) + "".join(digits[len(digits) - shown :])


def read_flag(value: str | None, yes: list[str], no: list[str]) -> bool | None:
    if value is None:
        return None
    word = value.strip().lower()
    if word in yes:
        return True
    if word in no:
        return False
    return None


def decode(value: str, encoding: str, missing: str) -> str:
    if value == "":
        return missing
    return bytes.fromhex(value).decode(encoding, "replace").strip()


def moving_mean(values: list[float], window: int, digits: int) -> list[float]:
    means = []
    for end in range(1, len(values) + 1):
        part = values[max(0, end - window) : end]
        means.append(round(sum(part) / len(part), digits))
    return means


def percent_change(values: list[float], digits: int) -> list[float | None]:
    changes: list[float | None] = []
    for place in range(1, len(values)):
        before, after = values[place - 1], values[place]
        if before == 0:
            changes.append(None)
        else:
            changes.append(round((after - before) * 100 / abs(before), digits))
    return changes


def fill_gaps(values: list[Any], default: Any, most: int) -> list[Any]:
    filled, last, run = [], default, 0
    for value in values:
        if value is None:
            run = run + 1
            filled.append(last if run <= most else None)
        else:
            last, run = value, 0
            filled.append(value)
    return filled


def bucket(value: float | None, edges: list[int]) -> int | None:
    if value is None:
        return None
    place = 0
    for edge in edges:
        if value >= edge:
            place = place + 1
    return place


def count_words(value: str, shortest: int, left_out: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in value.lower().split():
        word = word.strip(".,;:!?")
        if len(word) >= shortest and word not in left_out:
            counts[word] = counts.get(word, 0) + 1
    return counts


def within(values: list[Any], low: int, high: int) -> list[Any]:
    kept = []
    for value in values:
        if value is None:
            continue
        kept.append(min(max(value, low), high))
    return kept


Inputs = Callable[[Random, tuple[Any, ...]], list[Any]]


@dataclass(frozen=True, slots=True)
class CleaningFunction:
    """A right function, and how to draw its parameters and inputs; families.toml has its rule and bugs."""

    function: Callable[..., Any]
    parameters: Callable[[Random], tuple[Any, ...]]
    inputs: Inputs
    """Edge cases first."""


FUNCTIONS: list[CleaningFunction] = []


def _cleans(
    function: Callable[..., Any], parameters: Callable[[Random], tuple[Any, ...]]
) -> Callable[[Inputs], Inputs]:
    """Add a function with its parameters; what is decorated draws its inputs."""

    def add(inputs: Inputs) -> Inputs:
        FUNCTIONS.append(CleaningFunction(function, parameters, inputs))
        return inputs

    return add


@_cleans(
    shorten, lambda random: (random.randint(8, 24), random.choice(["…", "...", "~", " [cut]"]))
)
def _texts(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    pool = [*words("product"), *words("colour"), *words("region")]
    texts = [" ".join(sample(random, pool, 2, 9)) for _ in range(14)]
    limit = parameters[0]
    exact = "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz"
    return [exact[:limit].strip(), exact[: limit + 1].strip(), "", "  two  words ", *texts]


@_cleans(mask, lambda random: (random.randint(2, 5), random.choice("*x#•")))
def _digits(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    shown = parameters[0]
    usual = [f"{random.randint(100, 999)}-{random.randint(10**4, 10**7)}" for _ in range(14)]
    return ["1" * shown, "2" * (shown + 1), "", "no digits", "12 34 56 78 90", *usual]


@_cleans(read_flag, lambda random: (sample(random, YES, 2, 4), sample(random, NO, 2, 4)))
def _flags(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    known = [word for group in parameters for word in group]
    cased = [random.choice([word.upper(), word.title(), word]) for word in known]
    return [
        None,
        f" {known[0]} ",
        "",
        "maybe",
        *cased,
        known[-1].upper(),
        f"{known[-1]}\t",
        known[0] + "x",
        "0x",
        *(f" {word.upper()}" for word in known),
    ]


@_cleans(
    decode, lambda random: (random.choice(ENCODINGS), random.choice(["", "-", "missing", "?"]))
)
def _encoded(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    texts = [
        random.choice(words("accented")) + " " + random.choice(words("given")) for _ in range(14)
    ]
    texts = [" Søren", "Müller & Gómez ", "plain", *texts]
    return ["", *(text.encode(parameters[0], "ignore").hex() for text in texts)]


@_cleans(percent_change, lambda random: (random.randint(1, 4),))
@_cleans(moving_mean, lambda random: (random.randint(2, 5), random.randint(1, 3)))
def _series(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    window = parameters[0]
    lengths = [window, window + 1, *(random.randint(2, 8) for _ in range(13))]
    rows = [
        [random.randint(-20, 90) + random.choice([0, 0.5]) for _ in range(length)]
        for length in lengths
    ]
    return [[], [0, 5, 0, 0, -4], [7], *rows]


@_cleans(fill_gaps, lambda random: (random.choice([0, -1, "none", None, 99]), random.randint(1, 3)))
def _gaps(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    gap = [None] * (parameters[-1] + 1)
    rows = [
        [random.choice([None, random.randint(1, 9)]) for _ in range(random.randint(3, 8))]
        for _ in range(13)
    ]
    return [[], [3, *gap, 4], [*gap, 1], [None, 2, None], [0, None], *rows]


@_cleans(bucket, lambda random: (sorted(random.sample(range(0, 200, 5), random.randint(2, 5))),))
def _values_near(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    edges = parameters[0]
    near = [value for edge in edges for value in (edge - 1, edge, edge + 1)]
    return [None, *edges, *near, *(random.randint(-50, 300) for _ in range(12))]


@_cleans(count_words, lambda random: (random.randint(2, 4), sample(random, LEFT_OUT, 1, 3)))
def _sentences(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    pool = [*parameters[1], *words("product"), *words("folder"), "a", "an", "of", "it", "the"]
    rows = [
        " ".join(
            random.choice(pool).title() if chance(random, 0.3) else random.choice(pool)
            for _ in range(8)
        )
        for _ in range(13)
    ]
    return ["", "Cup, cup! CUP.", "a an it of", f"{parameters[1][0].upper()} lamp", *rows]


@_cleans(within, lambda random: (random.randint(-20, 10), random.randint(20, 90)))
def _bounded(random: Random, parameters: tuple[Any, ...]) -> list[Any]:
    low, high = parameters
    rows = [
        [
            random.choice([None, random.randint(low - 30, high + 30)])
            for _ in range(random.randint(2, 7))
        ]
        for _ in range(14)
    ]
    return [[], [None, low, high], [low - 1, high + 1, 0], *rows]


def draw_repair(random: Random, level: int) -> Draft:
    """As many bugs as the level says, in different places; edge cases are public and hidden by turns."""
    chosen = random.choice(FUNCTIONS)
    parameters = chosen.parameters(random)
    right = function_source(chosen.function)
    wrong, bugs, name = right, 0, chosen.function.__name__
    known = options("repair", "bugs")[name]
    for good, bad in random.sample(known, len(known)):
        if bugs < level and wrong.count(good) == 1:
            wrong, bugs = wrong.replace(good, bad), bugs + 1
    inputs = chosen.inputs(random, parameters)
    edges = [(value, chosen.function(value, *parameters)) for value in inputs[:5]]
    usual = [(value, chosen.function(value, *parameters)) for value in inputs[5:]]
    random.shuffle(edges)
    cases = to_cases([*edges[:3], *usual])
    public = cases[: 6 + level]
    seen = {repr(case.arguments) for case in public}
    hidden = [case for case in to_cases([*edges, *usual]) if repr(case.arguments) not in seen]
    solution = write_solution("repair", chosen.function, *parameters)
    rule = options("repair", "rules")[name].format(*parameters)
    return Draft(
        statement=f"The starter code has {'a bug' if bugs == 1 else f'{bugs} bugs'}. "
        f"Repair clean(value), which should do this: {rule}",
        solution=solution,
        public=public,
        hidden=hidden,
        starter=solution.replace(right, wrong),
        difficulty={"bugs": bugs, "lines": solution.count("\n")},
    )
