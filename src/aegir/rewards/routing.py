"""What a router did, read once and checked: which specialists were on at every decision.

    E episodes (tables) · D decisions in the longest one (columns) · N specialists

Activations come as (E, D, N) of 0 and 1, or as (B, N), which are B episodes of one decision. Episodes of
unequal length are padded; `decided` (E, D) says which decisions are real. `group_rows` makes both from a
flat list of decisions.

Promises
  - a decision with nan in it is missing: it is left out and counted, never read as "off";
  - anything else that is not 0 or 1, and shapes that disagree, are refused in one sentence.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.arrays import Bools, Floats, Ints, read_array, read_floats
from aegir.errors import UsageError


@dataclass(frozen=True, slots=True, eq=False)
class Routing:
    """Activations (E, D, N), and which decisions there are and which of them count, (E, D) each."""

    activations: Bools
    real: Bools
    decided: Bools
    left_out: int
    """Decisions that do not count because of nan."""

    @property
    def specialists(self) -> int:
        return int(self.activations.shape[2])

    @property
    def patterns(self) -> Bools:
        """The activation vectors of all decisions that count, (M, N)."""
        return self.activations[self.decided]


def read_routing(activations: npt.ArrayLike, decided: npt.ArrayLike | None = None) -> Routing:
    """Check activations and the decisions that are real; nan decisions are left out."""
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
    return Routing(
        activations=(given == 1.0) & counted[..., None],
        real=real,
        decided=counted,
        left_out=int((real & ~known).sum()),
    )


def group_rows(rows: npt.ArrayLike, episode: npt.ArrayLike) -> tuple[Floats, Bools]:
    """A flat list of decisions (R, …) and the episode of each (R,), as padded (E, D, …) and `decided`.

    Episodes come out in ascending order, the decisions of each in the order given; padding is nan.
    """
    values = read_floats(rows, "rows")
    if values.ndim == 0:
        raise UsageError(f"rows are the single number {values}; expected one row per decision")
    inverse = read_names(episode, len(values), "episode", "row")
    counts = np.bincount(inverse)
    order = np.argsort(inverse, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else counts
    place = np.arange(len(values)) - np.repeat(starts, counts)
    longest = int(counts.max()) if len(counts) else 0
    padded = np.full((len(counts), longest, *values.shape[1:]), np.nan)
    decided = np.zeros((len(counts), longest), bool)
    padded[inverse[order], place] = values[order]
    decided[inverse[order], place] = True
    return padded, decided


def read_mask(mask: npt.ArrayLike | None, shape: tuple[int, ...], name: str) -> Bools:
    """A mask of this shape; all true when there is none. For one decision per episode, (E,) will do."""
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
    """Pool numbers 0, 1, … of the episodes, or None when none were given."""
    return None if pool is None else read_names(pool, episodes, "pool", "episode")


def read_names(names: npt.ArrayLike, number: int, name: str, of: str) -> Ints:
    """0, 1, … for each distinct name, in ascending order; one name is needed for each of `number` things."""
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


def refuse_unless(is_right: bool, name: str, value: object, expected: str) -> None:
    """One sentence for a setting that cannot be used."""
    if not is_right:
        raise UsageError(f"{name} is {value!r}; expected {expected}")
