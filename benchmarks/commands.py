"""The commands that benchmarks start: Aegir as installed beside this Python, and its references."""

import importlib.util
import sys
import sysconfig
from pathlib import Path

FRICTIONLESS_DESCRIBES = (
    "import sys, frictionless\nfor path in sys.argv[1:]: frictionless.describe(path)"
)
CSV_DETECTIVE_EXPLORES = (
    "import sys, logging\nlogging.disable()\nfrom csv_detective import routine\n"
    "for path in sys.argv[1:]: routine(path, save_results=False)"
)


def aegir(*arguments: str | Path) -> list[str]:
    """The `aegir` command of this environment."""
    script = Path(sysconfig.get_path("scripts")) / "aegir"
    start = [str(script)] if script.is_file() else [sys.executable, "-m", "aegir"]
    return [*start, *map(str, arguments)]


def python(code: str, *arguments: str | Path, interpreter: Path | None = None) -> list[str]:
    """A Python that runs one piece of code."""
    return [str(interpreter or sys.executable), "-c", code, *map(str, arguments)]


def is_installed(module: str) -> bool:
    """Whether a reference can be measured in this environment."""
    return importlib.util.find_spec(module) is not None
