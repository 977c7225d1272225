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

from aegir_rl.simulator.checking import equal_values
from aegir_rl.simulator.solvers import text_library as library
from aegir_rl.simulator.solvers.solver import SearchSolver
from aegir_rl.simulator.source import module_source
from aegir_rl.simulator.task import PublicTask

APPLICATIONS = {1: 20, 2: 60, 3: 600}
LONGEST_CHAIN = 3
CELL_KINDS = ("text", "int", "float", "upper", "flag", "list", "lower", "title")
Parameters = Callable[[PublicTask], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class ChainStep:
    """A library function with the types it goes between, and the parameters worth trying."""

    takes: str
    gives: str
    function: Callable[..., Any]
    parameters: Parameters


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


def fit_columns(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    """Parameters of `map_columns`: for every target key the source key, kind and default that explain the public cases."""
    pairs: list[Any] = [(case.arguments[0], case.expected) for case in task.public]
    if not all(isinstance(row, dict) and isinstance(result, dict) for row, result in pairs):
        return
    sources = sorted({name for row, _ in pairs for name in row})
    targets = sorted({name for _, result in pairs for name in result})
    columns = []
    for target in targets:
        fitted = [
            found
            for source in sources
            for kind in CELL_KINDS
            for found in _fit_column(pairs, source, target, kind)
        ]
        if not fitted:
            return
        columns.append(fitted[0][1:])
    yield columns, True
    yield columns, False


def _fit_column(pairs: list[Any], source: str, target: str, kind: str) -> Iterator[tuple[Any, ...]]:
    """How many cases with a value this source and kind explain, and the column; nothing if one contradicts."""
    default, explained = None, 0
    for row, result in pairs:
        value = row.get(source)
        if value is None or not str(value).strip():
            default = result.get(target, default)
            continue
        try:
            if target not in result or not equal_values(
                library.convert_cell(value, kind), result[target]
            ):
                return
        except ValueError:
            return
        explained += 1
    if explained:
        yield explained, source, target, kind, default


ORDERS = ("dmy", "mdy")
DAY_FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%Y-%m", "quarter", "%Y-%j", "%G-W%V", "plain")
PERSON_FORMS = ("{s}, {g}", "{g} {s}", "{i.} {s}", "{s}, {i}", "{f} {S}", "parts")
LAYOUTS = (
    "number street, city, postcode",
    "street number, postcode city",
    "postcode city | street number",
)
STEPS = (
    ChainStep("text", "date", library.read_day, _grid(ORDERS, ORDERS, (0, 50, 30, 70))),
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
    ChainStep("object", "object", library.map_columns, fit_columns),
    ChainStep("date", "text", library.write_day, _grid(DAY_FORMS)),
    ChainStep("person", "any", library.write_person, _grid(PERSON_FORMS)),
    ChainStep("place", "any", library.write_place, _grid(("object", "list", "line", "city"))),
    ChainStep("number", "number", library.round_number, _grid((2, 1, 3, 0, 4))),
)


class CompositionSolver(SearchSolver):
    """Chains readers and writers by type."""

    name = "composition"
    about = "readers and writers of dates, numbers, names, addresses, quantities and rows, chained by type"
    costs: Mapping[int, float] = MappingProxyType({1: 0.02, 2: 0.03, 3: 0.06})
    amounts = APPLICATIONS

    def search(self, task: PublicTask, effort: int, amount: int) -> Iterator[str]:  # noqa: ARG002
        """Chains that give the expected values, the shortest first."""
        if any(len(case.arguments) != 1 for case in task.public):
            return
        arguments = tuple(case.arguments[0] for case in task.public)
        chains = [_Chain(_type_of(arguments), (), arguments)]
        seen = {repr(arguments)}
        for _ in range(LONGEST_CHAIN):
            longer: list[_Chain] = []
            for old, step, parameters in _steps_after(chains, task):
                if amount <= 0:
                    return
                amount -= 1
                values = tuple(_apply(step.function, value, parameters) for value in old.values)
                key = f"{step.gives}{values!r}"
                if key in seen or all(value is None for value in values):
                    continue
                seen.add(key)
                longer.append(_Chain(step.gives, (*old.steps, (step, parameters)), values))
                fits, missing = _compare(values, task)
                if fits:
                    yield _source(longer[-1], task.function, missing)
            chains = longer


def _steps_after(
    chains: list[_Chain], task: PublicTask
) -> Iterator[tuple[_Chain, ChainStep, tuple[Any, ...]]]:
    for chain, step in product(chains, STEPS):
        if step.takes == chain.kind:
            yield from ((chain, step, parameters) for parameters in step.parameters(task))


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
    steps = ", ".join(
        f"({step.function.__name__}, {parameters!r})" for step, parameters in found.steps
    )
    used = dict.fromkeys(step.function for step, _ in found.steps)
    call = f"chain(value, [{steps}], {missing!r})"
    return module_source(f"{function}(value)", call, *used, library.chain)
