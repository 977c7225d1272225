"""Everything that an answer may be called: the tree of kinds, types and fine types, relations, and the types a user taught.

for entry in list_entries(load_types(types_folder(), say)): ...      from the top of the tree down, then relations
entry_as_dict(entry)                                                 for JSON, on the command line and over HTTP
"""

from collections.abc import Iterator, Sequence

from aegir.pipeline.custom_types.store import CustomType
from aegir.vocabulary.hierarchy import tree_below, tree_path_of
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    RELATIONS,
    FineType,
    Kind,
    Relation,
    Term,
    TermPath,
    TypeTerm,
)

Entry = Kind | Term | CustomType
"""What can be listed; its `level` says which it is."""


def list_entries(taught: Sequence[CustomType]) -> Iterator[Entry]:
    """Yield kinds, types, fine types and taught types from the top of the tree down, then relations."""
    terms = {**FINE_TYPES, **COLUMN_TYPES}
    for kind, entry in KINDS.items():
        yield entry
        for name in tree_below((kind,)):
            yield terms[name]
            yield from (terms[finer] for finer in tree_below((kind, name)))
        yield from (custom_type for custom_type in taught if custom_type.kind == kind)
    yield from RELATIONS.values()


def place_of(entry: Entry) -> TermPath:
    """Return where it hangs in the tree; relations are outside."""
    if isinstance(entry, CustomType):
        return (entry.kind, entry.name)
    if isinstance(entry, Kind):
        return (entry.name,)
    return () if isinstance(entry, Relation) else tree_path_of(entry.name)


def lies_in(places: Sequence[TermPath], entry: Entry) -> bool:
    """Return whether an entry lies at or below one of these places, in the tree or among the classes."""
    paths = [place_of(entry), *([entry.path] if isinstance(entry, Term) else [])]
    return any(path[: len(place)] == place for place in places for path in paths)


def entry_as_dict(entry: Entry) -> dict[str, object]:
    """Return a JSON-ready object."""
    shown: dict[str, object] = {"name": entry.name, "level": entry.level}
    if isinstance(entry, TypeTerm | CustomType):
        shown["kind"] = entry.kind
    shown["definition"] = entry.definition
    if not isinstance(entry, Relation):
        shown["tree"] = place_of(entry)
    if isinstance(entry, CustomType):
        shown |= {
            "personal": entry.personal,
            "examples": entry.examples,
            "counter_examples": entry.counter_examples,
            "weights": entry.fingerprint,
            "figures": entry.figures,
        }
        return shown
    shown["example"] = entry.example
    if isinstance(entry, FineType):
        shown |= {"types": entry.types, "may_have_no_type": entry.may_have_no_type}
    if isinstance(entry, Term):
        shown |= {"iri": entry.iri, "path": entry.path}
        shown |= {"personal": entry.personal, "personal_level": entry.personal_level}
    if isinstance(entry, Relation):
        shown["domain"] = entry.domain
    return shown
