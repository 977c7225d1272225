"""Writes the files of this folder from pyproject.toml: exact versions with hashes, and the oldest versions allowed.

python requirements/lock.py PIP_COMPILE     # the program of pip-tools; `make lock` installs it in .venv/lock

test.txt      everything that `make test` needs, but torch, of which machines have builds of their own
service.txt   what an image of `aegir serve` needs, with servers of tables
oldest.txt    the lower bound of every requirement that the tests of `make test-oldest` need
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parent / "pyproject.toml"
LOCKS = {"test": ("dev",), "service": ("service", "postgres", "mysql")}
"""The extras of each lock, beside what is always needed."""
UNLOCKED = "torch"
OLDEST = ("dev",)
EDITABLE = ("editables>=0.5,<1",)
"""What hatchling needs for an editable install, of which it does not say so."""
NOT_OLDEST = ("babel", "faker", "mypy", "numba", "ruff", "safetensors", "scikit-learn", "scipy")
"""What trains or checks the code: the tests of the oldest versions need none of it."""
_BOUND = re.compile(r"([\w.-]+(?:\[[\w,]+\])?)>=([\w.]+)")


def main(pip_compile: str) -> None:
    """Write all files."""
    for name, extras in LOCKS.items():
        with tempfile.NamedTemporaryFile("w", suffix=".in") as inputs:
            inputs.write("\n".join(requirements(extras)) + "\n")
            inputs.flush()
            options = ["--generate-hashes", "--allow-unsafe", "--strip-extras"]
            options += ["--no-annotate", "--quiet"]
            command = [pip_compile, *options, "--output-file", HERE / f"{name}.txt", inputs.name]
            subprocess.run(command, check=True)
        text = (HERE / f"{name}.txt").read_text(encoding="utf-8")
        text = re.sub(rf"^{UNLOCKED}==.*(?:\n +.*)*\n", "", text, flags=re.MULTILINE)
        # Comments, and the options that say where this machine looks for packages.
        text = re.sub(r"^(?:(?:#|--).*)?\n", "", text, flags=re.MULTILINE)
        (HERE / f"{name}.txt").write_text(text, encoding="utf-8")
    (HERE / "oldest.txt").write_text("\n".join(oldest()) + "\n", encoding="utf-8")


def requirements(extras: Sequence[str]) -> list[str]:
    """Return what the package always needs, what it is built with, and what these extras need."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    always = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["requirements"]
    optional = project["project"]["optional-dependencies"]

    def expanded(names: Sequence[str]) -> Iterator[str]:
        for requirement in (each for name in names for each in optional[name]):
            own = re.fullmatch(r"aegir-tables\[(.+)\]", requirement)
            yield from expanded(own[1].split(",")) if own else (requirement,)

    building = (*project["build-system"]["requires"], *EDITABLE)
    return sorted({*always, *expanded(extras), *building})


def oldest() -> list[str]:
    """Return the lower bounds as exact versions."""
    found = [_BOUND.match(requirement) for requirement in requirements(OLDEST)]
    return [f"{each[1]}=={each[2]}" for each in found if each and each[1] not in NOT_OLDEST]


if __name__ == "__main__":
    main(*sys.argv[1:])
