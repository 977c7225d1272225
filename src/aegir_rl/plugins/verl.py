"""verl: a reward manager that fills missing rewards, counts failures and watches health.

    # my_rewards.py, named in the configuration: reward.reward_manager.source=importlib
    #   reward.reward_manager.name=Rewards reward.reward_manager.module.path=my_rewards.py
    Rewards = make_reward_manager(score, name="careful", monitor=HealthMonitor())

`score(completions, …)` takes lists, like everywhere here (batch_reward.py), and may name `prompts`, `data_sources`,
`ground_truths` and `extra_infos`; verl's loop asks for one answer at a time, so lists of one. A missing reward is the mean of all
rewards so far, with `reward_missing` 1 beside it. Every `window` rewards go to the monitor; what it finds is logged, and
with `stop=True` raised.
"""

import logging
import math
from typing import Any

from aegir_rl.base.errors import require
from aegir_rl.health import HealthMonitor, measure_rewards
from aegir_rl.plugins.batch_reward import BatchReward, Score
from aegir_rl.plugins.packages import open_package

LOG = logging.getLogger("aegir")
WINDOW = 64


def make_reward_manager(
    score: Score,
    *,
    name: str,
    monitor: HealthMonitor | None = None,
    window: int = WINDOW,
    stop: bool = False,
) -> type[Any]:
    """A class of reward managers for verl's reward loop; its attribute `inner` counts over all its instances."""
    managers = open_package(
        "verl", "verl.experimental.reward_loop.reward_manager.base", "RewardManagerBase"
    )
    counted, watched = BatchReward(score, name=name), _Window(monitor, window, stop=stop)

    class AegirRewardManager(managers.RewardManagerBase):  # type: ignore[misc, name-defined]
        inner = counted

        def __init__(
            self, config: Any, tokenizer: Any, compute_score: Any = None, **_: Any
        ) -> None:
            super().__init__(config, tokenizer, compute_score)

        async def run_single(self, data: Any) -> dict[str, Any]:
            """The reward of the last sequence of `data`."""
            row = data[-1:][0]
            text = await self.loop.run_in_executor(None, _decode, self.tokenizer, row)
            other = row.non_tensor_batch
            before = counted.metrics()[f"reward/{name}/missing"]
            (reward,) = await counted.compute_async(
                [text],
                data_sources=[other.get("data_source")],
                ground_truths=[(other.get("reward_model") or {}).get("ground_truth")],
                extra_infos=[other.get("extra_info", {})],
            )
            missing = counted.metrics()[f"reward/{name}/missing"] > before
            if not math.isfinite(reward):
                reward = 0.0  # there is no mean yet, and verl's tensor would carry the NaN on
            watched.add(math.nan if missing else reward)
            return {
                "reward_score": reward,
                "reward_extra_info": {"score": reward, "reward_missing": float(missing)},
            }

    AegirRewardManager.__name__ = AegirRewardManager.__qualname__ = name
    return AegirRewardManager


class _Window:
    """Rewards, given to a monitor a window at a time."""

    def __init__(self, monitor: HealthMonitor | None, size: int, *, stop: bool) -> None:
        require(size >= 8, "window", size, "8 rewards or more")
        self._monitor, self._size, self._stop = monitor, size, stop
        self._seen: list[float] = []
        self._windows = 0

    def add(self, reward: float) -> None:
        """NaN for a missing one."""
        if self._monitor is None:
            return
        self._seen.append(reward)
        if len(self._seen) < self._size:
            return
        missing = [math.isnan(each) for each in self._seen]
        report = self._monitor.observe(self._windows, measure_rewards(self._seen, missing=missing))
        self._windows += 1
        self._seen.clear()
        if not report.well:
            LOG.warning("; ".join(finding.sentence for finding in report.unwell))
        if self._stop:
            report.raise_if_unwell()


def _decode(tokenizer: Any, row: Any) -> str:
    """The text of the response, without padding."""
    answer = row.batch["responses"]
    length = int(row.batch["attention_mask"][-answer.shape[-1] :].sum())
    return str(tokenizer.decode(answer[:length], skip_special_tokens=True))
