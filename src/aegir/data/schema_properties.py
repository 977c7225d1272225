"""What a Schema.org property says about its column: our relation and our type, where that is near-certain.

    offers.price          -> relation price,    type price
    author.name           -> relation author,   type Person/name
    nutrition.fatContent  -> relation nutrition, type Mass
    name of a Recipe      -> no relation (it is the subject), type Recipe/name

A nested property counts as its last part, because SOTAB flattened markup the same way: containers such as
`address` and `offers` are dropped, and the `name` of an author or brand is the author or brand itself.
A type is given where at least nine in ten SOTAB columns of the relation have it, and where the columns of these
publishers looked like that type to a reader (docs/data-engine.md has the figures).

schema_properties.tsv says for each property its type (a Date or a DateTime, as the cells show), whether it is a
container, and whether its value is a thing that SOTAB shows by name. schema_kinds.tsv lists the kinds of entity
worth a table, with the type of their names where it is one of ours.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.tsv import read_tsv
from aegir.vocabulary.terms import COLUMN_TYPES, RELATIONS

HERE = Path(__file__).parent
_PROPERTIES = {
    name: (column_type, container == "yes", named == "yes")
    for _, (name, column_type, container, named) in read_tsv(
        HERE / "schema_properties.tsv", "property type container named"
    )
}
_TYPES = {name: column_type for name, (column_type, _, _) in _PROPERTIES.items() if column_type}
_CONTAINERS = frozenset(name for name, (_, container, _) in _PROPERTIES.items() if container)
_NAMED = frozenset(name for name, (_, _, named) in _PROPERTIES.items() if named)
_HAS_TIME = re.compile(r"\d[T ]\d{1,2}:\d\d")
NAME_TYPES: Mapping[str, str | None] = {
    kind: name_type or None
    for _, (kind, name_type) in read_tsv(HERE / "schema_kinds.tsv", "kind name_type")
}
"""The kinds of entity worth a table, and the type of their names; None where the name is of no type of ours."""


@dataclass(frozen=True, slots=True)
class ColumnLabels:
    """Our labels for one column; None where the property does not decide."""

    type: str | None = None
    relation: str | None = None


def labels_of(kind: str, path: str, cells: Sequence[str]) -> ColumnLabels:
    """Return our labels for the column of property `path` (dotted) in a table of `kind`."""
    name = flat_name(path)
    if name is None:
        return ColumnLabels()
    relation = "nutrition" if _TYPES.get(name) == "Mass" else name
    return ColumnLabels(_type_of(kind, name, cells), relation if relation in RELATIONS else None)


def flat_name(path: str) -> str | None:
    """Return the property that a dotted path is once flattened; None when it belongs to another thing."""
    *outer, last = path.split(".")
    if (last == "name" and outer and outer[-1] in _NAMED) or (
        last in ("url", "contentUrl") and outer and outer[-1] in ("image", "logo")
    ):
        last = outer.pop()
    if not outer:
        return last
    return last if last != "name" and _CONTAINERS.issuperset(outer) else None


def _type_of(kind: str, name: str, cells: Sequence[str]) -> str | None:
    name_type = NAME_TYPES.get(kind)
    if name == "name" or (name == "headline" and name_type == "CreativeWork/name"):
        return name_type
    if name == "description":
        described = f"{(name_type or kind).removesuffix('/name')}/description"
        return described if described in COLUMN_TYPES else None
    column_type = _TYPES.get(name)
    if column_type == "Date|DateTime":
        return "DateTime" if any(_HAS_TIME.search(cell) for cell in cells) else "Date"
    return column_type
