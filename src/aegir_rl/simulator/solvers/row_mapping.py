"""Fit a mapping between two schemas: for every target key the source key, kind and default that explain the cases."""

from collections.abc import Iterator
from typing import Any

from aegir_rl.simulator.checking import equal_values
from aegir_rl.simulator.solvers.text_library import convert_cell
from aegir_rl.simulator.task import PublicTask

CELL_KINDS = ("text", "int", "float", "upper", "flag", "list", "lower", "title")


def fit_columns(task: PublicTask) -> Iterator[tuple[Any, ...]]:
    """Parameters of `map_columns` that may fit the public cases: at most a few."""
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
            if target not in result or not equal_values(convert_cell(value, kind), result[target]):
                return
        except ValueError:
            return
        explained += 1
    if explained:
        yield explained, source, target, kind, default
