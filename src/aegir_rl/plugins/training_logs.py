"""Metrics into TensorBoard files and offline runs of Weights & Biases, beside the lines of a run folder.

    with TensorBoardLog(Path("runs/tiny/tensorboard")) as log:
        log.record(step, {**monitor.metrics(), **curriculum.metrics()})

`WandbLog(folder, project="…")` is the same for W&B; it writes below `folder` and asks no server (`wandb sync` sends the run later).
Numbers are written; what is no number is left out, NaN stays NaN. For Prometheus: `render_prometheus` of aegir_rl.observe.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from aegir_rl.plugins.packages import open_package


class _Log(ABC):
    """Opened by making it, closed at the end of a `with`."""

    @abstractmethod
    def record(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Write the numbers of one step."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TensorBoardLog(_Log):
    """Scalars in an event file; needs tensorboard, not torch."""

    def __init__(self, folder: Path) -> None:
        files = open_package(
            "tensorboard", "tensorboard.summary.writer.event_file_writer", "EventFileWriter"
        )
        self._event = open_package(
            "tensorboard", "tensorboard.compat.proto.event_pb2", "Event"
        ).Event
        self._summary = open_package(
            "tensorboard", "tensorboard.compat.proto.summary_pb2", "Summary"
        ).Summary
        self._writer = files.EventFileWriter(str(folder))

    def record(self, step: int, metrics: Mapping[str, Any]) -> None:
        values = [
            self._summary.Value(tag=name, simple_value=x) for name, x in numbers_of(metrics).items()
        ]
        event = self._event(wall_time=time.time(), step=step, summary=self._summary(value=values))
        self._writer.add_event(event)

    def close(self) -> None:
        self._writer.close()


class WandbLog(_Log):
    """An offline run of Weights & Biases."""

    def __init__(self, folder: Path, *, project: str, name: str | None = None) -> None:
        wandb = open_package("wandb", "wandb", "init Settings")
        folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            dir=str(folder), project=project, name=name, mode="offline", reinit="create_new"
        )

    def record(self, step: int, metrics: Mapping[str, Any]) -> None:
        self._run.log(numbers_of(metrics), step=step)

    def close(self) -> None:
        self._run.finish()


def numbers_of(metrics: Mapping[str, Any]) -> dict[str, float]:
    """The metrics that are numbers."""
    return {
        name: float(x)
        for name, x in metrics.items()
        if isinstance(x, int | float | np.number) and not isinstance(x, bool)
    }
