"""The families by name. To add one: write its file, and name it here."""

from collections.abc import Sequence
from importlib import import_module

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.families.family import Family

NAMES = [
    "addresses",
    "column_by_example",
    "dates",
    "deduplication",
    "join_keys",
    "names",
    "numbers",
    "outliers",
    "parsers",
    "pivot",
    "regular_expressions",
    "repair",
    "schema_mapping",
    "unit_conversion",
    "validation",
]
FAMILIES: dict[str, Family] = {
    name: import_module(f"aegir_rl.simulator.families.{name}").FAMILY for name in NAMES
}


def find_families(names: Sequence[str]) -> list[Family]:
    """The families of these names, or all; raise `UsageError` for a name that is none."""
    for name in names:
        if name not in FAMILIES:
            raise UsageError(f"there is no family {name!r}; choose from {', '.join(FAMILIES)}")
    return [family for name, family in FAMILIES.items() if not names or name in names]
