"""The map of a swarm: who knows what, who is woken for what, who is worth keeping.

    survey(pool, answers)              what the page shows, as figures
    map_page.py                        the same as HTML

Who is woken comes from answers of the annotator `swarm`: for every kind, the share of its columns for which the router woke
each specialist. A column's kind is that of the answer; columns without a kind are counted apart.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aegir.answers.annotation import TableAnnotation
from aegir.readers.swarm.pool.entry import PoolEntry
from aegir.readers.swarm.pool.specialist_pool import SpecialistPool
from aegir.readers.swarm.pool.usage import Usage
from aegir.readers.swarm.pool.worth import SpecialistWorth
from aegir.vocabulary.terms import KINDS

NO_KIND = "no kind"


@dataclass(frozen=True, slots=True)
class Waking:
    """How often each specialist of the swarm was woken for columns of one kind."""

    columns: int
    woken: Mapping[str, int]
    """Specialist to columns that it read."""

    def share(self, name: str) -> float:
        """The share of the columns that a specialist read."""
        return self.woken.get(name, 0) / self.columns


@dataclass(frozen=True, slots=True)
class PoolMap:
    """What the map of a swarm shows."""

    entries: tuple[PoolEntry, ...]
    usage: Mapping[str, Usage]
    refused: Mapping[str, str]
    tables: int
    routed: tuple[str, ...]
    """The specialists of the swarm's router, which may be others than those of the pool."""
    waking: Mapping[str, Waking]
    """Kind to who was woken for its columns."""
    worth: tuple[SpecialistWorth, ...] = ()
    """What each specialist is worth on held-out tables, if that was measured."""

    def as_dict(self) -> dict[str, Any]:
        """Return the figures; JSON."""
        return {
            "specialists": [
                {**entry.as_dict(), "usage": self.usage[entry.name].as_dict()}
                for entry in self.entries
            ],
            "refused": dict(self.refused),
            "tables": self.tables,
            "woken": {
                kind: {
                    "columns": each.columns,
                    "shares": {name: round(each.share(name), 4) for name in self.routed},
                }
                for kind, each in self.waking.items()
            },
            "worth": [each.as_dict() for each in self.worth],
        }


def survey(
    pool: SpecialistPool,
    answers: Iterable[TableAnnotation],
    worth: tuple[SpecialistWorth, ...] = (),
) -> PoolMap:
    """Return the map of a pool, with who was woken according to these answers, and what was measured of their worth."""
    counts: dict[str, int] = defaultdict(int)
    woken: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    routed: dict[str, None] = {}
    tables = 0
    for answer in answers:
        tables += 1
        for column in answer.columns:
            kind = column.kind or NO_KIND
            counts[kind] += 1
            for each in column.routing or ():
                routed[each.specialist] = None
                woken[kind][each.specialist] += each.woken
    order = [kind for kind in (*KINDS, NO_KIND) if kind in counts]
    waking = {kind: Waking(counts[kind], dict(woken[kind])) for kind in order}
    return PoolMap(pool.entries, pool.usage(), pool.refused, tables, tuple(routed), waking, worth)
