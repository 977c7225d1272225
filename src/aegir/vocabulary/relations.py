"""The 108 relations Aegir can answer with: what a column says *about* the subject column.

    RELATIONS["closes"].definition   ->  "The time of day at which the subject stops serving visitors."

The names are the labels of the SOTAB benchmark, taken from Schema.org's properties. Fifteen of them are
also names of column types (`price`, `telephone`…): the type says what the cells are, the relation says
what they tell about the subject. Definitions and examples are our own, and every example is invented.
The entries live beside this file by subject of the relation.

Promises
  - exactly 108 relations; `RELATION_NAMES` is sorted by code point, so an index into it is stable;
  - `domain` names classes of `classes.py`, the most typical first; `path` files the relation under it.
"""

from dataclasses import dataclass

from aegir.vocabulary.classes import class_path
from aegir.vocabulary.offer_relations import OFFER_RELATIONS
from aegir.vocabulary.person_and_place_relations import PERSON_AND_PLACE_RELATIONS
from aegir.vocabulary.privacy import PERSONAL_RELATIONS
from aegir.vocabulary.types import SCHEMA_ORG
from aegir.vocabulary.work_relations import WORK_RELATIONS

IRI_EXCEPTIONS = {
    "checkInTime": "checkinTime",
    # Schema.org has no term for the group of height, width and depth; size is the nearest.
    "measurements": "size",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """One answer to "what does this column say about the subject?"."""

    name: str
    definition: str
    example: str
    iri: str
    path: tuple[str, ...]
    personal: bool
    """Whether the values describe or name a person; privacy.py says why."""
    domain: tuple[str, ...]
    """The kinds of subject it describes, the most typical first."""


def _relation(name: str, domain: tuple[str, ...], example: str, definition: str) -> Relation:
    iri = SCHEMA_ORG + IRI_EXCEPTIONS.get(name, name)
    path = (*class_path(domain[0]), name)
    return Relation(name, definition, example, iri, path, name in PERSONAL_RELATIONS, domain)


RELATIONS: dict[str, Relation] = {
    name: _relation(name, *entry)
    for name, entry in sorted(
        {**PERSON_AND_PLACE_RELATIONS, **WORK_RELATIONS, **OFFER_RELATIONS}.items()
    )
}
RELATION_NAMES: tuple[str, ...] = tuple(RELATIONS)
