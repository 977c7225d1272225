"""A pool of specialists: manifests say who there is, weights are loaded when a specialist is needed.

    pool = SpecialistPool.open()
    spawning = pool.begin(SpawnBudget(count=3))       # what one table may activate
    if (places := pool.get("places", spawning)) is not None:
        places.contribute(symbols)                    # states, vectors, answers

When loading would exceed the budget of the pool, the least recently used specialists are dropped.

Promises
  - what is warm (in memory) never exceeds the budget's count and bytes, with any number of threads;
  - a specialist gives the same bits, warm or cold;
  - a file that is missing, altered or for another vocabulary is routed around: `get` returns None, and `refused` says why;
  - what a table has activated is not dropped for what it activates later;
  - nothing is written.

Limit: a model that was dropped stays in memory as long as a caller holds it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Literal

from aegir.readers.swarm.pool.entry import PoolEntry, load_entries
from aegir.readers.swarm.pool.loading import load_model
from aegir.readers.swarm.pool.location import swarm_folder
from aegir.readers.swarm.specialists import SpecialistModel
from aegir_rl.base.errors import UsageError

SkipReason = Literal["count", "bytes", "refused"]


@dataclass(frozen=True, slots=True)
class SpawnBudget:
    """Limits of what is active: at a time in a pool, or for one table."""

    count: int = 16
    """Specialists."""
    bytes: int = 256_000_000
    """Of their weights in memory."""

    def __post_init__(self) -> None:
        for value, noun in ((self.count, "specialist"), (self.bytes, "byte")):
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise UsageError(
                    f"a spawn budget of {value!r} {noun}s activates nothing; give a number above 0"
                    + (", or use the primary alone" if noun == "specialist" else "")
                )

    def within(self, other: "SpawnBudget") -> "SpawnBudget":
        """Return the stricter of two budgets in both limits."""
        return SpawnBudget(min(self.count, other.count), min(self.bytes, other.bytes))


@dataclass(slots=True)
class Spawning:
    """What one table has activated within its budget; only the pool that made it changes it."""

    budget: SpawnBudget
    activated: dict[str, int] = field(default_factory=dict)
    """Name to bytes in memory."""
    skipped: dict[str, SkipReason] = field(default_factory=dict)
    """Name to what did not allow it."""

    def exceeded_by(self, entry: PoolEntry) -> SkipReason | None:
        """Return which limit a specialist would exceed; None if neither, or if it is active already."""
        if entry.name in self.activated:
            return None
        if len(self.activated) >= self.budget.count:
            return "count"
        return "bytes" if sum(self.activated.values()) + entry.memory > self.budget.bytes else None


class SpecialistPool:
    """Specialists by name."""

    def __init__(
        self,
        entries: Mapping[str, PoolEntry],
        budget: SpawnBudget | None = None,
        folder: Path | None = None,
        refused: Mapping[str, str] | None = None,
    ) -> None:
        self.budget, self.folder = budget or SpawnBudget(), folder
        self.entries = dict(entries)
        """Those whose manifests can be read, by name."""
        self._refused = dict(refused or {})
        self._warm: dict[str, SpecialistModel] = {}  # the least recently used first
        self._lock = Lock()

    @classmethod
    def open(
        cls, folder: Path | None = None, budget: SpawnBudget | None = None
    ) -> "SpecialistPool":
        """Return the specialists of the user's folder, or of `folder`, all of them cold."""
        folder = folder if folder is not None else swarm_folder()
        entries, refused = load_entries(folder)
        return cls(entries, budget, folder, refused)

    @property
    def refused(self) -> Mapping[str, str]:
        """Name to one sentence, for every file that cannot be used."""
        with self._lock:
            return dict(self._refused)

    @property
    def warm(self) -> tuple[str, ...]:
        """The names of those in memory, the least recently used first."""
        with self._lock:
            return tuple(self._warm)

    @property
    def memory(self) -> int:
        """Bytes of those in memory."""
        with self._lock:
            return self._memory()

    def entry(self, name: str) -> PoolEntry:
        """Return the entry of a name; raise UsageError for an unknown one and list the known ones."""
        if name not in self.entries:
            known = ", ".join(self.entries) or "none"
            raise UsageError(f"there is no specialist {name!r} in the pool; known are: {known}")
        return self.entries[name]

    def begin(self, budget: SpawnBudget | None = None) -> Spawning:
        """Return a token for one table, whose budget is not above that of the pool."""
        return Spawning(self.budget if budget is None else budget.within(self.budget))

    def get(self, name: str, spawning: Spawning | None = None) -> SpecialistModel | None:
        """Return a specialist, loaded if it is cold; None if its file is refused or the budget does not allow it.

        Raises UsageError for a name that is not in the pool.
        """
        entry = self.entry(name)
        spawning = spawning or self.begin()
        with self._lock:  # also while a file is loaded: what is being loaded counts as warm
            model = self._activate(entry, spawning)
            if model is not None:
                self._warm[name] = model
                spawning.activated[name] = entry.memory
                spawning.skipped.pop(name, None)
            return model

    def _activate(self, entry: PoolEntry, spawning: Spawning) -> SpecialistModel | None:
        """Take a model out of the warm ones, or load it; note why neither is possible."""
        reason = "refused" if entry.name in self._refused else spawning.exceeded_by(entry)
        if reason is not None:
            spawning.skipped[entry.name] = reason
            return None
        if entry.name in self._warm:
            return self._warm.pop(entry.name)
        self._make_room(entry.memory, spawning)
        try:
            return load_model(entry)
        except UsageError as error:
            self._refused[entry.name] = str(error)
            spawning.skipped[entry.name] = "refused"
            return None

    def _memory(self) -> int:
        return sum(self.entries[name].memory for name in self._warm)

    def _make_room(self, memory: int, spawning: Spawning) -> None:
        """Drop the least recently used specialists until one more of this size is within the budget.

        What the table has activated is within its budget, which is not above the pool's: dropping others suffices.
        """
        for name in [name for name in self._warm if name not in spawning.activated]:
            if len(self._warm) < self.budget.count and self._memory() + memory <= self.budget.bytes:
                return
            del self._warm[name]
