"""Packages that only training needs: where one is missing, a sentence says how to get it."""

from collections.abc import Iterator
from contextlib import contextmanager

from aegir.errors import AegirError


@contextmanager
def training_packages() -> Iterator[None]:
    """Around imports of what only training needs: says which package is missing, and how to get it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise AegirError(
            f"training needs {missing.name}; install it with: pip install 'aegir[train]'"
        ) from None
