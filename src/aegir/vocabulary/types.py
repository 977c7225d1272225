"""The 82 column types Aegir can answer with: what a column *is*.

    COLUMN_TYPES["price"].definition   ->  "What one thing costs its buyer: …"
    TYPE_NAMES                         ->  ("Book/description", "Book/name", …, "workHours")

The names are the labels of the SOTAB benchmark, which takes them from Schema.org; names ending in AT
("any type") gather several Schema.org terms into one. Definitions and examples are our own, and every
example is invented. The entries live beside this file by subject: value_types, work_types, thing_types.

Promises
  - exactly 82 types; `TYPE_NAMES` is sorted by code point, so an index into it is stable;
  - `path` runs from a root class to the type; its last part is the name below the class.
"""

from dataclasses import dataclass

from aegir.vocabulary.classes import class_path
from aegir.vocabulary.privacy import PERSONAL_TYPES
from aegir.vocabulary.thing_types import THING_TYPES
from aegir.vocabulary.value_types import VALUE_TYPES
from aegir.vocabulary.work_types import WORK_TYPES

SCHEMA_ORG = "https://schema.org/"
IRI_EXCEPTIONS = {
    "IdentifierAT": "identifier",
    "CoordinateAT": "GeoCoordinates",
    "MusicArtistAT": "MusicGroup",
}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """One answer to "what is this column?"."""

    name: str
    definition: str
    example: str
    """Invented, like everything in the vocabulary."""
    iri: str
    """The Schema.org term; `name` and `description` for the types that end so."""
    path: tuple[str, ...]
    personal: bool
    """Whether such columns usually hold personal data; privacy.py says why."""


def _column_type(name: str, parent: str, example: str, definition: str) -> ColumnType:
    leaf = name.rpartition("/")[2]
    # A class that is a type itself (CreativeWork) is filed under its own name once, not twice.
    path = class_path(parent) if parent == name else (*class_path(parent), leaf)
    iri = SCHEMA_ORG + IRI_EXCEPTIONS.get(name, leaf)
    return ColumnType(name, definition, example, iri, path, name in PERSONAL_TYPES)


COLUMN_TYPES: dict[str, ColumnType] = {
    name: _column_type(name, *entry)
    for name, entry in sorted({**VALUE_TYPES, **WORK_TYPES, **THING_TYPES}.items())
}
TYPE_NAMES: tuple[str, ...] = tuple(COLUMN_TYPES)
