"""`aegir types`: browse the names Aegir answers with; custom_types.py teaches new ones.

Answers go to stdout: a readable list, or with --json one object per line.
"""

import shutil
import textwrap
from collections.abc import Sequence

import click

from aegir.answers.writers import quoted_json
from aegir.cli.options import verb_options
from aegir.cli.terminal import say, tell
from aegir.pipeline.custom_types.store import CustomType, load_types, types_folder
from aegir.pipeline.type_catalogue import Entry, entry_as_dict, lies_in, list_entries, place_of
from aegir.vocabulary.hierarchy import meanings_of, places_of, tree_below
from aegir.vocabulary.terms import (
    FineType,
    Kind,
    Relation,
    Term,
)


@click.command("list", epilog="Example: aegir types list --under money")
@verb_options("types list")
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
    entries: list[Entry] = list(list_entries(load_types(types_folder(), tell)))
    entries = [
        entry
        for entry in entries
        if (entry.level in levels if levels else entry.level != Relation.level)
    ]
    if under is not None:
        places = places_of(under)
        entries = [entry for entry in entries if lies_in(places, entry)]
    if personal:
        entries = [entry for entry in entries if not isinstance(entry, Kind) and entry.personal]
    if as_json:
        _print_json(entries)
    else:
        _print_list(entries, nested=not (levels or personal))


@click.command("show", epilog="Example: aegir types show openingHours")
@click.argument("name")
@verb_options("types show")
def show_type(name: str, as_json: bool) -> None:
    """Explain one name: what it means, an example, its place in the tree."""
    taught = load_types(types_folder(), tell)
    entries: Sequence[Entry] = [each for each in taught if each.name == name] or meanings_of(name)
    if as_json:
        _print_json(entries)
        return
    for number, entry in enumerate(entries):
        say(*([""] if number else []), *_explained(entry, taught))


def _explained(entry: Entry, taught: Sequence[CustomType]) -> list[str]:
    """A heading, the definition, and the facts that are known."""
    facts = _facts_taught(entry) if isinstance(entry, CustomType) else _facts(entry, taught)
    lines = [f"{entry.name}  ({entry.level})", *_wrapped(entry.definition, "  "), ""]
    for fact, value in facts.items():
        lines += _wrapped(value, f"  {fact:<11}") if value else []
    return lines


def _facts(entry: Kind | Term, taught: Sequence[CustomType]) -> dict[str, str]:
    facts = {"example": entry.example, "tree": " > ".join(place_of(entry))}
    if isinstance(entry, FineType):
        none = ["none of the column types"] if entry.may_have_no_type else []
        facts["goes with"] = ", ".join([*entry.types, *none])
    elif isinstance(entry, Term):
        facts["filed at"] = " > ".join(entry.path)
    if isinstance(entry, Relation):
        facts["describes"] = ", ".join(entry.domain)
    else:
        yours = [each.name for each in taught if place_of(each)[:-1] == place_of(entry)]
        facts["finer"] = ", ".join([*tree_below(place_of(entry)), *yours])
    if isinstance(entry, Term):
        facts |= {"iri": entry.iri or "", "personal": _personal(entry)}
    return facts


def _personal(term: Term) -> str:
    meaning = f"{term.if_personal.reason} ({term.if_personal.level})"
    if term.personal:
        return f"likely: {meaning}"
    return f"in rows about persons: {meaning}" if term.in_rows else "no"


def _facts_taught(custom_type: CustomType) -> dict[str, str]:
    """Where it hangs, where it was learnt, and how well."""
    figures = custom_type.figures
    return {
        "tree": " > ".join(place_of(custom_type)),
        "examples": ", ".join(custom_type.examples),
        "not": ", ".join(custom_type.counter_examples),
        "recognised": f"{figures.get('recognised')} of {figures.get('parts')} examples, held out",
        "alarms": f"{figures.get('taken')} of {figures.get('known')} known columns, held out",
        "weights": custom_type.fingerprint,
        "personal": "yes" if custom_type.personal else "no",
    }


def _print_json(entries: Sequence[Entry]) -> None:
    for entry in entries:
        click.echo(quoted_json(entry_as_dict(entry)))


def _print_list(entries: Sequence[Entry], nested: bool) -> None:
    """Names in one column, indented as in the tree if `nested`; definitions wrapped beside them."""
    labels = [
        ("  " * (len(place_of(entry)) - 1) if nested else "") + entry.name for entry in entries
    ]
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
