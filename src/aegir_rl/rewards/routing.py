"""Reading what a router did: which specialists were on at every decision.

    E episodes (tables) · D decisions in the longest one (columns) · N specialists

Activations are (E, D, N) of 0 and 1, or (B, N), which are B episodes of one decision. Episodes of unequal length are
padded; `decided` (E, D) is true for real decisions. `group_rows` makes both from a flat list of decisions.

Promises
  - a decision with nan in it is missing: it is left out and counted, never read as "off";
  - other values than 0 and 1, and shapes that disagree, raise an error of one sentence.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, Ints, read_array, read_floats
from aegir_rl.base.errors import UsageError


@dataclass(frozen=True, slots=True, eq=False)
class RoutingDecisions:
    """Activations (E, D, N), real decisions (E, D), and those of them without nan (E, D)."""

    activations: Bools
    real: Bools
    decided: Bools
    left_out: int
    """Real decisions left out because of nan."""

    @property
    def specialists(self) -> int:
        return int(self.activations.shape[2])

    @property
    def patterns(self) -> Bools:
        """(M, N) activation vectors of all decisions without nan."""
        return self.activations[self.decided]


def read_routing(
    activations: npt.ArrayLike, decided: npt.ArrayLike | None = None
) -> RoutingDecisions:
    """Check activations and the mask of real decisions; decisions with nan are left out."""
    given = read_floats(activations, "activations")
    if given.ndim == 2:
        given = given[:, None, :]
    if given.ndim != 3 or given.shape[2] == 0:
        raise UsageError(
            f"activations have shape {given.shape}; expected (episodes, decisions, specialists) "
            "or (episodes, specialists) with at least one specialist"
        )
    real = read_mask(decided, given.shape[:2], "decided")
    known = ~np.isnan(given).any(axis=2)
    wrong = real & known & ~((given == 0.0) | (given == 1.0)).all(axis=2)
    if wrong.any():
        episode, decision = (int(axis[0]) for axis in np.nonzero(wrong))
        raise UsageError(
            f"activations of episode {episode}, decision {decision} are "
            f"{given[episode, decision].tolist()}; expected 0 or 1 (threshold scores first)"
        )
    counted = real & known
    return RoutingDecisions(
        activations=(given == 1.0) & counted[..., None],
        real=real,
        decided=counted,
        left_out=int((real & ~known).sum()),
    )


def group_rows(rows: npt.ArrayLike, episode: npt.ArrayLike) -> tuple[Floats, Bools]:
    """From a flat list of decisions (R, …) and the episode of each (R,): padded (E, D, …) and `decided` (E, D).

    Episodes are in ascending order, the decisions of each in the order given; padding is nan.
    """
    values = read_floats(rows, "rows")
    if values.ndim == 0:
        raise UsageError(f"rows are the single number {values}; expected one row per decision")
    inverse = read_names(episode, len(values), "episode", "row")
    counts = np.bincount(inverse)
    order = np.argsort(inverse, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else counts
    index = np.arange(len(values)) - np.repeat(starts, counts)
    longest = int(counts.max()) if len(counts) else 0
    padded = np.full((len(counts), longest, *values.shape[1:]), np.nan)
    decided = np.zeros((len(counts), longest), bool)
    padded[inverse[order], index] = values[order]
    decided[inverse[order], index] = True
    return padded, decided


def read_mask(mask: npt.ArrayLike | None, shape: tuple[int, ...], name: str) -> Bools:
    """A mask of this shape, all true for None; (E,) is accepted for one decision per episode."""
    if mask is None:
        return np.ones(shape, bool)
    given = read_array(mask, name)
    given = given[:, None] if given.ndim == 1 and shape[1:] == (1,) else given
    if given.shape != shape or given.dtype != np.bool_:
        raise UsageError(
            f"{name} is {given.dtype} of shape {given.shape}; expected true or false of shape {shape}"
        )
    return given


def read_pools(pool: npt.ArrayLike | None, episodes: int) -> Ints | None:
    """(E,) pool numbers 0, 1, …, or None if no pools are given."""
    return None if pool is None else read_names(pool, episodes, "pool", "episode")


def read_names(names: npt.ArrayLike, number: int, name: str, of: str) -> Ints:
    """(number,) 0, 1, … for the distinct names in ascending order; raise unless there are `number` names."""
    given = read_array(names, name)
    if given.shape != (number,):
        raise UsageError(
            f"{name} has shape {given.shape}; expected one name for each of {number} {of}s"
        )
    try:
        return np.unique(given, return_inverse=True)[1].reshape(-1).astype(np.int64)
    except TypeError:
        raise UsageError(
            f"{name} mixes names that cannot be compared; expected all numbers or all text"
        ) from None
