"""Three ladders: imports look down only, and what users run never reaches torch.

    aegir_rl     numpy only, a distribution of its own; knows nothing of the other two
    aegir        the product; may import aegir_rl
    aegir.lab    with aegir.swarm, all that learns or measures; may import both, and torch

To change the architecture, change LADDERS; docs/architecture.md shows them as they are here.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
LADDERS = {
    "aegir_rl": [
        "base",
        "processes episode observe",
        "rewards raters health",
        "rl offline",
        "simulator",
        "plugins",
    ],
    "aegir": [
        "tables vocabulary",
        "answers",
        "memory readers",
        "routing",
        "pipeline",
        "evaluation masking",
        "engines",
        "service agents",
        "cli",
        "__init__ __main__ accessors",
    ],
    "aegir.lab": ["lab.nets", "swarm", "lab"],
}
"""Each ladder from its lowest rung; a package may import lower rungs of its ladder and the ladders before it."""
TORCH_LADDER = "aegir.lab"
NUMPY_ONLY = "aegir_rl"
OPTIONAL = {"duckdb", "psycopg", "gymnasium", "yaml"}
"""Extras of aegir-rl, imported where they are used."""
FOR_TRAINING = {"torch", "numba", "sklearn", "scipy", "babel", "faker", "safetensors", "joblib"}
"""Packages of the `train` extra."""


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def imported(path: Path) -> tuple[tuple[str, int], ...]:
    """Every module that a file imports, also inside functions, but not for type checkers only."""
    return tuple(_imports(ast.parse(path.read_text(encoding="utf-8"))))


def _imports(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom) and node.module:
        yield node.module, node.lineno
        # `from aegir.lab.nets import wkv7` imports a module too.
        yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((alias.name, node.lineno) for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def rung_of(module: str) -> tuple[int, int, str]:
    """The number of a module's ladder, of its rung, and the package that stands there."""
    root, _, below = module.partition(".")
    places = [
        (len(package), ladder, rung, package)
        for ladder, (name, rungs) in enumerate(LADDERS.items())
        if name.split(".")[0] == root
        for rung, packages in enumerate(rungs)
        for package in packages.split()
        if f"{below or '__init__'}.".startswith(f"{package}.")
    ]
    if root == "aegir_rl" and not below:
        return 0, len(LADDERS["aegir_rl"]), "__init__"
    _, ladder, rung, package = max(places)
    return ladder, rung, package


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_only_look_down(module: str) -> None:
    ladder, rung, here = rung_of(module)
    for name, line in imported(MODULES[module]):
        if name in MODULES:
            *place, there = rung_of(name)
            same = place == [ladder, rung] and here == there
            assert same or tuple(place) < (ladder, rung), f"{here} looks up at {there}, line {line}"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_torch_is_imported_only_by_what_learns(module: str) -> None:
    if list(LADDERS)[rung_of(module)[0]] != TORCH_LADDER:
        reached = {name.split(".")[0] for name, _ in imported(MODULES[module])}
        assert not reached & FOR_TRAINING


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith(NUMPY_ONLY)))
def test_the_rl_library_needs_numpy_only(module: str) -> None:
    reached = {name.split(".")[0] for name, _ in imported(MODULES[module])}
    assert reached <= {NUMPY_ONLY, "numpy", *OPTIONAL, *sys.stdlib_module_names}
