"""The ladder: imports look down only. To change the architecture, change LADDER (and docs/architecture.md)."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "aegir"
LADDER = [
    "errors",
    "config seeding arrays files tsv",
    "episode run_folder observe",
    "tables vocabulary metrics",
    "answers",
    "model rewards raters health",
    "nets",
    "rl offline",
    "annotators swarm",
    "dispatch simulator data plugins",
    "service training",
    "cli",
    "__init__ __main__",
]
RUNG = {name: rung for rung, names in enumerate(LADDER) for name in names.split()}
TORCH_FREE = (
    "errors config seeding tsv run_folder observe tables vocabulary model rewards annotators dispatch "
    "service cli __init__"
)


def imported_modules(tree: ast.AST) -> list[tuple[str, int]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.append((node.module or "", node.lineno))
        elif isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
    return found


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE))
)
def test_imports_only_look_down(path: Path) -> None:
    here = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for module, line in imported_modules(tree):
        if module == "aegir" or module.startswith("aegir."):
            there = [*module.split("."), "__init__"][1]
            assert here == there or RUNG[there] < RUNG[here], (
                f"{here} looks up at {there}, line {line}"
            )


@pytest.mark.parametrize("package", TORCH_FREE.split())
def test_using_aegir_never_imports_torch_at_module_level(package: str) -> None:
    roots = [SOURCE / f"{package}.py", *(SOURCE / package).rglob("*.py")]
    for path in (root for root in roots if root.is_file()):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            modules = [module for module, _ in imported_modules(ast.Module([statement], []))]
            assert not any(module.split(".")[0] == "torch" for module in modules), path
