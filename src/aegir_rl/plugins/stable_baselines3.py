"""Stable-Baselines3: health, curriculum and speed of a run, in a callback.

    watch = HealthCallback(curriculum=curriculum, tracker=tracker)
    PPO("MlpPolicy", AegirWrapper(env, curriculum=curriculum)).learn(100_000, callback=watch)
    watch.reasons                                      # () if nothing stopped the run

Once per update of an on-policy algorithm (PPO, A2C) it measures the returns of the last episodes (`stats_window_size` of the
algorithm, 100: one rollout may hold too few to speak of their spread), and advantages and values of the rollout, adds what the algorithm logged about its training (`train/…`), and asks the monitor. A run that is
unwell ends, with the reasons in `reasons` and in the log; `stop=False` only reports.

Advantages are judged as the algorithm uses them: PPO subtracts their mean, whatever the critic says. The centre before that
is recorded as `raw_advantage_centre` and held to no bound: while a critic lags behind it is 2 to 7 in healthy runs.

Limits: returns come from the `Monitor` wrapper, which Stable-Baselines3 adds by itself; off-policy algorithms have no
rollouts and are refused.
"""

import logging
from time import perf_counter
from typing import Any

import numpy as np

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.health import (
    HealthMonitor,
    HealthReport,
    measure_advantages,
    measure_rewards,
    measure_values,
)
from aegir_rl.observe.performance_tracker import APIPerformanceTracker
from aegir_rl.plugins.packages import open_package
from aegir_rl.rl.curriculum import Curriculum

_PACKAGE = "stable-baselines3"
_CALLBACKS = open_package(_PACKAGE, "stable_baselines3.common.callbacks", "BaseCallback")
_ON_POLICY = open_package(
    _PACKAGE, "stable_baselines3.common.on_policy_algorithm", "OnPolicyAlgorithm"
)
LOG = logging.getLogger("aegir")


class HealthCallback(_CALLBACKS.BaseCallback):  # type: ignore[misc, name-defined]
    """Asks a health monitor once per update, and ends a run that is unwell."""

    def __init__(
        self,
        monitor: HealthMonitor | None = None,
        *,
        curriculum: Curriculum | None = None,
        tracker: APIPerformanceTracker | None = None,
        stop: bool = True,
        verbose: int = 0,
    ) -> None:
        super().__init__(verbose)
        self.monitor = monitor or HealthMonitor()
        self.curriculum, self.tracker, self._stop = curriculum, tracker, stop
        self.report: HealthReport | None = None
        """Of the last update."""
        self.reasons: tuple[str, ...] = ()
        """Why the run was ended, or would have been."""
        self.updates = 0
        self._measured: dict[str, float] = {}
        self._began = perf_counter()

    def _init_callback(self) -> None:
        if not isinstance(self.model, _ON_POLICY.OnPolicyAlgorithm):
            raise UsageError(
                f"HealthCallback reads rollouts, and {type(self.model).__name__} has none; expected an "
                "on-policy algorithm, PPO or A2C"
            )

    def _on_rollout_start(self) -> None:
        self._finish_update()
        self._began = perf_counter()

    def _on_step(self) -> bool:
        return not (self._stop and self.reasons)

    def _on_rollout_end(self) -> None:
        buffer = self.model.rollout_buffer
        self._time("rollout", buffer.advantages.size)
        normalised = getattr(self.model, "normalize_advantage", False)
        self._measured = {
            **measure_rewards([float(episode["r"]) for episode in self.model.ep_info_buffer]),
            **_judge_advantages(buffer.advantages, normalised=normalised),
            **measure_values(buffer.values, buffer.returns),
        }

    def _on_training_end(self) -> None:
        self._finish_update()

    def _finish_update(self) -> None:
        """Judge the last rollout together with what training on it logged."""
        if not self._measured:
            return
        self._time("train", 1)
        trained = {
            name: float(value)
            for name, value in self.logger.name_to_value.items()
            if name.startswith("train/") and isinstance(value, int | float | np.number)
        }
        trained.pop("train/explained_variance", None)  # of the same values, measured above
        measured, self._measured = self._measured, {}
        self.report = self.monitor.observe(self.updates, {**measured, **trained})
        self.updates += 1
        if not self.report.well and not self.reasons:
            self.reasons = tuple(finding.sentence for finding in self.report.unwell)
            LOG.warning("update %d is unwell: %s", self.updates, "; ".join(self.reasons))
        shown = {f"health/{name.replace('/', '_')}": value for name, value in measured.items()}
        known = self.curriculum.metrics() if self.curriculum is not None else {}
        for name, value in {**shown, **known, **self.monitor.metrics()}.items():
            self.logger.record(name, value)

    def _time(self, operation: str, items: float) -> None:
        now = perf_counter()
        if self.tracker is not None:
            self.tracker.record(_PACKAGE, operation, now - self._began, items)
        self._began = now


def _judge_advantages(advantages: Floats, *, normalised: bool) -> dict[str, Any]:
    """The metrics of advantages as the algorithm uses them, and where their centre was before."""
    raw = measure_advantages(advantages)
    if not normalised or "advantage/centre" not in raw:
        return raw
    return {
        **raw,
        **measure_advantages((advantages - advantages.mean()) / advantages.std()),
        "advantage/std": raw["advantage/std"],
        "raw_advantage_centre": raw["advantage/centre"],
    }
