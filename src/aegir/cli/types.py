"""`aegir types`: browse the names Aegir answers with.

Answers go to stdout: a readable list, or with --json one object per line.
"""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from aegir.vocabulary.hierarchy import Term


@click.group("types")
def types() -> None:
    """List and explain column types, fine types and relations."""


@types.command("list", epilog="Example: aegir types list --under Place --personal")
@click.option("--fine", is_flag=True, help="Fine types instead.")
@click.option("--relations", is_flag=True, help="Relations instead.")
@click.option("--personal", is_flag=True, help="Only what is likely to be personal data.")
@click.option("--under", metavar="CLASS", help="Only what is filed under this class.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def list_types(
    fine: bool, relations: bool, personal: bool, under: str | None, as_json: bool
) -> None:
    """List the column types, with a line about each."""
    from aegir.vocabulary.fine_types import FINE_TYPES
    from aegir.vocabulary.hierarchy import path_of
    from aegir.vocabulary.relations import RELATIONS
    from aegir.vocabulary.types import COLUMN_TYPES

    terms: list[Term] = []
    if fine:
        terms += FINE_TYPES.values()
    if relations:
        terms += RELATIONS.values()
    if not (fine or relations):
        terms += COLUMN_TYPES.values()
    if under is not None:
        above = path_of(under)
        terms = [term for term in terms if _path(term)[: len(above)] == above]
    if personal:
        terms = [term for term in terms if term.personal]
    if as_json:
        _print_json(terms)
    else:
        _print_list(terms)


@types.command("show", epilog="Example: aegir types show openingHours")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def show_type(name: str, as_json: bool) -> None:
    """Explain one name: what it means, an example, where it is filed."""
    from aegir.vocabulary.hierarchy import meanings_of

    meanings = meanings_of(name)
    if as_json:
        _print_json(meanings)
    else:
        click.echo("\n\n".join(_explained(term) for term in meanings))


def _explained(term: "Term") -> str:
    """A heading, the definition, and the facts that are known."""
    from aegir.vocabulary.hierarchy import children_of

    kind = _kind(term)
    facts = {
        "example": term.example,
        "filed at": " > ".join(_path(term)),
        "iri": term.iri,
        "describes": ", ".join(getattr(term, "domain", ())),
        "finer": "" if kind == "relation" else ", ".join(children_of(term.name)),
        "personal": "likely" if term.personal else "no",
    }
    lines = [f"{term.name}  ({kind})", *_wrapped(term.definition, "  "), ""]
    for fact, value in facts.items():
        lines += _wrapped(value or "", f"  {fact:<11}")
    return "\n".join(lines)


def _print_json(terms: "list[Term] | tuple[Term, ...]") -> None:
    import json

    for term in terms:
        shown = {
            "name": term.name,
            "kind": _kind(term),
            "definition": term.definition,
            "example": term.example,
            "iri": term.iri,
            "path": _path(term),
            "personal": term.personal,
        }
        if domain := getattr(term, "domain", None):
            shown["domain"] = domain
        click.echo(json.dumps(shown, ensure_ascii=False))


def _print_list(terms: "list[Term]") -> None:
    """Names in one column, definitions wrapped beside them."""
    indent = max((len(term.name) for term in terms), default=0) + 2
    for term in terms:
        click.echo("\n".join(_wrapped(term.definition, f"{term.name:<{indent}}")))


def _wrapped(text: str, label: str) -> list[str]:
    """The text beside its label, in lines that fit the terminal; links and names stay whole."""
    import shutil
    import textwrap

    width = max(60, min(120, shutil.get_terminal_size((100, 24)).columns))
    return textwrap.wrap(
        text,
        width,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _kind(term: "Term") -> str:
    kinds = {"ColumnType": "column type", "FineType": "fine type", "Relation": "relation"}
    return kinds[type(term).__name__]


def _path(term: "Term") -> tuple[str, ...]:
    """The path of this meaning; `path_of` would give a relation the path of a type of the same name."""
    from aegir.vocabulary.hierarchy import path_of

    return term.path if hasattr(term, "path") else path_of(term.name)
