"""Accuracy, cost and critical path against the number of specialists, and what each of them contributes.

    metrics = measure_swarm(Path("runs/parl-0"), [Path("data")])      save_plots(Path("plots"), metrics)

    tables, columns, labelled     how many, and for each part of the answer how many columns have a label
    order, mean_scores            specialists by mean router score on the held-out columns, those that join first first
    numbers                       "router" and "everyone" to a row per size of the swarm: share right, CPU time and critical path per
                                  column, also as multiples of a swarm of one, and how many specialists read a column
    worth                         what each specialist contributes, the highest first; "worth_woken" says who read in both

A swarm of k has the first k specialists of the order: no label is used, so the metrics are not of tables that the order was chosen
on. A contribution is right with all minus right without one, paired column by column; its verdict is of the interval of `right`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from aegir_rl.offline.intervals import estimate_gain

ROUTER, EVERYONE = MODES = ("router", "everyone")
"""Who reads a column: whom the router's threshold chooses, or every specialist of the swarm."""
OVERALL = "right"
"""The part of the answer that stands for all: the share of a column's labels that are answered right."""
PARTS = (OVERALL, "web types", "everyday types", "relations", "fine types")
TITLES = {ROUTER: "activated by the router", EVERYONE: "everyone activated"}
X_LABEL = "specialists in the swarm"


Metrics = dict[str, Any]
"""JSON, with None for what is not known."""


def measure_swarm(
    run: Path,
    data: Sequence[Path],
    swarm: Path | None = None,
    track: Callable[[Sequence[Any], str], Iterable[Any]] = lambda swarms, _: swarms,
) -> Metrics:
    """Measure the swarm of a run, or one in another folder that has not seen the run's held-out tables either."""
    activation = _own_activation(run)
    tables = load_swarm_tables(run, data, swarm, workers=1)
    names, labelled, measuring = tables.swarm.names, _labelled(tables), _Measuring.of(tables)
    means = measuring.scores.mean(axis=0, dtype=np.float64)
    order = np.argsort(-means, kind="stable").tolist()
    everyone = frozenset(range(len(names)))
    sizes = [frozenset(order[:count]) for count in _sizes(len(names))]
    wanted = [(mode, members) for mode in MODES for members in sizes]
    wanted += [(activation, everyone - {i}) for i in sorted(everyone)]
    subsets = {key: measuring.measure(*key) for key in track(list(dict.fromkeys(wanted)), "swarms")}
    whole = subsets[activation, everyone]
    passed = float(whole.times.specialists.sum()) + whole.times.router + whole.times.primary
    worth = []
    for i in sorted(everyone):
        without, seconds = subsets[activation, everyone - {i}], float(whole.times.specialists[i])
        gain = {
            part: estimate_gain((whole.right[part] - without.right[part])[rows], tables.table[rows])
            for part, rows in labelled.items()
        }
        overall = gain[OVERALL]
        worth.append(
            {
                "name": names[i],
                "usage": float(whole.active[:, i].mean()),
                "milliseconds": 1000 * seconds / len(tables.table),
                "cost_share": seconds / passed,
                "gain": {part: each.as_dict() for part, each in gain.items()},
                "verdict": "gains"
                if overall.low > 0
                else "loses"
                if overall.high < 0
                else "not shown",
            }
        )
    return {
        "tables": len(tables.tables),
        "columns": len(tables.table),
        "labelled": {part: int(rows.sum()) for part, rows in labelled.items()},
        "order": [names[i] for i in order],
        "mean_scores": means[order].tolist(),
        "numbers": {
            mode: _size_metrics([subsets[mode, members] for members in sizes], labelled)
            for mode in MODES
        },
        "worth_woken": activation,
        "worth": sorted(worth, key=lambda each: -each["gain"][OVERALL]["value"]),
    }


def save_plots(folder: Path, metrics: Metrics) -> list[Path]:
    """Write accuracy.svg, cost.svg and, if there are specialists, worth.svg; return the files."""
    numbers = metrics["numbers"]
    sizes = [row["specialists"] for row in numbers[ROUTER]]
    accuracy = {
        part: (sizes, [row["accuracy"][part] for row in numbers[ROUTER]])
        for part in metrics["labelled"]
    }
    cost = {
        f"{what}, {TITLES[mode]}": (sizes, [row[key] for row in numbers[mode]])
        for mode in reversed(MODES)
        for what, key in (("all models", "milliseconds"), ("critical path", "path_milliseconds"))
    }
    plots = {
        "accuracy": line_plot(
            f"share right, {TITLES[ROUTER]}", accuracy, x_label=X_LABEL, y_label="share right"
        ),
        "cost": line_plot("CPU time per column", cost, x_label=X_LABEL, y_label="milliseconds"),
    }
    if metrics["worth"]:
        plots["worth"] = interval_plot(
            "right with all specialists minus right without one, 95 % intervals",
            {
                each["name"]: tuple(
                    round(100 * each["gain"][OVERALL][end], 2) for end in ("low", "value", "high")
                )
                for each in metrics["worth"]
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
        scores = annotator.route(symbols)
        return cls(tables, annotator, symbols, scores, clock.lap())

    def measure(self, activation: str, members: Collection[int]) -> _Subset:
        """Return the outcome of these specialists, activated by the router or for every column."""
        inside = np.isin(np.arange(self.scores.shape[1]), list(members))
        active = inside & (self.tables.swarm.activate(self.scores) | (activation == EVERYONE))
        read = self.annotator.read(self.symbols, self.scores, active)
        clock = LapClock()
        answers = self.annotator.heads.score_vectors(self.tables.tables, self.symbols, read.vectors)
        stage, router = clock.lap(), self.router if members else Lap(0.0, 0.0)
        right = self.tables.judge(answers)
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


def _size_metrics(subsets: Sequence[_Subset], labelled: Mapping[str, Bools]) -> list[Metrics]:
    """Return a row per size; the second is a swarm of one."""
    rows, single = [], subsets[1].times if len(subsets) > 1 else None
    for count, subset in zip(_sizes(subsets[-1].active.shape[1]), subsets, strict=True):
        times, columns = subset.times, len(subset.active)
        right = {part: float(subset.right[part][rows].mean()) for part, rows in labelled.items()}
        rows.append(
            {
                "specialists": count,
                "accuracy": right,
                "milliseconds": 1000 * times.cost / columns,
                "cost_ratio": times.cost / single.cost if single else None,
                "path_milliseconds": 1000 * times.critical_path / columns,
                "path_ratio": times.critical_path / single.critical_path if single else None,
                "woken": float(subset.active.sum(axis=1).mean()),
            }
        )
    return rows
