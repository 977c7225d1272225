"""How the columns of a table were routed; `episodes` gives it as decisions to log and to learn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aegir.routing.choices import Choices
from aegir.tables.table import Table
from aegir_rl.base.arrays import Floats
from aegir_rl.offline.routing_table import RoutingTable

if TYPE_CHECKING:
    from aegir.routing.learnt_policy import LearntPolicy
    from aegir_rl.episode import Episode, Source

EFFORT, FALLBACK = "effort", "fallback"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingStep:
    """One worker called about one column."""

    worker: str
    tries: int
    confidence: float
    """Before this worker was called."""
    failed: bool = False
    seconds: float = 0.0
    decided_by: str = FALLBACK
    """Who asked for a step after the first one."""


@dataclass(frozen=True, slots=True, eq=False)
class RoutedTable:
    """A table, and how every column was routed."""

    table: Table
    steps: tuple[tuple[RoutingStep, ...], ...]
    """Per column the workers that were called, in order."""
    features: Floats
    """(columns, FEATURES)"""
    first: int
    """Where its columns begin among those of the batch that `choices` is about."""
    choices: Choices
    routing: RoutingTable
    policy: "LearntPolicy | None"

    def episodes(
        self, labels: Sequence[str | None] | None = None, source: "Source" = "real", run: str = ""
    ) -> "tuple[Episode, ...]":
        """Return one episode per column; its id is RUN/TABLE/INDEX, and `labels` are the answers that were given."""
        from aegir.routing.episodes import episodes_of  # most runs log nothing

        return episodes_of(self, labels, source, run)
