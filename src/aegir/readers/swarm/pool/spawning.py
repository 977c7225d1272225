"""How many specialists a table may wake, and which it woke.

    spawning = pool.begin(SpawnBudget(count=3, bytes=32_000_000, milliseconds=50))
    model = pool.get("places", spawning)          # None where the budget, or the file, does not allow it
    spawning.woken, spawning.skipped              # who was woken, cold or warm, in how many milliseconds; who was not, and why

`count` and `bytes` (of weights in memory) are of all specialists that a table wakes, warm or cold. `milliseconds` are spent on
loading cold ones: when they are used up, warm ones can still be woken. A limit of milliseconds makes answers depend on the
machine and on what is warm; the others do not.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from aegir_rl.base.errors import UsageError

Why = Literal["count", "bytes", "milliseconds", "refused"]
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class SpawnBudget:
    """Limits of what is awake: at a time in a pool, or for one table."""

    count: int = 16
    """Specialists."""
    bytes: int = 256 * MEGABYTE
    """Of their weights in memory."""
    milliseconds: float = math.inf
    """Spent on loading; infinite for no limit."""

    def __post_init__(self) -> None:
        for limit, noun in (
            ("count", "specialist"),
            ("bytes", "byte"),
            ("milliseconds", "millisecond"),
        ):
            value = getattr(self, limit)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise UsageError(
                    f"a spawn budget of {value!r} {noun}s wakes nothing; give a number above 0"
                    + (", or use the primary alone" if limit == "count" else "")
                )

    def within(self, other: "SpawnBudget") -> "SpawnBudget":
        """Return the stricter of two budgets in every limit."""
        return SpawnBudget(
            min(self.count, other.count),
            min(self.bytes, other.bytes),
            min(self.milliseconds, other.milliseconds),
        )


@dataclass(frozen=True, slots=True)
class Woken:
    """How a specialist was woken for a table."""

    cold: bool
    """Whether it was loaded from disk."""
    milliseconds: float
    memory: int


@dataclass(slots=True)
class Spawning:
    """What one table has woken within its budget; only the pool that made it changes it."""

    budget: SpawnBudget
    woken: dict[str, Woken] = field(default_factory=dict)
    skipped: dict[str, Why] = field(default_factory=dict)
    """Name to what did not allow it."""

    @property
    def milliseconds(self) -> float:
        """Spent on loading so far."""
        return math.fsum(each.milliseconds for each in self.woken.values())

    @property
    def memory(self) -> int:
        """Bytes of the specialists that were woken."""
        return sum(each.memory for each in self.woken.values())

    def forbids(self, name: str, memory: int, *, cold: bool) -> Why | None:
        """Return which limit keeps a specialist of this size from being woken; None if none does."""
        if name not in self.woken:
            if len(self.woken) >= self.budget.count:
                return "count"
            if self.memory + memory > self.budget.bytes:
                return "bytes"
        if cold and self.milliseconds >= self.budget.milliseconds:
            return "milliseconds"
        return None

    def as_dict(self) -> Mapping[str, object]:
        """Return who was woken and who was not; JSON."""
        return {
            "woken": {
                name: {"cold": each.cold, "milliseconds": each.milliseconds}
                for name, each in self.woken.items()
            },
            "skipped": dict(self.skipped),
            "milliseconds": self.milliseconds,
        }
