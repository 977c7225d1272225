"""The families by name. To add one: write `draw_NAME`, and its table in families.toml."""

from collections.abc import Sequence
from importlib import import_module

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.families.family import Family, family_tables

FAMILIES = {
    name: Family(
        name,
        table["about"],
        table["signature"],
        getattr(import_module(f"{__package__}.{table['module']}"), f"draw_{name}"),
    )
    for name, table in family_tables().items()
}


def find_families(names: Sequence[str]) -> list[Family]:
    """The families of these names, or all; raise `UsageError` for a name that is none."""
    for name in names:
        if name not in FAMILIES:
            raise UsageError(f"there is no family {name!r}; choose from {', '.join(FAMILIES)}")
    return [family for name, family in FAMILIES.items() if not names or name in names]
