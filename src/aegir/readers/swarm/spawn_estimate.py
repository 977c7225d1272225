"""How many specialists a table may activate: a learnt estimate of its complexity, and from it the count with the best reward.

    estimate = SpawnEstimate.load(folder / "spawning.json").check(swarm)
    complexity = estimate.complexity(table.columns, routed)          # routed: SwarmModel.route of its columns
    choice = estimate.choose(complexity)                             # choice.count, choice.reason
    allowed = allowed_specialists(routed.scores, choice.count)       # (N,) those with the highest total score

    complexity of a column    w · clip((x - mean) / scale, ±3) + b     the expected log loss of the primary alone, in nats
                              x: routing hidden, the router's scores, and features of the cells that are read
    complexity of a table     the mean over its columns
    reward of a count k       value_k + slope_k · complexity - path_cost · (path_k + path_slope_k · complexity)

The count with the highest reward is taken, the lowest among equals. `path_cost` is what doubling the critical path costs.

Promises
  - the order of columns changes neither complexity, count nor specialists, bit for bit: sums over columns are exact;
  - a file for another primary, other specialists or other features is refused with one sentence.

Fitted by `aegir train spawning` (lab/spawn_fit.py).
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from aegir.readers.bytes.ragged import Flags
from aegir.readers.swarm.network import RoutedColumns, SwarmModel
from aegir.tables.table import Column
from aegir_rl.base.arrays import F32, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.text import parse_json

SPAWNING_FILE = "spawning.json"
FORMAT = "aegir-spawning-1"
CELLS_SEEN = 6
"""Cells of a column that its features are of: as many as the network reads."""
SHORT, LONG = 3, 40
"""Characters up to which a cell is short, and above which it is long."""
FURTHEST = 3.0
"""Standard deviations at which features are cut, so that an unusual table is not beyond all others."""
CELL_FEATURES = (
    *("header", "header_length", "filled", "distinct", "length", "length_spread", "short", "long"),
    *("numeric", "mixed", "words", "spaced", "cells", "capitals", "not_ascii"),
)
ALL = None
"""As a count: every specialist that the router activates."""
Count = int | None


@dataclass(frozen=True, slots=True)
class SpawnChoice:
    """How many specialists a table may activate, and why."""

    count: Count
    reason: str
    complexity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpawnEstimate:
    """A fitted estimate."""

    primary_sha256: str
    specialists: tuple[str, ...]
    features: tuple[str, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    """(F,) each."""
    value: Floats
    """(A, 2) intercept and slope of the reward in the complexity, without the critical path."""
    path: Floats
    """(A, 2) the same of how much longer the critical path is than the primary's, as a share of that."""
    bias: float
    counts: tuple[Count, ...]
    """The actions, from few to many."""
    path_cost: float
    training: Mapping[str, Any] = field(default_factory=dict)
    """What it was fitted on, and its metrics."""

    def complexity(self, columns: Sequence[Column], routed: RoutedColumns) -> float:
        """Return the mean over the columns of a table; 0 without columns."""
        estimates = self.column_complexity(columns, routed)
        return math.fsum(estimates.tolist()) / max(len(estimates), 1)

    def column_complexity(self, columns: Sequence[Column], routed: RoutedColumns) -> Floats:
        """Return (columns,) the expected log loss of the primary alone."""
        x = standardise(column_features(columns, routed), self.mean, self.scale)
        # Exact sums: BLAS may round a row differently in other company.
        terms = (x * self.weights).tolist()
        return np.array([math.fsum((*row, self.bias)) for row in terms])

    def rewards(self, complexity: float) -> Floats:
        """Return (A,) the estimated reward of every count."""
        at = np.array([1.0, complexity])
        rewards: Floats = self.value @ at - self.path_cost * (self.path @ at)
        return rewards

    def choose(self, complexity: float) -> SpawnChoice:
        """Return the count with the highest estimated reward."""
        count = self.counts[int(np.argmax(self.rewards(complexity)))]
        reason = f"complexity {complexity:.3f}, path cost {self.path_cost:g}"
        return SpawnChoice(count, reason, complexity)

    def check(self, swarm: SwarmModel, where: str = "this estimate of spawning") -> "SpawnEstimate":
        """Return the estimate; raise UsageError unless it was fitted for this swarm."""
        again = "fit it again with: aegir train spawning RUN --data DATA"
        if self.primary_sha256 != swarm.settings.primary_sha256:
            raise UsageError(
                f"{where} was fitted for a primary with SHA-256 {self.primary_sha256[:12]} but the swarm's has "
                f"{swarm.settings.primary_sha256[:12]}; {again}"
            )
        if self.specialists != swarm.names:
            raise UsageError(
                f"{where} was fitted for the specialists {', '.join(self.specialists) or 'none'} but the swarm has "
                f"{', '.join(swarm.names) or 'none'}; {again}"
            )
        if self.features != feature_names(swarm):
            raise UsageError(f"{where} was fitted on other features than this version has; {again}")
        return self

    def save(self, path: Path) -> None:
        """Write the estimate as JSON, whole or not at all."""
        record = {
            "format": FORMAT,
            **{each.name: getattr(self, each.name) for each in fields(self)},
        }
        record["counts"] = ["all" if count is ALL else count for count in self.counts]
        text = json.dumps(
            record, allow_nan=False, indent=1, ensure_ascii=False, default=np.ndarray.tolist
        )
        replace_file(path, (text + "\n").encode())

    @classmethod
    def load(cls, path: Path) -> "SpawnEstimate":
        """Read a file written by `save`."""
        try:
            return _from_record(parse_json(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror or error})") from None
        except KeyError as missing:
            raise UsageError(f"{path} is no estimate of spawning: it has no {missing}") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"{path} is no estimate of spawning ({error})") from None


def feature_names(swarm: SwarmModel) -> tuple[str, ...]:
    """Return the names of the features of a column, in order."""
    hidden = (f"hidden.{number}" for number in range(swarm.routing_width))
    return (*hidden, *(f"score.{name}" for name in swarm.names), *CELL_FEATURES)


def column_features(columns: Sequence[Column], routed: RoutedColumns) -> Floats:
    """Return (columns, F)."""
    cells = np.array([cell_features(column) for column in columns], np.float64)
    cells = cells.reshape(len(columns), len(CELL_FEATURES))
    return np.concatenate([routed.hidden, routed.scores, cells], axis=1, dtype=np.float64)


def standardise(features: Floats, mean: Floats, scale: Floats) -> Floats:
    """Return features (…, F) in standard deviations from the mean, cut at FURTHEST."""
    return np.clip((features - mean) / scale, -FURTHEST, FURTHEST)


def cell_features(column: Column) -> tuple[float, ...]:
    """Return the features of a column's header and first cells, in the order of CELL_FEATURES."""
    seen, header = column.spread(CELLS_SEEN), column.name or ""
    cells = seen or ("",)
    lengths = list(map(len, cells))
    mean = sum(lengths) / len(cells)
    spread = math.sqrt(sum((length - mean) ** 2 for length in lengths) / len(cells))
    kinds = [(any(map(str.isdigit, cell)), any(map(str.isalpha, cell))) for cell in cells]

    def share(test: Callable[[str], bool]) -> float:
        return sum(map(test, cells)) / len(cells)

    return (
        float(bool(header)),
        math.log1p(len(header)),
        len(column.present) / max(len(column.values), 1),
        len(set(seen)) / len(cells),
        math.log1p(mean),
        math.log1p(spread),
        share(lambda cell: len(cell) <= SHORT),
        share(lambda cell: len(cell) > LONG),
        *(kinds.count(kind) / len(cells) for kind in ((True, False), (True, True), (False, True))),
        share(lambda cell: " " in cell),
        math.log1p(min(len(column.values), CELLS_SEEN)),
        share(str.isupper),
        share(lambda cell: not cell.isascii()),
    )


def allowed_specialists(scores: F32, count: Count) -> Flags:
    """Return (N,) the `count` specialists with the highest total score over the columns (B, N); the first among equals."""
    allowed = np.ones(scores.shape[1], bool)
    if count is not ALL:
        totals = [math.fsum(each.tolist()) for each in scores.T]
        allowed[np.argsort(-np.array(totals), kind="stable")[count:]] = False
    return allowed


def _from_record(record: Mapping[str, Any]) -> SpawnEstimate:
    """Raise KeyError or ValueError unless the record describes an estimate."""
    if record["format"] != FORMAT:
        raise ValueError(f"its format is {record['format']!r}; expected {FORMAT!r}")
    counts = tuple(ALL if count == "all" else int(count) for count in record["counts"])
    features = tuple(map(str, record["features"]))
    shapes: dict[str, tuple[int, ...]]
    shapes = dict.fromkeys(("mean", "scale", "weights"), (len(features),))
    shapes |= dict.fromkeys(("value", "path"), (len(counts), 2))
    arrays: dict[str, Any] = {name: np.array(record[name], np.float64) for name in shapes}
    for name, shape in shapes.items():
        if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} must be finite and of shape {shape}")
    if not counts or any(count is not ALL and count < 0 for count in counts):
        raise ValueError("counts must be 0 or more, or 'all'")
    if not (arrays["scale"] > 0).all():
        raise ValueError("scale must be above 0")
    path_cost = float(record["path_cost"])
    if not (math.isfinite(path_cost) and path_cost >= 0):
        raise ValueError(f"path_cost is {path_cost}; expected a number, 0 or more")
    return SpawnEstimate(
        **arrays,
        features=features,
        specialists=tuple(map(str, record["specialists"])),
        bias=float(record["bias"]),
        counts=counts,
        path_cost=path_cost,
        primary_sha256=str(record["primary_sha256"]),
        training=dict(record["training"]),
    )
