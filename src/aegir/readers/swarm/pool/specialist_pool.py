"""A pool of specialists: warm ones in memory, cold ones on disk, loaded when somebody needs them.

    pool = SpecialistPool.open()
    spawning = pool.begin(SpawnBudget(count=3))       # what one table may wake
    if (places := pool.get("places", spawning)) is not None:
        given = places.contribute(symbols)            # states, vectors, answers
        pool.note_use("places", len(symbols), seconds)

Whom to drop. When loading would exceed the budget of the pool, the specialist of least priority is dropped (greedy dual size
with frequency, Cherkasova 1998), the least recently used of several:

    priority = clock + (1 + columns) worth / megabytes         set when it is loaded, given out or its use is noted

`columns` are those noted since the pool was opened. `worth` is the mean gain noted for it, also by earlier processes, and not
below 0; without any, the mean worth of the others, or 1. The clock is the priority of the last one dropped, so that what was
useful once does not stay for ever.

Promises
  - what is warm never exceeds the budget's count and bytes, with any number of threads;
  - a specialist gives the same bits, warm or cold;
  - a file that is missing, altered or for another vocabulary is routed around: `get` returns None, and `refused` says why;
  - what a table has woken is not dropped for what it wakes later;
  - nothing is written unless `save_stats` is called.

Limit: a model that was dropped stays in memory as long as a caller holds it.

Not here: manifests (entry.py), files (loading.py), budgets (spawning.py), statistics (usage.py), adding and removing (changes.py).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from aegir.readers.swarm.annotator import SHIPPED
from aegir.readers.swarm.pool.entry import PoolEntry, load_entries, manifest_of
from aegir.readers.swarm.pool.loading import load_model
from aegir.readers.swarm.pool.location import swarm_folder
from aegir.readers.swarm.pool.settings import SETTINGS_FILE, load_disabled
from aegir.readers.swarm.pool.spawning import MEGABYTE, SpawnBudget, Spawning, Woken
from aegir.readers.swarm.pool.usage import USAGE_FILE, Usage, load_usage, save_usage
from aegir.readers.swarm.specialists import SpecialistModel
from aegir_rl.base.errors import UsageError


@dataclass(slots=True)
class _Warm:
    """A specialist in memory."""

    model: SpecialistModel
    memory: int
    priority: float
    touched: int
    """The number of the last use, of all uses in the pool."""


class SpecialistPool:
    """Specialists by name."""

    def __init__(
        self,
        entries: Mapping[str, PoolEntry],
        budget: SpawnBudget | None = None,
        folder: Path | None = None,
        refused: Mapping[str, str] | None = None,
        saved: Mapping[str, Usage] | None = None,
    ) -> None:
        self.budget, self.folder = budget or SpawnBudget(), folder
        self._entries = dict(entries)
        self._refused = dict(refused or {})
        self._saved: dict[str, Usage] = dict(saved or {})
        self._used: dict[str, Usage] = {}
        self._unsaved: dict[str, Usage] = {}
        self._worths = self._known_worths()
        self._warm: dict[str, _Warm] = {}
        self._clock, self._touches = 0.0, 0
        self._lock, self._loading = Lock(), Lock()

    @classmethod
    def open(
        cls, folder: Path | None = None, budget: SpawnBudget | None = None
    ) -> "SpecialistPool":
        """Return the shipped specialists and those of the user's folder, all of them cold.

        `folder` replaces the user's folder. A shipped specialist that the user has switched off is left out.
        """
        folder = folder if folder is not None else swarm_folder()
        refused: dict[str, str] = {}
        disabled: frozenset[str] = frozenset()
        saved: dict[str, Usage] = {}
        try:
            disabled = load_disabled(folder)
        except UsageError as error:
            refused[SETTINGS_FILE] = str(error)
        try:
            saved = load_usage(folder)
        except UsageError as error:
            refused[USAGE_FILE] = str(error)
        shipped, unusable = load_entries(SHIPPED, "shipped")
        own, refused_own = load_entries(folder, "user")
        for name in own.keys() & shipped.keys():
            refused[str(own.pop(name).file)] = (
                f"a specialist {name!r} ships with Aegir; add the one in {folder} under another --name"
            )
        used = {name: entry for name, entry in shipped.items() if name not in disabled}
        refused |= unusable
        for name, why in refused_own.items():
            refused[str(manifest_of(folder, name)) if folder and name in used else name] = why
        return cls({**used, **own}, budget, folder, refused, saved)

    @property
    def entries(self) -> tuple[PoolEntry, ...]:
        """All specialists whose manifests can be read, shipped ones first, by name."""
        return tuple(self._entries.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in the same order."""
        return tuple(self._entries)

    @property
    def refused(self) -> Mapping[str, str]:
        """Name to one sentence, for every file that cannot be used."""
        with self._lock:
            return dict(self._refused)

    @property
    def warm(self) -> tuple[str, ...]:
        """The names of those in memory, least useful first."""
        with self._lock:
            return tuple(sorted(self._warm, key=self._rank))

    @property
    def memory(self) -> int:
        """Bytes of those in memory."""
        with self._lock:
            return sum(each.memory for each in self._warm.values())

    def entry(self, name: str) -> PoolEntry:
        """Return the entry of a name; raise UsageError for an unknown one and list the known ones."""
        if name not in self._entries:
            known = ", ".join(self._entries) or "none"
            raise UsageError(f"there is no specialist {name!r} in the pool; known are: {known}")
        return self._entries[name]

    def begin(self, budget: SpawnBudget | None = None) -> Spawning:
        """Return a token for one table, whose budget is not above that of the pool."""
        return Spawning(self.budget if budget is None else budget.within(self.budget))

    def get(self, name: str, spawning: Spawning | None = None) -> SpecialistModel | None:
        """Return a specialist, loaded if it is cold; None if its file is refused or the budget does not allow it.

        Raises UsageError for a name that is not in the pool.
        """
        entry = self.entry(name)
        spawning = spawning or self.begin()
        with self._lock:
            if (model := self._given(entry, spawning)) is not None or name in spawning.skipped:
                return model
        # One file at a time, so that what is being loaded is within the budget too.
        with self._loading:
            with self._lock:
                # Another thread may have loaded it meanwhile.
                if (model := self._given(entry, spawning)) is not None or name in spawning.skipped:
                    return model
                if why := spawning.forbids(name, entry.memory, cold=True):
                    spawning.skipped[name] = why
                    return None
                self._make_room(entry.memory, spawning)
                # Counted before it is there: other threads of the same table see its budget used.
                spawning.woken[name] = spawning.woken.get(name, Woken(True, 0.0, entry.memory))
            return self._load(entry, spawning)

    def _given(self, entry: PoolEntry, spawning: Spawning) -> SpecialistModel | None:
        """Return a warm specialist; None if it is cold, or may not be woken, which `spawning` then says."""
        name = entry.name
        spawning.skipped.pop(name, None)
        if name in self._refused:
            spawning.skipped[name] = "refused"
            return None
        if why := spawning.forbids(name, entry.memory, cold=False):
            spawning.skipped[name] = why
            return None
        if entry.memory > self.budget.bytes:
            spawning.skipped[name] = "bytes"
            return None
        if (warm := self._warm.get(name)) is None:
            return None
        self._touch(name)
        spawning.woken.setdefault(name, Woken(cold=False, milliseconds=0.0, memory=entry.memory))
        return warm.model

    def _load(self, entry: PoolEntry, spawning: Spawning) -> SpecialistModel | None:
        started = time.perf_counter()
        try:
            model = load_model(entry)
        except UsageError as error:
            with self._lock:
                self._refused[entry.name] = str(error)
                spawning.woken.pop(entry.name)
                spawning.skipped[entry.name] = "refused"
            return None
        milliseconds = 1000 * (time.perf_counter() - started)
        with self._lock:
            self._warm[entry.name] = _Warm(model, entry.memory, 0.0, 0)
            self._count(entry.name, Usage(cold=1))
            self._touch(entry.name)
            milliseconds += spawning.woken[entry.name].milliseconds
            spawning.woken[entry.name] = Woken(True, milliseconds, entry.memory)
        return model

    def note_use(self, name: str, columns: int, seconds: float) -> None:
        """Record that a specialist has read columns."""
        self.entry(name)
        with self._lock:
            self._count(name, Usage(columns=columns, calls=1, seconds=seconds))
            if name in self._warm:
                self._touch(name)

    def note_worth(self, name: str, gain: float) -> None:
        """Record what a specialist's answer was worth: the share of columns that are right with it, less that without."""
        self.entry(name)
        with self._lock:
            self._count(name, Usage(gains=1, gain=gain))
            self._worths = self._known_worths()
            if name in self._warm:
                self._touch(name)

    def usage(self) -> dict[str, Usage]:
        """Return how each specialist was used: what was saved, and what this process has noted since."""
        with self._lock:
            return {name: self._usage(name) for name in self._entries}

    @property
    def has_unsaved_stats(self) -> bool:
        """Whether anything was noted since `save_stats`."""
        with self._lock:
            return bool(self._unsaved)

    def save_stats(self) -> None:
        """Add what was noted since the last time to the statistics in the user's folder."""
        if self.folder is None:
            raise UsageError(
                "there is no home folder to keep statistics in; set AEGIR_SWARM to a folder"
            )
        with self._lock:
            new, self._unsaved = self._unsaved, {}
        try:
            saved = save_usage(self.folder, new)
        except UsageError:
            with self._lock:
                for name, usage in new.items():
                    self._unsaved[name] = self._unsaved.get(name, Usage()) + usage
            raise
        with self._lock:
            self._saved = saved
            self._worths = self._known_worths()

    def worth(self, name: str) -> float:
        """Return what a specialist is taken to be worth when somebody must be dropped."""
        with self._lock:
            return self._worth(name)

    def _usage(self, name: str) -> Usage:
        return self._saved.get(name, Usage()) + self._unsaved.get(name, Usage())

    def _count(self, name: str, usage: Usage) -> None:
        self._used[name] = self._used.get(name, Usage()) + usage
        self._unsaved[name] = self._unsaved.get(name, Usage()) + usage

    def _worth(self, name: str) -> float:
        if (own := self._worths.get(name)) is not None:
            return max(own, 0.0)
        known = self._worths.values()
        return max(sum(known) / len(known), 0.0) if known else 1.0

    def _known_worths(self) -> dict[str, float]:
        """Return the mean gain of those for which one was noted."""
        worths = {name: self._usage(name).worth for name in self._entries}
        return {name: worth for name, worth in worths.items() if worth is not None}

    def _touch(self, name: str) -> None:
        warm, columns = self._warm[name], self._used.get(name, Usage()).columns
        self._touches += 1
        warm.touched = self._touches
        warm.priority = self._clock + (1 + columns) * self._worth(name) * MEGABYTE / warm.memory

    def _rank(self, name: str) -> tuple[float, int]:
        warm = self._warm[name]
        return warm.priority, warm.touched

    def _make_room(self, memory: int, spawning: Spawning) -> None:
        """Drop the least useful specialists until one more of this size is within the budget."""
        while self._warm:
            held = sum(each.memory for each in self._warm.values())
            if len(self._warm) < self.budget.count and held + memory <= self.budget.bytes:
                return
            # What this table has woken is within its budget, which is not above the pool's: the others suffice.
            others = [name for name in self._warm if name not in spawning.woken]
            dropped = min(others, key=self._rank)
            self._clock = max(self._clock, self._warm.pop(dropped).priority)
