"""Deep search: columns that stay ambiguous go down the type tree, from kind to type to fine type.

    (searched, so far) --further readings, one after the other--> --swarm--> --the user's specialists, one after the other-->
    (scores, who was asked, when it ended)

A column's search ends when its likeliest name is sure, when a step changed nothing, or when the budget is spent. Witnesses see the
whole table, so what they say of a column is said beside its neighbours. The path through the tree is shown with the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from aegir.pipeline.effort import Plan
from aegir.pipeline.witnesses import FLOOR, Logs, Networks, Readings, ask_swarm
from aegir.readers.mixing import with_none
from aegir.readers.rules.judge import Verdict
from aegir.readers.scores import LIKELY, Annotator, Probabilities, TableScores
from aegir.tables.table import Table
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import FINE_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import Bools, softmax
from aegir_rl.base.wording import amount

if TYPE_CHECKING:
    from aegir.pipeline.added_specialists import AddedSpecialists

NOTHING_NEW = 0.005
"""A step that changes no probability of a column by more than this has told nothing new."""
SWARM, SPECIALIST = "swarm", "specialist"
_KINDS = np.array([kind_of(name) for name in TYPE_NAMES])


@dataclass(slots=True)
class Trail:
    """How far the search of a column went."""

    readings: int = 0
    asked: list[str] = field(default_factory=list)
    """The swarm, and specialists by name."""

    def __bool__(self) -> bool:
        return self.readings > 0 or bool(self.asked)

    def __str__(self) -> str:
        parts = [amount(self.readings, "further reading")] if self.readings else []
        *first, last = parts + self.asked
        return f"{', '.join(first)} and {last}" if first else last


@dataclass(slots=True)
class Searched:
    """The scores of a table after the search of its ambiguous columns."""

    scores: TableScores
    trails: list[Trail]
    """One per column."""
    notes: list[str] = field(default_factory=list)
    """Sentences about who could not be asked."""
    _added: dict[str, Logs] = field(default_factory=dict)
    """What each witness added to log probabilities."""

    def add(self, witness: str, logs: Logs, open_: Bools, start: TableScores) -> Bools:
        """Take in what a witness adds; return (columns,) the open columns that it changed."""
        self._added[witness] = logs
        before = self.scores.types
        added = list(self._added.values())
        types = _put(start.types, "types", added, open_, self.scores.types)
        fine = self.scores.fine
        if start.fine is not None and fine is not None:
            fine = _put(start.fine, "fine", added, open_, fine)
        self.scores = replace(self.scores, types=types, fine=fine)
        changed: Bools = np.abs(self.scores.types - before).max(axis=1, initial=0.0) > NOTHING_NEW
        return open_ & changed

    def note_asked(self, name: str, columns: Bools) -> None:
        """Record who was asked about these columns."""
        for column in np.flatnonzero(columns).tolist():
            self.trails[column].asked.append(name)


def _put(
    start: Probabilities, part: str, added: Sequence[Logs], rows: Bools, now: Probabilities
) -> Probabilities:
    """Return `now` (columns, names) with these rows of `start` after all that was added to them."""
    logs = np.log(with_none(start[rows]) + FLOOR)
    for each in added:
        if part in each:
            logs = logs + each[part][rows]
    result = now.copy()
    result[rows] = softmax(logs)[:, :-1]
    return result


def is_ambiguous(types: Probabilities, below: float) -> Bools:
    """(columns,) which columns have values and no type (columns, 82), nor none, that is as sure as this."""
    sure = with_none(types).max(axis=1, initial=0.0)
    return np.asarray((sure < below) & types.any(axis=1), bool)


def search_table(
    table: Table,
    verdicts: Sequence[Verdict],
    start: TableScores,
    plan: Plan,
    networks: Networks,
    swarm: Callable[[], Annotator] | None,
    may_go_on: Callable[[str, int], bool],
    added: "AddedSpecialists | None" = None,
) -> Searched:
    """Search the ambiguous columns of one table as far as the plan allows.

    `may_go_on` is asked before each step, with its name and the number of columns it is about.
    """
    searched = Searched(start, [Trail() for _ in table.columns])
    open_ = is_ambiguous(start.types, plan.searched_below)
    readings: Readings | None = None
    for number in range(1, plan.readings + 1):
        if not open_.any() or not may_go_on("reading", int(open_.sum())):
            break
        readings = readings or Readings(networks, table, verdicts)
        more = open_ & readings.unread(number)
        if not more.any():
            break
        changed = searched.add("readings", readings.read(number, more), more, start)
        for column in np.flatnonzero(more).tolist():
            searched.trails[column].readings += 1
        settled = more & ~changed
        open_ = is_ambiguous(searched.scores.types, plan.searched_below) & open_ & ~settled
    open_ = is_ambiguous(searched.scores.types, plan.searched_below)
    asks = plan.asks_swarm and open_.any()
    if asks and swarm and may_go_on(SWARM, len(table.columns)):
        searched.add(SWARM, ask_swarm(swarm(), table), open_, start)
        searched.note_asked(SWARM, open_)
    if plan.asks_swarm and added is not None:
        _ask_added(searched, table, plan, added, may_go_on)
    return searched


def _ask_added(
    searched: Searched,
    table: Table,
    plan: Plan,
    added: "AddedSpecialists",
    may_go_on: Callable[[str, int], bool],
) -> None:
    """Ask the user's specialists about the columns that are still ambiguous between types that they tell apart."""
    spawning = added.pool.begin()
    for entry in added.entries:
        types = searched.scores.types
        rows = added.doubtful(entry, types) & is_ambiguous(types, plan.searched_below)
        if not rows.any():
            continue
        if not may_go_on(SPECIALIST, int(rows.sum())):
            return
        columns = [table.columns[column] for column in np.flatnonzero(rows).tolist()]
        answered = added.answer(entry, columns, types[rows], spawning)
        if answered is None:
            searched.notes.append(added.why_not(entry))
            continue
        changed = types.copy()
        changed[rows] = answered
        searched.scores = replace(searched.scores, types=changed)
        searched.note_asked(entry.name, rows)


def describe_path(scores: TableScores, column: int) -> str:
    """Return the way down the tree to the likeliest name: `name 0.93 > MusicAlbum/name 0.62`."""
    types = scores.types[column]
    none = max(1 - float(types.sum()), 0.0)
    best = int(types.argmax())
    steps: list[tuple[str, float]] = []
    if types[best] >= none:
        kind = str(_KINDS[best])
        steps = [(kind, float(types[kind == _KINDS].sum())), (TYPE_NAMES[best], float(types[best]))]
    if scores.fine is not None:
        named = int(scores.fine[column].argmax())
        if scores.fine[column, named] >= LIKELY:
            steps.append((FINE_NAMES[named], float(scores.fine[column, named])))
    if not steps or steps[0][0] in FINE_NAMES:
        steps.insert(0, ("none of the types", none))
    return " > ".join(f"{name} {sure:.2f}" for name, sure in steps)
