"""From sources to answers: the Python call `aegir.annotate`, and what it shares with the other doors.

    annotate("customers.csv", effort="high")                   # all at once, prints readably

    prepared = prepare(AnnotationSettings(precision=0.9))
    for each in annotate_sources(files, prepared):             # streams; a failure is an answer too
        ...

Tables are scored a few at a time; what a column gets does not depend on neighbouring tables, so a folder split
over two runs gives what one run gives. Only keys between tables (`link_answers`) need all tables of a folder or database.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation, find_table
from aegir.answers.tags import TagPolicy, load_tags
from aegir.answers.text_report import render_text
from aegir.answers.writers import FORMATS, check_format
from aegir.memory.location import load_memory, memory_exists
from aegir.pipeline.custom_types.store import type_files, types_folder
from aegir.pipeline.decide import decide
from aegir.pipeline.registry import load_annotator, thresholds_for
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator, TableScores
from aegir.tables.database_urls import DatabaseUrl, parse_database_url
from aegir.tables.formats import find_table_files, is_expanded, is_remote, is_url, show_address
from aegir.tables.overrides import NO_OVERRIDES, Overrides
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import AegirError, UnreadableTable, UsageError

if TYPE_CHECKING:
    from aegir.memory.recall import ReviewMemory
    from aegir.pipeline.previous import PreviousAnswers
    from aegir.routing.decisions import RoutedTable

COLUMNS_AT_ONCE = 512
NO_TAGS = TagPolicy()
LINKED_COLUMNS = 10_000
"""Columns whose answers are kept until keys between their tables are looked for."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not be read, and the sentence that says why."""

    source: str
    reason: str
    kind: type[AegirError] = UnreadableTable


@dataclass(frozen=True, slots=True)
class Annotations(Sequence[TableAnnotation]):
    """The answers for one or more tables; `print` shows them as a readable table."""

    tables: tuple[TableAnnotation, ...]
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about files of folders that were left out."""

    def __len__(self) -> int:
        return len(self.tables)

    @overload
    def __getitem__(self, index: int | str) -> TableAnnotation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TableAnnotation, ...]: ...
    def __getitem__(
        self, index: int | slice | str
    ) -> TableAnnotation | tuple[TableAnnotation, ...]:
        """The answer at an index, or to the table of a name: `customers.csv`, `customers` or, of `shop.db#orders`, `orders`."""
        return find_table(self.tables, index) if isinstance(index, str) else self.tables[index]

    @property
    def personal(self) -> tuple[tuple[TableAnnotation, ColumnAnnotation], ...]:
        """The personal columns of all tables, each with its table."""
        return tuple((table, column) for table in self.tables for column in table.personal)

    def __str__(self) -> str:
        return render_text(self.tables, colour=False).rstrip("\n")

    def _repr_html_(self) -> str:
        """The answers as a notebook shows them."""
        from aegir.answers.notebook import notebook_html

        return notebook_html(self.tables)

    def to(self, format_name: str) -> str:
        """The annotations as text in one format, such as json, csv or dbt; an unknown name raises with the list of formats."""
        check_format(format_name)
        return f"{self}\n" if format_name == "text" else FORMATS[format_name](self.tables)

    def to_frame(self, library: str | None = None) -> Any:
        """The answers as a frame of `pandas` or `polars`, by default of the first that is installed: a row per column, with its table, its keys and its statistics."""
        from aegir.pipeline.answer_frame import answer_frame

        return answer_frame(self.tables, library)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Settings with what they name: everything that annotating needs."""

    settings: AnnotationSettings
    annotator: Annotator
    thresholds: Thresholds
    memory: "ReviewMemory | None" = None
    """Reviews that decide about columns they were made of."""
    previous: "PreviousAnswers | None" = None
    """Earlier answers that are kept while they stay plausible."""
    tags: TagPolicy = NO_TAGS
    """The tags that personal columns get."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one table, or of a source that cannot be read."""

    source: int
    """The index of the source."""
    answer: TableAnnotation | Failure
    table: Table | None = None
    """As it was read; None for a failure."""
    routed: "RoutedTable | None" = None
    """Who was called about its columns, by whose decision; None from a single reader."""
    personal: tuple[float, ...] | None = None
    """How likely each column is personal; None from readers that do not say."""


def annotate(
    *sources: object,
    annotator: str | Annotator | None = None,
    memory: "ReviewMemory | str | bool | None" = None,
    settings: AnnotationSettings | None = None,
    **changes: Any,
) -> Annotations:
    """Annotate files, folders, patterns, addresses of databases, lists of them, dicts, pandas or polars frames, Arrow tables, connections.

    >>> answers = annotate("books.csv", {"visits": {"patient": ["P-1", "P-2"], "day": ["2031-01-02", "2031-03-04"]}})
    >>> answers["books"]["isbn"].label
    'isbn'
    >>> [column.name for column in answers["visits"]]
    ['patient', 'day']

    How is said by `settings`, or by its fields as keywords: `effort`, `rows`, `precision`, `model`, `routing`, … (`AnnotationSettings`).
    `annotator` may also be an object with a method `score`, `memory` a `ReviewMemory`.
    A single source of which nothing can be read raises its error; otherwise errors are listed in `failures`.
    """
    if isinstance(annotator, str):
        changes["annotator"] = annotator
    if isinstance(memory, str | bool):
        changes["memory"] = memory
    elif memory is not None:
        changes["memory"] = False
    chosen = (settings or AnnotationSettings()).changed(**changes)
    prepared = prepare(
        chosen,
        annotator=None if isinstance(annotator, str) else annotator,
        memory=None if isinstance(memory, str | bool) else memory,
    )
    notes: list[str] = []
    places = [
        place for source in sources for place in find_places(source, chosen.tables, notes.append)
    ]
    answers = [each.answer for each in annotate_linked(places, prepared)]
    tables = tuple(answer for answer in answers if isinstance(answer, TableAnnotation))
    failures = tuple(answer for answer in answers if isinstance(answer, Failure))
    if failures and not tables and len(places) == 1:
        raise failures[0].kind(failures[0].reason)
    return Annotations(tables, failures, tuple(notes))


async def annotate_async(*sources: object, **how: Any) -> Annotations:
    """Annotate as `annotate` does, in a thread, so that other tasks of an event loop go on meanwhile.

    >>> import asyncio
    >>> asyncio.run(annotate_async("books.csv"))["books"].subject
    0

    A connection of sqlite3 belongs to the thread that made it: give `check_same_thread=False`, or the file.
    """
    import asyncio

    return await asyncio.to_thread(annotate, *sources, **how)


def prepare(
    settings: AnnotationSettings,
    *,
    annotator: Annotator | None = None,
    memory: "ReviewMemory | None" = None,
    readers: Mapping[str, Annotator] | None = None,
    say: Callable[[str], None] = warnings.warn,
) -> Prepared:
    """Load what the settings name: the annotator, with the types that the user taught, its thresholds, reviews.

    `annotator`, `memory` and `readers` (those that a routing table may call) are used instead if they are given. `say` is called with a sentence for each taught type, and each
    file of the user's pool, that cannot be used, and for reviews of an earlier form.
    """
    if annotator is not None:
        _check_object(annotator, settings)
    tags = load_tags(settings.tags)
    chosen = annotator or load_annotator(settings, readers=readers, say=say)
    if settings.custom_types and type_files(types_folder()):
        from aegir.pipeline.custom_types.recognising import with_custom_types

        chosen = with_custom_types(chosen, say=say)
    previous = None
    if settings.previous is not None:
        from aegir.pipeline.previous import PreviousAnswers

        previous = PreviousAnswers.read(settings.previous)
    thresholds = choose_thresholds(chosen, settings)
    memory = memory or load_reviews(settings)
    if memory is not None and memory.note:
        say(memory.note)
    return Prepared(settings, chosen, thresholds, memory, previous, tags)


def _check_object(annotator: object, settings: AnnotationSettings) -> None:
    """Raise `UsageError` for an object that is no annotator, and for settings that only an annotator given by name follows."""
    if not isinstance(annotator, Annotator):
        raise UsageError(
            f"the annotator is {annotator!r}; expected a name, or an object with a name and a method score"
        )
    names = ("effort", "within", "routing", "policy", "llm", "model")
    ignored = [name for name in names if getattr(settings, name) is not None]
    if ignored or settings.timing:
        raise UsageError(
            f"{(*ignored, 'timing')[0]} does not go with an annotator object; give the annotator by its name, or leave it out"
        )


def load_reviews(settings: AnnotationSettings) -> "ReviewMemory | None":
    """Return the reviews that the settings name; raise for a store that is named and does not exist."""
    location = settings.memory
    if isinstance(location, bool):
        return load_memory() if location else None
    if not memory_exists(location):
        raise UsageError(
            f"there is no review memory {location}; make one with: aegir review FILE --memory {location}"
        )
    return load_memory(location)


def choose_thresholds(annotator: Annotator, settings: AnnotationSettings) -> Thresholds:
    """The confidences below which to abstain: `min_confidence`, or higher where `precision` asks for it."""
    least = settings.min_confidence
    if settings.precision is None:
        return Thresholds(least, least)
    return _at_least(thresholds_for(annotator, settings.precision), least)


def _at_least(thresholds: Thresholds, least: float) -> Thresholds:
    everyday = thresholds.everyday
    return Thresholds(
        max(thresholds.types, least),
        max(thresholds.relations, least),
        _at_least(everyday, least) if everyday else None,
        None if thresholds.labels is None else max(thresholds.labels, least),
        thresholds.identifying,
    )


def find_places(
    source: object, tables: Sequence[str] = (), say: Callable[[str], None] = lambda _sentence: None
) -> Sequence[object]:
    """The files and databases that a name, folder, pattern, address or list of them leads to; any other source by itself.

    Of databases the `tables` of these patterns are chosen. A name that leads to no table is a `Failure`, to be reported in its place.
    `say` is called with a sentence about files of folders that are no tables: earlier answers, and those of other kinds.
    """
    if isinstance(source, list | tuple) and all(isinstance(place, str | Path) for place in source):
        return [place for path in source for place in find_places(path, tables, say)]
    if not isinstance(source, str | Path) or str(source) == "-":
        return [source]
    name = str(source)
    try:
        if is_remote(source):
            from aegir.tables.lake import find_remote

            name = show_address(name)
            return find_remote(str(source))
        if is_url(source):
            name = name.partition("://")[0] + "://…"  # a password may follow
            return [parse_database_url(str(source)).selecting(tuple(tables))]
        if not is_expanded(source):
            return find_table_files([source])
        from aegir.pipeline.folders import find_tables_among

        return find_tables_among(source, say)
    except (UsageError, UnreadableTable) as error:
        return [Failure(name, str(error), type(error))]


def annotate_sources(sources: Iterable[object], prepared: Prepared) -> Iterator[Answered]:
    """One answer per table, and one per source that cannot be read, in order; a `Failure` stays what it is."""
    settings = prepared.settings
    waiting: list[tuple[int, Table | Failure]] = []
    columns = 0
    for index, source in enumerate(sources):
        for outcome in read_source(
            source,
            settings.rows,
            settings.seed,
            names_only=settings.names_only,
            overrides=settings.overrides,
        ):
            waiting.append((index, outcome))
            columns += len(outcome.columns) if isinstance(outcome, Table) else 0
            if columns >= COLUMNS_AT_ONCE:
                yield from _answer(waiting, prepared)
                waiting, columns = [], 0
    yield from _answer(waiting, prepared)


def annotate_linked(sources: Iterable[object], prepared: Prepared) -> Iterator[Answered]:
    """Yield the same with foreign keys between tables; what was read before standard input does not wait for it."""
    for _, together in groupby(sources, lambda source: source == "-"):
        yield from link_answers(annotate_sources(together, prepared))


def link_answers(answers: Iterable[Answered]) -> Iterator[Answered]:
    """Yield the outcomes, in their order, with the foreign keys between tables: of at most LINKED_COLUMNS columns at once.

    Answers wait until all of them are known. An interrupt passes on those that wait, without links, before it goes on.
    """
    waiting: list[Answered] = []
    columns = 0
    try:
        for each in answers:
            waiting.append(each)
            columns += len(each.answer.columns) if isinstance(each.answer, TableAnnotation) else 0
            if columns >= LINKED_COLUMNS:
                yield from _linked(waiting)
                waiting, columns = [], 0
    except (KeyboardInterrupt, SystemExit):
        yield from waiting
        raise
    yield from _linked(waiting)


def _linked(waiting: Sequence[Answered]) -> Iterable[Answered]:
    tables = [each.answer for each in waiting if isinstance(each.answer, TableAnnotation)]
    if len(tables) < 2 and not any(
        column.declared and column.declared.references for each in tables for column in each.columns
    ):
        return waiting
    from aegir.pipeline.foreign_keys import link_tables

    linked = iter(link_tables(tables))
    return [
        replace(each, answer=next(linked)) if isinstance(each.answer, TableAnnotation) else each
        for each in waiting
    ]


def read_source(
    source: object,
    rows: int,
    seed: int,
    *,
    names_only: bool = False,
    overrides: Overrides = NO_OVERRIDES,
) -> Iterator[Table | Failure]:
    """Yield the tables of a source, with names alone if only these are asked for; at last a `Failure` if it cannot be read, or not to its end."""
    if is_url(source) and not is_remote(source):
        (source,) = find_places(source)
    if isinstance(source, Failure):
        yield source
        return
    name = str(source) if isinstance(source, str | Path | DatabaseUrl) else "table"
    name = show_address(name) if is_remote(source) else name
    if name == "-" and sys.stdin is None:
        yield Failure(name, "standard input is closed; give a file, or pipe a table in")
        return
    try:
        yield from read_tables(
            source, rows=rows, seed=seed, names_only=names_only, overrides=overrides
        )
    except AegirError as error:
        yield Failure(name, str(error), type(error))
    except OSError as error:  # a disk or network that fails in the middle of a file
        label = "standard input" if name == "-" else name
        yield Failure(name, f"{label} cannot be read ({error.strerror or error})")


def _with_notations(table: Table, answer: TableAnnotation) -> TableAnnotation:
    """The answer with how the values of each column are written."""
    from aegir.tables.notation import find_notation
    from aegir.vocabulary.value_patterns import value_patterns

    notations = []
    for column, each in zip(table.columns, answer.columns, strict=True):
        notation = find_notation(column.values, each.datatype, typed_source=table.text is None)
        pattern = value_patterns().get(each.fine_type or "")
        if pattern and column.present and all(map(pattern.fullmatch, column.present)):
            notation = notation._replace(pattern=pattern.pattern)
        notations.append(notation)
    return replace(answer, notations=tuple(notations))


def _answer(
    waiting: Sequence[tuple[int, Table | Failure]], prepared: Prepared
) -> Iterator[Answered]:
    """Score the tables that were read together, and decide about each."""
    annotator, memory = prepared.annotator, prepared.memory
    hidden = prepared.settings.ignore_names
    tables = [outcome for _, outcome in waiting if isinstance(outcome, Table)]
    scored = iter(annotator.score([_as_read(table, hidden) for table in tables]))
    for index, table in waiting:
        if isinstance(table, Failure):
            yield Answered(index, table)
            continue
        scores = next(scored)
        shown = _as_read(table, hidden) if hidden else table
        answer = decide(shown, scores, annotator.name, prepared.thresholds)
        answer = memory.apply(shown, answer) if memory else answer
        answer = _with_names(answer, table) if hidden else answer
        answer = prepared.previous.apply(answer) if prepared.previous else answer
        answer = prepared.tags.apply(answer)
        if prepared.settings.notations:
            answer = _with_notations(table, answer)
        yield Answered(index, answer, table, scores.routed, _personal_probabilities(scores))


def _personal_probabilities(scores: TableScores) -> tuple[float, ...] | None:
    """Return how likely each column is personal by what was learnt, if that is known."""
    if scores.levels is not None:
        return tuple((1 - scores.levels[:, 0]).tolist())
    return None if scores.personal is None else tuple(map(float, scores.personal))


def _as_read(table: Table, ignore_names: bool) -> Table:
    """Return the table as readers see it: as it is, unless its source declares something or names are withheld."""
    if not (ignore_names or table.declares):
        return table
    from aegir.pipeline.declared_evidence import as_read

    return as_read(table, ignore_names=ignore_names)


def _with_names(answer: TableAnnotation, table: Table) -> TableAnnotation:
    """Return the answer with the names that were withheld from the readers."""
    columns = tuple(
        replace(each, name=column.name)
        for each, column in zip(answer.columns, table.columns, strict=True)
    )
    return replace(answer, table=table.name, columns=columns)
