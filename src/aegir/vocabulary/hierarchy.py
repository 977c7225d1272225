"""How the vocabulary nests, in one tree of kinds, column types and fine types and in Schema.org's classes; what is personal.

    tree_path_of("salary")          ->  ("money", "MonetaryAmount", "salary")
    tree_path_of("date_of_birth")   ->  ("person", "date_of_birth"), for its type, Date, is of another kind
    tree_below(("money", "price"))  ->  ("currency_amount", "item_price", …)
    kind_of("status")               ->  "category"
    goes_with("status", None)           True: a status has none of the column types most of the time
    relates("brand", "Movie/name")      False: columns of this relation name makes and companies
    places_of("Place")              ->  (("Thing", "Place"),), a class
    taken_name("Area Code")         ->  the fine type area_code

A name can be a column type or a fine type, a relation and a kind at once (`category`): `meanings_of` returns
all of them. Column types and relations are filed in the class tree, too (`Term.path`); fine types there lie
below their main column type.

**Personal data.** The column `personal` of the vocabulary's files says what a column of a term is to a person: a word of
`PERSONAL`, with a level. The bare word stands where that holds in nearly every table; with a question mark it holds in rows
that are persons or belong to one: a town, a job, a score. "no" is for what things and programs are like. The rule is in
docs/answers.md, and pipeline/personal.py applies it.

  - A fine type is more exact than its column type and decides alone: an ISBN is not personal although other identifiers
    are; an IBAN is. A relation can add what a type does not say: a Date is not personal, a birthDate is.
  - Dates of death are personal in rows about persons only: the regulation protects the living (recital 27).
  - The mark is a hint for review, not legal advice. Free text may mention people and is not marked by its type.
"""

from collections.abc import Iterable
from functools import cache

from aegir.vocabulary.terms import (
    CLASS_PATHS,
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    PERSONAL,
    PERSONAL_LEVELS,
    RELATION_OF,
    RELATION_TYPES,
    RELATIONS,
    RENAMED,
    TYPE_CALLED,
    Kind,
    PersonalMeaning,
    Term,
    TermPath,
    plain_name,
)
from aegir_rl.base.errors import UsageError


def kind_of(name: str) -> str:
    """Return the kind of a column type or fine type; a kind is its own."""
    return tree_path_of(name)[0]


def goes_with(fine_type: str, type_name: str | None) -> bool:
    """Return whether a column can have this fine type and this column type, or none for None, at once."""
    term = FINE_TYPES[fine_type]
    return term.may_have_no_type if type_name is None else type_name in term.types


def relates(relation: str, type_name: str | None, fine_type: str | None = None) -> bool:
    """Return whether a column can have this relation beside this column type and fine type, each None if not given."""
    if RELATION_OF.get(fine_type or "", relation) != relation:
        return False
    types = RELATION_TYPES[relation]
    if type_name is not None:
        return type_name in types
    return fine_type is None or not set(types).isdisjoint(FINE_TYPES[fine_type].parents)


def is_right(answered: str | None, correct: str) -> bool:
    """Return whether an answered label is the correct one, or stands below it in the vocabulary."""
    if answered is None:
        return False
    if plain_name(answered) == plain_name(correct):
        return True
    answered, correct = (TYPE_CALLED.get(name, name) for name in (answered, correct))
    if answered in FINE_TYPES and correct in COLUMN_TYPES:
        return goes_with(answered, correct)
    is_known = answered in FINE_TYPES or answered in COLUMN_TYPES
    return is_known and correct in KINDS and kind_of(answered) == correct


def tree_path_of(name: str) -> TermPath:
    """Return the path from its kind down to this column type, fine type or kind.

    A fine type hangs below its main column type if that is of the same kind, and directly below its kind
    otherwise: a date of birth tells about a person, though it is a Date.
    """
    name = TYPE_CALLED.get(name, name)
    if name in COLUMN_TYPES:
        return (COLUMN_TYPES[name].kind, name)
    if name in FINE_TYPES:
        kind, parent = FINE_TYPES[name].kind, FINE_TYPES[name].parent
        same = parent is not None and COLUMN_TYPES[parent].kind == kind
        return (kind, parent, name) if parent and same else (kind, name)
    if name in KINDS:
        return (name,)
    raise _unknown(name, [*COLUMN_TYPES, *FINE_TYPES, *KINDS])


def tree_below(path: TermPath) -> tuple[str, ...]:
    """Return the names directly below this node of the tree, column types first; () stands above the kinds.

    A node is named by its path, because a kind and a column type are both called `category`.
    """
    return _tree().get(path, ())


def places_of(name: str) -> tuple[TermPath, ...]:
    """Return where this kind, column type, fine type or class is, in the tree and among the classes."""
    paths: list[TermPath] = [(name,)] if name in KINDS else []
    if name in COLUMN_TYPES or name in FINE_TYPES:
        paths += [tree_path_of(name), {**COLUMN_TYPES, **FINE_TYPES}[name].path]
    if name in CLASS_PATHS:
        paths.append(CLASS_PATHS[name])
    if not paths:
        raise _unknown(name, [*COLUMN_TYPES, *FINE_TYPES, *KINDS, *CLASS_PATHS])
    return tuple(paths)


def meanings_of(name: str) -> tuple[Kind | Term, ...]:
    """Return every column type, fine type, relation and kind of this name, in that order; at least one.

    Raises UsageError for an unknown name and suggests near ones.
    """
    if known := _called(name):
        return known
    raise _unknown(name, [*COLUMN_TYPES, *FINE_TYPES, *RELATIONS, *KINDS])


def taken_name(name: str) -> Kind | Term | None:
    """Return the column type, fine type, relation or kind that this name means or is another spelling of.

    Spellings that differ in case, spaces and punctuation only are one: `Area Code` and `areaCode` mean `area_code`.
    A name that a fine type had before is taken, too.
    """
    return next(iter(_called(name)), None) or _spellings().get(_spelling(name))


def _called(name: str) -> tuple[Kind | Term, ...]:
    called = COLUMN_TYPES.get(TYPE_CALLED.get(name, name))
    terms = (called, FINE_TYPES.get(name), RELATIONS.get(name), KINDS.get(name))
    return tuple(term for term in terms if term)


@cache
def _tree() -> dict[TermPath, tuple[str, ...]]:
    below: dict[TermPath, list[str]] = {(): list(KINDS)}
    for name in [*COLUMN_TYPES, *FINE_TYPES]:
        below.setdefault(tree_path_of(name)[:-1], []).append(name)
    return {path: tuple(names) for path, names in below.items()}


@cache
def _spellings() -> dict[str, Kind | Term]:
    before = {old: FINE_TYPES[name] for old, name in RENAMED.items()}
    levels = (
        before,
        KINDS,
        RELATIONS,
        FINE_TYPES,
        COLUMN_TYPES,
    )  # of one spelling, the last is kept
    return {_spelling(name): term for terms in levels for name, term in terms.items()}


def _spelling(name: str) -> str:
    """Return the letters and digits of a name; the name itself if it has none."""
    return "".join(filter(str.isalnum, name.casefold())) or name


def _unknown(name: str, known: Iterable[str]) -> UsageError:
    if name in RENAMED:
        return UsageError(f"unknown name {name!r}; it is called {RENAMED[name]!r} now")
    from difflib import get_close_matches  # few runs have a name to correct

    # Users mostly get the letters right and the case wrong: 'Telephone' should suggest 'telephone'.
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = [by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=3)]
    if near:
        return UsageError(
            f"unknown name {name!r}; did you mean {' or '.join(repr(each) for each in near)}?"
        )
    return UsageError(f"unknown name {name!r}; see all names with: aegir types list")


def is_personal(type_name: str | None, fine_type: str | None, relation: str | None = None) -> bool:
    """Return whether a column with these labels is likely to hold personal data in any table.

    A known fine type decides over the column type; a personal relation adds to both. Names outside the
    vocabulary (a user's own types) count as not personal.
    """
    if relation in RELATIONS and RELATIONS[relation].personal:
        return True
    if fine_type in FINE_TYPES:
        return FINE_TYPES[fine_type].personal
    return type_name in COLUMN_TYPES and COLUMN_TYPES[type_name].personal


def may_be_personal(type_name: str | None, fine_type: str | None) -> bool:
    """Return whether a column with these labels is personal in rows that are persons or belong to them."""
    term = FINE_TYPES.get(fine_type or "") or COLUMN_TYPES.get(type_name or "")
    return term is None or term.in_rows


def personal_meaning(
    type_name: str | None,
    fine_type: str | None,
    relation: str | None = None,
    kind: str | None = None,
) -> PersonalMeaning:
    """Return how a column with these labels relates to a person, if it does.

    The fine type decides, else the column type, else the kind; a relation that identifies a person more
    closely decides over them. Without any known label the column describes a person.
    """
    meanings = [PERSONAL["describes"]]
    if relation in RELATIONS:
        meanings.insert(0, RELATIONS[relation].if_personal)
    if fine_type in FINE_TYPES:
        meanings.insert(0, FINE_TYPES[fine_type].if_personal)
    elif type_name in COLUMN_TYPES:
        meanings.insert(0, COLUMN_TYPES[type_name].if_personal)
    elif kind in KINDS:
        meanings.insert(0, KINDS[kind].if_personal)
    return min(meanings, key=lambda meaning: PERSONAL_LEVELS.index(meaning.level))
