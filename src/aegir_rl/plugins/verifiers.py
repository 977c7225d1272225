"""Reward functions for a `verifiers.Rubric` (0.1; batch_reward.py has the rules). Does not import verifiers.

    reward = as_group_reward(score)                    # scores all rollouts of a prompt together
    rubric = vf.Rubric(funcs=[reward], weights=[0.5])
    reward.metrics()                                   # counts of rewards, missing ones and failed calls

A rubric sums the rewards of several functions and subtracts the mean of the group, so one NaN would make every advantage of
the group NaN. By default a missing reward is therefore the mean of the others in its group: its own advantage is 0 and the
others keep theirs. `as_single_reward` sees one rollout at a time and can only fill in the mean of all rewards so far
(NaN before the first), so prefer group rewards if scoring may fail. An async `score` is awaited in the rubric's event loop.
"""

from typing import Any

from aegir_rl.plugins.batch_reward import BatchReward


class as_group_reward(BatchReward):  # noqa: N801 (called like a function)
    """A reward function for `vf.Rubric` of all rollouts of a prompt; verifiers knows it by its parameter `completions`."""

    def __call__(self, completions: list[Any], **kwargs: Any) -> Any:
        """One reward per rollout; an awaitable of them if `score` is async."""
        call = self.compute_async if self.is_async else self.compute
        return call(completions, **kwargs)


class as_single_reward(BatchReward):  # noqa: N801 (called like a function)
    """A reward function for `vf.Rubric` of one rollout; `score` still takes lists, of one entry each."""

    def __call__(self, completion: Any, **kwargs: Any) -> Any:
        """The reward of the rollout; an awaitable of it if `score` is async."""
        plural = {f"{key}s": [value] for key, value in kwargs.items()}
        if self.is_async:
            return self._first([completion], plural)
        return self.compute([completion], **plural)[0]

    async def _first(self, completions: list[Any], plural: dict[str, Any]) -> float:
        return (await self.compute_async(completions, **plural))[0]
