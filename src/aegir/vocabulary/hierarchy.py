"""How the vocabulary nests: classes at the top, column types below them, fine types at the leaves.

    path_of("Book/name")       ->  ("Thing", "CreativeWork", "Book", "name")
    children_of("Quantity")    ->  ("Distance", "Duration", "Energy", …)
    is_a("postalCode", "Place")    True: it is filed under Place

A name can be a column type, a fine type and a relation at once (`isbn`): `lookup` gives the first in that
order, `meanings_of` all of them. Relations have paths as well but are nobody's children: they say what a
column tells about its subject, not what its cells are.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

from aegir.errors import UsageError
from aegir.vocabulary.classes import PARENTS, ROOTS, class_path
from aegir.vocabulary.fine_types import FINE_TYPES, FineType
from aegir.vocabulary.relations import RELATIONS, Relation
from aegir.vocabulary.types import COLUMN_TYPES, ColumnType

Term = ColumnType | FineType | Relation
UNFILED = class_path("Intangible")
"""Where fine types without a coarse parent stand."""


def path_of(name: str) -> tuple[str, ...]:
    """From a root down to this type, fine type, relation or class."""
    if name in COLUMN_TYPES:
        return COLUMN_TYPES[name].path
    if name in FINE_TYPES:
        parent = FINE_TYPES[name].parent
        return (*(UNFILED if parent is None else path_of(parent)), name)
    if name in PARENTS or name in ROOTS:
        return class_path(name)
    if name in RELATIONS:
        return RELATIONS[name].path
    raise _unknown(name, [*COLUMN_TYPES, *FINE_TYPES, *PARENTS, *ROOTS, *RELATIONS])


def children_of(name: str) -> tuple[str, ...]:
    """The classes, types and fine types directly below this one, sorted."""
    return _children().get(path_of(name), ())


def is_a(name: str, ancestor: str) -> bool:
    """Whether `name` is filed at or below `ancestor`."""
    above = path_of(ancestor)
    return path_of(name)[: len(above)] == above


def lookup(name: str) -> Term:
    """The column type, fine type or relation of this name, in that order."""
    return meanings_of(name)[0]


def meanings_of(name: str) -> tuple[Term, ...]:
    """Everything this name stands for; at least one entry."""
    places: tuple[dict[str, ColumnType] | dict[str, FineType] | dict[str, Relation], ...]
    places = (COLUMN_TYPES, FINE_TYPES, RELATIONS)
    found = tuple(place[name] for place in places if name in place)
    if not found:
        raise _unknown(name, [*COLUMN_TYPES, *FINE_TYPES, *RELATIONS])
    return found


@cache
def _children() -> dict[tuple[str, ...], tuple[str, ...]]:
    below: dict[tuple[str, ...], set[str]] = {}
    for name in [*PARENTS, *COLUMN_TYPES, *FINE_TYPES]:
        below.setdefault(path_of(name)[:-1], set()).add(name)
    return {path: tuple(sorted(names)) for path, names in below.items()}


def _unknown(name: str, known: Iterable[str]) -> UsageError:
    # Case apart, people mostly know the name: 'Telephone' should find 'telephone'.
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = [by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=3)]
    if near:
        return UsageError(
            f"unknown name {name!r}; did you mean {' or '.join(repr(each) for each in near)}?"
        )
    return UsageError(f"unknown name {name!r}; see all names with: aegir types list")
