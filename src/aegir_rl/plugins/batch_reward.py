"""A reward function over a batch, as trainers call it: missing rewards are filled, failures counted.

You write one function, plain or `async def`: `score(completions, …)` returns a number or None per completion. Of the
further keyword arguments that a trainer passes (answers, states, ground truth) it gets those it names, or all if it takes
`**kwargs`. atropos.py and verifiers.py put it into the forms of those trainers.

Promises
  - a reward that could not be computed is missing, never 0: None, NaN, an infinity, or a `score` that raises (the trainers
    by themselves turn an exception into a reward of 0). With `missing="mean"`, the default, it becomes the mean of the other
    rewards of the batch, or, if all are missing, the mean of all rewards so far. So group-relative advantages of the others
    stay what they are and its own is 0. With `missing="nan"` it is NaN, which trainers that subtract the mean of a group
    spread over the whole group;
  - a batch of several groups names the argument that tells them apart, `group_by="prompts"`: then the mean is that of the group;
  - `metrics()` counts rewards, missing ones and failed calls; the first failure is logged, and the run goes on.
"""

import asyncio
import inspect
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from aegir_rl.base.errors import UsageError, require
from aegir_rl.observe.saved_state import read_count, read_number, read_state

Missing = Literal["mean", "nan"]
Score = Callable[..., Any]

LOG = logging.getLogger("aegir")


class BatchReward:
    """Calls `score` on batches of completions and returns one float for each."""

    def __init__(
        self,
        score: Score,
        *,
        name: str | None = None,
        missing: Missing = "mean",
        group_by: str | None = None,
    ) -> None:
        require(missing in ("mean", "nan"), "missing", missing, "'mean' or 'nan'")
        self._group_by = group_by
        self.name = name or str(getattr(score, "__name__", type(score).__name__))
        self.__name__ = self.name  # under which verifiers reports it
        self._score, self._missing = score, missing
        self._wanted = _named_arguments(score)
        self._counts = {"scored": 0, "missing": 0, "failures": 0}
        self._total = 0.0

    @property
    def is_async(self) -> bool:
        """Whether `score` is a coroutine function."""
        call = getattr(self._score, "__call__", None)  # noqa: B004 (an object with async __call__)
        return inspect.iscoroutinefunction(self._score) or inspect.iscoroutinefunction(call)

    def compute(self, completions: Sequence[Any], **kwargs: Any) -> list[float]:
        """One reward per completion; an async `score` is run to its end in another thread."""
        try:
            result = self._score(completions, **self._chosen(kwargs))
            if inspect.isawaitable(result):
                result = _run(result)
        except Exception as error:  # whatever a reward function does, the run goes on
            return self._filled(self._failed(error, len(completions)), kwargs)
        return self._filled(self._read(result, len(completions)), kwargs)

    async def compute_async(self, completions: Sequence[Any], **kwargs: Any) -> list[float]:
        """The same as `compute`, awaiting an async `score` in the running event loop."""
        try:
            result = self._score(completions, **self._chosen(kwargs))
            if inspect.isawaitable(result):
                result = await result
        except Exception as error:
            return self._filled(self._failed(error, len(completions)), kwargs)
        return self._filled(self._read(result, len(completions)), kwargs)

    def metrics(self) -> dict[str, float]:
        """Counts of rewards, missing rewards and failed calls, and the mean of all rewards."""
        scored = self._counts["scored"]
        mean = {"mean": self._total / scored} if scored else {}
        return {f"reward/{self.name}/{key}": x for key, x in {**self._counts, **mean}.items()}

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**self._counts, "total": self._total}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue counting from a saved state."""
        readers = {**dict.fromkeys(self._counts, read_count), "total": read_number}
        saved = read_state(state, f"the saved reward {self.name}", readers)
        self._total = saved.pop("total")
        self._counts = saved

    def _chosen(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        if self._wanted is None:
            return kwargs
        return {key: value for key, value in kwargs.items() if key in self._wanted}

    def _read(self, result: Any, size: int) -> list[float]:
        try:
            rewards = [_number(value) for value in result]
            if len(rewards) != size:
                raise UsageError(f"{len(rewards)} numbers for {size} completions")
        except Exception as error:
            return self._failed(error, size)
        return rewards

    def _failed(self, error: Exception, size: int) -> list[float]:
        if not self._counts["failures"]:
            LOG.warning("reward %s failed (%s); its rewards are missing", self.name, error)
        self._counts["failures"] += 1
        return [math.nan] * size

    def _filled(self, rewards: list[float], kwargs: Mapping[str, Any]) -> list[float]:
        present = [reward for reward in rewards if not math.isnan(reward)]
        self._counts["scored"] += len(present)
        self._counts["missing"] += len(rewards) - len(present)
        self._total += math.fsum(present)
        if self._missing == "nan" or not self._counts["scored"]:
            return rewards
        so_far = self._total / self._counts["scored"]
        keys = self._groups(kwargs, len(rewards))
        groups: dict[str, list[float]] = {}
        for key, reward in zip(keys, rewards, strict=True):
            groups.setdefault(key, []).extend([] if math.isnan(reward) else [reward])
        means = {key: math.fsum(own) / len(own) if own else so_far for key, own in groups.items()}
        return [
            means[key] if math.isnan(reward) else reward
            for key, reward in zip(keys, rewards, strict=True)
        ]

    def _groups(self, kwargs: Mapping[str, Any], size: int) -> list[str]:
        """The group of each completion: all one group, or equal values of the argument `group_by`."""
        if self._group_by is None:
            return [""] * size
        keys = [repr(value) for value in kwargs.get(self._group_by, ())]
        if len(keys) != size:
            raise UsageError(
                f"reward {self.name} groups by {self._group_by!r} and was called with {len(keys)} of them for "
                f"{size} completions; expected as many"
            )
        return keys


def completion_text(completion: Any) -> str:
    """The answer in a completion: text, a message, or the last assistant message of a list."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, dict):
        return str(completion.get("content") or "")
    for message in reversed(list(completion)):
        if isinstance(message, dict) and message.get("role") == "assistant":
            return str(message.get("content") or "")
    return ""


def _run(awaitable: Awaitable[Any]) -> Any:
    """The result of an awaitable, from an event loop of its own, so that it works inside a running one."""

    async def wait() -> Any:
        return await awaitable

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()


def _named_arguments(score: Score) -> frozenset[str] | None:
    """Names of the keyword arguments of a function; None if it takes any."""
    try:
        parameters = inspect.signature(score).parameters.values()
    except (TypeError, ValueError):  # some functions written in C have no signature
        return frozenset()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return frozenset(parameter.name for parameter in parameters)


def _number(value: Any) -> float:
    number = math.nan if value is None else float(value)
    return number if math.isfinite(number) else math.nan
