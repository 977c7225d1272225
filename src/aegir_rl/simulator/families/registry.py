"""The families by name. To add one: write its file, and name it here."""

from collections.abc import Sequence

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.families import (
    addresses,
    column_by_example,
    dates,
    deduplication,
    join_keys,
    names,
    numbers,
    outliers,
    parsers,
    pivot,
    regular_expressions,
    repair,
    schema_mapping,
    unit_conversion,
    validation,
)
from aegir_rl.simulator.families.family import Family

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (
        addresses,
        column_by_example,
        dates,
        deduplication,
        join_keys,
        names,
        numbers,
        outliers,
        parsers,
        pivot,
        regular_expressions,
        repair,
        schema_mapping,
        unit_conversion,
        validation,
    )
}


def find_families(names_given: Sequence[str]) -> list[Family]:
    """The families of these names, or all; raise `UsageError` for a name that is none."""
    for name in names_given:
        if name not in FAMILIES:
            raise UsageError(f"there is no family {name!r}; choose from {', '.join(FAMILIES)}")
    return [family for name, family in FAMILIES.items() if not names_given or name in names_given]
