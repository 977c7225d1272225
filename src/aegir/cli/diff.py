"""`aegir diff OLD NEW`: what changed between two answers, or between two versions of tables; a gate for CI."""

from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import click

from aegir.answers.difference_report import (
    DIFFERENCE_FORMATS,
    describe_counts,
    render_differences,
)
from aegir.answers.differences import (
    CHANGES,
    CONFIDENCE_DROP,
    ComparedAnswer,
    compare,
    count_changes,
)
from aegir.answers.earlier_output import answer_format
from aegir.cli.options import (
    NO_DATABASE,
    settings_from,
    verb_options,
)
from aegir.cli.terminal import tell, track
from aegir.pipeline.compared import (
    annotate_side,
    read_answers,
    select_tables,
)
from aegir.pipeline.run import Failure, Prepared, find_places, load_reviews, prepare
from aegir.tables.database_urls import parse_database_url
from aegir.tables.formats import is_remote, is_url, show_address
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.files import replace_file

ANY = "any"


@click.command(epilog="Example: aegir diff answers.jsonl lake/ --fail-on personal,type,removed")
@click.argument("old")
@click.argument("new")
@click.option(
    "--format",
    "-f",
    "format_name",
    type=click.Choice(list(DIFFERENCE_FORMATS)),
    default="text",
    show_default=True,
    help="How to write the changes.",
)
@verb_options(
    "diff",
    "rows",
    "tables",
    "reading",
    "threshold",
    "annotator",
    "effort",
    "routing",
    "custom",
    "memory",
    "no_memory",
    confidence_drop=CONFIDENCE_DROP,
)
@click.option(
    "--fail-on",
    metavar="CHANGES",
    default="",
    help=f"Exit with 3 if one of these happened: {', '.join(CHANGES)}, or any.",
)
def diff(
    old: str,
    new: str,
    format_name: str,
    as_json: bool,
    out: Path | None,
    fail_on: str,
    confidence_drop: float,
    **options: Any,
) -> None:
    """Say which columns were added, removed or renamed, changed type or became personal.

    OLD and NEW are answers (json or jsonl of `aegir annotate`), or tables, folders, patterns and addresses of databases,
    which are annotated first.
    """
    named = _named_changes(fail_on)
    settings = settings_from(options)
    load_reviews(settings)  # a wrong name is told at once

    @cache  # once for two sides, and not at all for two answers
    def prepared() -> Prepared:
        return prepare(settings, say=tell)

    def read(side: str, places: list[object] | None) -> list[ComparedAnswer]:
        if places is None:
            return select_tables(read_answers(Path(side)), settings.tables)
        watched = track(places, f"annotating {_shown(side)}")
        return list(annotate_side(watched, prepared()))

    if settings.tables and not (is_url(old) or is_url(new)):
        raise UsageError(NO_DATABASE)
    sides = [
        (side, _find(side, settings.tables)) for side in (old, new)
    ]  # a wrong name is told at once
    before, after = (read(*side) for side in sides)
    differences = compare(before, after, confidence_drop=confidence_drop)
    text = render_differences(differences, "jsonl" if as_json else format_name)
    if out is None:
        click.echo(text, nl=False)
    else:
        replace_file(out, text.encode())
    happened = {name: count for name, count in count_changes(differences).items() if name in named}
    if any(happened.values()):
        raise CheckFailed(
            f"{describe_counts(happened)} between {_shown(old)} and {_shown(new)} (--fail-on {fail_on})"
        )


def _find(side: str, tables: tuple[str, ...]) -> list[object] | None:
    """The tables to annotate for a side, of databases only these; None for a file of answers."""
    if side == "-":
        raise UsageError("standard input cannot be compared; write it to a file and name that")
    if answer_format(Path(side)):
        return None
    places = find_places(side, tables, say=tell)
    for place in places:
        if isinstance(place, Failure):
            raise place.kind(place.reason)
    return list(places)


def _shown(side: str) -> str:
    """The name of a side; an address without its password."""
    return (
        show_address(side)
        if is_remote(side)
        else str(parse_database_url(side))
        if is_url(side)
        else side
    )


def _named_changes(given: str) -> frozenset[str]:
    """The changes that --fail-on names."""
    names = frozenset(filter(None, (name.strip() for name in given.split(","))))
    for name in sorted(names - {*CHANGES, ANY}):
        near = get_close_matches(name, (*CHANGES, ANY), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(CHANGES)} and any"
        raise UsageError(f"--fail-on names the unknown change {name!r}; {hint}")
    return frozenset(CHANGES) if ANY in names else names
