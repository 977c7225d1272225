"""Episodes as masked arrays: E episodes · D decisions of the longest one · F action factors.

    batch = EpisodeBatch.from_episodes(episodes)          # or .of(arrays…)
    batch.activations(("dates", "places"))                # (E, D, 2) of 0 and 1, nan where absent

Promises
  - episodes -> batch -> episodes loses nothing, and so do JSON lines;
  - a missing value is nan, `ABSENT` or False, never 0.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.episode.decisions import LABEL, Choice, Decision, Episode, Source, TimedStep

NO_CHOICE = -1
"""The factor chose nothing: an abstention."""
ABSENT = -2
"""The decision has no such factor, or there is no such decision."""
Decider = tuple[str, str, str, str]
"""(policy, policy version, decided by, reason)"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EpisodeBatch:
    """Episodes as arrays, padded to the longest one. `of` fills in what is not known."""

    decided: Bools
    """(E, D) which decisions there are."""
    factors: tuple[str, ...]
    actions: Ints
    """(E, D, F) choices; `NO_CHOICE` for an abstention, `ABSENT` where there is none."""
    choices: Mapping[str, tuple[str, ...]]
    """Factor to the names that its numbers stand for, where it chooses among names."""
    log_probabilities: Floats
    """(E, D, F), nan where unknown."""
    propensity: Floats
    """(E, D), nan where unknown."""
    feature_names: tuple[str, ...]
    features: Floats
    """(E, D, features), nan where a decision lacks one."""
    deciders: tuple[Decider, ...]
    """The distinct deciders, which `decider` numbers."""
    decider: Ints
    """(E, D)"""
    baseline: Ints
    """(E, D, F) what a static table would have chosen, numbered like `actions`; `ABSENT` where unknown."""
    cost: Floats
    """(E, D)"""
    seconds: Floats
    """(E, D)"""
    gold: Ints
    """(E, D, A) accepted labels, numbered like the factor `LABEL`; `NO_CHOICE` where there are fewer."""
    score_gain: Floats
    """(E, D, F), nan where unknown."""
    path_gain: Floats
    """(E, D, F), nan where unknown."""
    ids: tuple[str, ...]
    sources: tuple[Source, ...]
    groups: tuple[str, ...]
    tasks: tuple[str, ...]
    rewards: Mapping[str, Floats]
    """Part to (E,), nan where an episode lacks it."""
    terminated: Bools
    """(E,) False where the episode was cut off."""
    steps: tuple[tuple[TimedStep, ...], ...]

    @classmethod
    def of(
        cls,
        decided: Bools,
        factors: Sequence[str],
        actions: Ints,
        *,
        source: Source,
        **known: Any,
    ) -> "EpisodeBatch":
        """A batch from arrays; `known` holds any other field, the rest is missing, 0 or empty."""
        each = decided.shape
        per_factor = (*each, len(factors))
        episodes, names = each[0], known.get("feature_names", ())
        defaults: dict[str, Any] = {
            "choices": {},
            "log_probabilities": np.full(per_factor, np.nan),
            "propensity": np.full(each, np.nan),
            "feature_names": (),
            "features": np.full((*each, len(names)), np.nan),
            "deciders": (("", "", "policy", ""),),
            "decider": np.zeros(each, np.int64),
            "baseline": np.full(per_factor, ABSENT),
            "cost": np.zeros(each),
            "seconds": np.zeros(each),
            "gold": np.full((*each, 0), NO_CHOICE),
            "score_gain": np.full(per_factor, np.nan),
            "path_gain": np.full(per_factor, np.nan),
            "ids": tuple(map(str, range(episodes))),
            "sources": (source,) * episodes,
            "groups": ("",) * episodes,
            "tasks": ("",) * episodes,
            "rewards": {},
            "terminated": np.ones(episodes, bool),
            "steps": ((),) * episodes,
        }
        _check_shapes(known | {"actions": actions}, defaults | {"actions": np.empty(per_factor)})
        return cls(decided=decided, factors=tuple(factors), actions=actions, **(defaults | known))

    def __len__(self) -> int:
        return len(self.decided)

    @property
    def routed(self) -> tuple[str, ...]:
        """All factors but `LABEL`."""
        return tuple(name for name in self.factors if name != LABEL)

    @property
    def predicted(self) -> Ints:
        """(E, D) the labels that were answered, `NO_CHOICE` for none."""
        return np.maximum(self.actions[..., self._indices((LABEL,))[0]], NO_CHOICE)

    def activations(self, specialists: Sequence[str] | None = None) -> Floats:
        """(E, D, N) of 0 and 1, nan where absent; by default every factor but `LABEL` is a specialist."""
        chosen = self.actions[
            ..., self._indices(self.routed if specialists is None else specialists)
        ]
        return np.where(chosen == ABSENT, np.nan, chosen.astype(np.float64))

    def gain(
        self, name: Literal["score_gain", "path_gain"], specialists: Sequence[str] | None = None
    ) -> Floats:
        """(E, D, N) what the choices of these factors gained."""
        indices = self._indices(self.routed if specialists is None else specialists)
        gained: Floats = getattr(self, name)[..., indices]
        return gained

    def _indices(self, names: Sequence[str]) -> list[int]:
        for name in names:
            if name not in self.factors:
                raise UsageError(
                    f"no factor {name!r} in the batch; it has {', '.join(self.factors)}"
                )
        return [self.factors.index(name) for name in names]

    def episodes(self) -> Iterator[Episode]:
        """The episodes, one after the other."""
        for row, decided in enumerate(self.decided):
            yield Episode(
                id=self.ids[row],
                decisions=tuple(self._decision(row, int(at)) for at in np.flatnonzero(decided)),
                source=self.sources[row],
                group=self.groups[row],
                task=self.tasks[row],
                rewards=_present(self.rewards, (values[row] for values in self.rewards.values())),
                terminated=bool(self.terminated[row]),
                steps=self.steps[row],
            )

    def _decision(self, row: int, at: int) -> Decision:
        here = (row, at)
        policy, version, decided_by, reason = self.deciders[self.decider[here]]
        gold = (self._choice(LABEL, int(number)) for number in self.gold[here])
        return Decision(
            action=self._choices(self.actions[here]),
            log_probabilities=_present(self.factors, self.log_probabilities[here]),
            propensity=_present("p", [self.propensity[here]]).get("p"),
            features=_present(self.feature_names, self.features[here]),
            policy=policy,
            policy_version=version,
            decided_by=decided_by,
            reason=reason,
            baseline=self._choices(self.baseline[here]),
            cost=float(self.cost[here]),
            seconds=float(self.seconds[here]),
            gold=tuple(label for label in gold if label is not None),
            score_gain=_present(self.factors, self.score_gain[here]),
            path_gain=_present(self.factors, self.path_gain[here]),
        )

    def _choices(self, numbers: Ints) -> dict[str, Choice]:
        return {
            factor: self._choice(factor, int(number))
            for factor, number in zip(self.factors, numbers, strict=True)
            if number != ABSENT
        }

    def _choice(self, factor: str, number: int) -> Choice:
        if number == NO_CHOICE:
            return None
        return self.choices[factor][number] if factor in self.choices else number

    @classmethod
    def from_episodes(cls, episodes: Iterable[Episode]) -> "EpisodeBatch":
        """The same content as arrays."""
        return _pack(tuple(episodes))


def _present(names: Iterable[str], values: Iterable[float]) -> dict[str, float]:
    """The values that are not missing, by name."""
    return {
        name: float(value)
        for name, value in zip(names, values, strict=True)
        if not math.isnan(value)
    }


def _check_shapes(given: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if name not in expected:
            raise UsageError(f"an episode batch has no {name!r}; it has {', '.join(expected)}")
        like = expected[name]
        free = name == "gold" and value.ndim == 3  # any number of accepted labels
        if isinstance(like, np.ndarray) and value.shape[: 2 if free else None] != (
            like.shape[:2] if free else like.shape
        ):
            raise UsageError(f"{name} has shape {value.shape}; expected {like.shape}")
        if name in ("ids", "sources", "groups", "tasks", "steps") and len(value) != len(like):
            raise UsageError(
                f"{name} has {len(value)} entries; expected {len(like)}, one an episode"
            )


def _pack(episodes: tuple[Episode, ...]) -> EpisodeBatch:
    decisions = [decision for episode in episodes for decision in episode.decisions]
    lengths = np.array([len(episode.decisions) for episode in episodes], np.int64)
    decided = np.arange(lengths.max(initial=0)) < lengths[:, None]
    factors = tuple(dict.fromkeys(name for each in decisions for name in each.action))
    feature_names = tuple(dict.fromkeys(name for each in decisions for name in each.features))
    choices = {name: _names(name, decisions) for name in dict.fromkeys((*factors, LABEL))}
    number = {
        name: {choice: at for at, choice in enumerate(names)} for name, names in choices.items()
    }
    deciders = tuple(dict.fromkeys(map(_decider, decisions)))
    decider = {each: at for at, each in enumerate(deciders)}
    labels = max((len(each.gold) for each in decisions), default=0)

    def numbered(factor: str, choice: Choice) -> int:
        if choice is None:
            return NO_CHOICE
        return number[factor][choice] if isinstance(choice, str) else choice

    def spread(values: list[Any], fill: float, *width: int) -> Any:
        """The values of all decisions at their places in (E, D, width)."""
        array = np.full((*decided.shape, *width), fill)
        array[decided] = np.array(values, array.dtype).reshape(len(decisions), *width)
        return array

    def columns(field: str, names: tuple[str, ...]) -> Any:
        rows = [[getattr(each, field).get(name, math.nan) for name in names] for each in decisions]
        return spread(rows, math.nan, len(names))

    def accepted(decision: Decision) -> list[int]:
        known = [numbered(LABEL, label) for label in decision.gold]
        return known + [NO_CHOICE] * (labels - len(known))

    def chosen(field: str) -> Any:
        rows = [
            [numbered(name, of[name]) if name in of else ABSENT for name in factors]
            for of in (getattr(each, field) for each in decisions)
        ]
        return spread(rows, ABSENT, len(factors))

    return EpisodeBatch(
        decided=decided,
        factors=factors,
        actions=chosen("action"),
        choices={name: names for name, names in choices.items() if names},
        log_probabilities=columns("log_probabilities", factors),
        propensity=spread([_or_nan(each.propensity) for each in decisions], math.nan),
        feature_names=feature_names,
        features=columns("features", feature_names),
        deciders=deciders or (("", "", "policy", ""),),
        decider=spread([decider[_decider(each)] for each in decisions], 0),
        baseline=chosen("baseline"),
        cost=spread([each.cost for each in decisions], 0.0),
        seconds=spread([each.seconds for each in decisions], 0.0),
        gold=spread([accepted(each) for each in decisions], NO_CHOICE, labels),
        score_gain=columns("score_gain", factors),
        path_gain=columns("path_gain", factors),
        ids=tuple(each.id for each in episodes),
        sources=tuple(each.source for each in episodes),
        groups=tuple(each.group for each in episodes),
        tasks=tuple(each.task for each in episodes),
        rewards={
            part: np.array([_or_nan(each.rewards.get(part)) for each in episodes])
            for part in dict.fromkeys(part for each in episodes for part in each.rewards)
        },
        terminated=np.array([each.terminated for each in episodes], bool),
        steps=tuple(each.steps for each in episodes),
    )


def _names(factor: str, decisions: Sequence[Decision]) -> tuple[str, ...]:
    """The names a factor chooses among, sorted; () where it chooses among numbers."""
    chosen = {each.action.get(factor) for each in decisions}
    chosen |= {each.baseline.get(factor) for each in decisions}
    if factor == LABEL:
        chosen |= {label for each in decisions for label in each.gold}
    names = {choice for choice in chosen if isinstance(choice, str)}
    if names and any(isinstance(choice, int) for choice in chosen):
        raise UsageError(
            f"factor {factor!r} chooses among both numbers and names; expected one kind"
        )
    return tuple(sorted(names))


def _decider(decision: Decision) -> Decider:
    return (decision.policy, decision.policy_version, decision.decided_by, decision.reason)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
