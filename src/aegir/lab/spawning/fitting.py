"""Fit the complexity of tables and the reward of every count, cross-fitted by group; choose the price of the critical path.

    fitted = fit_spawning(outcomes, objective)
    fitted.estimate.save(path)          fitted.prices, fitted.constants, fitted.deciles

1. Complexity: ridge regression of the primary's log loss (capped) on the features of a column; that of a table is the mean.
2. Reward and path of every count: a straight line in the complexity, which was estimated by a model of other groups.
3. Every price of PRICES is judged on groups that neither 1 nor 2 has seen. Taken is the one with the most right answers, the highest
   among equals, if at most MARGIN of the answers can be lost against waking everyone whom the router chooses.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aegir.lab.figures.swarm_tables import HEADS
from aegir.lab.spawning.objective import Objective, column_loss, column_right, table_means
from aegir.lab.spawning.outcomes import Outcomes
from aegir.readers.swarm.spawning import FURTHEST, SpawnEstimate, feature_names
from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.base.errors import CheckFailed
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.intervals import Estimate, estimate_mean

COUNTS = (0, 1, 2, 4, None)
PRICES = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3)
"""What doubling the critical path may cost, in units of the reward."""
MARGIN = 0.005
"""Share of right answers that may be lost against waking everyone, with 95 % confidence."""
FOLDS = 5
RIDGE = 300.0
"""With 30 to 1000 the correlation of complexity and log loss on other groups differs by less than 0.01."""
MOST_LOSS = 4.0
"""Log loss of a column, in nats, above which it counts no more; a few hopeless columns would rule the fit."""
DECILES = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A way to choose counts on held-out tables."""

    name: str
    shares: tuple[float, ...]
    """Share of the tables that get each of COUNTS."""
    right: float
    """Share of the labelled parts of columns that are answered right."""
    types_web: float
    types_everyday: float
    relations: float
    fine: float
    difference: Estimate
    """Of `right` to waking everyone, paired."""
    work: float
    """Mean total work of a table, as a multiple of the primary's."""
    critical_path: float
    """The same of the critical path."""
    spearman_wrong: float
    """Correlation of the count with the share of the table's labels that the primary alone gets wrong; nan if constant."""
    spearman_loss: float
    """The same with the primary's log loss."""

    def as_dict(self) -> dict[str, object]:
        """JSON-ready: None for what is not finite."""
        record = asdict(self) | {"difference": self.difference.as_dict()}
        return {
            name: None if isinstance(part, float) and not math.isfinite(part) else part
            for name, part in record.items()
        }


@dataclass(frozen=True, slots=True)
class Decile:
    """Tables of similar complexity."""

    complexity: float
    loss: float
    """Mean log loss of the primary alone."""
    count: float
    """Mean count that is chosen; everyone counts as all specialists."""
    right: tuple[float, ...]
    """Share right with each of COUNTS."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The estimate, and how it does on groups that it has not seen."""

    estimate: SpawnEstimate
    complexity: Floats
    """(T,) cross-fitted."""
    prices: dict[float, Judged]
    constants: tuple[Judged, ...]
    """Always the same count."""
    deciles: tuple[Decile, ...]
    spearman_wrong: float
    """Of the complexity itself."""
    spearman_loss: float

    @property
    def chosen(self) -> Judged:
        return self.prices[self.estimate.path_cost]


def fit_spawning(
    outcomes: Outcomes, objective: Objective, path_cost: float | None = None, seed: int = 0
) -> Fitted:
    """Fit and judge; `path_cost` replaces the choice of a price. Raise CheckFailed if no price will do."""
    folds = _folds(outcomes.group, seed)
    complexity = _cross_fitted(outcomes, folds, np.ones(len(folds), bool))
    judge = _Judge(outcomes, objective)
    lines = _held_out_lines(outcomes, objective, folds)
    prices = {
        price: judge.judge(f"path cost {price:g}", (lines[0] - price * lines[1]).argmax(axis=1))
        for price in sorted({*PRICES, *(() if path_cost is None else (path_cost,))})
    }
    price = _choose_price(prices) if path_cost is None else path_cost
    estimate = _fit_all(outcomes, objective, complexity, prices[price], price)
    chosen = (lines[0] - price * lines[1]).argmax(axis=1)
    return Fitted(
        estimate,
        complexity,
        prices,
        tuple(
            judge.judge(_always(count), np.full(len(folds), number))
            for number, count in enumerate(objective.counts)
        ),
        judge.deciles(complexity, chosen),
        spearman(complexity, judge.wrong),
        spearman(complexity, judge.loss),
    )


def _choose_price(prices: Mapping[float, Judged]) -> float:
    fine = {each: judged for each, judged in prices.items() if judged.difference.low >= -MARGIN}
    if not fine:
        raise CheckFailed(
            f"with every path cost more than {MARGIN:.1%} of the answers may be lost against waking everyone; "
            "annotate with --spawn all, or name a cost with --path-cost"
        )
    return max(fine, key=lambda each: (fine[each].right, each))


def spearman(x: Floats, y: Floats) -> float:
    """Return the rank correlation of what is known of both, equal values sharing their mean rank; nan if one is constant."""
    known = np.isfinite(x) & np.isfinite(y)
    first, second = _ranks(x[known]), _ranks(y[known])
    spread = first.std() * second.std() if known.any() else 0.0
    if spread == 0:
        return math.nan
    return float(((first - first.mean()) * (second - second.mean())).mean() / spread)


def _ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts + 1) / 2)[inverse]
    return ranks


def _always(count: int | None) -> str:
    return "always all" if count is None else f"always {count}"


def _folds(group: Ints, seed: int) -> Ints:
    """Return (T,) the fold of every table; groups are not split."""
    order = Seeds(seed).generator("folds of spawning").permutation(int(group.max()) + 1)
    return np.asarray(order % FOLDS)[group]


@dataclass(frozen=True, slots=True, eq=False)
class _Ridge:
    mean: Floats
    scale: Floats
    weights: Floats
    bias: float

    @classmethod
    def fit(cls, features: Floats, target: Floats) -> "_Ridge":
        mean, scale = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-6)
        x = np.clip((features - mean) / scale, -FURTHEST, FURTHEST)
        bias = float(target.mean())
        inner = x.T @ x + RIDGE * np.eye(x.shape[1])
        return cls(mean, scale, np.linalg.solve(inner, x.T @ (target - bias)), bias)

    def __call__(self, features: Floats) -> Floats:
        x = np.clip((features - self.mean) / self.scale, -FURTHEST, FURTHEST)
        predicted: Floats = x @ self.weights + self.bias
        return predicted


def _fit_complexity(outcomes: Outcomes, tables: Bools) -> _Ridge:
    """Return the complexity of a column, from these tables (T,)."""
    loss = _capped_loss(outcomes)
    rows = tables[outcomes.table] & np.isfinite(loss)
    return _Ridge.fit(outcomes.features[rows], loss[rows])


def _capped_loss(outcomes: Outcomes) -> Floats:
    return column_loss(outcomes, 0, math.exp(-MOST_LOSS))


def _cross_fitted(outcomes: Outcomes, folds: Ints, tables: Bools) -> Floats:
    """Return (T,) the complexity of these tables, each estimated by the other folds of them; nan of the others."""
    complexity = np.full(len(folds), np.nan)
    for fold in range(FOLDS):
        mine = tables & (folds == fold)
        model = _fit_complexity(outcomes, tables & (folds != fold))
        complexity[mine] = table_means(outcomes, model(outcomes.features))[mine]
    return complexity


def _line(complexity: Floats, values: Floats) -> Floats:
    """Return (A, 2) intercept and slope of values (T, A) by least squares, over tables where both are known."""
    known = np.isfinite(complexity) & np.isfinite(values).all(axis=1)
    x = np.stack([np.ones(int(known.sum())), complexity[known]], axis=1)
    fitted = np.linalg.lstsq(x, values[known], rcond=None)[0]
    return np.asarray(fitted.T, np.float64)


def _held_out_lines(outcomes: Outcomes, objective: Objective, folds: Ints) -> tuple[Floats, Floats]:
    """Return (T, A) estimated reward and path of every table, from models that have not seen its fold."""
    reward, path = np.zeros_like(objective.reward), np.zeros_like(objective.path)
    for fold in range(FOLDS):
        others, mine = folds != fold, folds == fold
        inner = _cross_fitted(outcomes, folds, others)
        model = _fit_complexity(outcomes, others)
        complexity = table_means(outcomes, model(outcomes.features))[mine]
        at = np.stack([np.ones(len(complexity)), complexity])
        reward[mine] = (_line(inner, objective.reward) @ at).T
        path[mine] = (_line(inner, objective.path) @ at).T
    return reward, path


def _fit_all(
    outcomes: Outcomes, objective: Objective, complexity: Floats, judged: Judged, price: float
) -> SpawnEstimate:
    """Return the estimate fitted on all tables; lines on cross-fitted complexities."""
    model = _fit_complexity(outcomes, np.ones(len(complexity), bool))
    swarm = outcomes.swarm
    return SpawnEstimate(
        features=feature_names(swarm),
        mean=model.mean,
        scale=model.scale,
        weights=model.weights,
        bias=model.bias,
        counts=objective.counts,
        value=_line(complexity, objective.reward),
        path=_line(complexity, objective.path),
        path_cost=price,
        primary_sha256=swarm.settings.primary_sha256,
        specialists=swarm.names,
        training={
            "tables": len(outcomes.tables),
            "columns": len(outcomes.table),
            "data_sha256": outcomes.sha256,
            "figures": judged.as_dict(),
        },
    )


class _Judge:
    """Judges choices of counts on the tables of the outcomes."""

    def __init__(self, outcomes: Outcomes, objective: Objective) -> None:
        self.outcomes, self.objective = outcomes, objective
        places = [outcomes.at(count) for count in objective.counts]
        self.right = np.stack([column_right(outcomes, at) for at in places])  # (A, C)
        self.parts = np.stack([outcomes.right[at] for at in places])  # (A, heads, C)
        self.wrong = table_means(outcomes, 1 - column_right(outcomes, 0))
        self.loss = table_means(outcomes, _capped_loss(outcomes))
        self.spawned = np.array(places, np.float64)

    def judge(self, name: str, choice: Ints) -> Judged:
        """Return the figures of choosing these counts (T,), numbers of COUNTS."""
        outcomes, columns = self.outcomes, np.arange(len(self.outcomes.table))
        right = self.right[choice[outcomes.table], columns]
        parts = self.parts[choice[outcomes.table], :, columns].T
        types, relations, fine = (parts[HEADS.index(h)] for h in ("types", "relations", "fine"))
        known, web = np.isfinite(right), outcomes.web[outcomes.table]
        groups = np.unique(outcomes.group[outcomes.table[known]], return_inverse=True)[1]
        rows = np.arange(len(choice))
        counts = self.spawned[choice]
        return Judged(
            name,
            tuple((np.bincount(choice, minlength=len(self.spawned)) / len(choice)).tolist()),
            float(right[known].mean()),
            _mean(types[web]),
            _mean(types[~web]),
            _mean(relations),
            _mean(fine),
            estimate_mean((right - self.right[-1])[known], groups),
            float(self.objective.work[rows, choice].mean()),
            float(1 + self.objective.path[rows, choice].mean()),
            spearman(counts, self.wrong),
            spearman(counts, self.loss),
        )

    def deciles(self, complexity: Floats, choice: Ints) -> tuple[Decile, ...]:
        """Return the tables in ten parts of rising complexity."""
        parts: Sequence[Ints] = np.array_split(np.argsort(complexity, kind="stable"), DECILES)
        by_table = np.stack([table_means(self.outcomes, each) for each in self.right])
        return tuple(
            Decile(
                float(complexity[part].mean()),
                _mean(self.loss[part]),
                float(self.spawned[choice[part]].mean()),
                tuple(_mean(each[part]) for each in by_table),
            )
            for part in parts
            if len(part)
        )


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan
