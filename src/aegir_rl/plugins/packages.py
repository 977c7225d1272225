"""Other people's packages: imported where an adapter is, and refused when they are not what it was written for.

    VF = open_package("verifiers", "verifiers.v1", "Task TaskData Taskset reward")

packages.tsv has the versions that the adapters were tested with (`make test-plugins`). A package that is missing, or that
lacks one of the names, is one sentence; nothing here falls back to anything else.
"""

import csv
from functools import cache
from importlib import import_module, metadata
from importlib.resources import files
from typing import Any

from aegir_rl.base.errors import UsageError, reason_of


class PackageUnusable(UsageError, ImportError):
    """A package that an adapter needs is missing, or has another interface than the one the adapter was written for."""


@cache
def known_versions() -> dict[str, str]:
    """The version of each package that its adapter was tested with."""
    text = files("aegir_rl.plugins").joinpath("packages.tsv").read_text("utf-8")
    return {
        row["package"]: row["version"] for row in csv.DictReader(text.splitlines(), delimiter="\t")
    }


def open_package(package: str, module: str, names: str) -> Any:
    """Import a module of a package and check that it has these names, separated by spaces."""
    advice = f"the adapter was tested with: pip install '{package}=={known_versions()[package]}'"
    try:
        version = metadata.version(package)
    except metadata.PackageNotFoundError:
        raise _unusable(f"{package} is not installed; {advice}", module) from None
    try:
        opened = import_module(module)
    except ImportError as error:
        raise _unusable(
            f"{module} of {package} {version} cannot be imported ({reason_of(error)}); {advice}",
            module,
        ) from error
    missing = [name for name in names.split() if not hasattr(opened, name)]
    if missing:
        raise _unusable(
            f"{module} of {package} {version} has no {', '.join(missing)}; its interface is not the "
            f"expected one; {advice}",
            module,
        )
    return opened


def _unusable(sentence: str, module: str) -> PackageUnusable:
    error = PackageUnusable(sentence)
    error.name = module.split(".")[0]
    return error
