"""`aegir types`: browse the names Aegir answers with; custom_types.py teaches new ones.

Answers go to stdout: a readable list, or with --json one object per line.
"""

import shutil
import textwrap
from collections.abc import Sequence

import click

from aegir.annotators.custom_types.store import CustomType, load_types, types_folder
from aegir.answers.writers import quoted_json
from aegir.cli.terminal import say
from aegir.vocabulary.hierarchy import children_of, meanings_of, path_of
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, RELATIONS, Term


@click.command("list", epilog="Example: aegir types list --under Place --personal")
@click.option("--fine", is_flag=True, help="Fine types instead.")
@click.option("--relations", is_flag=True, help="Relations instead.")
@click.option("--custom", is_flag=True, help="Only types that you taught.")
@click.option("--personal", is_flag=True, help="Only what is likely to be personal data.")
@click.option("--under", metavar="CLASS", help="Only what is filed under this class.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def list_types(
    fine: bool, relations: bool, custom: bool, personal: bool, under: str | None, as_json: bool
) -> None:
    """List the column types, yours last, with a line about each."""
    terms: list[Term] = []
    if fine:
        terms += FINE_TYPES.values()
    if relations:
        terms += RELATIONS.values()
    if not (fine or relations or custom):
        terms += COLUMN_TYPES.values()
    if under is not None:
        above = path_of(under)
        terms = [term for term in terms if term.path[: len(above)] == above]
    if personal:
        terms = [term for term in terms if term.personal]
    taught: list[CustomType] = []
    if custom or not (fine or relations or under):  # taught types are filed under no class
        known = load_types(types_folder())
        taught = [custom_type for custom_type in known if custom_type.personal or not personal]
    if as_json:
        _print_json(terms)
        _print_taught_json(taught)
    else:
        _print_list([*terms, *taught])


@click.command("show", epilog="Example: aegir types show openingHours")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def show_type(name: str, as_json: bool) -> None:
    """Explain one name: what it means, an example, where it is filed."""
    taught = [custom_type for custom_type in load_types(types_folder()) if custom_type.name == name]
    meanings = () if taught and name not in _vocabulary() else meanings_of(name)
    if as_json:
        _print_json(meanings)
        _print_taught_json(taught)
    else:
        known = [_explained(term) for term in meanings]
        blocks = [*known, *(_explained_taught(custom_type) for custom_type in taught)]
        for number, block in enumerate(blocks):
            say(*([""] if number else []), *block)


def _vocabulary() -> set[str]:
    return {*COLUMN_TYPES, *FINE_TYPES, *RELATIONS}


def _explained_taught(custom_type: CustomType) -> list[str]:
    """A heading, the definition, where it was learnt, and how well."""
    figures = custom_type.figures
    facts = {
        "examples": ", ".join(custom_type.examples),
        "not": ", ".join(custom_type.counter_examples),
        "recognised": f"{figures.get('recognised')} of {figures.get('parts')} examples, held out",
        "alarms": f"{figures.get('taken')} of {figures.get('known')} known columns, held out",
        "weights": custom_type.fingerprint,
        "personal": "yes" if custom_type.personal else "no",
    }
    lines = [f"{custom_type.name}  (custom type)", *_wrapped(custom_type.definition, "  "), ""]
    for fact, value in facts.items():
        lines += _wrapped(value, f"  {fact:<11}") if value else []
    return lines


def _print_taught_json(taught: "list[CustomType]") -> None:
    for custom_type in taught:
        shown = {
            "name": custom_type.name,
            "kind": "custom type",
            "definition": custom_type.definition,
            "personal": custom_type.personal,
            "examples": custom_type.examples,
            "counter_examples": custom_type.counter_examples,
            "weights": custom_type.fingerprint,
            "figures": custom_type.figures,
        }
        click.echo(quoted_json(shown))


def _explained(term: Term) -> list[str]:
    """A heading, the definition, and the facts that are known."""
    facts = {
        "example": term.example,
        "filed at": " > ".join(term.path),
        "iri": term.iri,
        "describes": ", ".join(term.parents) if term.level == "relation" else "",
        "finer": "" if term.level == "relation" else ", ".join(children_of(term.name)),
        "personal": "likely" if term.personal else "no",
    }
    lines = [f"{term.name}  ({term.level})", *_wrapped(term.definition, "  "), ""]
    for fact, value in facts.items():
        lines += _wrapped(value or "", f"  {fact:<11}")
    return lines


def _print_json(terms: Sequence[Term]) -> None:
    for term in terms:
        shown = {
            "name": term.name,
            "kind": term.level,
            "definition": term.definition,
            "example": term.example,
            "iri": term.iri,
            "path": term.path,
            "personal": term.personal,
        }
        if term.level == "relation":
            shown["domain"] = term.parents
        click.echo(quoted_json(shown))


def _print_list(terms: "Sequence[Term | CustomType]") -> None:
    """Names in one column, definitions wrapped beside them."""
    indent = max((len(term.name) for term in terms), default=0) + 2
    for term in terms:
        say(*_wrapped(term.definition, f"{term.name:<{indent}}"))


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
