"""Names that a package offers and loads on first use, so that importing the package costs nothing; `dir` lists them.

    __getattr__ = lazy_names(__name__, __file__)                             # in rewards/__init__.py
    from aegir_rl.rewards.combined import CombinedReward as CombinedReward   # in rewards/__init__.pyi

The stub beside a package is the one list of its names: type checkers read it, and so does this module, on first use.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def lazy_names(package: str, file: str) -> Callable[[str], Any]:
    """A module `__getattr__` that imports a name from where the package's stub does; `__all__` and `dir` list these names."""

    @cache
    def homes() -> dict[str, str]:
        stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
        return {name: home for home, name in _IMPORT.findall(stub)}

    def load(name: str) -> Any:
        if name == "__all__":
            return list(homes())
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes()[name]), name)

    vars(sys.modules[package])["__dir__"] = lambda: sorted(homes())
    return load
