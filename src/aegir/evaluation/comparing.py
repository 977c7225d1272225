"""The same tables three times: routed by the static table, routed by a learnt policy, and read in full.

    compared = compare_policy(pipeline, policy, tables)
    compared.metrics("on").accuracy, compared.metrics("off", "date").cost

    off     the static table decides
    on      the policy decides where it is sure, else the static table; what would be deployed
    full    `combined` beside whole tables: no column is left to the n-grams to save time

| metric | of | meaning |
|---|---|---|
| accuracy | labelled columns | share whose type, or that there is none, is acceptable |
| agreement | all columns | share with the label of the full answer: a proxy, because that may be wrong itself |
| cost, woken, escalations | all columns | mean cost by the routing table; share that another worker than the n-grams was asked about; columns that a fallback was asked about |
| latency | tables; by kind, columns | wall time of one table at a time; of one column, its share of the time of the workers asked about it |

Promise: all but times is the same in every run on the same tables, models and processor, unless a budget or a policy
runs out of time.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from aegir.answers.annotation import TableAnnotation
from aegir.answers.gold_labels import kind_of_labels
from aegir.pipeline.decide import decide
from aegir.pipeline.judged_columns import JudgedColumn
from aegir.pipeline.pipeline import DISPATCH, Pipeline
from aegir.pipeline.plan import COMBINED, WHOLE_TABLES, PolicyPlan, TablePlan
from aegir.routing.decisions import FREE, RoutedTable
from aegir.routing.learnt_policy import LearntPolicy
from aegir.tables.labelled import LabelledTable
from aegir_rl.episode import Episode
from aegir_rl.offline.intervals import Estimate, estimate_mean
from aegir_rl.offline.logged_decisions import WORKER
from aegir_rl.offline.reward_v1 import RewardWeights

Way = Literal["off", "on", "full"]
WAYS: tuple[Way, ...] = ("off", "on", "full")
PERCENTILES = (50, 95)
NO_KIND = "none"
Track = Callable[[Sequence[Any], str], Iterable[Any]]
"""Shows progress while iterating; `aegir.cli.terminal.track`."""


@dataclass(frozen=True, slots=True)
class RoutedColumn:
    """One column, routed in one way."""

    table: str
    place: int
    name: str
    group: str
    kind: str
    """Of its label; of the full answer where it has none."""
    workers: tuple[str, ...]
    """Who was asked, in order."""
    decided_by: str
    reason: str
    label: str | None
    type: str | None
    right: bool | None
    """Whether the type is acceptable; None where that is not labelled."""
    agrees: bool
    """Whether the label is that of the full answer."""
    cost: float
    failures: int
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """JSON-ready, without what differs between runs: how long it took."""
        return {name: value for name, value in asdict(self).items() if name != "seconds"}


@dataclass(frozen=True, slots=True)
class ColumnMetrics:
    """Means over some columns; the same in every run."""

    columns: int
    labelled: int
    accuracy: float | None
    agreement: float
    cost: float
    woken: float
    by_policy: float
    escalations: int
    failures: int

    @classmethod
    def of(cls, rows: Sequence[RoutedColumn]) -> "ColumnMetrics":
        """The metrics of these columns, at least one."""
        known = [row.right for row in rows if row.right is not None]
        return cls(
            columns=len(rows),
            labelled=len(known),
            accuracy=_mean(known) if known else None,
            agreement=_mean([row.agrees for row in rows]),
            cost=_mean([row.cost for row in rows]),
            woken=_mean([row.workers != (FREE,) for row in rows]),
            by_policy=_mean([row.decided_by == "policy" for row in rows]),
            escalations=sum(len(row.workers) > 1 for row in rows),
            failures=sum(row.failures for row in rows),
        )


@dataclass(frozen=True, slots=True)
class RoutingComparison:
    """What became of every column in each way, and how long that took."""

    rows: Mapping[Way, tuple[RoutedColumn, ...]]
    """The same columns in the same order."""
    seconds: Mapping[Way, Sequence[float]]
    """(tables,) wall time of each table."""
    cpu_seconds: Mapping[Way, float]

    def metrics(self, way: Way, kind: str | None = None) -> ColumnMetrics:
        """The metrics of all columns, or of those of one kind."""
        return ColumnMetrics.of([row for row in self.rows[way] if kind in (None, row.kind)])

    def kinds(self) -> list[str]:
        """Every kind of column, the most frequent first."""
        counts = Counter(row.kind for row in self.rows["full"])
        return sorted(counts, key=lambda kind: (-counts[kind], kind))

    def difference(self) -> dict[str, Estimate]:
        """Paired differences, on minus off, with 95 % intervals over groups of tables.

        `value` is reward_v1 without seconds: accuracy minus weighed cost and failures, of labelled columns; of columns
        without labels, agreement stands in for accuracy, in `proxy_value`.
        """
        pairs = list(zip(self.rows["on"], self.rows["off"], strict=True))
        labelled = [pair for pair in pairs if pair[0].right is not None]
        found = {
            "agreement": _paired(pairs, lambda row: float(row.agrees)),
            "cost": _paired(pairs, lambda row: row.cost),
            "proxy_value": _paired(pairs, lambda row: _value(row, row.agrees)),
        }
        if labelled:
            found["accuracy"] = _paired(labelled, lambda row: float(bool(row.right)))
            found["value"] = _paired(labelled, lambda row: _value(row, bool(row.right)))
        return found

    def results(self) -> dict[str, object]:
        """JSON-ready: everything that is the same in every run."""
        return {
            **{way: asdict(self.metrics(way)) for way in WAYS},
            "difference": {name: each.as_dict() for name, each in self.difference().items()},
            "by_kind": {
                kind: {way: asdict(self.metrics(way, kind)) for way in WAYS}
                for kind in self.kinds()
            },
        }

    def measured(self) -> dict[str, Any]:
        """JSON-ready: times, which differ between runs."""
        record: dict[str, Any] = {
            way: {"table_ms": _percentiles(self.seconds[way]), "cpu_seconds": self.cpu_seconds[way]}
            for way in WAYS
        }
        record["column_ms_by_kind"] = {
            kind: {
                way: _percentiles([row.seconds for row in self.rows[way] if row.kind == kind])
                for way in WAYS
            }
            for kind in self.kinds()
        }
        return record


def compare_policy(
    pipeline: Pipeline,
    policy: LearntPolicy,
    tables: Sequence[LabelledTable],
    track: Track = lambda items, _: items,
) -> RoutingComparison:
    """Route every table by the pipeline's static table, by the policy, and read it in full, one table at a time."""
    table = TablePlan(pipeline.plan.table, pipeline.plan.workers)
    ways: dict[Way, Pipeline] = {
        "off": pipeline.with_plan(table),
        "on": pipeline.with_plan(PolicyPlan(table, policy)),
        "full": pipeline.with_plan(TablePlan(WHOLE_TABLES)),
    }
    rows: dict[Way, list[RoutedColumn]] = {way: [] for way in WAYS}
    seconds: dict[Way, list[float]] = {way: [] for way in WAYS}
    cpu: dict[Way, float] = dict.fromkeys(WAYS, 0.0)
    some = [each for each in tables if each.table.columns]
    for labelled in some[:1]:
        for each in ways.values():  # what is loaded or built on first use counts for no way
            each.score([labelled.table])
    for labelled in track(some, "routing"):
        answers: dict[Way, tuple[TableAnnotation, RoutedTable]] = {}
        for way in reversed(WAYS):
            started, cpu_started = time.perf_counter(), time.process_time()
            (scores,) = ways[way].score([labelled.table])
            seconds[way].append(time.perf_counter() - started)
            cpu[way] += time.process_time() - cpu_started
            assert scores.routed is not None, "a pipeline says how it routed a table"
            answers[way] = decide(labelled.table, scores, DISPATCH), scores.routed
        full, routed = answers["full"]
        each_column = seconds["full"][-1] / len(full.columns)
        in_full = _read_in_full(pipeline, routed.steps[0][0].worker, each_column)
        rows["full"] += _rows(labelled, full, full, [in_full] * len(full.columns))
        for way in ("off", "on"):
            answer, routed = answers[way]
            rows[way] += _rows(labelled, full, answer, [*map(_routed, routed.episodes())])
    return RoutingComparison(
        {way: tuple(found) for way, found in rows.items()},
        seconds,
        cpu,
    )


def _routed(episode: Episode) -> dict[str, Any]:
    """How a column was routed."""
    first = episode.decisions[0]
    return {
        "workers": tuple(str(decision.action[WORKER]) for decision in episode.decisions),
        "decided_by": first.decided_by,
        "reason": first.reason,
        "cost": sum(decision.cost for decision in episode.decisions),
        "failures": int(episode.rewards.get("failures", 0)),
        "seconds": sum(decision.seconds for decision in episode.decisions),
    }


def _read_in_full(pipeline: Pipeline, worker: str, seconds: float) -> dict[str, Any]:
    """The same of a column of a table that one worker read in full."""
    return {
        "workers": (worker,),
        "decided_by": COMBINED,
        "reason": f"{'no' if worker == FREE else 'a'} column of the table is unsure",
        "cost": pipeline.plan.table.cost(worker),
        "failures": 0,
        "seconds": seconds,
    }


def _rows(
    labelled: LabelledTable,
    full: TableAnnotation,
    answer: TableAnnotation,
    routed: Sequence[Mapping[str, Any]],
) -> Iterator[RoutedColumn]:
    columns = zip(labelled.labels, full.columns, answer.columns, routed, strict=True)
    for index, (labels, in_full, given, how) in enumerate(columns):
        yield RoutedColumn(
            table=labelled.table.name,
            place=index,
            name=given.name or f"column {index}",
            group=labelled.group or labelled.table.name,
            kind=kind_of_labels(labels) or in_full.kind or NO_KIND,
            label=given.label,
            type=given.type,
            right=JudgedColumn(labels, given).type_right,
            agrees=given.label == in_full.label,
            **how,
        )


def _value(row: RoutedColumn, right: bool) -> float:
    weights = RewardWeights()
    return float(right) - weights.cost * row.cost - weights.failures * row.failures


def _paired(
    pairs: Sequence[tuple[RoutedColumn, RoutedColumn]], metric: Callable[[RoutedColumn], float]
) -> Estimate:
    numbers = {
        name: number for number, name in enumerate(dict.fromkeys(on.group for on, _ in pairs))
    }
    groups = np.array([numbers[on.group] for on, _ in pairs], np.int64)
    return estimate_mean(np.array([metric(on) - metric(off) for on, off in pairs]), groups)


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    found = np.percentile(1000 * np.asarray(seconds), PERCENTILES)
    return {f"p{p}": float(value) for p, value in zip(PERCENTILES, found, strict=True)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
