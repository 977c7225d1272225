"""Accuracy, cost and critical path against the number of specialists, and what each of them contributes.

    metrics = measure_swarm(Path("runs/parl-0"), [Path("data")])
    metrics.sizes["router"], metrics.contributions                    save_plots(Path("plots"), metrics)

A swarm of k has the k specialists with the highest mean router score on the held-out columns: no label is used, so the metrics are not
of tables that the order was chosen on. A contribution is right with all minus right without one, paired column by column.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from aegir.lab.figures.swarm_tables import HEADS, SwarmTables, load_swarm_tables, mean_known
from aegir.lab.parl.config import ALWAYS, read_parl_training
from aegir.readers.bytes.byte_encoding import Symbols
from aegir.readers.bytes.scoring import encode_tables
from aegir.readers.swarm.annotator import SwarmAnnotator
from aegir.readers.swarm.times import Lap, LapClock, SwarmTimes
from aegir_rl.base.arrays import F32, Bools, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG
from aegir_rl.observe.plots import interval_plot, line_plot, write_svgs
from aegir_rl.offline.intervals import Estimate, estimate_gain

ROUTER, EVERYONE = MODES = ("router", "everyone")
"""Who reads a column: whom the router's threshold chooses, or every specialist of the swarm."""
OVERALL = "right"
"""The part of the answer that stands for all: the share of a column's labels that are answered right."""
PARTS = (OVERALL, "web types", "everyday types", "relations", "fine types")
X_LABEL = "specialists in the swarm"


@dataclass(frozen=True, slots=True)
class SizeMetrics:
    """A swarm of some number of specialists."""

    specialists: int
    accuracy: Mapping[str, float]
    """Part of the answer to the share that is right; only those of which columns are labelled."""
    milliseconds: float
    """CPU time per column."""
    cost_ratio: float
    """The same as a multiple of a swarm of one; nan without specialists."""
    path_milliseconds: float
    """Critical path per column."""
    path_ratio: float
    woken: float
    """Specialists that read a column, on average."""

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON record with None for what is not finite."""
        return {
            name: None if isinstance(part, float) and not math.isfinite(part) else part
            for name, part in asdict(self).items()
        }


@dataclass(frozen=True, slots=True)
class SpecialistContribution:
    """What a swarm loses without one specialist."""

    name: str
    usage: float
    """Share of the columns that it read."""
    milliseconds: float
    """That pass while it reads, per column of all tables."""
    cost_share: float
    """The same as a share of the time of all models, one after the other."""
    gain: Mapping[str, Estimate]
    """Part of the answer to the share right with all specialists minus that without this one."""

    @property
    def verdict(self) -> str:
        """Whether the interval of OVERALL is above 0, below it, or neither."""
        overall = self.gain[OVERALL]
        return "gains" if overall.low > 0 else "loses" if overall.high < 0 else "not shown"

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON record."""
        gain = {part: each.as_dict() for part, each in self.gain.items()}
        return {**asdict(self), "verdict": self.verdict, "gain": gain}


@dataclass(frozen=True, slots=True)
class SwarmMetrics:
    """All metrics of a swarm."""

    order: tuple[str, ...]
    """Specialists, those that join first first."""
    mean_scores: tuple[float, ...]
    tables: int
    columns: int
    labelled: Mapping[str, int]
    """Part of the answer to columns with a label."""
    sizes: Mapping[str, tuple[SizeMetrics, ...]]
    """ROUTER and EVERYONE to metrics from few specialists to all."""
    activation: str
    """Which of the two the contributions were measured with."""
    contributions: tuple[SpecialistContribution, ...]
    """The highest first."""

    def as_dict(self) -> dict[str, Any]:
        """Return all metrics; JSON."""
        return {
            "tables": self.tables,
            "columns": self.columns,
            "labelled": dict(self.labelled),
            "order": list(self.order),
            "mean_scores": list(self.mean_scores),
            "numbers": {name: [row.as_dict() for row in rows] for name, rows in self.sizes.items()},
            "worth_woken": self.activation,
            "worth": [each.as_dict() for each in self.contributions],
        }


def measure_swarm(
    run: Path,
    data: Sequence[Path],
    swarm: Path | None = None,
    track: Callable[[Sequence[Any], str], Iterable[Any]] = lambda swarms, _: swarms,
) -> SwarmMetrics:
    """Measure the swarm of a run, or one in another folder that has not seen the run's held-out tables either."""
    activation = _own_activation(run)
    tables = load_swarm_tables(run, data, swarm, workers=1)
    names, labelled, measuring = tables.swarm.names, _labelled(tables), _Measuring.of(tables)
    means = measuring.scores.mean(axis=0, dtype=np.float64)
    order = np.argsort(-means, kind="stable").tolist()
    everyone, sizes = frozenset(range(len(names))), _sizes(len(names))
    by_size = {mode: [frozenset(order[:count]) for count in sizes] for mode in MODES}
    wanted = [(mode, members) for mode, some in by_size.items() for members in some]
    wanted += [(activation, everyone - {i}) for i in sorted(everyone)]
    subsets = {key: measuring.measure(*key) for key in track(list(dict.fromkeys(wanted)), "swarms")}
    whole = subsets[activation, everyone]
    passed = float(whole.times.specialists.sum()) + whole.times.router + whole.times.primary
    contributions = [
        SpecialistContribution(
            name=names[i],
            usage=float(whole.active[:, i].mean()),
            milliseconds=1000 * float(whole.times.specialists[i]) / len(tables.table),
            cost_share=float(whole.times.specialists[i]) / passed,
            gain={
                part: estimate_gain(
                    (whole.right[part] - subsets[activation, everyone - {i}].right[part])[rows],
                    tables.table[rows],
                )
                for part, rows in labelled.items()
            },
        )
        for i in sorted(everyone)
    ]
    return SwarmMetrics(
        order=tuple(names[i] for i in order),
        mean_scores=tuple(means[order].tolist()),
        tables=len(tables.tables),
        columns=len(tables.table),
        labelled={part: int(rows.sum()) for part, rows in labelled.items()},
        sizes={
            mode: tuple(
                _size_metrics(
                    len(members),
                    subsets[mode, members],
                    subsets[mode, by_size[mode][1]] if names else None,
                    labelled,
                )
                for members in by_size[mode]
            )
            for mode in MODES
        },
        activation=activation,
        contributions=tuple(sorted(contributions, key=lambda each: -each.gain[OVERALL].value)),
    )


def save_plots(folder: Path, metrics: SwarmMetrics) -> list[Path]:
    """Write accuracy.svg, cost.svg and, if there are specialists, worth.svg; return the files."""
    sizes = metrics.sizes[ROUTER]
    accuracy = {
        part: ([row.specialists for row in sizes], [row.accuracy[part] for row in sizes])
        for part in metrics.labelled
    }
    cost = {}
    for name, title in ((EVERYONE, "everyone activated"), (ROUTER, "activated by the router")):
        x = [row.specialists for row in metrics.sizes[name]]
        cost[f"all models, {title}"] = (x, [row.milliseconds for row in metrics.sizes[name]])
        cost[f"critical path, {title}"] = (
            x,
            [row.path_milliseconds for row in metrics.sizes[name]],
        )
    plots = {
        "accuracy": line_plot(
            "share right, activated by the router", accuracy, x_label=X_LABEL, y_label="share right"
        ),
        "cost": line_plot("CPU time per column", cost, x_label=X_LABEL, y_label="milliseconds"),
    }
    if metrics.contributions:
        gains = {each.name: each.gain[OVERALL] for each in metrics.contributions}
        plots["worth"] = interval_plot(
            "right with all specialists minus right without one, 95 % intervals",
            {
                name: (round(100 * x.low, 2), round(100 * x.value, 2), round(100 * x.high, 2))
                for name, x in gains.items()
            },
            y_label="points",
            zero=True,
        )
    return write_svgs(folder, plots)


def _own_activation(run: Path) -> str:
    """Return who reads a column in a run: everyone, if the router chose nobody in its training."""
    if not (run / CONFIG).exists():
        return ROUTER
    return EVERYONE if read_parl_training(run / CONFIG).routing.kind == ALWAYS else ROUTER


def _sizes(most: int) -> list[int]:
    """Return 0, 1, 2, 4, … and all."""
    powers = [2**power for power in range(most.bit_length()) if 2**power < most]
    return [0, *powers, *([most] if most else [])]


@dataclass(frozen=True, slots=True, eq=False)
class _Subset:
    """What a swarm with some of the specialists answered, and what that cost in seconds."""

    right: Mapping[str, Floats]
    """Part of PARTS to (C,) how right every column is; of all but the first 0 or 1, nan without a label."""
    active: Bools
    """(C, N)"""
    times: SwarmTimes
    """With those of table stage and heads."""


@dataclass(frozen=True, slots=True, eq=False)
class _Measuring:
    """Lets subsets of a swarm answer the held-out tables. Whoever is not in a subset is absent, bit for bit."""

    tables: SwarmTables
    annotator: SwarmAnnotator
    symbols: Sequence[Symbols]
    scores: F32
    router: Lap

    @classmethod
    def of(cls, tables: SwarmTables) -> "_Measuring":
        annotator = SwarmAnnotator(tables.swarm)
        symbols = encode_tables(tables.tables, tables.swarm.primary)
        clock = LapClock()
        scores = annotator.route(symbols).scores
        return cls(tables, annotator, symbols, scores, clock.lap())

    def measure(self, activation: str, members: Collection[int]) -> _Subset:
        """Return the outcome of these specialists, activated by the router or for every column."""
        inside = np.isin(np.arange(self.scores.shape[1]), list(members))
        active = inside & (self.tables.swarm.activate(self.scores) | (activation == EVERYONE))
        read = self.annotator.read(self.symbols, self.scores, active)
        clock = LapClock()
        answers = self.annotator.heads.score_vectors(self.tables.tables, self.symbols, read.vectors)
        stage, router = clock.lap(), self.router if members else Lap(0.0, 0.0)
        right, _ = self.tables.judge(answers)
        types, relations, fine = right
        by_part = zip(PARTS, (mean_known(right), types, types, relations, fine), strict=True)
        spent = replace(
            read.times,
            router=router.wall,
            primary=read.times.primary + stage.wall,
            critical_path=read.times.critical_path + router.wall + stage.wall,
            cost=read.times.cost + router.cpu + stage.cpu,
        )
        return _Subset(dict(by_part), active, spent)


def _labelled(tables: SwarmTables) -> dict[str, Bools]:
    """Return (C,) which columns are labelled, for each of PARTS of which some are."""
    web = tables.web[tables.table]
    types, relations, fine = (tables.known[head] for head in HEADS)
    known = (types | relations | fine, types & web, types & ~web, relations, fine)
    labelled = {part: rows for part, rows in zip(PARTS, known, strict=True) if rows.any()}
    if not labelled:
        raise UsageError("no held-out column of the run has a label; there is nothing to judge")
    return labelled


def _size_metrics(
    count: int, subset: _Subset, single: _Subset | None, labelled: Mapping[str, Bools]
) -> SizeMetrics:
    """Return the metrics of a swarm of this size; `single` is a swarm of one."""
    times, columns = subset.times, len(subset.active)
    return SizeMetrics(
        specialists=count,
        accuracy={part: float(subset.right[part][rows].mean()) for part, rows in labelled.items()},
        milliseconds=1000 * times.cost / columns,
        cost_ratio=times.cost / single.times.cost if single else math.nan,
        path_milliseconds=1000 * times.critical_path / columns,
        path_ratio=times.critical_path / single.times.critical_path if single else math.nan,
        woken=float(subset.active.sum(axis=1).mean()),
    )
