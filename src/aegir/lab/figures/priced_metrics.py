"""What a reader that is paid by the token gains: accuracy against tokens, nested cross-validation over groups of tables, the gate.

    measure(log, tables_per_call, worth)        -> Measured

    learnt      a policy per worth of a right column, learnt on the other groups
    threshold   asks about columns below a confidence; chosen for each worth on the other groups, and as a whole curve
    random      asks about as many columns as the threshold, drawn by a seed
    always, never, oracle (asks where the reader alone is right, the tables that cost least per right column first)

"As right as always": on the other groups, the cheapest setting is chosen whose accuracy (of policies: on inner folds) is at most a
margin below that of asking always. The gate compares rewards (right columns less tokens / worth) of the learnt policy and the
threshold, paired, over groups, with intervals that hold for all worths at once (Bonferroni).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aegir.lab.priced_reader import PricedLog, asks, learn_to_ask
from aegir.routing.decisions import FREE, LLM
from aegir.routing.features import FEATURES
from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.intervals import Estimate, estimate_gain, estimate_mean
from aegir_rl.offline.policy import RoutingPolicy

LEARNT, THRESHOLD = "learnt", "threshold"
OUTER, INNER = 5, 3
STEPS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)
"""Worths that are tried, as multiples of the one that is given."""
THRESHOLDS = (*(n / 20 for n in range(20)), 0.97, 0.98, 0.99, 0.995, 1.01)
ORACLE_SHARES = tuple(n / 10 for n in range(11))
MARGINS = (0.0, 0.01)
"""How much less right than always still counts, as shares of the columns."""
LEVEL = 1 - 0.05 / len(STEPS)
"""Of the gate's intervals: 95 % for all worths together."""
Ask = Callable[[PricedLog], Bools]


@dataclass(frozen=True, slots=True)
class Point:
    """One way of asking: its setting, the share of all tokens and of columns that it takes, and what is right."""

    setting: float
    tokens: float
    columns: float
    right: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Reward of the learnt policy less that of the threshold, both chosen on other groups; positive where its lower end is."""

    worth: float
    gain: Estimate

    @property
    def positive(self) -> bool:
        return self.gain.low > 0


@dataclass(frozen=True, slots=True)
class AsRight:
    """The cheapest way that was as right as always on other groups, but for a margin."""

    way: str
    margin: float
    tokens: float
    right: float
    difference: Estimate
    """Accuracy less that of asking always."""


@dataclass(frozen=True, slots=True)
class Measured:
    """All figures for one number of tables per call."""

    columns: int
    tables: int
    groups: int
    tables_per_call: int
    all_tokens: float
    ours: float
    always: float
    curves: dict[str, tuple[Point, ...]]
    verdicts: tuple[Verdict, ...]
    as_right: tuple[AsRight, ...]

    def as_dict(self) -> dict[str, object]:
        """JSON-ready."""
        record = asdict(self)
        for given, verdict in zip(record["verdicts"], self.verdicts, strict=True):
            given |= {"gain": verdict.gain.as_dict(), "positive": verdict.positive}
        for given, each in zip(record["as_right"], self.as_right, strict=True):
            given["difference"] = each.difference.as_dict()
        return record


def measure(log: PricedLog, tables_per_call: int, worth: float, seed: int = 0) -> Measured:
    """Measure every way of asking on tables that it was not fitted to."""
    fold, worths = log.folds(OUTER, seed), [step * worth for step in STEPS]
    everything = np.ones(len(log), bool)
    learnt = {each: np.zeros(len(log), bool) for each in worths}
    tuned = {each: np.zeros(len(log), bool) for each in worths}
    as_right: dict[tuple[str, float], Bools] = {}
    for number in range(OUTER):
        train, test = log.select(fold != number), log.select(fold == number)
        for each in worths:
            learnt[each][fold == number] = _learnt(train, each, tables_per_call)(test)
            tuned[each][fold == number] = _below(_best_threshold(train, each, tables_per_call))(
                test
            )
        chosen = _cheapest_as_right(train, tables_per_call, worths, seed)
        for (way, margin), setting in chosen.items():
            ask = _below(setting) if way == THRESHOLD else _learnt(train, setting, tables_per_call)
            asked = as_right.setdefault((way, margin), np.zeros(len(log), bool))
            asked[fold == number] = ask(test)

    def point(setting: float, asked: Bools) -> Point:
        return _point(log, setting, asked, tables_per_call)

    random = Seeds(seed).generator("random columns").random(len(log))
    return Measured(
        len(log),
        len(log.instructions),
        int(log.group.max()) + 1,
        tables_per_call,
        float(log.tokens(everything, tables_per_call).sum()),
        float(log.ours.mean()),
        float(log.reader.mean()),
        {
            LEARNT: tuple(point(each, learnt[each]) for each in worths),
            THRESHOLD: tuple(point(t, _below(t)(log)) for t in THRESHOLDS),
            "random": tuple(
                point(share, random < share)
                for share in [float(_below(t)(log).mean()) for t in THRESHOLDS]
            ),
            "oracle": tuple(
                point(share, _oracle(log, share, tables_per_call)) for share in ORACLE_SHARES
            ),
            "never, always": (point(0.0, ~everything), point(1.0, everything)),
        },
        tuple(
            Verdict(each, _gain(log, learnt[each], tuned[each], each, tables_per_call))
            for each in worths
        ),
        tuple(_as_right(log, *key, asked, tables_per_call) for key, asked in as_right.items()),
    )


def _below(threshold: float) -> Ask:
    return lambda log: np.asarray(log.confidence < threshold, bool)


def _best_threshold(log: PricedLog, worth: float, tables_per_call: int) -> float:
    return max(THRESHOLDS, key=lambda t: _reward(log, _below(t)(log), worth, tables_per_call))


def _learnt(train: PricedLog, worth: float, tables_per_call: int) -> Ask:
    if not np.isfinite(worth):
        return lambda log: np.ones(len(log), bool)
    policy = learn_to_ask(train, worth, tables_per_call)
    return lambda log: asks(policy, log)


def _cheapest_as_right(
    train: PricedLog, tables_per_call: int, worths: Sequence[float], seed: int
) -> dict[tuple[str, float], float]:
    """The cheapest worth and threshold that are as right as always, for every margin; infinite, which asks always, if none is."""
    fold = train.folds(INNER, seed + 1)
    tried = {each: np.zeros(len(train), bool) for each in worths}
    for number in range(INNER):
        part, rest = train.select(fold != number), train.select(fold == number)
        for each in worths:
            tried[each][fold == number] = _learnt(part, each, tables_per_call)(rest)
    ways = {LEARNT: tried, THRESHOLD: {each: _below(each)(train) for each in THRESHOLDS}}
    found = {}
    for way, settings in ways.items():
        points = [_point(train, each, asked, tables_per_call) for each, asked in settings.items()]
        for margin in MARGINS:
            enough = [each for each in points if each.right >= train.reader.mean() - margin]
            cheapest = min(enough, key=lambda p: p.tokens, default=None)
            found[way, margin] = cheapest.setting if cheapest else np.inf
    return found


def _oracle(log: PricedLog, share: float, tables_per_call: int) -> Bools:
    """Ask where the reader alone is right, in the share of such tables that cost least per column gained."""
    gains = log.reader & ~log.ours
    counts = np.bincount(log.table, gains, len(log.instructions))
    price = log.tokens(gains, tables_per_call) / np.maximum(counts, 1e-9)
    order = np.argsort(np.where(counts > 0, price, np.inf), kind="stable")
    chosen = np.zeros(len(counts), bool)
    chosen[order[: round(share * int((counts > 0).sum()))]] = True
    return np.asarray(gains & chosen[log.table], bool)


def _point(log: PricedLog, setting: float, asked: Bools, tables_per_call: int) -> Point:
    whole = log.tokens(np.ones(len(log), bool), tables_per_call).sum()
    spent = log.tokens(asked, tables_per_call).sum()
    right = float(log.right(asked).mean())
    return Point(float(setting), float(spent / whole), float(asked.mean()), right)


def _reward(log: PricedLog, asked: Bools, worth: float, tables_per_call: int) -> float:
    return float(log.right(asked).sum() - log.tokens(asked, tables_per_call).sum() / worth)


def _per_column(log: PricedLog, asked: Bools, worth: float, tables_per_call: int) -> Floats:
    """(C,) rewards; what a table costs is spread over its columns, which changes no sum over a group."""
    sizes = np.bincount(log.table, minlength=len(log.instructions))
    paid = (log.tokens(asked, tables_per_call) / sizes)[log.table]
    return np.asarray(log.right(asked) - paid / worth)


def _gain(log: PricedLog, a: Bools, b: Bools, worth: float, tables_per_call: int) -> Estimate:
    first, second = (_per_column(log, each, worth, tables_per_call) for each in (a, b))
    return estimate_mean(first - second, log.group, LEVEL)


def _as_right(
    log: PricedLog, way: str, margin: float, asked: Bools, tables_per_call: int
) -> AsRight:
    point = _point(log, 0.0, asked, tables_per_call)
    difference = log.right(asked).astype(float) - log.reader
    gain = estimate_gain(difference, log.group)
    return AsRight(way, margin, point.tokens, point.right, gain)


def describe(policy: RoutingPolicy, log: PricedLog) -> list[str]:
    """What a policy learnt, in sentences made from what it does to these columns."""
    asked = asks(policy, log)
    best = max(THRESHOLDS, key=lambda t: float((_below(t)(log) == asked).mean()))
    agrees = float((_below(best)(log) == asked).mean())
    lines = [
        f"It asks about {asked.mean():.0%} of the columns, as `confidence < {best:g}` would for {agrees:.0%} of them.",
    ]
    for low, high in ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        band = (log.confidence >= low) & (log.confidence < high)
        if band.any():
            lines.append(
                f"Of {band.sum()} columns with a confidence from {low:g} to {min(high, 1):g} it asks about {asked[band].mean():.0%}."
            )
    beside = np.bincount(log.table, asked, len(log.instructions))[log.table] - asked > 0
    sure = log.confidence >= best
    for where, text in ((sure & beside, "asked"), (sure & ~beside, "no asked")):
        if where.any():
            lines.append(
                f"Of {where.sum()} columns above that, in tables with {text} column beside them, it asks about {asked[where].mean():.0%}."
            )
    effects = _effects(policy, log)
    shown = sorted(effects.items(), key=lambda each: -abs(each[1]))[:5]
    parts = ", ".join(f"{name} {effect:+.3f}" for name, effect in shown)
    lines.append(
        f"What one standard deviation more adds to the value of asking, on average: {parts}."
    )
    return lines


def _effects(policy: RoutingPolicy, log: PricedLog) -> dict[str, float]:
    x = log.features[:, policy.columns_of(FEATURES, "a column")]
    llm, free = policy.actions.index(LLM), policy.actions.index(FREE)

    def value(given: Floats) -> float:
        values = policy.values(given)
        return float((values[:, llm] - values[:, free]).mean())

    effects = {}
    for place, name in enumerate(policy.features):
        step = np.zeros(x.shape[1])
        step[place] = policy.scale[place] / 2
        effects[name] = value(x + step) - value(x - step)
    return effects
