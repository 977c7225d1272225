"""Plain arrays of logged decisions, checked: `LoggedDecisions.of` makes a log of them.

Refused with one sentence: arrays of different lengths, rewards or features that are not finite, propensities that are no
probabilities, an episode whose decisions are in several groups (it would be learnt from and judged on at once), outcomes that are
not known of every action.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.base.errors import UsageError


@dataclass(frozen=True, slots=True, eq=False)
class PlainRows:
    """Plain arrays as they were given, checked, with the decisions of an episode one after the other."""

    order: Ints
    """(N,) where each row stood."""
    features: Floats
    action: list[str]
    reward: Floats
    propensity: Floats
    group: list[str]
    episode: Ints

    @classmethod
    def read(
        cls,
        features: npt.ArrayLike,
        action: npt.ArrayLike,
        reward: npt.ArrayLike,
        propensity: npt.ArrayLike | None,
        group: npt.ArrayLike | None,
        episode: npt.ArrayLike | None,
        name: str,
    ) -> "PlainRows":
        """Check every array; raise one sentence with the row for what cannot be."""
        taken = np.asarray(action)
        count = len(taken) if taken.ndim else 0
        if not count:
            raise UsageError(f"{name} is empty; expected at least one decision")
        seen, own = np.asarray(features, np.float64), np.arange(count)
        together = own if episode is None else np.asarray(episode)
        given: dict[str, npt.NDArray[Any]] = {
            "action": taken,
            "features": seen[:, None] if seen.ndim == 1 else seen,
            "reward": np.asarray(reward, np.float64),
            "propensity": np.asarray(
                np.full(count, np.nan) if propensity is None else propensity, np.float64
            ),
            "group": np.asarray(together if group is None else group),
            "episode": together,
        }
        _check_shapes(given, count, name)
        _check_numbers(given, name)
        numbers = np.unique(together, return_inverse=True)[1]
        order = np.argsort(numbers, kind="stable")
        sorted_rows = {part: values[order] for part, values in given.items()}
        groups = sorted_rows["group"].astype(str)
        _check_groups(groups, numbers[order], name)
        return cls(
            order=order,
            features=sorted_rows["features"],
            action=sorted_rows["action"].astype(str).tolist(),
            reward=sorted_rows["reward"],
            propensity=sorted_rows["propensity"],
            group=groups.tolist(),
            episode=numbers[order],
        )


def _check_shapes(given: Mapping[str, npt.NDArray[Any]], count: int, name: str) -> None:
    for part, values in given.items():
        if values.ndim != 1 + (part == "features") or len(values) != count:
            raise UsageError(
                f"{part} of {name} has shape {values.shape} for {count:,} actions; expected one row for each"
            )


def _check_numbers(given: Mapping[str, npt.NDArray[Any]], name: str) -> None:
    chances = given["propensity"]
    wrong = {
        "features": (np.isinf(given["features"]).any(axis=1), "finite numbers, nan where unknown"),
        "reward": (
            ~np.isfinite(given["reward"]),
            "a finite number; leave out what has no outcome",
        ),
        "propensity": ((chances <= 0) | (chances > 1), "above 0, at most 1"),
    }
    for part, (bad, expected) in wrong.items():
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise UsageError(
                f"{part} of {name} is {given[part][row]} in row {row} (of {int(bad.sum()):,} such rows); expected {expected}"
            )


def _check_groups(groups: npt.NDArray[Any], episode: Ints, name: str) -> None:
    split = np.flatnonzero((episode[1:] == episode[:-1]) & (groups[1:] != groups[:-1]))
    if len(split):
        one, other = groups[split[0]], groups[split[0] + 1]
        raise UsageError(
            f"an episode of {name} has decisions in the groups {str(one)!r} and {str(other)!r}, so that it would be learnt from and "
            "judged on at once; give the decisions of an episode one group"
        )


def names_of(
    taken: Sequence[str],
    known: Mapping[str, Floats],
    baseline: str | npt.ArrayLike | None,
    name: str,
) -> tuple[str, ...]:
    """The names of all actions, in order; those of known outcomes if there are any."""
    others = [] if baseline is None else np.unique(np.asarray(baseline).astype(str)).tolist()
    names = {*taken, *others, *known}
    unknown = sorted(names - set(known))
    if known and unknown:
        raise UsageError(f"outcomes of {name} lack the action {unknown[0]!r}; expected one of each")
    return tuple(
        sorted(
            names, key=lambda each: (not each.isdigit(), int(each) if each.isdigit() else 0, each)
        )
    )


def known_of(
    known: Mapping[str, Floats], actions: Sequence[str], rows: PlainRows, name: str
) -> Floats | None:
    """(E, A) what every action would have earned, None where that is not given."""
    if not known:
        return None
    if len(set(rows.episode.tolist())) != len(rows.episode):
        raise UsageError(
            f"outcomes of {name} are of episodes of several decisions; expected one of each"
        )
    columns = [known[each] for each in actions]
    if any(each.shape != rows.order.shape or not np.isfinite(each).all() for each in columns):
        raise UsageError(f"outcomes of {name} are not all finite; expected (N,) of every action")
    return np.column_stack(columns)[rows.order]
