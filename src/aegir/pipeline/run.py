"""Annotate sources: the Python call `aegir.annotate`, and what it shares with the command line.

    annotate("customers.csv")                                  # all at once, prints readably

    annotator, thresholds = prepare(precision=0.9)
    for outcome in annotate_sources(files, annotator, thresholds):   # streams; a failure is an outcome too
        ...

Tables are scored a few at a time; what a table gets does not depend on its neighbours, so a folder split
over two runs gives what one run gives.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

from aegir.answers.annotation import TableAnnotation
from aegir.answers.text_report import render_text
from aegir.answers.writers import FORMATS, check_format
from aegir.memory.location import load_memory
from aegir.pipeline.custom_types.recognising import with_custom_types
from aegir.pipeline.decide import decide
from aegir.pipeline.registry import (
    DEFAULT,
    load_annotator,
    thresholds_for,
    with_spawning,
    with_times,
)
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.tables.database_urls import DatabaseUrl, is_url, parse_database_url
from aegir.tables.discovery import find_table_files
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import AegirError, UnreadableTable, UsageError

if TYPE_CHECKING:
    from aegir.memory.recall import ReviewMemory

COLUMNS_AT_ONCE = 512
ROWS = 200
MIN_CONFIDENCE = 0.1
"""A guess that is wrong nine times in ten is not worth saying."""


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

    def __len__(self) -> int:
        return len(self.tables)

    @overload
    def __getitem__(self, index: int) -> TableAnnotation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TableAnnotation, ...]: ...
    def __getitem__(self, index: int | slice) -> TableAnnotation | tuple[TableAnnotation, ...]:
        return self.tables[index]

    def __str__(self) -> str:
        return render_text(self.tables, colour=False).rstrip("\n")

    def to(self, format_name: str) -> str:
        """The annotations as text in one format, such as json, csv or dbt; an unknown name raises with the list of formats."""
        check_format(format_name)
        return f"{self}\n" if format_name == "text" else FORMATS[format_name](self.tables)


def annotate(
    *sources: object,
    annotator: str | Annotator = DEFAULT,
    rows: int = ROWS,
    seed: int = 0,
    min_confidence: float = MIN_CONFIDENCE,
    precision: float | None = None,
    model: str | Path | None = None,
    custom_types: bool = True,
    timing: bool = False,
    memory: "ReviewMemory | str | bool" = True,
    spawn: str | int | None = None,
) -> Annotations:
    """Annotate files, folders, patterns, addresses of databases, lists of them, dicts, pandas or polars frames, Arrow tables.

    `annotator` is a name, or an object with a method `score`. `model` names weights made by `aegir train ngrams`, or the
    folder of a swarm, to be used instead of those that ship; `custom_types` False leaves out the types that were taught with
    `aegir types learn`; `timing` measures how long each table takes, which only the annotator `swarm` does. `memory` names
    the store of reviews that are used (`aegir review`); True is the user's own, if there is one, and False none.
    `spawn` limits the specialists that a swarm wakes per table: a number, "all", or "auto" for its own estimate.
    A single source of which nothing can be read raises its error; otherwise errors are listed in `failures`.
    """
    if rows < 1:
        raise UsageError(f"rows is {rows}; at least 1 row must be sampled")
    chosen, thresholds = prepare(
        annotator,
        model,
        min_confidence=min_confidence,
        precision=precision,
        custom_types=custom_types,
        timing=timing,
        spawn=spawn,
    )
    expanded = [place for source in sources for place in find_places(source)]
    outcomes = list(
        annotate_sources(
            expanded, chosen, thresholds, rows=rows, seed=seed, memory=_reviews(memory)
        )
    )
    tables = tuple(outcome for outcome in outcomes if isinstance(outcome, TableAnnotation))
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, Failure))
    if failures and not tables and len(expanded) == 1:
        raise failures[0].kind(failures[0].reason)
    return Annotations(tables, failures)


def _reviews(memory: "ReviewMemory | str | bool") -> "ReviewMemory | None":
    if isinstance(memory, bool):
        return load_memory() if memory else None
    return load_memory(memory) if isinstance(memory, str) else memory


def prepare(
    annotator: str | Annotator = DEFAULT,
    model: str | Path | None = None,
    *,
    min_confidence: float = MIN_CONFIDENCE,
    precision: float | None = None,
    custom_types: bool = True,
    timing: bool = False,
    spawn: str | int | None = None,
    say: Callable[[str], None] = warnings.warn,
) -> tuple[Annotator, Thresholds]:
    """Load an annotator by name, or take the one given, with the types that the user taught; choose its thresholds.

    `say` is called with a sentence for each taught type, and each file of the user's pool, that cannot be used. With `timing`, answers say how long each
    table took. `spawn` limits how many specialists of a swarm a table may wake.
    """
    chosen = annotator
    if isinstance(chosen, str):
        chosen = load_annotator(chosen, None if model is None else Path(model), say)
    if spawn is not None:
        chosen = with_spawning(chosen, spawn)
    if timing:
        chosen = with_times(chosen)
    if custom_types:
        chosen = with_custom_types(chosen, say=say)
    return chosen, choose_thresholds(chosen, min_confidence, precision)


def choose_thresholds(
    annotator: Annotator, min_confidence: float = 0.0, precision: float | None = None
) -> Thresholds:
    """The confidences below which to abstain: `min_confidence`, or higher where `precision` asks for it."""
    if not 0 <= min_confidence <= 1:
        raise UsageError(f"min_confidence is {min_confidence}; expected a number from 0 to 1")
    if precision is None:
        return Thresholds(min_confidence, min_confidence)
    if not 0 < precision < 1:
        raise UsageError(f"precision is {precision}; expected a number between 0 and 1")
    return _at_least(thresholds_for(annotator, precision), min_confidence)


def _at_least(thresholds: Thresholds, least: float) -> Thresholds:
    everyday = thresholds.everyday
    return Thresholds(
        max(thresholds.types, least),
        max(thresholds.relations, least),
        _at_least(everyday, least) if everyday else None,
        None if thresholds.labels is None else max(thresholds.labels, least),
    )


def find_places(source: object) -> Sequence[object]:
    """The files and databases that a name, folder, pattern, address or list of them leads to; any other source by itself.

    A name that leads to no table is a `Failure`, to be reported in its place.
    """
    if isinstance(source, list | tuple) and all(isinstance(place, str | Path) for place in source):
        return [place for path in source for place in find_places(path)]
    if not isinstance(source, str | Path) or str(source) == "-":
        return [source]
    name = str(source)
    try:
        if is_url(source):
            name = name.partition("://")[0] + "://…"  # a password may follow
            return [parse_database_url(str(source))]
        return find_table_files([source])
    except UsageError as error:
        return [Failure(name, str(error), UsageError)]


def annotate_sources(
    sources: Iterable[object],
    annotator: Annotator,
    thresholds: Thresholds | None = None,
    *,
    rows: int = ROWS,
    seed: int = 0,
    memory: "ReviewMemory | None" = None,
) -> Iterator[TableAnnotation | Failure]:
    """One outcome per table, and one per source that cannot be read, in order; a `Failure` stays what it is."""
    for _, outcome in annotate_numbered(
        sources, annotator, thresholds, rows=rows, seed=seed, memory=memory
    ):
        yield outcome


def annotate_numbered(
    sources: Iterable[object],
    annotator: Annotator,
    thresholds: Thresholds | None = None,
    *,
    rows: int = ROWS,
    seed: int = 0,
    memory: "ReviewMemory | None" = None,
) -> Iterator[tuple[int, TableAnnotation | Failure]]:
    """The outcomes of `annotate_sources`, each with the place of its source among the sources."""
    for place, _, outcome in annotate_tables(
        sources, annotator, thresholds, rows=rows, seed=seed, memory=memory
    ):
        yield place, outcome


def annotate_tables(
    sources: Iterable[object],
    annotator: Annotator,
    thresholds: Thresholds | None = None,
    *,
    rows: int = ROWS,
    seed: int = 0,
    memory: "ReviewMemory | None" = None,
) -> Iterator[tuple[int, Table | None, TableAnnotation | Failure]]:
    """The outcomes of `annotate_numbered`, each with the table that was read; None for a failure."""
    waiting: list[tuple[int, Table | Failure]] = []
    columns = 0
    for place, source in enumerate(sources):
        for outcome in read_source(source, rows, seed):
            waiting.append((place, outcome))
            columns += len(outcome.columns) if isinstance(outcome, Table) else 0
            if columns >= COLUMNS_AT_ONCE:
                yield from _annotate_waiting(waiting, annotator, thresholds, memory)
                waiting, columns = [], 0
    yield from _annotate_waiting(waiting, annotator, thresholds, memory)


def read_source(source: object, rows: int, seed: int) -> Iterator[Table | Failure]:
    """Yield the tables of a source; at last a `Failure` if it cannot be read, or not to its end."""
    if is_url(source):
        (source,) = find_places(source)
    if isinstance(source, Failure):
        yield source
        return
    name = str(source) if isinstance(source, str | Path | DatabaseUrl) else "table"
    if name == "-" and sys.stdin is None:
        yield Failure(name, "standard input is closed; give a file, or pipe a table in")
        return
    try:
        yield from read_tables(source, rows=rows, seed=seed)
    except AegirError as error:
        yield Failure(name, str(error), type(error))
    except OSError as error:  # a disk or network that fails in the middle of a file
        label = "standard input" if name == "-" else name
        yield Failure(name, f"{label} cannot be read ({error.strerror or error})")


def _annotate_waiting(
    waiting: Sequence[tuple[int, Table | Failure]],
    annotator: Annotator,
    thresholds: Thresholds | None,
    memory: "ReviewMemory | None",
) -> Iterator[tuple[int, Table | None, TableAnnotation | Failure]]:
    tables = [outcome for _, outcome in waiting if isinstance(outcome, Table)]
    scores = iter(annotator.score(tables))
    for place, outcome in waiting:
        if isinstance(outcome, Failure):
            yield place, None, outcome
        else:
            answer = decide(outcome, next(scores), annotator.name, thresholds)
            yield place, outcome, memory.apply(outcome, answer) if memory else answer
