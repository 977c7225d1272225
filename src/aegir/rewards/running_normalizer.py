"""Running z-scores: rewards brought to mean 0 and standard deviation 1 by what was seen so far.

    normalizer = RunningNormalizer(half_life=10_000)
    normalizer.update(rewards)                         # or keys=… : statistics per environment or task
    normalizer.normalize(rewards)                      # (value - mean) / max(std, smallest_std), clipped

Worked number: after 2, 4, 9 (mean 5, variance 13) a 9 becomes 4 / sqrt(13) = 1.109….

Promises
  - O(1) memory per key; batches of any shape, cut anywhere, give the same statistics;
  - warm-up is counted in *samples* per key; until then values come back unchanged (`is_ready` says which);
  - nan and infinities are left out of the statistics, counted, and stay missing (nan) in the answer;
  - `merged` does not depend on the order of the workers, beyond the last bits; save and restore are exact;
  - with a half-life, the value seen that many samples ago weighs half; the effective sample size is about
    2.89 half-lives. Without one, every value weighs the same for ever: rewards that drift need forgetting.

**When it has no effect.** A z-score a * r + b (a > 0) changes the mean and the standard deviation of a group alike, so
advantages (r - mean) / std of a group are the same with and without it; `scaled=False` advantages lose b and keep a. Pass
`groups=` and `normalize` warns once when that happens; `cancels_in_group_advantages(before, after, groups)` measures it
for any two versions of rewards. The z-score has an effect when values are clipped, when keys differ within a group, or
when advantages are not divided by the group's standard deviation.

**Workers.** Each collects in its own `fork()` (empty, same settings), which is merged and thrown away: merging a
normaliser that already holds the shared past would count that past twice.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.arrays import Floats, standardise_groups
from aegir.errors import UsageError
from aegir.observe.exact_moments import EMPTY, Moments
from aegir.observe.saved_state import check_state

Key = str | int | None


class NormalizerHasNoEffect(UserWarning):
    """The normaliser's work cancels in what is computed from its answers."""


@dataclass(frozen=True, slots=True)
class NormalizerSettings:
    """What a normaliser was asked to do; two can be merged only when these are equal."""

    half_life: float | None = None
    """Samples after which a value weighs half; None never forgets."""
    clip: float | None = 10.0
    """Largest size of an answer; None does not clip."""
    warm_up: int = 100
    """Samples per key before anything is changed; at least 2."""
    centre: bool = True
    """Whether the mean is taken off; without it signs are kept and only the scale changes."""
    smallest_std: float = 1e-8
    """What is divided by when the values hardly vary."""

    def __post_init__(self) -> None:
        if self.half_life is not None and not 0 < self.half_life < math.inf:
            raise UsageError(f"half_life is {self.half_life}; expected samples above 0, or None")
        if self.clip is not None and not 0 < self.clip < math.inf:
            raise UsageError(f"clip is {self.clip}; expected a number above 0, or None")
        if not self.warm_up >= 2:  # nan is not either
            raise UsageError(f"warm_up is {self.warm_up}; expected at least 2 samples")
        if not 0 < self.smallest_std < math.inf:
            raise UsageError(f"smallest_std is {self.smallest_std}; expected above 0")


class RunningNormalizer:
    """Statistics per key, and the z-scores they give. Not safe for threads: one per worker."""

    def __init__(
        self,
        *,
        half_life: float | None = None,
        clip: float | None = 10.0,
        warm_up: int = 100,
        centre: bool = True,
        smallest_std: float = 1e-8,
    ) -> None:
        self.settings = NormalizerSettings(half_life, clip, warm_up, centre, smallest_std)
        self._decay = 1.0 if half_life is None else 0.5 ** (1 / half_life)
        self._moments: dict[Key, Moments] = {}
        self._normalized = 0
        self._clipped = 0
        self._warned = False

    def update(self, values: npt.ArrayLike, keys: Key | Sequence[Key] = None) -> None:
        """Learn from these values; `keys` is one key for all of them or one per value."""
        flat = _as_numbers(values).reshape(-1)
        for key, places in _places_by_key(keys, flat.size):
            before = self._moments.get(key, EMPTY)
            self._moments[key] = before.updated(flat[places], self._decay)

    def normalize(
        self,
        values: npt.ArrayLike,
        keys: Key | Sequence[Key] = None,
        groups: npt.ArrayLike | None = None,
    ) -> Floats:
        """Z-scores in the shape of `values`, by the statistics so far, which stay as they are.

        `groups` (one label per value) says that group-normalised advantages will be made of the answers.
        """
        given = _as_numbers(values)
        flat = given.reshape(-1).astype(np.float64)  # a copy: answers are written into it
        flat[np.isinf(flat)] = np.nan
        everyone_ready = True
        for key, places in _places_by_key(keys, flat.size):
            flat[places] = self._z_scores(flat[places], self._moments.get(key, EMPTY))
            everyone_ready &= self.is_ready(key)
        if groups is not None and not self._warned:
            self._warn_if_cancelled(given.reshape(-1), flat, groups, everyone_ready)
        return flat.reshape(given.shape)

    def update_and_normalize(
        self,
        values: npt.ArrayLike,
        keys: Key | Sequence[Key] = None,
        groups: npt.ArrayLike | None = None,
    ) -> Floats:
        """Learn from the values first, then give their z-scores."""
        self.update(values, keys)
        return self.normalize(values, keys, groups)

    def is_ready(self, key: Key = None) -> bool:
        """Whether the key's warm-up is over."""
        return self.moments(key).seen >= self.settings.warm_up

    def moments(self, key: Key = None) -> Moments:
        """Count, mean, variance and effective sample size of a key; empty when never seen."""
        return self._moments.get(key, EMPTY)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys seen so far, oldest first."""
        return tuple(self._moments)

    def fork(self) -> "RunningNormalizer":
        """An empty normaliser with the same settings, for a worker to fill."""
        return RunningNormalizer(**asdict(self.settings))

    def merged(self, *others: "RunningNormalizer") -> "RunningNormalizer":
        """All statistics as one, in a new object. Forgetting streams are taken as running side by side."""
        both = self.fork()
        both._warned = self._warned
        for one in (self, *others):
            self._refuse_other_settings(asdict(one.settings), "the normaliser to merge")
            for key, moments in one._moments.items():
                both._moments[key] = both._moments.get(key, EMPTY).merged(moments)
            both._normalized += one._normalized
            both._clipped += one._clipped
        return both

    def metrics(self) -> dict[str, float]:
        """For a log; mean and deviation of the key None only, counts over all keys; undefined ones are absent."""
        plain, every = self.moments(), self._moments.values()
        figures = {
            "mean": plain.mean,
            "std": math.sqrt(plain.variance),
            "effective_size": plain.effective_size,
            "keys": len(self._moments),
            "seen": sum(one.seen for one in every),
            "left_out": sum(one.left_out for one in every),
            "clipped_share": self._clipped / self._normalized if self._normalized else math.nan,
        }
        return {f"normalizer/{name}": one for name, one in figures.items() if not math.isnan(one)}

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact."""
        return {
            "settings": asdict(self.settings),
            "moments": [[key, one.as_dict()] for key, one in self._moments.items()],
            "normalized": self._normalized,
            "clipped": self._clipped,
            "warned": self._warned,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where `state_dict` was taken; the settings must be the same."""
        whose = "the saved normaliser"
        check_state(state, whose, "settings", "moments", "normalized", "clipped", "warned")
        check_state(state["settings"], f"settings of {whose}", *asdict(self.settings))
        self._refuse_other_settings(state["settings"], whose)
        for key, one in state["moments"]:
            check_state(one, f"key {key!r} of {whose}", *EMPTY.as_dict())
        self._moments = {key: Moments(**one) for key, one in state["moments"]}
        self._normalized, self._clipped = int(state["normalized"]), int(state["clipped"])
        self._warned = bool(state["warned"])

    def _z_scores(self, values: Floats, moments: Moments) -> Floats:
        """One key's values, overwritten by their scores; as they were while the key warms up."""
        if moments.seen < self.settings.warm_up:
            return values
        if self.settings.centre:
            # The two parts of the mean one after the other: together they hold more than one float.
            values -= moments.mean_value
            values -= moments.mean_rest
        variance = moments.variance
        std = math.sqrt(variance) if variance > 0 else 0.0
        values /= max(std, self.settings.smallest_std)
        self._normalized += values.size
        limit = self.settings.clip
        if limit is not None:
            self._clipped += int((np.abs(values) > limit).sum())
            np.clip(values, -limit, limit, out=values)
        return values

    def _warn_if_cancelled(
        self, before: Floats, after: Floats, groups: npt.ArrayLike, everyone_ready: bool
    ) -> None:
        check = cancels_in_group_advantages(before, after, groups)
        # Values of a key that warms up are unchanged, which says nothing about what comes after.
        if check.cancels and everyone_ready:
            self._warned = True
            warnings.warn(
                f"normalising rewards changed none of the advantages of {check.groups} groups "
                f"(by {check.largest_change:.1g} at most): a z-score cancels when each group is "
                "normalised again; leave it out, or key it by something that differs within a group",
                NormalizerHasNoEffect,
                stacklevel=3,
            )

    def _refuse_other_settings(self, other: Mapping[str, Any], whose: str) -> None:
        for name, mine in asdict(self.settings).items():
            if other.get(name) != mine:
                raise UsageError(
                    f"{whose} has {name}={other.get(name)}, this one {mine}; they must be the same"
                )


@dataclass(frozen=True, slots=True)
class CancelCheck:
    """Whether two versions of the same rewards lead to the same advantages."""

    cancels: bool
    largest_change: float
    """Of any advantage; nan when no group has two different rewards."""
    groups: int
    """Groups with two different rewards, on which the comparison rests."""


def cancels_in_group_advantages(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    scaled: bool = True,
    tolerance: float = 1e-6,
) -> CancelCheck:
    """Whether replacing the rewards `before` by `after` leaves every group's advantages unchanged."""
    old, new = (standardise_groups(rewards, groups, scaled) for rewards in (before, after))
    informative = np.unique(np.asarray(groups).reshape(-1)[np.nan_to_num(old) != 0])
    if not informative.size:
        return CancelCheck(False, float("nan"), 0)
    if (np.isnan(old) != np.isnan(new)).any():
        return CancelCheck(False, float("inf"), informative.size)
    change = float(np.nanmax(np.abs(old - new)))
    return CancelCheck(change <= tolerance, change, informative.size)


def _as_numbers(values: npt.ArrayLike) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        numbers = np.asarray(values)
    except ValueError:
        raise UsageError("rewards have rows of unequal length; expected one array") from None
    if numbers.dtype.kind in "fiub":
        return numbers
    try:
        return numbers.astype(np.float64)  # None becomes nan
    except (TypeError, ValueError):
        raise UsageError(
            "rewards hold something that is not a number; use nan for missing"
        ) from None


def _places_by_key(
    keys: Key | Sequence[Key], size: int
) -> list[tuple[Key, slice | npt.NDArray[np.intp]]]:
    """Which values belong to which key, in their order."""
    if isinstance(keys, np.integer):
        keys = int(keys)  # one task's number, as `Curriculum.draw` gives it
    if keys is None or isinstance(keys, str | int):
        return [(keys, slice(None))]
    listed: list[Key] = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    if len(listed) != size:
        raise UsageError(f"{size} rewards came with {len(listed)} keys; expected one key each")
    numbers: dict[Key, int] = {}
    try:
        codes = np.array([numbers.setdefault(key, len(numbers)) for key in listed], np.intp)
    except TypeError:
        raise UsageError(
            "a key is neither text nor a whole number, such as a task's name"
        ) from None
    if odd := [key for key in numbers if not (key is None or isinstance(key, str | int))]:
        raise UsageError(f"key {odd[0]!r} is neither text nor a whole number")
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(numbers) + 1))
    return [(key, order[bounds[i] : bounds[i + 1]]) for key, i in numbers.items()]
