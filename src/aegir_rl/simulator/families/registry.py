"""The families by name. To add one: write `draw_NAME`, and its table in families.toml.

Without names, those whose solution is a function are meant; families of repositories are asked for by name.
"""

from collections.abc import Sequence
from importlib import import_module

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.families.family import Family, family_tables
from aegir_rl.simulator.task import FUNCTION

FAMILIES = {
    name: Family(
        name,
        table["about"],
        table["signature"],
        getattr(import_module(f"{__package__}.{table['module']}"), f"draw_{name}"),
        table.get("kind", FUNCTION),
    )
    for name, table in family_tables().items()
}


def find_families(names: Sequence[str]) -> list[Family]:
    """The families of these names, or all of functions; raise `UsageError` for a name that is none."""
    for name in names:
        if name not in FAMILIES:
            raise UsageError(f"there is no family {name!r}; choose from {', '.join(FAMILIES)}")
    return [
        family
        for name, family in FAMILIES.items()
        if (name in names if names else family.kind == FUNCTION)
    ]
