"""The answers of the last runs, for GET /tables/RUN: kept in memory, within bounds, and without values of the tables.

    kept.keep(run, at, tables)          answers as dictionaries; `without_values` made them
    kept.page(run, [("limit", "20")])   some of them, and where the next ones begin

Reasons quote values, so they and offers are left out: what is kept are headers and what was said about them.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aegir.answers.annotation import TableAnnotation, annotation_as_dict
from aegir.service.limits import Refused
from aegir_rl.base.errors import UsageError

MOST_RUNS = 200
MOST_BYTES = 32 << 20
MOST_TABLES, TABLES = 100, 20
"""Tables of a page: at most, and where the request does not say."""
MOST_OFFSET = 1_000_000


@dataclass(frozen=True, slots=True)
class _Run:
    at: str
    tables: tuple[bytes, ...]
    """Each as JSON."""

    @property
    def size(self) -> int:
        return sum(map(len, self.tables))


class KeptAnswers:
    """The newest runs that fit into `most_bytes`."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._size = 0
        self._runs: OrderedDict[str, _Run] = OrderedDict()

    def keep(self, run: str, at: str, tables: Sequence[object]) -> None:
        """Keep the answers of a run; the oldest runs make room. One that alone is too large is not kept."""
        kept = _Run(at, tuple(json.dumps(table).encode() for table in tables))
        if kept.size > self._most:
            return
        self._runs[run] = kept
        self._size += kept.size
        while self._size > self._most or len(self._runs) > MOST_RUNS:
            _, oldest = self._runs.popitem(last=False)
            self._size -= oldest.size

    def page(self, run: str, options: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
        """Return some answers of a run: `limit` of them from `offset` on, and `next`, the offset of those that follow."""
        query: dict[str, str] = {}
        for name, text in options:
            if name not in ("offset", "limit"):
                raise UsageError(f"unknown option {name!r}; there are offset, limit")
            if name in query:
                raise UsageError(f"the option {name} is given twice; send one value for it")
            query[name] = text
        offset = _whole("offset", query.get("offset", "0"), 0, MOST_OFFSET)
        limit = _whole("limit", query.get("limit", str(TABLES)), 1, MOST_TABLES)
        if run not in self._runs:
            raise Refused(
                404,
                f"there is no run {run!r}, or its answers are no longer kept; GET /runs lists the last ones",
            )
        kept = self._runs[run]
        end = offset + limit
        return {
            "run": run,
            "at": kept.at,
            "total": len(kept.tables),
            "offset": offset,
            "next": end if end < len(kept.tables) else None,
            "tables": [json.loads(table) for table in kept.tables[offset:end]],
        }


def without_values(table: TableAnnotation) -> dict[str, object]:
    """Return an answer as it may be kept: without what quotes values."""
    columns = tuple(replace(column, reasons=(), offers=()) for column in table.columns)
    return annotation_as_dict(replace(table, columns=columns))


def _whole(name: str, text: str, least: int, most: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    if not least <= number <= most:
        raise UsageError(
            f"{name} is {text[:40]!r}; expected a whole number from {least} to {most:,}"
        )
    return number
