"""`aegir types`: browse the names Aegir answers with; custom_types.py teaches new ones.

Answers go to stdout: a readable list, or with --json one object per line.
"""

import shutil
import textwrap
from collections.abc import Iterator, Sequence

import click

from aegir.annotators.custom_types.store import CustomType, load_types, types_folder
from aegir.answers.writers import quoted_json
from aegir.cli.terminal import say, tell
from aegir.vocabulary.hierarchy import meanings_of, places_of, tree_below, tree_path_of
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    PERSONAL,
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


@click.command("list", epilog="Example: aegir types list --under money")
@click.option("--kinds", is_flag=True, help="Only kinds.")
@click.option("--types", is_flag=True, help="Only column types.")
@click.option("--fine", is_flag=True, help="Only fine types.")
@click.option("--relations", is_flag=True, help="Only relations, which are outside the tree.")
@click.option("--custom", is_flag=True, help="Only types that you taught.")
@click.option("--personal", is_flag=True, help="Only what is likely to be personal data.")
@click.option(
    "--under", metavar="NAME", help="Only what lies under this kind, type or Schema.org class."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def list_types(
    kinds: bool,
    types: bool,
    fine: bool,
    relations: bool,
    custom: bool,
    personal: bool,
    under: str | None,
    as_json: bool,
) -> None:
    """List the tree of kinds, column types, fine types and the types you taught, with a line about each.

    Options for levels can be combined.
    """
    chosen = {Kind.level: kinds, "column type": types, "fine type": fine, "relation": relations}
    levels = {level for level, wanted in {**chosen, CustomType.level: custom}.items() if wanted}
    entries: list[Entry] = [*_tree(load_types(types_folder(), tell)), *RELATIONS.values()]
    entries = [
        entry
        for entry in entries
        if (entry.level in levels if levels else entry.level != Relation.level)
    ]
    if under is not None:
        places = places_of(under)
        entries = [entry for entry in entries if _lies_in(places, entry)]
    if personal:
        entries = [entry for entry in entries if not isinstance(entry, Kind) and entry.personal]
    if as_json:
        _print_json(entries)
    else:
        _print_list(entries, nested=not (levels or personal))


@click.command("show", epilog="Example: aegir types show openingHours")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def show_type(name: str, as_json: bool) -> None:
    """Explain one name: what it means, an example, its place in the tree."""
    taught = load_types(types_folder(), tell)
    entries: Sequence[Entry] = [each for each in taught if each.name == name] or meanings_of(name)
    if as_json:
        _print_json(entries)
        return
    for number, entry in enumerate(entries):
        say(*([""] if number else []), *_explained(entry, taught))


def _tree(taught: Sequence[CustomType]) -> Iterator[Entry]:
    """Yield kinds, types, fine types and taught types from the top down."""
    terms = {**FINE_TYPES, **COLUMN_TYPES}
    for kind, entry in KINDS.items():
        yield entry
        for name in tree_below((kind,)):
            yield terms[name]
            yield from (terms[finer] for finer in tree_below((kind, name)))
        yield from (custom_type for custom_type in taught if custom_type.kind == kind)


def _place(entry: Entry) -> TermPath:
    """Where it hangs in the tree; relations are outside."""
    if isinstance(entry, CustomType):
        return (entry.kind, entry.name)
    if isinstance(entry, Kind):
        return (entry.name,)
    return () if isinstance(entry, Relation) else tree_path_of(entry.name)


def _lies_in(places: Sequence[TermPath], entry: Entry) -> bool:
    """Return whether an entry lies at or below one of these places, in the tree or among the classes."""
    paths = [_place(entry), *([entry.path] if isinstance(entry, Term) else [])]
    return any(path[: len(place)] == place for place in places for path in paths)


def _explained(entry: Entry, taught: Sequence[CustomType]) -> list[str]:
    """A heading, the definition, and the facts that are known."""
    facts = _facts_taught(entry) if isinstance(entry, CustomType) else _facts(entry, taught)
    lines = [f"{entry.name}  ({entry.level})", *_wrapped(entry.definition, "  "), ""]
    for fact, value in facts.items():
        lines += _wrapped(value, f"  {fact:<11}") if value else []
    return lines


def _facts(entry: Kind | Term, taught: Sequence[CustomType]) -> dict[str, str]:
    facts = {"example": entry.example, "tree": " > ".join(_place(entry))}
    if isinstance(entry, FineType):
        none = ["none of the column types"] if entry.may_have_no_type else []
        facts["goes with"] = ", ".join([*entry.types, *none])
    elif isinstance(entry, Term):
        facts["filed at"] = " > ".join(entry.path)
    if isinstance(entry, Relation):
        facts["describes"] = ", ".join(entry.domain)
    else:
        yours = [each.name for each in taught if _place(each)[:-1] == _place(entry)]
        facts["finer"] = ", ".join([*tree_below(_place(entry)), *yours])
    if isinstance(entry, Term):
        facts |= {"iri": entry.iri or "", "personal": _personal(entry)}
    return facts


def _personal(term: Term) -> str:
    meaning = f"{term.if_personal.reason} ({term.if_personal.level})"
    if term.personal:
        return f"likely: {meaning}"
    return (
        "no" if term.if_personal == PERSONAL["describes"] else f"in rows about persons: {meaning}"
    )


def _facts_taught(custom_type: CustomType) -> dict[str, str]:
    """Where it hangs, where it was learnt, and how well."""
    figures = custom_type.figures
    return {
        "tree": " > ".join(_place(custom_type)),
        "examples": ", ".join(custom_type.examples),
        "not": ", ".join(custom_type.counter_examples),
        "recognised": f"{figures.get('recognised')} of {figures.get('parts')} examples, held out",
        "alarms": f"{figures.get('taken')} of {figures.get('known')} known columns, held out",
        "weights": custom_type.fingerprint,
        "personal": "yes" if custom_type.personal else "no",
    }


def _print_json(entries: Sequence[Entry]) -> None:
    for entry in entries:
        click.echo(quoted_json(_as_dict(entry)))


def _as_dict(entry: Entry) -> dict[str, object]:
    shown: dict[str, object] = {"name": entry.name, "level": entry.level}
    if isinstance(entry, TypeTerm | CustomType):
        shown["kind"] = entry.kind
    shown["definition"] = entry.definition
    if not isinstance(entry, Relation):
        shown["tree"] = _place(entry)
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


def _print_list(entries: Sequence[Entry], nested: bool) -> None:
    """Names in one column, indented as in the tree if `nested`; definitions wrapped beside them."""
    labels = [("  " * (len(_place(entry)) - 1) if nested else "") + entry.name for entry in entries]
    indent = max(map(len, labels), default=0) + 2
    for label, entry in zip(labels, entries, strict=True):
        say(*_wrapped(entry.definition, f"{label:<{indent}}"))


def _wrapped(text: str, label: str) -> list[str]:
    """The text beside its label, in lines that fit the terminal; links and names stay whole."""
    width = max(60, min(120, shutil.get_terminal_size((100, 24)).columns))
    return textwrap.wrap(
        text,
        width,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
