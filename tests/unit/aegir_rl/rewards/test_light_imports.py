"""Rewards, learning rules and observing load numpy and little else, for use in other people's loops."""

from pathlib import Path

import pytest

from command_line import run_process

SOURCE = Path(__file__).parents[4] / "src" / "aegir_rl"
MODULES = [
    f"aegir_rl.{package}.{path.stem}"
    for package in ("rewards", "rl", "observe")
    for path in sorted((SOURCE / package).glob("*.py"))
    if path.stem != "__init__"
]
HEAVY = ("torch", "duckdb", "rich", "click", "sklearn", "scipy", "pandas", "aegir")


@pytest.mark.parametrize("package", ["rewards", "rl", "observe"])
def test_importing_a_package_alone_loads_nothing_heavy(package: str):
    names = [name for name in MODULES if name.startswith(f"aegir_rl.{package}.")]
    code = (
        f"import sys, importlib\nfor name in {names!r}: importlib.import_module(name)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = run_process(python=code)
    assert (done.code, done.out.strip()) == (0, "[]"), done.err
