"""A log of decisions as flat arrays: N decisions of E episodes, sorted by episode, then by time.

    log = LoggedDecisions.from_batch(EpisodeBatch.from_episodes(episodes))
    log = LoggedDecisions.of(features, action, reward, propensity, group, baseline="gpt-4")     # plain arrays
    log.features, log.action, log.reward, log.propensity     # (N, F), (N,), (N,), (N,)

An action is the choice of the factor `worker`. What the static table would have chosen (`baseline`) is logged with
every decision, so that a policy can be compared with it without the table.

Promises
  - episodes without an outcome, without a decision or cut off before their end are left out and counted in `notes`;
  - synthetic and real episodes are never mixed silently: a log of several sources is refused unless one is named, or `all`.

Not here: files (log_files.py), other people's files (imported_log.py), rewards (reward_v1.py).
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import amount
from aegir_rl.episode import EpisodeBatch, Source
from aegir_rl.offline.known_outcomes import known_rewards
from aegir_rl.offline.plain_rows import PlainRows, known_of, names_of
from aegir_rl.offline.reward_v1 import RewardWeights, compute_reward

WORKER = "worker"
"""The factor of an action that says which worker handles the column."""
UNKNOWN = -1
"""In `baseline`: the static table's choice is not known. In `following`: no decision follows."""
LogSource = Source | Literal["all"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoggedDecisions:
    """Decisions as flat arrays, those of an episode one after the other. Everything is known but what may be nan."""

    name: str
    """What the log is called in sentences."""
    feature_names: tuple[str, ...]
    features: Floats
    """(N, F), nan where a decision lacks a feature."""
    actions: tuple[str, ...]
    action: Ints
    """(N,) numbers of `actions`."""
    baseline: Ints
    """(N,) what the static table would have chosen; `UNKNOWN` where that was not logged."""
    reward: Floats
    """(N,)"""
    propensity: Floats
    """(N,) probability of the action as executed, nan where unknown."""
    episode: Ints
    """(N,) from 0 on, not decreasing."""
    ids: tuple[str, ...]
    """(E,)"""
    groups: tuple[str, ...]
    """(E,) episodes of one group, such as the columns of a table, are never split over folds."""
    sources: tuple[Source, ...]
    """(E,)"""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
    known: Floats | None = None
    """(E, A) what every action would have earned, where the log says so (known_outcomes.py); no estimate reads it."""

    def __len__(self) -> int:
        return len(self.action)

    @property
    def episodes(self) -> int:
        return len(self.ids)

    @property
    def first(self) -> Ints:
        """(E,) the row of each episode's first decision."""
        return np.searchsorted(self.episode, np.arange(self.episodes))

    @property
    def following(self) -> Ints:
        """(N,) the row of the next decision of the same episode, `UNKNOWN` after the last."""
        rows = np.arange(1, len(self) + 1)
        same = np.append(self.episode[1:] == self.episode[:-1], False)[: len(self)]
        return np.where(same, rows, UNKNOWN)

    @property
    def padded(self) -> Ints:
        """(E, D) the rows of each episode in order, `UNKNOWN` where it is shorter."""
        place = np.arange(len(self)) - self.first[self.episode]
        rows = np.full((self.episodes, int(place.max(initial=-1)) + 1), UNKNOWN)
        rows[self.episode, place] = np.arange(len(self))
        return rows

    @property
    def returns(self) -> Floats:
        """(E,) sum of each episode's rewards."""
        return np.bincount(self.episode, self.reward, self.episodes).astype(np.float64)

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which the value of any policy lies: 0 and 1 for rates, whose rewards are all 0 or 1; else nobody knows."""
        is_rate = len(self) == self.episodes and bool(np.isin(self.reward, (0.0, 1.0)).all())
        return (0.0, 1.0) if is_rate else (-np.inf, np.inf)

    @property
    def group_numbers(self) -> Ints:
        """(E,) groups as numbers from 0 on."""
        numbers = {name: number for number, name in enumerate(dict.fromkeys(self.groups))}
        return np.fromiter((numbers[name] for name in self.groups), np.int64, len(self.groups))

    @property
    def digest(self) -> str:
        """SHA-256 of everything a policy learns from."""
        total = hashlib.sha256(repr((self.feature_names, self.actions, self.ids)).encode())
        for each in (self.features, self.action, self.baseline, self.reward, self.propensity):
            total.update(np.ascontiguousarray(each).tobytes())
        return total.hexdigest()

    def select(self, keep: Bools) -> "LoggedDecisions":
        """The episodes for which `keep` (E,) is true."""
        rows = keep[self.episode]
        numbers = np.cumsum(keep) - 1

        def some(names: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(name for name, kept in zip(names, keep, strict=True) if kept)

        return replace(
            self,
            features=self.features[rows],
            action=self.action[rows],
            baseline=self.baseline[rows],
            reward=self.reward[rows],
            propensity=self.propensity[rows],
            episode=numbers[self.episode[rows]],
            ids=some(self.ids),
            groups=some(self.groups),
            sources=some(self.sources),
            known=None if self.known is None else self.known[keep],
        )

    def held_out(self, share: float, seed: int = 0) -> Bools:
        """(E,) episodes to keep from training; follows from the group's name alone, so it holds for grown logs too."""
        seeds = Seeds(seed)
        drawn = {name: seeds.derive("held out", name) / 2**64 for name in set(self.groups)}
        return np.array([drawn[name] < share for name in self.groups], bool)

    def fold(self, folds: int, seed: int = 0) -> Ints:
        """(E,) a fold number per episode, the same within a group; folds have about the same number of groups."""
        numbers = self.group_numbers
        groups = int(numbers.max(initial=-1)) + 1
        order = Seeds(seed).generator("folds").permutation(groups)
        return (order % folds)[numbers]

    @classmethod
    def of(
        cls,
        features: npt.ArrayLike,
        action: npt.ArrayLike,
        reward: npt.ArrayLike,
        propensity: npt.ArrayLike | None = None,
        group: npt.ArrayLike | None = None,
        *,
        baseline: str | npt.ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        outcomes: Mapping[str, npt.ArrayLike] | None = None,
        episode: npt.ArrayLike | None = None,
        name: str = "the log",
        source: Source = "real",
    ) -> "LoggedDecisions":
        """A log from plain arrays: N decisions, each an episode of its own unless `episode` (N,) says otherwise.

        features (N, F), nan where unknown; action (N,) numbers or names; reward (N,) any unit; propensity (N,) of the action as
        executed; group (N,) what must not be split, such as a user; baseline: what would be done without a policy, for all
        or (N,); outcomes: action to (N,), what it would have earned, where that is known of every action.
        """
        rows = PlainRows.read(features, action, reward, propensity, group, episode, name)
        names = tuple(feature_names or map("x{}".format, range(rows.features.shape[1])))
        if len(names) != rows.features.shape[1]:
            raise UsageError(
                f"{name} has {rows.features.shape[1]} features and {len(names)} feature_names; expected one name for each"
            )
        known = {str(key): np.asarray(each, np.float64) for key, each in (outcomes or {}).items()}
        actions = names_of(rows.action, known, baseline, name)
        numbers = {each: number for number, each in enumerate(actions)}
        first = np.unique(rows.episode, return_index=True)[1]
        return cls(
            name=name,
            feature_names=names,
            features=rows.features,
            actions=actions,
            action=np.array([numbers[each] for each in rows.action], np.int64),
            baseline=_baseline_of(baseline, numbers, rows.order, name),
            reward=rows.reward,
            propensity=rows.propensity,
            episode=rows.episode,
            ids=tuple(map(str, range(len(first)))),
            groups=tuple(rows.group[row] for row in first),
            sources=(source,) * len(first),
            known=known_of(known, actions, rows, name),
        )

    @classmethod
    def from_batch(
        cls,
        batch: EpisodeBatch,
        *,
        name: str = "the log",
        weights: RewardWeights | None = None,
        source: LogSource | None = None,
    ) -> "LoggedDecisions":
        """A log from episodes; `source` chooses those of one source, or allows `all`."""
        wanted = _require_one_source(batch.sources, name, source)
        if WORKER not in batch.factors or WORKER not in batch.choices:
            raise UsageError(
                f"no decision of {name} names a {WORKER!r}; expected the worker that got the column, by name"
            )
        at = batch.factors.index(WORKER)
        reward = compute_reward(batch, weights)
        known, notes = _usable(batch, np.isfinite(reward.total), wanted, at)
        if not known.any():
            reasons = "; ".join(notes) or "it is empty"
            raise UsageError(f"{name} has no episode to learn from: {reasons}")
        names, decided = batch.choices[WORKER], batch.decided & known[:, None]
        rows = np.flatnonzero(known)
        outcomes = known_rewards(batch, names, at, weights)
        return cls(
            name=name,
            feature_names=batch.feature_names,
            features=batch.features[decided],
            actions=names,
            action=batch.actions[decided][:, at],
            baseline=np.maximum(batch.baseline[decided][:, at], UNKNOWN),  # ABSENT is -2
            reward=reward.steps[decided],
            propensity=batch.propensity[decided],
            episode=np.repeat(np.arange(len(rows)), decided[rows].sum(axis=1)),
            ids=tuple(batch.ids[row] for row in rows),
            groups=tuple(batch.groups[row] or batch.ids[row] for row in rows),
            sources=tuple(batch.sources[row] for row in rows),
            notes=notes,
            known=None if outcomes is None else outcomes[rows],
        )


def _baseline_of(
    baseline: str | npt.ArrayLike | None, numbers: Mapping[str, int], order: Ints, name: str
) -> Ints:
    """(N,) numbers of what would be done without a policy."""
    if baseline is None:
        return np.full(len(order), UNKNOWN)
    if np.shape(baseline) not in ((), order.shape):
        raise UsageError(
            f"baseline of {name} has shape {np.shape(baseline)} for {len(order):,} actions; expected one name, or one row for each"
        )
    names = np.broadcast_to(np.asarray(baseline).astype(str), order.shape)[order]
    return np.array([numbers[each] for each in names], np.int64)


def _require_one_source(sources: Sequence[str], name: str, source: LogSource | None) -> Bools:
    """(E,) the episodes that are wanted; raise for a log of several sources when none is named."""
    counts = Counter(sources)
    if not counts:
        raise UsageError(
            f"{name} is empty; log decisions first, or make some with: aegir rl collect-synth"
        )
    if source is None and len(counts) > 1:
        mixed = " and ".join(f"{count:,} {each}" for each, count in sorted(counts.items()))
        raise UsageError(
            f"{name} mixes {mixed} episodes; choose with --data-source {min(counts)}, or take --data-source all"
        )
    if source not in (None, "all") and source not in counts:
        raise UsageError(f"{name} has no {source} episodes; it has {', '.join(sorted(counts))}")
    return np.array([source in (None, "all", each) for each in sources], bool)


def _usable(
    batch: EpisodeBatch, rewarded: Bools, wanted: Bools, at: int
) -> tuple[Bools, tuple[str, ...]]:
    """(E,) the episodes to learn from, and a note for each reason to leave some out."""
    chosen = (batch.actions[..., at] >= 0) | ~batch.decided
    reasons = {
        "without a decision": batch.decided.any(axis=1),
        f"with a decision that names no {WORKER}": chosen.all(axis=1),
        "cut off before their end": batch.terminated,
        "without a known outcome": rewarded,
    }
    known, notes = wanted, []
    for reason, fine in reasons.items():
        left_out = int((known & ~fine).sum())
        known = known & fine
        if left_out:
            notes.append(f"{amount(left_out, 'episode')} {reason} left out")
    return known, tuple(notes)


def require_baseline(log: LoggedDecisions) -> None:
    """Raise unless the static table's choice is known everywhere."""
    missing = int((log.baseline == UNKNOWN).sum())
    if missing:
        raise UsageError(
            f"{missing} of {amount(len(log), 'decision')} of {log.name} do not say what the static table would have chosen; "
            "name a worker to compare with: --baseline WORKER, or baseline=… in Python"
        )


def require_variety(log: LoggedDecisions) -> None:
    """Raise for a log from which nothing can be learnt: one action only, or one reward only."""
    tried = np.unique(log.action)
    if len(tried) < 2:
        raise UsageError(
            f"every decision of {log.name} is {log.actions[tried[0]]!r}, so nothing says what other workers would have earned; "
            "log with exploration"
        )
    if np.ptp(log.returns) == 0:
        raise UsageError(
            f"every episode of {log.name} has the reward {log.returns[0]:g}, so there is nothing to learn; "
            "log an outcome that differs between decisions"
        )


def with_all_outcomes(log: LoggedDecisions) -> LoggedDecisions:
    """The log as if every worker had been asked about every column, each with the same probability; raise unless all is known.

    Every episode becomes one per worker, in the same group. Rewards are differences to what the static table's worker
    earns on the column: that changes no difference between policies, and most of what is random is the same for all workers
    (is the column hard?) and disappears.
    """
    if log.known is None:
        raise UsageError(
            f"{log.name} does not hold what every worker would have earned; log that with: aegir rl collect"
        )
    require_baseline(log)
    workers = len(log.actions)
    gains = log.known - log.known[np.arange(log.episodes), log.baseline][:, None]
    episodes = np.repeat(np.arange(log.episodes), workers)
    return replace(
        log,
        features=log.features[episodes],
        action=np.tile(np.arange(workers), log.episodes),
        baseline=log.baseline[episodes],
        reward=gains.reshape(-1),
        propensity=np.full(len(episodes), 1 / workers),
        episode=np.arange(len(episodes)),
        ids=tuple(f"{log.ids[row]} {name}" for row in range(log.episodes) for name in log.actions),
        groups=tuple(log.groups[row] for row in episodes),
        sources=tuple(log.sources[row] for row in episodes),
        known=gains[episodes],
    )


def with_constant_baseline(log: LoggedDecisions, worker: str) -> LoggedDecisions:
    """The same log compared with always choosing one worker."""
    if worker not in log.actions:
        raise UsageError(f"{log.name} has no worker {worker!r}; it has {', '.join(log.actions)}")
    return replace(log, baseline=np.full(len(log), log.actions.index(worker)))
