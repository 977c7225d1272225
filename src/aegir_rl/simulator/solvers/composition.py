"""Type-directed composition: chain library functions whose types lead from the argument to the result.

    text ──read_day──▶ date ──write_day──▶ text            text ──read_amount──▶ number ──round_number──▶ number

The search goes breadth first over chains of at most three steps. A chain is its values in all public cases: chains with the same values
are the same, one that reads nothing, or nothing where a result is expected, ends there. What no step can read gives one
constant, taken from the cases. The effort says how many steps with parameters are tried.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

from aegir_rl.simulator.checking import Verdict, equal_values
from aegir_rl.simulator.solvers import text_library as library
from aegir_rl.simulator.solvers.fitting import first_confirmed, is_too_large
from aegir_rl.simulator.solvers.row_mapping import fit_columns
from aegir_rl.simulator.solvers.solver import Run, budget, programs_to_skip
from aegir_rl.simulator.source import module_source
from aegir_rl.simulator.task import PublicTask

APPLICATIONS = {1: 20, 2: 60, 3: 600}
LONGEST_CHAIN = 3
IMPORTS = "csv datetime io re"
Parameters = Callable[[PublicTask], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class ChainStep:
    """A library function with the types it goes between, and the parameters worth trying."""

    takes: str
    gives: str
    function: Callable[..., Any]
    parameters: Parameters
    helpers: tuple[Callable[..., Any], ...] = ()


@dataclass(frozen=True, slots=True)
class _Chain:
    kind: str
    steps: tuple[tuple[ChainStep, tuple[Any, ...]], ...]
    values: tuple[Any, ...]


def _grid(*choices: Iterable[Any]) -> Parameters:
    tuples = list(product(*choices))
    return lambda _task: tuples


def _tables(task: PublicTask) -> list[tuple[str, list[str]]]:
    """Files of two columns, with the entries of the first."""
    texts = [text for text in task.files.values() if text.partition("\n")[0].count(",") == 1]
    return [(text, [line.partition(",")[0] for line in text.splitlines()[1:]]) for text in texts]


def _abbreviations(task: PublicTask) -> dict[str, str]:
    lines = [line.split(",") for text, _ in _tables(task) for line in text.splitlines()[1:]]
    return dict(lines)


def _luhn_parameters(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    good = [str(case.arguments[0]) for case in task.public if case.expected is True]
    plain = ["".join(sign for sign in value if sign.isdigit()) for value in good]
    for length, size in product(sorted({len(value) for value in plain}), (2, 1)):
        starts = sorted({value[:size] for value in plain})
        for gaps in (" -", "", " ", "-"):
            yield gaps, starts, length


LAYOUTS = (
    "number street, city, postcode",
    "street number, postcode city",
    "postcode city | street number",
)
STEPS = (
    ChainStep(
        "text", "date", library.read_day, _grid(("dmy", "mdy"), ("dmy", "mdy"), (0, 50, 30, 70))
    ),
    ChainStep("text", "number", library.read_amount, _grid((".", ","), (0.01, 1.0))),
    ChainStep("text", "person", library.read_person, _grid((True,))),
    ChainStep(
        "text",
        "place",
        library.read_place,
        lambda task: [(layout, _abbreviations(task)) for layout in LAYOUTS],
    ),
    ChainStep(
        "text",
        "number",
        library.read_quantity,
        lambda task: [(text, unit) for text, units in _tables(task) for unit in units],
    ),
    ChainStep("text", "flag", library.is_luhn, _luhn_parameters),
    ChainStep("object", "object", library.map_columns, fit_columns, (library.convert_cell,)),
    ChainStep(
        "date",
        "text",
        library.write_day,
        _grid(("%Y-%m-%d", "%d.%m.%Y", "%Y-%m", "quarter", "%Y-%j", "%G-W%V", "plain")),
    ),
    ChainStep(
        "person",
        "any",
        library.write_person,
        _grid(("{s}, {g}", "{g} {s}", "{i.} {s}", "{s}, {i}", "{f} {S}", "parts")),
    ),
    ChainStep("place", "any", library.write_place, _grid(("object", "list", "line", "city"))),
    ChainStep("number", "number", library.round_number, _grid((2, 1, 3, 0, 4))),
)


class CompositionSolver:
    """Chains readers and writers by type."""

    name = "composition"
    about = "readers and writers of dates, numbers, names, addresses, quantities and rows, chained by type"
    costs: Mapping[int, float] = MappingProxyType({1: 0.02, 2: 0.03, 3: 0.06})

    def propose(
        self, task: PublicTask, effort: int, run: Run, feedback: Verdict | None
    ) -> str | None:
        """A module with the first chain that gives the expected values."""
        if is_too_large(task) or any(len(case.arguments) != 1 for case in task.public):
            return None
        found = _search(task, budget(APPLICATIONS, effort, feedback))
        return first_confirmed(found, task, run, programs_to_skip(feedback))


def _search(task: PublicTask, applications: int) -> Iterator[str]:
    arguments = tuple(case.arguments[0] for case in task.public)
    chains = [_Chain(_type_of(arguments), (), arguments)]
    seen = {repr(arguments)}
    for _ in range(LONGEST_CHAIN):
        longer: list[_Chain] = []
        for old, step in product(chains, STEPS):
            if step.takes != old.kind:
                continue
            for parameters in step.parameters(task):
                if applications <= 0:
                    return
                applications -= 1
                values = tuple(_apply(step.function, value, parameters) for value in old.values)
                if f"{step.gives}{(key := repr(values))}" in seen or all(
                    value is None for value in values
                ):
                    continue
                seen.add(f"{step.gives}{key}")
                made = _Chain(step.gives, (*old.steps, (step, parameters)), values)
                fits, missing = _compare(made.values, task)
                if fits:
                    yield _source(made, task.function, missing)
                longer.append(made)
        chains = longer


def _apply(function: Callable[..., Any], value: Any, parameters: tuple[Any, ...]) -> Any:
    try:
        return None if value is None else function(value, *parameters)
    except Exception:  # a library function on a value that it was not made for
        return None


def _compare(values: tuple[Any, ...], task: PublicTask) -> tuple[bool, Any]:
    """Whether the values are those expected, where unread ones are one constant; and that constant."""
    unread = [
        case.expected for case, value in zip(task.public, values, strict=True) if value is None
    ]
    missing = unread[0] if unread else None
    filled = [missing if value is None else value for value in values]
    fits = all(
        equal_values(value, case.expected) for value, case in zip(filled, task.public, strict=True)
    )
    return fits, missing


def _type_of(values: tuple[Any, ...]) -> str:
    for kind, name in ((str, "text"), (dict, "object")):
        if all(isinstance(value, kind) for value in values):
            return name
    return "other"


def _source(found: _Chain, function: str, missing: Any) -> str:
    used: dict[Callable[..., Any], None] = {}
    for step, _ in found.steps:
        used |= dict.fromkeys((*step.helpers, step.function))
    steps = ", ".join(
        f"({step.function.__name__}, {parameters!r})" for step, parameters in found.steps
    )
    return module_source(
        f"{function}(value)",
        f"chain(value, [{steps}], {missing!r})",
        *used,
        library.chain,
        imports=IMPORTS,
    )
