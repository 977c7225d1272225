"""r_finish: every column answered, and routing not degenerate.

    r_finish = coverage - gamma * degeneracy

    coverage     share of the episode's columns with an answer (an abstention is not an answer)
    degeneracy   largest of three, each excess(share in the pool) * share in this episode:
                   always on     decisions with every specialist on
                   always off    decisions with no specialist on
                   same pattern  decisions with the most frequent activation vector of the pool
    excess(s)    max(0, (s - tolerance) / (1 - tolerance))

The pool is all episodes of the call unless `pool` is given, because "the same for every input" is a property of many
inputs. An episode is charged for its own share of the pattern: one that breaks it is not, so the gradient points away from
the collapse. Shares up to the tolerance cost nothing: a router may be idle on most columns of an easy table.

Worked number, defaults gamma 0.5, tolerance 0.9; two tables of ten columns, the first routed A ten times, 8
answered, the second A nine times and B once, all answered: pattern A has share 19/20, excess 0.5;
r_finish = 0.8 - 0.5 * 0.5 * 1 = 0.55 and 1 - 0.5 * 0.5 * 0.9 = 0.775.

Missing: a column whose answer is nan is left out of coverage; an episode without columns has reward nan. In a pool of
fewer than `least_decisions` decisions degeneracy is nan, r_finish is coverage alone, and `unjudged` counts the episodes.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, Ints, read_floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.rewards.routing import read_pools, read_routing

KINDS = ("always on", "always off", "same pattern")


@dataclass(frozen=True, slots=True)
class FinishWeights:
    """Cost of degenerate routing, and the share of decisions from which on it counts."""

    gamma: float = 0.5
    """Cost of wholly degenerate routing."""
    tolerance: float = 0.9
    """Share of decisions up to which a repeated pattern costs nothing."""
    least_decisions: int = 8
    """Pools with fewer decisions are not checked for degenerate routing."""

    def __post_init__(self) -> None:
        is_cost = bool(np.isfinite(self.gamma)) and self.gamma >= 0
        require(is_cost, "gamma", self.gamma, "a number, 0 or more")
        # From 0.5 on at most one pattern can exceed it, so ties for the most frequent one do not matter.
        require(0.5 <= self.tolerance < 1, "tolerance", self.tolerance, "0.5 up to below 1")
        enough = self.least_decisions >= 1
        require(enough, "least_decisions", self.least_decisions, "1 or more")


@dataclass(frozen=True, slots=True, eq=False)
class FinishReward:
    """r_finish of each episode (E,) and the metrics it is computed from; nan is missing."""

    reward: Floats
    coverage: Floats
    degeneracy: Floats
    kind: tuple[str | None, ...]
    """The largest of the three degeneracies; None if all are 0 or unknown."""
    unjudged: int
    """Episodes whose pool has fewer than `least_decisions` decisions."""
    left_out: int
    """Columns with an unknown answer, plus decisions with unknown activations."""


def compute_r_finish(
    answered: npt.ArrayLike,
    activations: npt.ArrayLike,
    *,
    decided: npt.ArrayLike | None = None,
    pool: npt.ArrayLike | None = None,
    weights: FinishWeights | None = None,
) -> FinishReward:
    """r_finish for every episode.

    answered (E, D) of 0, 1 or nan; activations (E, D, N), or (B, N) with answered (B,); decided (E, D) is true for
    real columns; pool (E,) labels episodes whose routing is compared with each other.
    """
    weigh = weights or FinishWeights()
    routing = read_routing(activations, decided)
    shape = routing.decided.shape
    done = read_floats(answered, "answered")
    done = done[:, None] if done.ndim == 1 and shape[1] == 1 else done
    if done.shape != shape:
        raise UsageError(
            f"answered has shape {done.shape}; expected {shape}, the columns of activations"
        )
    real = routing.real
    if (strange := done[real & ~np.isnan(done) & ~((done == 0.0) | (done == 1.0))]).size:
        raise UsageError(f"answered holds {strange[0]}; expected 0, 1, or nan where unknown")
    known = real & ~np.isnan(done)
    columns = known.sum(1)
    coverage = np.where(columns > 0, (known & (done == 1)).sum(1) / np.maximum(columns, 1), np.nan)
    pools = read_pools(pool, shape[0])
    pools = np.zeros(shape[0], np.int64) if pools is None else pools
    degrees = _degeneracy(routing.activations, routing.decided, pools, weigh)  # (E, 3)
    degeneracy = degrees.max(1) if len(degrees) else np.zeros(0)
    kind = tuple(
        KINDS[int(row.argmax())] if worst > 0 else None
        for row, worst in zip(degrees, degeneracy, strict=True)
    )
    return FinishReward(
        reward=coverage - weigh.gamma * np.nan_to_num(degeneracy, nan=0.0),
        coverage=coverage,
        degeneracy=degeneracy,
        kind=kind,
        unjudged=int(np.isnan(degeneracy).sum()),
        left_out=int((real & ~known).sum()) + routing.left_out,
    )


def _degeneracy(activations: Bools, decided: Bools, pools: Ints, weigh: FinishWeights) -> Floats:
    """(E, 3) degeneracy of each episode: always on, always off, same pattern; nan where not checked."""
    episodes = len(pools)
    of_decision = np.nonzero(decided)[0]  # episode of every decision
    patterns = activations[decided]  # (M, N)
    flags = np.stack(
        [patterns.all(1), ~patterns.any(1), follows_commonest(patterns, pools[of_decision])], 1
    ).astype(float)
    own = _means(flags, of_decision, episodes)
    number = int(pools.max()) + 1 if episodes else 0
    shared = _means(flags, pools[of_decision], number)[pools]
    excess = np.maximum(0.0, (shared - weigh.tolerance) / (1 - weigh.tolerance))
    sizes = np.bincount(pools[of_decision], minlength=number)[pools]
    judged = (sizes >= weigh.least_decisions) & decided.any(1)
    return np.where(judged[:, None], excess * own, np.nan)


def follows_commonest(patterns: Bools, groups: Ints) -> Bools:
    """(M,) whether each pattern (M, N) is the most frequent one of its group (M,)."""
    if not len(patterns):
        return np.zeros(0, bool)
    ids = _pattern_numbers(patterns)
    key = groups * (int(ids.max()) + 1) + ids
    kinds, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    group_of_kind = kinds // (int(ids.max()) + 1)
    order = np.lexsort((-counts, group_of_kind))
    first = np.append(True, np.diff(group_of_kind[order]) != 0)
    commonest = np.zeros(len(kinds), bool)
    commonest[order[first]] = True
    return np.asarray(commonest[inverse.reshape(-1)], bool)


def _pattern_numbers(patterns: Bools) -> Ints:
    """(M,) a number per pattern, equal for equal patterns, small enough to be multiplied by a group number."""
    specialists = patterns.shape[1]
    if specialists <= 16:
        return patterns @ (1 << np.arange(specialists))
    packed = np.packbits(patterns, axis=1)
    return np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _means(flags: Floats, groups: Ints, number: int) -> Floats:
    """(number, K) mean of the flags (M, K) in each group; 0 for an empty group."""
    sums = np.stack([np.bincount(groups, column, minlength=number) for column in flags.T], 1)
    return sums / np.maximum(np.bincount(groups, minlength=number), 1)[:, None]
