"""Search: columns that stay ambiguous are read again, and others are called about them, down the type tree.

    further readings, one after the other --> the user's specialists, one after the other

A column's search ends when its likeliest name is sure, when a step changed nothing, or when the time of its table is used up. Whoever
is called sees the whole table, so what is said of a column is said beside its neighbours. The path through the tree, from kind to
type to fine type, is shown with the answer.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from aegir.pipeline.batch import CalledColumns, CalledReader, PipelineBatch
from aegir.pipeline.further_readings import FLOOR, FurtherReadings, Logs, Networks
from aegir.pipeline.plan import COMBINED, SEARCHED_BELOW, SearchDepth, is_ambiguous
from aegir.readers.mixing import with_none
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import LIKELY, Probabilities, TableScores
from aegir.readers.swarm.pool.location import manifest_files, swarm_folder
from aegir.tables.table import Table
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import FINE_NAMES, TYPE_NAMES, plain_name
from aegir_rl.base.arrays import F32, Bools, softmax
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount

if TYPE_CHECKING:
    from aegir.pipeline.added_specialists import AddedSpecialists

NOTHING_NEW = 0.005
"""A step that changes no probability of a column by more than this has told nothing new."""
READING, SPECIALIST = "reading", "specialist"
"""Steps whose time is measured."""
_KINDS = np.array([kind_of(name) for name in TYPE_NAMES])


class Search(CalledReader):
    """Searches columns; a reader of the pipeline."""

    def __init__(
        self,
        ngrams: object,
        depth: SearchDepth,
        *,
        added: "AddedSpecialists | None" = None,
        first: CalledReader | None = None,
    ) -> None:
        """`added` are the user's specialists.

        `first` reads the columns that `combined` was not called about before they are searched; None if nobody does.
        """
        if not isinstance(ngrams, Networks):
            raise UsageError("these n-grams cannot read a column again; use an effort up to normal")
        self.networks, self.depth, self.first = ngrams, depth, first
        self.added = added if depth.calls_specialists else None

    @classmethod
    def open(
        cls,
        ngrams: object,
        depth: SearchDepth,
        first: CalledReader | None = None,
        *,
        pool: Path | None = None,
        say: Callable[[str], None] = warnings.warn,
    ) -> Self:
        """Return a search with the specialists in the user's pool, or in the folder `pool`.

        `say` is called with a sentence for each file of the pool that cannot be used.
        """
        added = load_added(pool, say) if depth.calls_specialists else None
        return cls(ngrams, depth, added=added, first=first)

    def with_added(self, added: "AddedSpecialists") -> "Search":
        """Return the same search with these specialists of the user."""
        return Search(self.networks, self.depth, added=added, first=self.first)

    def load(self) -> None:
        """Load whoever may be called."""
        if self.added is not None:
            self.added.load()

    def read(self, batch: PipelineBatch, called: CalledColumns) -> list[TableScores]:
        """Return the scores of these tables after the search of their called columns."""
        if self.first is not None:
            self._read_first(batch, called, self.first)
        result = []
        for index, columns in zip(called.tables, called.columns, strict=True):
            span = batch.spans[index]
            searched = self._search(
                batch.tables[index], batch.verdicts[span], batch.scores[index], columns, batch
            )
            batch.notes[index] += searched.notes
            for column, trail in enumerate(searched.trails):
                if trail:
                    batch.searched[span.start + column] = str(trail)
            result.append(searched.scores)
        return result

    def _read_first(self, batch: PipelineBatch, called: CalledColumns, first: CalledReader) -> None:
        """Have the columns read that nobody but the n-grams has read."""
        before = batch.was_called(COMBINED)
        for index, columns in zip(called.tables, called.columns, strict=True):
            unread = columns & ~before[batch.spans[index]]
            if unread.any():
                (scores,) = first.read(batch, CalledColumns([index], [unread], called.context))
                batch.put(index, scores, unread)

    def _search(
        self,
        table: Table,
        verdicts: Sequence[RuleVerdict],
        start: TableScores,
        called: Bools,
        batch: PipelineBatch,
    ) -> "_Searched":
        """Search the called columns of one table that are ambiguous."""
        searched = _Searched(start, [Trail() for _ in table.columns])
        open_ = called & is_ambiguous(start.types, SEARCHED_BELOW)
        readings: FurtherReadings | None = None
        for number in range(1, self.depth.readings + 1):
            if not open_.any() or not batch.may_go_on(READING, int(open_.sum())):
                break
            readings = readings or FurtherReadings(self.networks, table, verdicts)
            unread = open_ & readings.unread(number)
            if not unread.any():
                break
            changed = searched.add(readings.read(number, unread), unread, start)
            for column in np.flatnonzero(unread).tolist():
                searched.trails[column].readings += 1
            settled = unread & ~changed
            open_ = is_ambiguous(searched.scores.types, SEARCHED_BELOW) & open_ & ~settled
        if self.added is not None:
            self._call_added(searched, table, called, batch, self.added)
        return searched

    def _call_added(
        self,
        searched: "_Searched",
        table: Table,
        called: Bools,
        batch: PipelineBatch,
        added: "AddedSpecialists",
    ) -> None:
        """Call the user's specialists about columns that are still ambiguous between types that they tell apart."""
        spawning = added.pool.begin()
        for entry in added.entries:
            types = searched.scores.types
            rows = called & added.doubtful(entry, types) & is_ambiguous(types, SEARCHED_BELOW)
            if not rows.any():
                continue
            if not batch.may_go_on(SPECIALIST, int(rows.sum())):
                return
            columns = [table.columns[column] for column in np.flatnonzero(rows).tolist()]
            answered = added.answer(entry, columns, types[rows], spawning)
            if answered is None:
                searched.notes.append(added.why_not(entry))
                continue
            changed = types.copy()
            changed[rows] = answered
            searched.scores = replace(searched.scores, types=changed)
            searched.note_call(entry.name, rows)


@dataclass(slots=True)
class Trail:
    """How far the search of a column went."""

    readings: int = 0
    called: list[str] = field(default_factory=list)
    """Specialists by name."""

    def __bool__(self) -> bool:
        return self.readings > 0 or bool(self.called)

    def __str__(self) -> str:
        parts = [amount(self.readings, "further reading")] if self.readings else []
        *first, last = parts + self.called
        return f"{', '.join(first)} and {last}" if first else last


@dataclass(slots=True)
class _Searched:
    """The scores of a table after the search of its ambiguous columns."""

    scores: TableScores
    trails: list[Trail]
    """One per column."""
    notes: list[str] = field(default_factory=list)
    """Sentences about who could not be called."""

    def add(self, logs: Logs, open_: Bools, start: TableScores) -> Bools:
        """Take in what all readings add to `start`; return (columns,) the open columns that this changed."""
        before = self.scores.types
        types = _put(start.types, logs["types"], open_, before)
        fine = self.scores.fine
        if start.fine is not None and fine is not None:
            fine = _put(start.fine, logs["fine"], open_, fine)
        self.scores = replace(self.scores, types=types, fine=fine)
        changed: Bools = np.abs(self.scores.types - before).max(axis=1, initial=0.0) > NOTHING_NEW
        return open_ & changed

    def note_call(self, name: str, columns: Bools) -> None:
        """Record who was called about these columns."""
        for column in np.flatnonzero(columns).tolist():
            self.trails[column].called.append(name)


def _put(start: Probabilities, added: F32, rows: Bools, now: Probabilities) -> Probabilities:
    """Return `now` (columns, names) with these rows of `start` after what is added to their log probabilities."""
    result = now.copy()
    result[rows] = softmax(np.log(with_none(start[rows]) + FLOOR) + added[rows])[:, :-1]
    return result


def describe_path(scores: TableScores, column: int) -> str:
    """Return the way down the tree to the likeliest name: `name 0.93 > MusicAlbum/name 0.62`."""
    types = scores.types[column]
    none = max(1 - float(types.sum()), 0.0)
    best = int(types.argmax())
    steps: list[tuple[str, float]] = []
    if types[best] >= none:
        kind = str(_KINDS[best])
        steps = [
            (kind, float(types[kind == _KINDS].sum())),
            (plain_name(TYPE_NAMES[best]), float(types[best])),
        ]
    if scores.fine is not None:
        named = int(scores.fine[column].argmax())
        if scores.fine[column, named] >= LIKELY:
            steps.append((FINE_NAMES[named], float(scores.fine[column, named])))
    if not steps or steps[0][0] in FINE_NAMES:
        steps.insert(0, ("none of the types", none))
    return " > ".join(f"{name} {sure:.2f}" for name, sure in steps)


def load_added(
    folder: Path | None = None, say: Callable[[str], None] = warnings.warn
) -> "AddedSpecialists | None":
    """Return the user's specialists, or those in a folder; None if there is none to call."""
    folder = folder if folder is not None else swarm_folder()
    if not manifest_files(folder):
        return None
    from aegir.pipeline.added_specialists import AddedSpecialists  # 40 ms that most runs do without

    return AddedSpecialists.open(folder, say)
