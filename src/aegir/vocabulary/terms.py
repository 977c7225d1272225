"""The terms Aegir answers with: kinds, column types, fine types and relations, read from the TSV files here.

    COLUMN_TYPES["price"].definition   ->  "What one thing costs its buyer: …"
    FINE_TYPES["status"].types         ->  ("CategoryCode",), and may_have_no_type is True
    TYPE_NAMES                         ->  ("Book/description", "Book/name", …, "workHours")

A kind says in one word what sort of column it is, a column type says what the cells are, a fine type says it
more narrowly, and a relation says what a column tells about the subject column. Column types and relations are
the labels of the SOTAB benchmark, which takes them from Schema.org; type names ending in AT ("any type") gather
several Schema.org terms. Kinds and fine types are for all tables. Definitions and examples are our own, and
every example is invented.

The files hold one term per line (to add a term, add a line):

  name        sorted by code point; the models' outputs are in the order of the files
  kind        the kind of a column type or fine type, a name of kinds.tsv
  parents     what the term is filed under, the most typical first, separated by |: classes for a type or a
              relation (for a relation, the kinds of subject it describes), for a fine type the column types it
              goes with. "-" among them stands for none: the fine type fits columns that no column type fits
  personal    how a column of this term relates to a person: a key of `PERSONAL`. With a question mark the column
              is personal only if its rows are persons or belong to them: a city is, if someone lives there.
              "no" for facts of things and of programs, which are not personal in rows about persons either
  definition  one or two sentences
  example     one typical value
  iri         the term of the same meaning in Schema.org or another vocabulary; may be empty for a fine type

classes.tsv is Schema.org's class tree, pruned to what is needed, with two roots: Thing (what a cell names) and
DataType (bare values). Where Schema.org gives a class several parents, the one a reader would look under first
is kept: a hotel is a place here, though it is an organisation too. Parts of an address and coordinates are
filed under Place, units under Quantity, contact details under Person and what a job asks for under JobPosting.
relation_types.tsv has the column types that columns of each relation have, - for none of them, and the fine types of that
relation alone.
rows.tsv has the classes of what one row of a table is, with a definition and an example each.
renamed.tsv maps names of earlier versions and of label sets to the names of today.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from aegir_rl.base.errors import AegirError
from aegir_rl.base.text import read_tsv

HERE = Path(__file__).parent
TermPath = tuple[str, ...]
"""Names from a root class down to a term."""
NO_TYPE = "-"
"""Among the parents of a fine type: columns of it may have none of the column types."""

PERSONAL_LEVELS = ("direct", "indirect", "about")
"""Whether a personal column points to a person by itself, together with other columns, or only tells about one."""
IDENTIFYING_LEVELS = PERSONAL_LEVELS[:2]
"""The levels of columns that point to a person, alone or together with others."""
SPECIAL_CATEGORIES = (
    "health",
    "disability",
    "genetic",
    "biometric",
    "ethnicity",
    "religion",
    "politics",
    "union",
    "sexual_life",
    "crime",
)
"""Personal data that articles 9 and 10 of the GDPR protect beyond the rest."""
PERSON_STATES = ("none", "linked", "self")
"""Whether the rows of a table are about no person in particular, belong to one person each, or are persons."""


@dataclass(frozen=True, slots=True)
class PersonalMeaning:
    """How a personal column relates to its person."""

    level: str
    """One of `PERSONAL_LEVELS`."""
    reason: str
    unless: str = "things"
    """Where a column that is so by its name is not personal: where the rows are visibly `things` or aggregates, where they belong
    to `nobody`, or nowhere (``""``): a person's name is personal in every table."""
    linked: str | None = None
    """The level in rows that belong to a person but are none, where it is another."""

    def level_in(self, person: str | None) -> str:
        """Return the level in rows of this one of PERSON_STATES; None where that is not known."""
        return self.linked if person == "linked" and self.linked else self.level


PERSONAL: Mapping[str, PersonalMeaning] = {
    "names": PersonalMeaning("direct", "names a person", unless=""),
    "calls": PersonalMeaning("direct", "part of the name of a person"),
    "identifies": PersonalMeaning("direct", "identifies a person", unless=""),
    "reaches": PersonalMeaning("direct", "reaches a person", unless="nobody"),
    "accounts": PersonalMeaning("direct", "the key or account of a customer", unless="nobody"),
    "traces": PersonalMeaning(
        "direct", "leads to a device, vehicle or account of a person", unless="nobody"
    ),
    "keys": PersonalMeaning("direct", "a key in rows about persons", linked="about"),
    "locates": PersonalMeaning("indirect", "where someone lives or works", unless="nobody"),
    "distinguishes": PersonalMeaning(
        "indirect", "singles a person out together with other columns"
    ),
    "body": PersonalMeaning("indirect", "the body of a person"),
    "earns": PersonalMeaning("indirect", "what a person earns"),
    "health": PersonalMeaning("about", "the health of a person"),
    "believes": PersonalMeaning("about", "what a person believes"),
    "crime": PersonalMeaning("about", "an offence and who committed or suffered it"),
    "describes": PersonalMeaning("about", "tells something about a person"),
}
"""The words of the column `personal`; hierarchy.py has the policy."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of columns, the widest answer there is."""

    level: ClassVar[str] = "kind"
    name: str
    if_personal: PersonalMeaning
    """How such a column relates to a person when it does."""
    definition: str
    example: str


@dataclass(frozen=True, slots=True)
class Term:
    """A name of the vocabulary and what is known about it."""

    level: ClassVar[str]
    columns: ClassVar[str]
    """The columns of its file."""
    name: str
    parents: tuple[str, ...]
    personal: bool
    """Whether a column of this term is likely to hold personal data, whatever table it is in."""
    in_rows: bool
    """Whether it does in rows that are persons or belong to them."""
    if_personal: PersonalMeaning
    """How such a column relates to a person when it does."""
    definition: str
    example: str
    iri: str | None
    path: TermPath
    """Where it is filed: the classes above it, for a fine type also the column type, and its own name."""

    @property
    def personal_level(self) -> str | None:
        """How closely such columns identify a person; None when they are not likely to be personal."""
        return self.if_personal.level if self.personal else None

    @property
    def personal_reason(self) -> str | None:
        """Why such columns are likely to hold personal data; None when they are not."""
        return self.if_personal.reason if self.personal else None


@dataclass(frozen=True, slots=True)
class TypeTerm(Term):
    """A column type or a fine type."""

    columns = "name kind parents personal definition example iri"
    kind: str
    """One of `KIND_NAMES`."""


class ColumnType(TypeTerm):
    """An answer to "what is this column?"; `X/name` is what an X is called, `X/description` prose about it."""

    __slots__ = ()
    level = "column type"


class FineType(TypeTerm):
    """A narrower type; snake_case."""

    __slots__ = ()
    level = "fine type"

    @property
    def parent(self) -> str | None:
        """The column type it refines most often; None where that is none of them."""
        return None if self.parents[0] == NO_TYPE else self.parents[0]

    @property
    def types(self) -> tuple[str, ...]:
        """The column types it goes with, the most typical first."""
        return tuple(name for name in self.parents if name != NO_TYPE)

    @property
    def may_have_no_type(self) -> bool:
        """Whether a column of it may have none of the column types."""
        return NO_TYPE in self.parents


class Relation(Term):
    """An answer to "what does this column say about the subject?"."""

    __slots__ = ()
    level = "relation"
    columns = "name parents personal definition example iri"

    @property
    def domain(self) -> tuple[str, ...]:
        """The kinds of subject it describes, the most typical first."""
        return self.parents


AnyTerm = TypeVar("AnyTerm", bound=Term)


@dataclass(frozen=True, slots=True)
class RowClass:
    """What sort of thing a row of a table is."""

    name: str
    definition: str
    example: str


def load_row_classes(path: Path) -> dict[str, RowClass]:
    """Return the row classes of a file by name."""
    classes: dict[str, RowClass] = {}
    for location, fields in read_tsv(path, "name definition example"):
        name, definition, example = fields
        _check_order(location, name, classes)
        classes[name] = RowClass(name, definition, example)
    return classes


def load_kinds(path: Path) -> dict[str, Kind]:
    """Return the kinds of a file by name."""
    kinds: dict[str, Kind] = {}
    for location, fields in read_tsv(path, "name personal definition example"):
        name, word, definition, example = fields
        _check_order(location, name, kinds)
        kinds[name] = Kind(name, _if_personal(location, name, word), definition, example)
    return kinds


def load_classes(path: Path) -> dict[str, TermPath]:
    """Return the path from a root to every class of a file."""
    parents: dict[str, str] = {}
    locations: dict[str, str] = {}
    for location, (name, parent) in read_tsv(path, "name parent"):
        _check_order(location, name, parents)
        parents[name], locations[name] = parent, location
    paths = {}
    for name, location in locations.items():
        upwards = [name]
        while parent := parents[upwards[-1]]:
            if parent not in parents or parent in upwards:
                raise AegirError(
                    f"{location}: {name!r} lies under {parent!r}, an unknown class or a loop"
                )
            upwards.append(parent)
        paths[name] = tuple(reversed(upwards))
    return paths


def load_terms(
    path: Path, term_class: type[AnyTerm], above: Mapping[str, TermPath]
) -> dict[str, AnyTerm]:
    """Return the terms of a file by name; `above` holds the paths of the parents they may have."""
    terms: dict[str, AnyTerm] = {}
    for location, fields in read_tsv(path, term_class.columns):
        row = dict(zip(term_class.columns.split(), fields, strict=True))
        _check_order(location, row["name"], terms)
        terms[row["name"]] = term_class(**_parsed(location, row, above))
    return terms


def load_relation_types(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the column types, and NO_TYPE, that columns of each relation have; the most typical first."""
    return {
        name: _known(location, types, {NO_TYPE, *COLUMN_TYPES})
        for location, (name, types, _) in _relation_rows(path)
    }


def load_relations_of(path: Path) -> dict[str, str]:
    """Return the relations by the fine types that they alone have."""
    return {
        fine: name
        for location, (name, _, names) in _relation_rows(path)
        for fine in _known(location, names, FINE_TYPES)
    }


def _relation_rows(path: Path) -> list[tuple[str, list[str]]]:
    rows = list(read_tsv(path, "name types names"))
    if (names := [fields[0] for _, fields in rows]) != list(RELATIONS):
        odd = sorted({*names} ^ {*RELATIONS}) or ["the order"]
        raise AegirError(f"{path}: expected the relations of relations.tsv; see {odd[0]!r}")
    return rows


def _known(location: str, text: str, names: Collection[str]) -> tuple[str, ...]:
    parts = tuple(filter(None, text.split("|")))
    for part in parts:
        if part not in names:
            raise AegirError(f"{location}: {part!r} is not in the vocabulary")
    return parts


def load_renamed(path: Path) -> dict[str, str]:
    """Return the names of today by the names that a file says they had before."""
    renamed: dict[str, str] = {}
    for location, (old, name) in read_tsv(path, "old_name name"):
        _check_order(location, old, renamed)
        if old in FINE_TYPES or name not in FINE_TYPES:
            raise AegirError(f"{location}: {old!r} is a fine type still, or {name!r} is none")
        renamed[old] = name
    return renamed


def _parsed(location: str, row: Mapping[str, str], above: Mapping[str, TermPath]) -> dict[str, Any]:
    """Return the fields of a term from the cells of its line."""
    name, parents, word = row["name"], tuple(row["parents"].split("|")), row["personal"]
    if "kind" in row and row["kind"] not in KINDS:
        raise AegirError(
            f"{location}: kind is {row['kind']!r} for {name!r}; expected {', '.join(KINDS)}"
        )
    for parent in parents:
        if parent not in above:
            raise AegirError(
                f"{location}: unknown parent {parent!r} of {name!r}; parents of fine types are in "
                "types.tsv, of types and relations in classes.tsv"
            )
    top = above[parents[0]]
    return {
        **row,
        "parents": parents,
        "personal": word in PERSONAL,
        "in_rows": word != "no",
        "if_personal": _if_personal(location, name, word),
        "iri": row["iri"] or None,
        # A class that is a type itself (CreativeWork) is filed under its own name once, not twice.
        "path": top if parents[0] == name else (*top, name.rpartition("/")[2]),
    }


def _if_personal(location: str, name: str, word: str) -> PersonalMeaning:
    """Return what the word of the column `personal` means; what is not personal by itself describes at most."""
    if word != "no" and word.removesuffix("?") not in PERSONAL:
        raise AegirError(
            f"{location}: personal is {word!r} for {name!r}; expected no, {', '.join(PERSONAL)}, "
            "or one of these with a question mark"
        )
    return PERSONAL["describes" if word == "no" else word.removesuffix("?")]


def _check_order(location: str, name: str, before: dict[str, Any]) -> None:
    """Raise for an empty name, a name that occurred before and a line that is not sorted."""
    if not name or name in before:
        raise AegirError(f"{location}: empty or duplicate name {name!r}")
    if before and name < (last := next(reversed(before))):
        raise AegirError(
            f"{location}: {name!r} stands after {last!r}; sort the lines by code point"
        )


KINDS = load_kinds(HERE / "kinds.tsv")
ROW_CLASSES = load_row_classes(HERE / "rows.tsv")
CLASS_PATHS: Mapping[str, TermPath] = load_classes(HERE / "classes.tsv")
COLUMN_TYPES = load_terms(HERE / "types.tsv", ColumnType, CLASS_PATHS)
RELATIONS = load_terms(HERE / "relations.tsv", Relation, CLASS_PATHS)
UNFILED = CLASS_PATHS["Intangible"]
"""Where fine types are filed that go with no column type most of the time."""
FINE_TYPES = load_terms(
    HERE / "fine_types.tsv",
    FineType,
    {NO_TYPE: UNFILED, **{name: each.path for name, each in COLUMN_TYPES.items()}},
)
RELATION_TYPES: Mapping[str, tuple[str, ...]] = load_relation_types(HERE / "relation_types.tsv")
RELATION_OF: Mapping[str, str] = load_relations_of(HERE / "relation_types.tsv")
"""Fine types that columns of one relation alone have: a first name is no familyName."""
RENAMED: Mapping[str, str] = load_renamed(HERE / "renamed.tsv")
"""Fine types by the names they had in earlier versions or have in label sets."""


def plain_name(name: str) -> str:
    """Return a name as people read it: `identifier` for the type IdentifierAT, whose ending is the benchmark's; others as they are."""
    if name not in COLUMN_TYPES or not name.endswith("AT"):
        return name
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("AT")).lower()


KIND_NAMES: tuple[str, ...] = tuple(KINDS)
ROW_NAMES: tuple[str, ...] = tuple(ROW_CLASSES)
TYPE_NAMES: tuple[str, ...] = tuple(COLUMN_TYPES)
FINE_NAMES: tuple[str, ...] = tuple(FINE_TYPES)
RELATION_NAMES: tuple[str, ...] = tuple(RELATIONS)
TYPE_INDEX: Mapping[str, int] = {name: index for index, name in enumerate(TYPE_NAMES)}
FINE_INDEX: Mapping[str, int] = {name: index for index, name in enumerate(FINE_NAMES)}
RELATION_INDEX: Mapping[str, int] = {name: index for index, name in enumerate(RELATION_NAMES)}
TYPE_CALLED: Mapping[str, str] = {
    plain: name
    for name in TYPE_NAMES
    if (plain := plain_name(name)) not in {name, *KINDS, *FINE_TYPES}
}
"""Column types by the plain names that are names of nothing else: `music_artist`."""
