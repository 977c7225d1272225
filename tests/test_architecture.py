"""The ladder: imports look down only, and what users run never reaches torch.

To change the architecture, change LADDER (and docs/architecture.md).
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "aegir"
LADDER = [
    "errors",
    "config seeding arrays allocator files tsv lazy",
    "episode run_folder observe engines",
    "tables vocabulary metrics",
    "answers",
    "model rewards raters health",
    "nets",
    "rl offline",
    "memory",
    "annotators",
    "swarm",
    "search",
    "dispatch simulator data plugins",
    "service training",
    "cli",
    "__init__ __main__",
]
RUNG = {name: rung for rung, names in enumerate(LADDER) for name in names.split()}
FOR_TRAINING = ("torch", "numba", "sklearn", "scipy", "babel", "faker")
"""Packages of the `train` extra."""
USED = (
    "__main__ cli.main cli.annotate cli.bench cli.evaluate cli.types cli.rl_data cli.rl_policies cli.runs cli.sim cli.sim_train cli.swarm cli.swarm_map cli.doctor "
    "annotators answers arrays config dispatch engines episode health memory metrics model observe offline plugins raters rewards rl run_folder search "
    "service simulator swarm.added_answer swarm.pool tables training.ppo training.specialists.growth_tables tsv vocabulary"
)
"""What people use without the `train` extra: modules, and packages with all they hold."""


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("aegir", *path.relative_to(SOURCE).with_suffix("").parts)
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
        # `from aegir.nets import wkv7` imports a module too.
        yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((alias.name, node.lineno) for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_only_look_down(module: str) -> None:
    here = [*module.split("."), "__init__"][1]
    for name, line in imported(MODULES[module]):
        if name in MODULES:
            there = [*name.split("."), "__init__"][1]
            assert here == there or RUNG[there] < RUNG[here], (
                f"{here} looks up at {there}, line {line}"
            )


@pytest.mark.parametrize("used", ["aegir", *(f"aegir.{name}" for name in USED.split())])
def test_what_users_run_reaches_no_package_for_training(used: str) -> None:
    """Along every chain of imports; the chain is in the message."""
    below = f"{used}." if used != "aegir" else "aegir alone"
    waiting = {name: used for name in MODULES if name == used or name.startswith(below)}
    reached: dict[str, str] = {}
    while waiting:
        name, chain = waiting.popitem()
        assert name.split(".")[0] not in FOR_TRAINING, f"{chain} reaches {name}"
        reached[name] = chain
        for other, _ in imported(MODULES[name]) if name in MODULES else ():
            known = other in MODULES or other.split(".")[0] in FOR_TRAINING
            if known and other not in reached:
                waiting.setdefault(other, f"{chain} > {other}")
