"""`aegir review FILE`: go through columns in a terminal, or with answers piped in, and keep what is said.

    a       accept the answer              p       personal data, or not: change that, keep the label
                                           p direct, p indirect, p about: personal data of this level
    n       no name fits                   1 … 9   one of the names that are listed
    name    the column is this             +name   it is a type of your own, to be taught later
    s, ⏎    skip                           q       quit; what was said so far is kept

Each review is on the disk before the next column is shown. Questions go to stderr, reviews (--json) to stdout.
"""

import getpass
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.wording import (
    shown_category,
    shown_confidence,
    shown_label,
    shown_level,
    shown_name,
    shown_offer,
    shown_review,
    shown_type,
    worth_listing,
)
from aegir.cli.options import settings_from, verb_options
from aegir.cli.terminal import say, tell
from aegir.memory.location import default_location
from aegir.memory.questions import columns_to_review
from aegir.memory.review import check_label
from aegir.memory.store import ReviewStore
from aegir.pipeline.custom_types.store import DEFAULT_KIND, check_name, load_types, types_folder
from aegir.pipeline.run import Failure, annotate_sources, find_places, prepare
from aegir.routing.decisions import RoutedTable
from aegir.tables.table import Table
from aegir.vocabulary.terms import PERSONAL_LEVELS
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount
from aegir_rl.offline.store import new_id

SHOWN_VALUES, LONGEST_VALUE = 6, 40
HELP = (
    "a accept, name or number correct, n no name fits, p personal or not (p LEVEL), s skip, q quit"
)


_Said = tuple[str | None, bool | None, str | None]
"""A label, whether the column is personal, and its level; None where that is not said."""


class _Quit(Exception):
    """The reviewer has had enough, or the input has ended."""


@click.command("table", epilog="Example: aegir review table customers.csv --by ada")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True)
@verb_options("review table", "rows", "reading", "annotator", "effort", "routing", "memory")
def review_table(
    sources: tuple[str, ...],
    everything: bool,
    by: str | None,
    memory: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Go through the unsure and personal columns of tables, and keep what you say.

    `aegir review FILE` is short for this. `annotate` uses what was said from then on, also when the table has more rows.
    Routing decisions of the default annotator, and what came of them, are logged in the same place.
    """
    location = open_location(memory)
    places = [place for source in sources for place in find_places(source, say=tell)]
    failures = [place for place in places if isinstance(place, Failure)]
    if len(failures) == len(places):
        raise UsageError("; ".join(failure.reason for failure in failures))
    own = {each.name: each.kind for each in load_types(types_folder(), tell)}
    with ReviewStore.open(location) as store:
        dialogue = _Dialogue(store, by or _user(), own, as_json)
        failed = False
        try:
            settings = settings_from({**options, "no_memory": True})
            prepared = prepare(settings, memory=store.memory(), say=tell)
            for each in annotate_sources(places, prepared):
                if isinstance(each.answer, Failure):
                    tell(each.answer.reason)
                    failed = True
                    continue
                assert each.table is not None, "an answer has a table"
                dialogue.review(each.table, each.answer, everything, each.routed)
        except _Quit:
            pass
        tell(f"{amount(dialogue.recorded, 'review')} kept in {store.name}")
    if failed:
        raise click.exceptions.Exit(2)


def open_location(memory: str | None) -> str:
    """Return where reviews are kept; raise for a user without a home who names no place."""
    location = memory or default_location()
    if location is None:
        raise UsageError("there is no home folder to keep reviews in; name a file with --memory")
    return location


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"


class _Dialogue:
    """Asks about columns and keeps the answers."""

    def __init__(self, store: ReviewStore, by: str, own: Mapping[str, str], as_json: bool) -> None:
        self.store, self.by, self.as_json = store, by, as_json
        self.own = dict(own)
        self.recorded = 0

    def review(
        self, table: Table, answer: TableAnnotation, everything: bool, routed: RoutedTable | None
    ) -> None:
        """Ask about the columns of one table."""
        columns = columns_to_review(answer.columns, everything=everything)
        if not columns:
            tell(f"{table.name}: nothing to ask; --all asks about every column")
        logged = routed is None
        for number, column in enumerate(columns, 1):
            say(*_question(table, column, f"{number} of {len(columns)}"), err=True)
            label, personal, level = self._ask(column)
            if label is _SKIPPED:
                continue
            if not logged and routed is not None:
                _log(self.store, routed, answer)
                logged = True
            review = self.store.record(
                table,
                column.index,
                label,
                answer=column,
                by=self.by,
                personal=personal,
                level=level,
                own_types=self.own,
            )
            self.recorded += 1
            if self.as_json:
                say(review.to_json())

    def _ask(self, column: ColumnAnnotation) -> _Said:
        """Return what is said of a column, or `_SKIPPED`; ask again after what cannot be understood."""
        listed = _choices(column)
        while True:
            click.echo("? ", nl=False, err=True)
            line = sys.stdin.readline() if sys.stdin else ""
            if not line or line.strip() == "q":
                raise _Quit
            try:
                return self._understand(line.strip(), column, listed)
            except UsageError as error:
                tell(str(error))

    def _understand(self, word: str, column: ColumnAnnotation, listed: list[str | None]) -> _Said:
        if word in ("", "s"):
            return _SKIPPED, None, None
        if word == "n":
            return None, None, None
        level = word.removeprefix("p ").strip() if word.startswith("p ") else None
        if level is not None and level not in PERSONAL_LEVELS:
            raise UsageError(f"{level!r} is no level; expected {', '.join(PERSONAL_LEVELS)}")
        if word in ("a", "p") or level:
            if column.label is None and not column.reviewed:
                raise UsageError("nothing was answered that could be kept; give a name, or n")
            personal = None if word == "a" else level is not None or not column.personal
            return column.label, personal, level
        if word.isdigit():
            if not 1 <= int(word) <= len(listed):
                raise UsageError(f"{word} is not in the list; {HELP}")
            return listed[int(word) - 1], None, None
        if word.startswith("+"):
            name = word[1:].strip()
            if name not in self.own:
                check_name(name)
                self.own[name] = DEFAULT_KIND
            return name, None, None
        try:
            check_label(word, self.own)
        except UsageError as error:
            raise UsageError(f"{error} ({HELP}; +{word} for a type of your own)") from None
        return word, None, None


_SKIPPED = "\0"
"""Stands for a label where nothing was said; no label has this character."""


def _choices(column: ColumnAnnotation) -> list[str | None]:
    """The names that can be chosen by number: what is offered, then what was likely next."""
    likely = [guess.label for guess in worth_listing(column.runners_up)]
    return list(dict.fromkeys([*(offer.label for offer in column.offers), *likely]))


def _question(table: Table, column: ColumnAnnotation, progress: str) -> Iterator[str]:
    """The lines that show a column."""
    level = ", ".join(filter(None, (shown_level(column), shown_category(column))))
    beside = f" ({shown_type(column)})" if shown_type(column) else ""
    answered = f"{shown_label(column)}{beside} {shown_confidence(column)}".strip()
    values = list(dict.fromkeys(table.columns[column.index].spread(SHOWN_VALUES)))
    yield ""
    yield f"{table.name}, column {column.index + 1}: {shown_name(column)}   [{progress}]"
    yield f"  answered  {answered}" + (f", personal data: {level}" if level else "")
    yield from (f"  because   {reason}" for reason in column.reasons[:1])
    if column.reviewed:
        yield f"  reviewed  {shown_review(column)}"
    yield "  values    " + " | ".join(value[:LONGEST_VALUE] for value in values)
    offered = {offer.label: shown_offer(offer) for offer in column.offers}
    for number, label in enumerate(_choices(column), 1):
        yield f"  {number}  {offered.get(label) or label}"
    yield f"  {HELP}"


def _log(store: ReviewStore, routed: RoutedTable, answer: TableAnnotation) -> None:
    """Log the routing decisions about a table; its reviews become their outcomes."""
    labels = [
        column.reviewed.said if column.reviewed else column.label for column in answer.columns
    ]
    store.decisions.append(routed.episodes(labels, run=f"{new_id()}/0"))
