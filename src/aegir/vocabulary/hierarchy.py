"""How the vocabulary nests: in a tree of kinds for people, and in the classes of Schema.org.

    kind_of("status")               ->  "category"
    goes_with("status", None)           True: a status has none of the column types most of the time
    tree_path_of("salary")          ->  ("money", "MonetaryAmount", "salary")
    tree_path_of("date_of_birth")   ->  ("person", "date_of_birth"), for its type, Date, is of another kind

    path_of("Book/name")       ->  ("Thing", "CreativeWork", "Book", "name")
    children_of("Quantity")    ->  ("Distance", "Duration", "Energy", …)
    is_a("postalCode", "Place")    True: it is filed under Place

A name can be a column type, a fine type and a relation at once (`isbn`): `lookup` returns the first in that
order, `meanings_of` all of them. Relations have paths but are not children of the classes on them: they say
what a column tells about its subject, not what its cells are.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

from aegir.errors import UsageError
from aegir.vocabulary.terms import (
    CLASS_PATHS,
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    RELATIONS,
    Term,
    TermPath,
)


def kind_of(name: str) -> str:
    """Return the kind of a column type or fine type; a kind is its own."""
    return tree_path_of(name)[0]


def goes_with(fine_type: str, type_name: str | None) -> bool:
    """Return whether a column can have this fine type and this column type, or none for None, at once."""
    term = FINE_TYPES[fine_type]
    return term.may_have_no_type if type_name is None else type_name in term.types


def tree_path_of(name: str) -> TermPath:
    """Return the path from its kind down to this kind, column type or fine type.

    A fine type hangs below its main column type if that is of the same kind, and directly below its kind
    otherwise: a date of birth tells about a person, though it is a Date.
    """
    if name in COLUMN_TYPES:
        return (COLUMN_TYPES[name].kind, name)
    if name in KINDS:
        return (name,)
    if name in FINE_TYPES:
        kind, parent = FINE_TYPES[name].kind, FINE_TYPES[name].parent
        same = parent is not None and COLUMN_TYPES[parent].kind == kind
        return (kind, parent, name) if parent and same else (kind, name)
    raise _unknown(name, [*COLUMN_TYPES, *KINDS, *FINE_TYPES])


def tree_below(path: TermPath) -> tuple[str, ...]:
    """Return the names directly below this place of the tree, sorted; () stands above the kinds.

    A place is given by its path, because a kind and a column type are both called `category`.
    """
    return _tree().get(path, ())


def path_of(name: str) -> TermPath:
    """Return the path from a root down to this type, fine type, class or relation."""
    if name in COLUMN_TYPES or name in FINE_TYPES:
        return lookup(name).path
    if name in CLASS_PATHS:
        return CLASS_PATHS[name]
    if name in RELATIONS:
        return RELATIONS[name].path
    raise _unknown(name, [*COLUMN_TYPES, *FINE_TYPES, *CLASS_PATHS, *RELATIONS])


def children_of(name: str) -> tuple[str, ...]:
    """Return the classes, types and fine types directly below this one, sorted."""
    return _children().get(path_of(name), ())


def is_a(name: str, ancestor: str) -> bool:
    """Return whether `name` is filed at or below `ancestor`."""
    above = path_of(ancestor)
    return path_of(name)[: len(above)] == above


def lookup(name: str) -> Term:
    """Return the column type, fine type or relation of this name, in that order."""
    return meanings_of(name)[0]


def meanings_of(name: str) -> tuple[Term, ...]:
    """Return every term of this name, at least one; raise for an unknown name and suggest near ones."""
    terms: tuple[Term | None, ...]
    terms = (COLUMN_TYPES.get(name), FINE_TYPES.get(name), RELATIONS.get(name))
    known = tuple(term for term in terms if term)
    if not known:
        raise _unknown(name, [*COLUMN_TYPES, *FINE_TYPES, *RELATIONS])
    return known


@cache
def _tree() -> dict[TermPath, tuple[str, ...]]:
    below: dict[TermPath, list[str]] = {(): list(KINDS)}
    for name in sorted([*COLUMN_TYPES, *FINE_TYPES]):
        below.setdefault(tree_path_of(name)[:-1], []).append(name)
    return {path: tuple(names) for path, names in below.items()}


@cache
def _children() -> dict[TermPath, tuple[str, ...]]:
    below: dict[TermPath, set[str]] = {}
    for name in [*CLASS_PATHS, *COLUMN_TYPES, *FINE_TYPES]:
        below.setdefault(path_of(name)[:-1], set()).add(name)
    return {path: tuple(sorted(names)) for path, names in below.items()}


def _unknown(name: str, known: Iterable[str]) -> UsageError:
    # Users mostly get the letters right and the case wrong: 'Telephone' should suggest 'telephone'.
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = [by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=3)]
    if near:
        return UsageError(
            f"unknown name {name!r}; did you mean {' or '.join(repr(each) for each in near)}?"
        )
    return UsageError(f"unknown name {name!r}; see all names with: aegir types list")
