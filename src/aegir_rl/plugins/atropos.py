"""Reward functions for Atropos: `compute(completions, **kwargs) -> list[float]` (batch_reward.py has the rules).

    reward = AtroposReward(score, name="careful")               # the same form, without atroposlib
    registry.register(make_atropos_class(score, name="careful"))   # registered as "careful"

Only `make_atropos_class` imports atroposlib, because it subclasses its `RewardFunction`.
"""

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from aegir_rl.base.errors import UsageError, require
from aegir_rl.plugins.batch_reward import BatchReward, Missing, Score


class AtroposReward(BatchReward):
    """A batch reward with a weight: `compute` returns rewards, calling it returns weighted ones."""

    def __init__(
        self,
        score: Score,
        *,
        name: str | None = None,
        weight: float = 1.0,
        missing: Missing = "mean",
    ) -> None:
        super().__init__(score, name=name, missing=missing)
        require(math.isfinite(weight), "weight", weight, "a finite number")
        self.weight = weight

    def __call__(self, completions: Sequence[Any], **kwargs: Any) -> list[float]:
        """Rewards times weight."""
        return [self.weight * reward for reward in self.compute(completions, **kwargs)]


def make_atropos_class(
    score: Score, *, name: str, missing: Missing = "mean", replace: bool = False
) -> type[Any]:
    """A subclass of Atropos' RewardFunction that its registry registers under `name`.

    A name that is registered already is refused, because Atropos would replace it silently; pass `replace=True` to
    replace it. `metrics()` of an instance has the counts.
    """
    try:
        functions: Any = import_module("atroposlib.envs.reward_fns")
    except ImportError:
        raise UsageError(
            "atroposlib is not installed; pip install atroposlib, or use AtroposReward, "
            "which has the same form"
        ) from None
    if name != name.lower() or name.endswith("reward"):
        raise UsageError(
            f"Atropos would register {name!r} as {name.lower().removesuffix('reward')!r}; expected a "
            "lower-case name that does not end in 'reward'"
        )
    if name in functions.registry.list_registered() and not replace:
        raise UsageError(
            f"Atropos has a reward {name!r} already; choose another name, or pass replace=True"
        )

    class AegirReward(functions.RewardFunction):  # type: ignore[misc]
        def __init__(self, weight: float = 1.0, **settings: Any) -> None:
            super().__init__(weight=weight, name=name, **settings)
            self.inner = BatchReward(score, name=name, missing=missing)

        def compute(self, completions: Sequence[Any], **kwargs: Any) -> list[float]:
            return self.inner.compute(completions, **kwargs)

        def metrics(self) -> dict[str, float]:
            return self.inner.metrics()

    AegirReward.__name__ = AegirReward.__qualname__ = (
        name  # the registry reads the name of the class
    )
    return AegirReward
