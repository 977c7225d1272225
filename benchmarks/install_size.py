"""How large is the base install?

A new virtual environment, `pip install --no-compile` of this tree, and the bytes of every file of every
package but pip and setuptools. Needs the network, or a pip that is told where packages are.
"""

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Runs, run_command
from benchmarks.options import Options
from benchmarks.recording import ROOT
from benchmarks.result import Measurement, Ratio, Result, at_most

QUESTION = "megabytes of the base install, dependencies included"
UNIT = "MB"
TARGET = 160
OURSELVES = "aegir-tables"
REFERENCE = "numpy"
TOOLS = ("pip", "setuptools", "wheel")
"""What a virtual environment brings along."""
LISTS_PACKAGES = """
import importlib.metadata, json
sizes = {}
for package in importlib.metadata.distributions():
    files = (package.locate_file(file) for file in package.files or ())
    sizes[package.name] = sum(file.stat().st_size for file in files if file.is_file())
print(json.dumps(sizes))
"""


def run(_: Options) -> Result:
    """Install and weigh; the reference is numpy, the one dependency everybody knows."""
    sizes = {name: size for name, size in _installed(ROOT).items() if name not in TOOLS}
    heaviest_first = sorted(sizes, key=lambda name: -sizes[name])
    packages = {name: Measurement(name, UNIT, _megabytes(sizes[name])) for name in heaviest_first}
    total = Measurement("base install", UNIT, _megabytes(sum(sizes.values())))
    return Result(
        benchmark="install_size",
        question=QUESTION,
        data="pip install --no-compile . in a new virtual environment",
        measurements=(total, *packages.values()),
        ratios=(Ratio(total, packages[REFERENCE]), Ratio(packages[OURSELVES], packages[REFERENCE])),
        targets=(at_most(total, TARGET),),
        settings={"repeats": 1},
    )


def _installed(project: Path) -> dict[str, int]:
    """Bytes of each package in a new environment that holds the project."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        listing = Path(folder) / "sizes.json"
        run_command([sys.executable, "-m", "venv", folder])
        run_command([python, "-m", "pip", "install", "--quiet", "--no-compile", project])
        run_command([python, "-c", LISTS_PACKAGES], output=listing)
        return json.loads(listing.read_text(encoding="utf-8"))


def _megabytes(size: int) -> Runs:
    return Runs((size / 1e6,))
