"""Running z-scores: rewards scaled to mean 0 and standard deviation 1 by the statistics so far.

    normalizer = RunningNormalizer(half_life=10_000)
    normalizer.update(rewards)                         # or keys=… : statistics per environment or task
    normalizer.normalize(rewards)                      # (value - mean) / max(std, smallest_std), clipped

Worked number: after 2, 4, 9 (mean 5, variance 13) a 9 becomes 4 / sqrt(13) = 1.109….

Promises
  - O(1) memory per key; batches of any shape, cut anywhere, give the same statistics;
  - warm-up is counted in *samples* per key; until it is over values are returned unchanged (`is_ready` tells);
  - nan and infinities are left out of the statistics, counted, and returned as nan;
  - with `centre=False`, values are also returned unchanged while the standard deviation is below `smallest_std`: a
    constant reward stays what it is (dividing 1 by 1e-8 and clipping would make it 10);
  - with a half-life, a value seen that many samples ago has weight 1/2, and the effective sample size is about
    2.89 half-lives. Without one all values have equal weight, so rewards that drift need a half-life;
  - save and restore are exact.

**Workers.** Each worker updates its own `fork()`: empty, same settings. There are two ways to join statistics:

    absorb(*forks)   continues this stream with the values of the forks, one fork after the other in the order given,
                     and empties the forks. Every value ages all values before it, so the result is that of one stream
                     in which the first fork's values came first. The order matters only with a half-life, and little
                     if that is much longer than what a fork saw; if it is not, vary the order from round to round.
    merged(*others)  new statistics over streams that ran side by side without a common past (two runs, a report over
                     workers). Nothing is aged: continuing with it would keep the past at full weight for ever.

Worked number, half-life 100: 1,000 zeros, then 50 forks of 100 ones each. Absorbed: mean 1.000, effective size 289, as in
one stream. Merged: the zeros never fade (mean 0.962, size 5,066).

**When it has no effect.** A z-score a * r + b (a > 0) changes the mean and the standard deviation of a group alike, so
advantages (r - mean) / std of a group are the same with and without it; `scaled=False` advantages lose b and keep a. Pass
`groups=` and `normalize` warns once when that happens; `cancels_in_group_advantages(before, after, groups)` measures it
for any two versions of rewards. The z-score has an effect when values are clipped, when keys differ within a group, or
when advantages are not divided by the group's standard deviation.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats, read_array, read_floats, standardise_groups
from aegir_rl.base.errors import UsageError, require
from aegir_rl.observe.moments import EMPTY, Moments, read_moments
from aegir_rl.observe.saved_state import (
    list_of,
    read_count,
    read_flag,
    read_state,
    record_of,
    reject,
)

Key = str | int | None


class NormalizerHasNoEffect(UserWarning):
    """Normalising changed no advantage."""


@dataclass(frozen=True, slots=True)
class NormalizerSettings:
    """Settings of a normaliser; statistics can be joined only if these are equal."""

    half_life: float | None = None
    """Number of samples after which a value has half its weight; None: never forget."""
    clip: float | None = 10.0
    """Largest magnitude of a z-score; None: no clipping."""
    warm_up: int = 100
    """Samples per key before values are normalised; at least 2."""
    centre: bool = True
    """Whether to subtract the mean; without it signs are kept and only the scale changes."""
    smallest_std: float = 1e-8
    """Smallest divisor. Values that vary less have no scale: without `centre` they are returned unchanged."""

    def __post_init__(self) -> None:
        half, clip = self.half_life, self.clip
        require(half is None or 0 < half < math.inf, "half_life", half, "samples above 0, or None")
        require(clip is None or 0 < clip < math.inf, "clip", clip, "a number above 0, or None")
        require(self.warm_up >= 2, "warm_up", self.warm_up, "at least 2 samples")
        require(0 < self.smallest_std < math.inf, "smallest_std", self.smallest_std, "above 0")


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
        """Add values to the statistics; `keys` is one key for all of them or one per value."""
        flat = read_floats(values, "rewards").reshape(-1)
        for key, indices in _indices_by_key(keys, flat.size):
            before = self._moments.get(key, EMPTY)
            self._moments[key] = before.updated(flat[indices], self._decay)

    def normalize(
        self,
        values: npt.ArrayLike,
        keys: Key | Sequence[Key] = None,
        groups: npt.ArrayLike | None = None,
    ) -> Floats:
        """Z-scores in the shape of `values` by the statistics so far, which are not changed.

        Pass `groups` (one label per value) if advantages are normalised within groups afterwards.
        """
        given = read_floats(values, "rewards")
        flat = given.reshape(-1).copy()  # z-scores are written into it
        flat[np.isinf(flat)] = np.nan
        everyone_ready = True
        for key, indices in _indices_by_key(keys, flat.size):
            flat[indices] = self._z_scores(flat[indices], self._moments.get(key, EMPTY))
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
        """Add the values to the statistics, then return their z-scores."""
        self.update(values, keys)
        return self.normalize(values, keys, groups)

    def is_ready(self, key: Key = None) -> bool:
        """Whether the warm-up of the key is over."""
        return self.moments(key).seen >= self.settings.warm_up

    def moments(self, key: Key = None) -> Moments:
        """Count, mean, variance and effective sample size of a key; empty for an unknown key."""
        return self._moments.get(key, EMPTY)

    @property
    def keys(self) -> tuple[Key, ...]:
        """Keys seen so far, oldest first."""
        return tuple(self._moments)

    def fork(self) -> "RunningNormalizer":
        """An empty normaliser with the same settings, for a worker."""
        return RunningNormalizer(**asdict(self.settings))

    def absorb(self, *forks: "RunningNormalizer") -> None:
        """Continue the statistics with what the forks saw, in the order given, and empty the forks."""
        for fork in forks:
            self._refuse_other_settings(asdict(fork.settings), "the normaliser to absorb")
            if fork is self:
                raise UsageError("a normaliser cannot absorb itself; expected its forks")
        for fork in forks:
            for key, moments in fork._moments.items():
                self._moments[key] = self.moments(key).followed_by(moments, self._decay)
            self._normalized += fork._normalized
            self._clipped += fork._clipped
            fork._moments, fork._normalized, fork._clipped = {}, 0, 0

    def merged(self, *others: "RunningNormalizer") -> "RunningNormalizer":
        """New statistics over streams side by side; to continue a stream with forks, use `absorb`."""
        merged = self.fork()
        merged._warned = self._warned
        for stream in (self, *others):
            self._refuse_other_settings(asdict(stream.settings), "the normaliser to merge")
            for key, moments in stream._moments.items():
                merged._moments[key] = merged.moments(key).merged(moments)
            merged._normalized += stream._normalized
            merged._clipped += stream._clipped
        return merged

    def metrics(self) -> dict[str, float]:
        """For a log: mean and deviation of key None, counts over all keys; undefined metrics are absent."""
        plain, every = self.moments(), self._moments.values()
        figures = {
            "mean": plain.mean,
            "std": math.sqrt(plain.variance),
            "effective_size": plain.effective_size,
            "keys": len(self._moments),
            "seen": sum(moments.seen for moments in every),
            "left_out": sum(moments.left_out for moments in every),
            "clipped_share": self._clipped / self._normalized if self._normalized else math.nan,
        }
        return {f"normalizer/{name}": x for name, x in figures.items() if not math.isnan(x)}

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact."""
        return {
            "settings": asdict(self.settings),
            "moments": [[key, moments.as_dict()] for key, moments in self._moments.items()],
            "normalized": self._normalized,
            "clipped": self._clipped,
            "warned": self._warned,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly from a saved state; the settings must be equal."""
        whose = "the saved normaliser"
        readers = {
            "settings": record_of(dict.fromkeys(asdict(self.settings), _read_setting)),
            "moments": list_of(_read_keyed_moments),
            "normalized": read_count,
            "clipped": read_count,
            "warned": read_flag,
        }
        saved = read_state(state, whose, readers)
        self._refuse_other_settings(saved["settings"], whose)
        self._moments = dict(saved["moments"])
        self._normalized, self._clipped = saved["normalized"], saved["clipped"]
        self._warned = saved["warned"]

    def _z_scores(self, values: Floats, moments: Moments) -> Floats:
        """Overwrite the values of one key by their z-scores; leave them unchanged without a scale."""
        variance = moments.variance
        std = math.sqrt(variance) if variance > 0 else 0.0
        is_flat = std < self.settings.smallest_std and not self.settings.centre
        if moments.seen < self.settings.warm_up or is_flat:
            return values
        if self.settings.centre:
            values -= moments.mean
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
        # During warm-up values are unchanged, which proves nothing.
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
                    f"{whose} has {name}={other.get(name)}, this one {mine}; expected the same settings"
                )


@dataclass(frozen=True, slots=True)
class CancelCheck:
    """Whether two versions of rewards give the same advantages."""

    cancels: bool
    largest_change: float
    """Largest change of an advantage; nan if no group has two different rewards."""
    groups: int
    """Number of groups with two different rewards; only those are compared."""


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
    informative = np.unique(read_array(groups, "groups").reshape(-1)[np.nan_to_num(old) != 0])
    if not informative.size:
        return CancelCheck(False, float("nan"), 0)
    if (np.isnan(old) != np.isnan(new)).any():
        return CancelCheck(False, float("inf"), informative.size)
    change = float(np.nanmax(np.abs(old - new)))
    return CancelCheck(change <= tolerance, change, informative.size)


def _read_setting(value: object, where: str) -> bool | float | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    return reject(value, where, "a number, a bool or None")


def _read_keyed_moments(entry: object, where: str) -> tuple[Key, Moments]:
    if not (isinstance(entry, list | tuple) and len(entry) == 2):
        return reject(entry, where, "a key and its moments")
    key, moments = entry
    if not (key is None or isinstance(key, str | int)):
        return reject(key, f"the key in {where}", "text, a whole number or None")
    return key, read_moments(moments, f"key {key!r} in {where}")


def _indices_by_key(
    keys: Key | Sequence[Key], size: int
) -> list[tuple[Key, slice | npt.NDArray[np.intp]]]:
    """Keys, each with the positions of its values in their order."""
    if isinstance(keys, np.integer):
        keys = int(keys)  # one task's number, as `Curriculum.draw_one` returns it
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
