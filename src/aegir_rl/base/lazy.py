"""Names that a package offers and loads on first use, so that importing the package costs nothing.

    __getattr__ = lazy_names(__name__, {"CombinedReward": "combined"})     # in aegir/rewards/__init__.py

Type checkers read the same names from the package's `if TYPE_CHECKING:` block; tests/test_public_api.py holds the two equal.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module `__getattr__` that imports a name from its home, a module of the package."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
