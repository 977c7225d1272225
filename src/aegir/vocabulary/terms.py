"""The terms Aegir answers with: column types, fine types and relations, read from the TSV files here.

    COLUMN_TYPES["price"].definition   ->  "What one thing costs its buyer: …"
    TYPE_NAMES                         ->  ("Book/description", "Book/name", …, "workHours")

A column type says what the cells are, a fine type says it more narrowly, and a relation says what a column
tells about the subject column. Types and relations are the labels of the SOTAB benchmark, which takes them
from Schema.org; type names ending in AT ("any type") gather several Schema.org terms. Definitions and
examples are our own, and every example is invented.

The files hold one term per line (to add a term, add a line):

  name        sorted by code point; the models' outputs are in the order of types.tsv and relations.tsv
  parents     what the term is filed under, the most typical first, separated by |: classes for a type or a
              relation (for a relation, the kinds of subject it describes), a column type or nothing for a
              fine type
  personal    "no", or how a column of this term relates to a person: a key of `PERSONAL`
  definition  one or two sentences
  example     one typical value
  iri         the term of the same meaning in Schema.org or another vocabulary; may be empty for a fine type

classes.tsv is Schema.org's class tree, pruned to what is needed, with two roots: Thing (what a cell names) and
DataType (bare values). Where Schema.org gives a class several parents, the one a reader would look under first
is kept: a hotel is a place here, though it is an organisation too. Parts of an address and coordinates are
filed under Place, units under Quantity, contact details under Person and what a job asks for under JobPosting.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from aegir.errors import AegirError
from aegir.tsv import read_tsv

HERE = Path(__file__).parent
TermPath = tuple[str, ...]
"""Names from a root class down to a term."""

PERSONAL: Mapping[str, str | None] = {
    "no": None,
    "names": "names a person",
    "reaches": "reaches a person",
    "locates": "where someone lives or works",
    "describes": "an attribute of a person",
    "identifies": "identifies a person or something of theirs",
}
"""The words of the column `personal` and the reasons they stand for; privacy.py has the policy."""


@dataclass(frozen=True, slots=True)
class Term:
    """A name of the vocabulary and what is known about it."""

    kind: ClassVar[str]
    name: str
    parents: tuple[str, ...]
    personal_reason: str | None
    """Why such columns are likely to hold personal data; None when they are not."""
    definition: str
    example: str
    iri: str | None
    path: TermPath
    """Where it is filed: the classes above it, for a fine type also the column type, and its own name."""

    @property
    def personal(self) -> bool:
        """Whether a column of this term is likely to hold personal data."""
        return self.personal_reason is not None


class ColumnType(Term):
    """An answer to "what is this column?"; `X/name` is what an X is called, `X/description` prose about it."""

    __slots__ = ()
    kind = "column type"


class FineType(Term):
    """A narrower type, named by a rule or by the header rather than learnt; snake_case."""

    __slots__ = ()
    kind = "fine type"

    @property
    def parent(self) -> str | None:
        """The column type it refines; None where none fits."""
        return self.parents[0] if self.parents else None


class Relation(Term):
    """An answer to "what does this column say about the subject?"."""

    __slots__ = ()
    kind = "relation"

    @property
    def domain(self) -> tuple[str, ...]:
        """The kinds of subject it describes, the most typical first."""
        return self.parents


AnyTerm = TypeVar("AnyTerm", bound=Term)


def load_classes(path: Path) -> dict[str, TermPath]:
    """Return the path from a root to every class of a file."""
    parents: dict[str, str] = {}
    places: dict[str, str] = {}
    for place, (name, parent) in read_tsv(path, "name parent"):
        _check_order(place, name, parents)
        parents[name], places[name] = parent, place
    paths = {}
    for name, place in places.items():
        upwards = [name]
        while parent := parents[upwards[-1]]:
            if parent not in parents or parent in upwards:
                raise AegirError(
                    f"{place}: {name!r} lies under {parent!r}, an unknown class or a loop"
                )
            upwards.append(parent)
        paths[name] = tuple(reversed(upwards))
    return paths


def load_terms(
    path: Path, term_class: type[AnyTerm], above: Mapping[str, TermPath]
) -> dict[str, AnyTerm]:
    """Return the terms of a file by name; `above` holds the paths of the parents they may have."""
    terms: dict[str, AnyTerm] = {}
    for place, fields in read_tsv(path, "name parents personal definition example iri"):
        name, parents_field, personal, definition, example, iri = fields
        _check_order(place, name, terms)
        if personal not in PERSONAL:
            raise AegirError(
                f"{place}: personal is {personal!r} for {name!r}; expected {', '.join(PERSONAL)}"
            )
        parents = tuple(parents_field.split("|")) if parents_field else ()
        for parent in parents:
            if parent not in above:
                raise AegirError(
                    f"{place}: unknown parent {parent!r} of {name!r}; parents of fine types are in "
                    "types.tsv, of types and relations in classes.tsv"
                )
        top = above[parents[0]] if parents else UNFILED
        # A class that is a type itself (CreativeWork) is filed under its own name once, not twice.
        term_path = top if parents[:1] == (name,) else (*top, name.rpartition("/")[2])
        reason = PERSONAL[personal]
        terms[name] = term_class(name, parents, reason, definition, example, iri or None, term_path)
    return terms


def _check_order(place: str, name: str, before: dict[str, Any]) -> None:
    """Raise for an empty name, a name that occurred before and a line that is not sorted."""
    if not name or name in before:
        raise AegirError(f"{place}: empty or duplicate name {name!r}")
    if before and name < (last := next(reversed(before))):
        raise AegirError(f"{place}: {name!r} stands after {last!r}; sort the lines by code point")


CLASS_PATHS: Mapping[str, TermPath] = load_classes(HERE / "classes.tsv")
UNFILED = CLASS_PATHS["Intangible"]
"""Where fine types without a column type are filed."""

COLUMN_TYPES = load_terms(HERE / "types.tsv", ColumnType, CLASS_PATHS)
RELATIONS = load_terms(HERE / "relations.tsv", Relation, CLASS_PATHS)
FINE_TYPES = load_terms(
    HERE / "fine_types.tsv", FineType, {name: each.path for name, each in COLUMN_TYPES.items()}
)

TYPE_NAMES: tuple[str, ...] = tuple(COLUMN_TYPES)
RELATION_NAMES: tuple[str, ...] = tuple(RELATIONS)
TYPE_INDEX: Mapping[str, int] = {name: index for index, name in enumerate(TYPE_NAMES)}
RELATION_INDEX: Mapping[str, int] = {name: index for index, name in enumerate(RELATION_NAMES)}
