"""r_finish: answer every column, and do not let routing degenerate.

    r_finish = coverage - gamma * degeneracy

    coverage     share of the episode's columns that got an answer (an abstention is none)
    degeneracy   largest of three, each excess(share in the pool) * share in this episode:
                   always on     decisions with every specialist on
                   always off    decisions with none on
                   same pattern  decisions with the pool's commonest activation vector
    excess(s)    max(0, (s - tolerance) / (1 - tolerance))

The pool is all episodes of the call unless `pool` says otherwise, because "the same for every input" can only
be seen across inputs. An episode pays for its own part in it: one that breaks the pattern does not, and so the
gradient points away from the collapse. Below the tolerance nothing is paid: a router may well be idle on most
columns of an easy table.

Worked number, defaults gamma 0.5, tolerance 0.9; two tables of ten columns, the first routed A ten times, 8
answered, the second A nine times and B once, all answered: pattern A has share 19/20, excess 0.5;
r_finish = 0.8 - 0.5 * 0.5 * 1 = 0.55 and 1 - 0.5 * 0.5 * 0.9 = 0.775.

Missing: a column whose answer is nan is left out of coverage; an episode without columns has nan for a reward.
A pool of fewer than `least_decisions` decisions cannot be judged: its degeneracy is nan, r_finish is coverage
alone, and `unjudged` counts such episodes.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.arrays import Bools, Floats, Ints, read_floats
from aegir.errors import UsageError
from aegir.rewards.routing import read_pools, read_routing, refuse_unless

KINDS = ("always on", "always off", "same pattern")


@dataclass(frozen=True, slots=True)
class FinishWeights:
    """How dear degenerate routing is, and from where on it is called so."""

    gamma: float = 0.5
    """Cost of wholly degenerate routing."""
    tolerance: float = 0.9
    """Share of decisions up to which a repeated pattern is no concern."""
    least_decisions: int = 8
    """Fewer decisions than this in a pool say nothing about its routing."""

    def __post_init__(self) -> None:
        is_cost = bool(np.isfinite(self.gamma)) and self.gamma >= 0
        refuse_unless(is_cost, "gamma", self.gamma, "a number, 0 or more")
        # From 0.5 on at most one pattern can be above, so ties for the commonest do not matter.
        refuse_unless(0.5 <= self.tolerance < 1, "tolerance", self.tolerance, "0.5 up to below 1")
        enough = self.least_decisions >= 1
        refuse_unless(enough, "least_decisions", self.least_decisions, "1 or more")


@dataclass(frozen=True, slots=True, eq=False)
class FinishReward:
    """r_finish of each episode (E,) and what it is made of; nan is missing."""

    reward: Floats
    coverage: Floats
    degeneracy: Floats
    kind: tuple[str | None, ...]
    """Which degeneracy was largest; None where nothing is paid."""
    unjudged: int
    """Episodes with too few decisions in their pool to judge routing."""
    left_out: int
    """Columns whose answer is unknown, and decisions whose activations are."""


def compute_r_finish(
    answered: npt.ArrayLike,
    activations: npt.ArrayLike,
    *,
    decided: npt.ArrayLike | None = None,
    pool: npt.ArrayLike | None = None,
    weights: FinishWeights | None = None,
) -> FinishReward:
    """r_finish for every episode.

    answered (E, D) of 0, 1 or nan; activations (E, D, N), or (B, N) with answered (B,); decided (E, D) says
    which columns are real; pool (E,) names the episodes whose routing is compared.
    """
    weigh = weights or FinishWeights()
    routing = read_routing(activations, decided)
    shape = routing.decided.shape
    done = read_floats(answered, "answered")
    done = done[:, None] if done.ndim == 1 and shape[1] == 1 else done
    if done.shape != shape:
        raise UsageError(
            f"answered has shape {done.shape}; activations say there are {shape} columns"
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
    """How far each episode follows each kind of degenerate routing of its pool, (E, 3)."""
    episodes = len(pools)
    of_decision = np.nonzero(decided)[0]  # the episode of every decision
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
    """Whether each pattern (M, N) is the commonest one of its group (M,)."""
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
    """A number for each pattern (M,), equal for equal ones, small enough to be multiplied by a group number."""
    specialists = patterns.shape[1]
    if specialists <= 16:
        return patterns @ (1 << np.arange(specialists))
    packed = np.packbits(patterns, axis=1)
    return np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _means(flags: Floats, groups: Ints, number: int) -> Floats:
    """Mean of the flags (M, K) in each group, (number, K); 0 for a group without members."""
    sums = np.stack([np.bincount(groups, column, minlength=number) for column in flags.T], 1)
    return sums / np.maximum(np.bincount(groups, minlength=number), 1)[:, None]
