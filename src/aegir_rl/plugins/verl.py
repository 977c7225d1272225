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
from typing import Any, ClassVar

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
    require(window >= 8, "window", window, "8 rewards or more")
    managers = open_package(
        "verl", "verl.experimental.reward_loop.reward_manager.base", "RewardManagerBase"
    )
    counted = BatchReward(score, name=name)

    class AegirRewardManager(managers.RewardManagerBase):  # type: ignore[misc, name-defined]
        inner = counted
        seen: ClassVar[list[float]] = []
        updates = 0

        def __init__(
            self, config: Any, tokenizer: Any, compute_score: Any = None, **_: Any
        ) -> None:
            super().__init__(config, tokenizer, compute_score)

        async def run_single(self, data: Any) -> dict[str, Any]:
            """The reward of the last sequence of `data`."""
            row = data[-1:][0]
            text = await self.loop.run_in_executor(None, _decode, self.tokenizer, row)
            other = row.non_tensor_batch
            before = self.inner.metrics()[f"reward/{name}/missing"]
            (reward,) = await self.inner.compute_async(
                [text],
                data_sources=[other.get("data_source")],
                ground_truths=[(other.get("reward_model") or {}).get("ground_truth")],
                extra_infos=[other.get("extra_info", {})],
            )
            missing = self.inner.metrics()[f"reward/{name}/missing"] > before
            if not math.isfinite(reward):
                reward = 0.0  # before the first reward there is no mean, and verl's tensor would carry the NaN on
            self._watch(math.nan if missing else reward)
            return {
                "reward_score": reward,
                "reward_extra_info": {"score": reward, "reward_missing": float(missing)},
            }

        def _watch(self, reward: float) -> None:
            self.seen.append(reward)
            if monitor is None or len(self.seen) < window:
                return
            missing = [math.isnan(each) for each in self.seen]
            report = monitor.observe(
                type(self).updates, measure_rewards(self.seen, missing=missing)
            )
            type(self).updates += 1
            self.seen.clear()
            if not report.well:
                LOG.warning("; ".join(finding.sentence for finding in report.unwell))
            if stop:
                report.raise_if_unwell()

    AegirRewardManager.__name__ = AegirRewardManager.__qualname__ = name
    return AegirRewardManager


def _decode(tokenizer: Any, row: Any) -> str:
    """The text of the response, without padding."""
    answer = row.batch["responses"]
    length = int(row.batch["attention_mask"][-answer.shape[-1] :].sum())
    return str(tokenizer.decode(answer[:length], skip_special_tokens=True))
