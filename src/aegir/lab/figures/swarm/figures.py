"""Accuracy, cost and critical path against the number of specialists, and what each of them is worth.

    figures = measure_swarm(Path("runs/parl-0"), [Path("data")])
    figures.numbers["router"], figures.worth, figures.spawning           figures.as_dict()

A swarm of k has the k specialists with the highest mean router score on the held-out columns: no label is used, so the figures are not
of tables that the order was chosen on. Worth is right with all minus right without one, paired column by column.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aegir.lab.figures.swarm.subsets import (
    EVERYONE,
    ROUTER,
    Measured,
    Outcome,
    Subset,
    Track,
    measure_subsets,
    rank_specialists,
    route_columns,
)
from aegir.lab.figures.swarm_tables import (
    HEADS,
    SWARM,
    SwarmTables,
    load_swarm_tables,
    mean_by_table,
    mean_known,
)
from aegir.lab.parl.config import ALWAYS, read_parl_training
from aegir.lab.spawning.fitting import MOST_LOSS, spearman
from aegir.readers.bytes.scoring import encode_tables
from aegir.readers.scores import table_spans
from aegir.readers.swarm.network import RoutedColumns
from aegir.readers.swarm.pool.worth import OVERALL, SpecialistWorth
from aegir.readers.swarm.spawning import ALL, SPAWNING_FILE, SpawnEstimate
from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG
from aegir_rl.offline.intervals import estimate_gain

PARTS = (OVERALL, "web types", "everyday types", "relations", "fine types")


@dataclass(frozen=True, slots=True)
class NumberFigures:
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
        """JSON-ready: None for what is not finite."""
        return _finite(asdict(self))


@dataclass(frozen=True, slots=True)
class SpawnFigures:
    """The counts that the estimate of spawning chooses, against measured difficulty."""

    tables: Mapping[str, int]
    """Count to the tables that get it."""
    count_wrong: float
    """Spearman's correlation of the count with the share of a table's labels that the primary alone gets wrong."""
    count_loss: float
    """The same with the primary's log loss."""
    complexity_wrong: float
    complexity_loss: float
    """The same of the complexity."""
    fitted_here: bool
    """Whether the estimate was fitted on these very tables; then `cross_fitted` counts."""
    cross_fitted: Mapping[str, float | None]
    """What the estimate's file says about groups that its fit had not seen."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: None for what is not finite."""
        return _finite(asdict(self))


@dataclass(frozen=True, slots=True)
class SwarmFigures:
    """All figures of a swarm."""

    order: tuple[str, ...]
    """Specialists, those that join first first."""
    mean_scores: tuple[float, ...]
    tables: int
    columns: int
    labelled: Mapping[str, int]
    """Part of the answer to columns with a label."""
    numbers: Mapping[str, tuple[NumberFigures, ...]]
    """ROUTER and EVERYONE to figures from few specialists to all."""
    worth_woken: str
    """Which of the two the worth was measured with."""
    worth: tuple[SpecialistWorth, ...]
    """The highest first."""
    spawning: SpawnFigures | None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures; JSON."""
        return {
            "tables": self.tables,
            "columns": self.columns,
            "labelled": dict(self.labelled),
            "order": list(self.order),
            "mean_scores": list(self.mean_scores),
            "numbers": {
                woken: [each.as_dict() for each in rows] for woken, rows in self.numbers.items()
            },
            "worth_woken": self.worth_woken,
            "worth": [each.as_dict() for each in self.worth],
            "spawning": None if self.spawning is None else self.spawning.as_dict(),
        }


def measure_swarm(
    run: Path,
    data: Sequence[Path],
    swarm: Path | None = None,
    track: Track = lambda parts, _: parts,
) -> SwarmFigures:
    """Measure the swarm of a run, or one in another folder that has not seen the run's held-out tables either."""
    worth_woken = _own_routing(run)
    tables = load_swarm_tables(run, data, swarm, workers=1)
    names = tables.swarm.names
    symbols = encode_tables(tables.tables, tables.swarm.primary)
    routed, router_seconds = route_columns(tables.swarm, symbols)
    order = rank_specialists(routed.scores)
    numbers = _numbers(len(names))
    by_number = {
        woken: [Subset.of(woken, order[:count]) for count in numbers]
        for woken in (ROUTER, EVERYONE)
    }
    everyone = range(len(names))
    without = [Subset.of(worth_woken, [i for i in everyone if i != one]) for one in everyone]
    subsets = dict.fromkeys([*by_number[ROUTER], *by_number[EVERYONE], *without])
    measured = measure_subsets(tables, symbols, routed, router_seconds, subsets, track)
    judge = _Judge(tables, routed, measured)
    whole = Subset.of(worth_woken, everyone)
    worth = [judge.worth(one, whole, left) for one, left in zip(everyone, without, strict=True)]
    spawning = (swarm or run / SWARM) / SPAWNING_FILE
    return SwarmFigures(
        order=tuple(names[i] for i in order),
        mean_scores=tuple(routed.scores.mean(axis=0, dtype=np.float64)[order].tolist()),
        tables=len(tables.tables),
        columns=len(symbols),
        labelled={part: int(rows.sum()) for part, rows in judge.labelled.items()},
        numbers={woken: judge.numbers(swarms) for woken, swarms in by_number.items()},
        worth_woken=worth_woken,
        worth=tuple(sorted(worth, key=lambda each: -each.gain[OVERALL].value)),
        spawning=judge.spawning(spawning) if spawning.exists() else None,
    )


def _own_routing(run: Path) -> str:
    """Return who reads a column in a run: everyone, if the router chose nobody in its training."""
    if not (run / CONFIG).exists():
        return ROUTER
    return EVERYONE if read_parl_training(run / CONFIG).routing.kind == ALWAYS else ROUTER


def _numbers(most: int) -> list[int]:
    """Return 0, 1, 2, 4, … and all."""
    powers = [2**power for power in range(most.bit_length()) if 2**power < most]
    return [0, *powers, *([most] if most else [])]


class _Judge:
    """Makes figures of measured subsets."""

    def __init__(self, tables: SwarmTables, routed: RoutedColumns, measured: Measured) -> None:
        self.tables, self.routed, self.measured = tables, routed, measured
        self.columns = len(tables.table)
        web = tables.web[tables.table]
        types, relations, fine = (tables.known[head] for head in HEADS)
        known = (types | relations | fine, types & web, types & ~web, relations, fine)
        self.labelled = {part: rows for part, rows in zip(PARTS, known, strict=True) if rows.any()}
        if not self.labelled:
            raise UsageError("no held-out column of the run has a label; there is nothing to judge")

    def numbers(self, subsets: Sequence[Subset]) -> tuple[NumberFigures, ...]:
        """Return the figures of swarms of rising numbers."""
        one = next((each for each in subsets if len(each.members) == 1), None)
        base = None if one is None else self.measured.outcomes[one]
        return tuple(self._number(each, base) for each in subsets)

    def _number(self, subset: Subset, one: Outcome | None) -> NumberFigures:
        outcome = self.measured.outcomes[subset]
        right = _parts(outcome)
        return NumberFigures(
            len(subset.members),
            {part: float(right[part][rows].mean()) for part, rows in self.labelled.items()},
            1000 * outcome.cost / self.columns,
            outcome.cost / one.cost if one else math.nan,
            1000 * outcome.critical_path / self.columns,
            outcome.critical_path / one.critical_path if one else math.nan,
            float(self._active(subset).sum(axis=1).mean()),
        )

    def _active(self, subset: Subset) -> Bools:
        """Return (C, members) who reads which column."""
        members = list(subset.members)
        active: Bools = self.tables.swarm.activate(self.routed.scores)[:, members]
        return active if subset.woken == ROUTER else np.ones_like(active)

    def worth(self, number: int, whole: Subset, without: Subset) -> SpecialistWorth:
        """Return what is lost without one specialist."""
        all_of_them = self.measured.outcomes[whole]
        before, after = _parts(self.measured.outcomes[without]), _parts(all_of_them)
        seconds = float(self.measured.seconds[whole.woken][number])
        return SpecialistWorth(
            self.tables.swarm.names[number],
            float(self._active(Subset(whole.woken, (number,))).mean()),
            1000 * seconds / self.columns,
            seconds / all_of_them.cost,
            {
                part: estimate_gain((after[part] - before[part])[rows], self.tables.table[rows])
                for part, rows in self.labelled.items()
            },
        )

    def spawning(self, path: Path) -> SpawnFigures:
        """Return what the estimate in a file chooses for these tables."""
        tables = self.tables
        estimate = SpawnEstimate.load(path).check(tables.swarm, str(path))
        complexity, counts = [], []
        for table, span in zip(tables.tables, table_spans(tables.tables), strict=True):
            routed = RoutedColumns(self.routed.hidden[span], self.routed.scores[span])
            complexity.append(estimate.complexity(table.columns, routed))
            counts.append(estimate.choose(complexity[-1]).count)
        alone = self.measured.outcomes[Subset.of(ROUTER, ())]
        wrong = self._by_table(1 - mean_known(alone.right))
        loss = self._by_table(mean_known(-np.log(np.maximum(alone.chances, math.exp(-MOST_LOSS)))))
        everyone = len(tables.swarm.names)
        chosen = np.array([everyone if count is ALL else count for count in counts], np.float64)
        named = Counter("all" if count is ALL else str(count) for count in counts)
        return SpawnFigures(
            dict(sorted(named.items())),
            spearman(chosen, wrong),
            spearman(chosen, loss),
            spearman(np.array(complexity), wrong),
            spearman(np.array(complexity), loss),
            estimate.training.get("data_sha256") == tables.sha256,
            _cross_fitted(estimate),
        )

    def _by_table(self, columns: Floats) -> Floats:
        return mean_by_table(columns, self.tables.table, len(self.tables.tables))


def _parts(outcome: Outcome) -> dict[str, Floats]:
    """Return (C,) how right every column is, for each of PARTS; of the last four 0 or 1."""
    types, relations, fine = outcome.right
    return dict(zip(PARTS, (mean_known(outcome.right), types, types, relations, fine), strict=True))


def _cross_fitted(estimate: SpawnEstimate) -> dict[str, float | None]:
    figures = estimate.training.get("figures")
    known = figures if isinstance(figures, Mapping) else {}
    return {
        short: known.get(name)
        for short, name in (("count_wrong", "spearman_wrong"), ("count_loss", "spearman_loss"))
    }


def _finite(record: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(part, float) and not math.isfinite(part) else part
        for name, part in record.items()
    }
