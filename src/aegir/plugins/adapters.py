"""Rewards of yours, or of `aegir.rewards`, in the call forms of other trainers.

    Atropos      compute(completions, **kwargs) -> list[float]              AtroposReward, make_atropos_class
    verifiers    a function of completions, answers, … for vf.Rubric         as_group_reward, as_single_reward

You write one function over a batch, `score(completions, …) -> a number or None per completion`; of the further keyword
arguments a trainer offers (answers, states, ground truth) it is given those it names, or all if it takes `**kwargs`.

Promises
  - a reward that could not be computed is missing, never 0: a None, a NaN, an infinity, or a `score` that raises gives
    `missing="nan"` (the default: visible) or `missing="mean"`, the mean of the others in the batch, which leaves
    group-relative advantages alone. Both trainers by themselves turn an exception into a reward of 0;
  - failures are counted and the first is logged, and the run goes on.

Neither package is imported here, except by `make_atropos_class`, which subclasses Atropos' own class.
"""

import inspect
import logging
import math
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal

from aegir.errors import UsageError
from aegir.observe.saved_state import read_count, read_state

Missing = Literal["nan", "mean"]
Score = Callable[..., Any]

LOG = logging.getLogger("aegir")


class AtroposReward:
    """A batch scorer in Atropos' form: `compute` gives rewards, calling it gives weighted ones."""

    def __init__(
        self,
        score: Score,
        *,
        name: str | None = None,
        weight: float = 1.0,
        missing: Missing = "nan",
    ) -> None:
        if not math.isfinite(weight):
            raise UsageError(f"weight is {weight}; expected a finite number")
        if missing not in ("nan", "mean"):
            raise UsageError(f"missing is {missing!r}; expected 'nan' or 'mean'")
        self.name = name or str(getattr(score, "__name__", type(score).__name__))
        self.weight = weight
        self._score, self._missing = score, missing
        self._wanted = _named_arguments(score)
        self._counts = {"scored": 0, "missing": 0, "failures": 0}

    def compute(self, completions: Sequence[Any], **kwargs: Any) -> list[float]:
        """One reward per completion."""
        given = kwargs if self._wanted is None else _chosen(kwargs, self._wanted)
        try:
            found = [_number(one) for one in self._score(completions, **given)]
            if len(found) != len(completions):
                raise UsageError(
                    f"reward {self.name} gave {len(found)} numbers for "
                    f"{len(completions)} completions; expected one each"
                )
        except Exception as error:  # whatever a rater does, the others' run goes on
            if not self._counts["failures"]:
                LOG.warning("reward %s failed (%s); its rewards are missing", self.name, error)
            self._counts["failures"] += 1
            found = [math.nan] * len(completions)
        return self._filled(found)

    def __call__(self, completions: Sequence[Any], **kwargs: Any) -> list[float]:
        """Rewards times weight."""
        return [self.weight * reward for reward in self.compute(completions, **kwargs)]

    def metrics(self) -> dict[str, float]:
        """How many rewards were given, how many were missing, and how often `score` failed."""
        return {f"reward/{self.name}/{name}": count for name, count in self._counts.items()}

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return dict(self._counts)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue counting from a saved state."""
        readers = dict.fromkeys(self._counts, read_count)
        self._counts = read_state(state, f"the saved reward {self.name}", readers)

    def _filled(self, found: list[float]) -> list[float]:
        present = [reward for reward in found if not math.isnan(reward)]
        self._counts["scored"] += len(present)
        self._counts["missing"] += len(found) - len(present)
        if self._missing == "nan" or not present:
            return found
        mean = math.fsum(present) / len(present)
        return [mean if math.isnan(reward) else reward for reward in found]


def make_atropos_class(score: Score, *, name: str, missing: Missing = "nan") -> type[Any]:
    """A subclass of Atropos' RewardFunction, for its registry: `registry.register(made, name="…")`."""
    try:
        module = import_module("atroposlib.envs.reward_fns.reward_function")
    except ImportError:
        raise UsageError(
            "atroposlib is not installed; pip install atroposlib, or use AtroposReward, "
            "which has the same form"
        ) from None

    base: Any = module.RewardFunction

    class AegirReward(base):  # type: ignore[misc]
        def __init__(self, weight: float = 1.0, **settings: Any) -> None:
            super().__init__(weight=weight, name=name, **settings)
            self.inner = AtroposReward(score, name=name, missing=missing)

        def compute(self, completions: Sequence[Any], **kwargs: Any) -> list[float]:
            return self.inner.compute(completions, **kwargs)

    return AegirReward


def as_group_reward(
    score: Score, *, name: str | None = None, missing: Missing = "nan"
) -> Callable[..., list[float]]:
    """A group reward function for `verifiers.Rubric`, which scores all rollouts of a prompt together."""
    reward = AtroposReward(score, name=name, missing=missing)

    def group_reward(completions: list[Any], **kwargs: Any) -> list[float]:
        return reward.compute(completions, **kwargs)

    group_reward.__name__ = reward.name  # under which verifiers reports it
    return group_reward


def as_single_reward(score: Score, *, name: str | None = None) -> Callable[..., float]:
    """A reward function for one rollout of `verifiers.Rubric`; `score` still takes a list, of one."""
    reward = AtroposReward(score, name=name)

    def single_reward(completion: Any, **kwargs: Any) -> float:
        plural = {f"{key}s": [value] for key, value in kwargs.items()}
        return reward.compute([completion], **plural)[0]

    single_reward.__name__ = reward.name
    return single_reward


def completion_text(completion: Any) -> str:
    """The answer in a completion: text itself, a message, or the last assistant message of several."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, dict):
        return str(completion.get("content") or "")
    for message in reversed(list(completion)):
        if isinstance(message, dict) and message.get("role") == "assistant":
            return str(message.get("content") or "")
    return ""


def _named_arguments(score: Score) -> frozenset[str] | None:
    """Which keyword arguments a function names; None when it takes any."""
    try:
        parameters = inspect.signature(score).parameters.values()
    except (TypeError, ValueError):  # some functions written in C do not say
        return frozenset()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return frozenset(one.name for one in parameters)


def _chosen(kwargs: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in kwargs.items() if key in wanted}


def _number(value: Any) -> float:
    number = math.nan if value is None else float(value)
    return number if math.isfinite(number) else math.nan
