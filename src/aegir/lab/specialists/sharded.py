"""Training specialists as a job of an engine: one configuration per place at a time.

The run folder must be on a file system that all machines share. A training whose machine is lost goes on elsewhere from its
last checkpoint, and ends with the same bits (byte_network/supervised.py). Progress is in the run folders.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from aegir.engines.job import RunShard
from aegir.lab.specialists.config import SpecialistTraining, read_specialist_training
from aegir.lab.specialists.recipe import TrainedSpecialist, run_folder_of, train_specialist
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.run_folder import hold_lock
from aegir_rl.base.training_run import CHECKPOINT

OPEN = f"{__name__}:open_training"
SECONDS_TO_LET_GO = 30.0
"""How long the process that trained before, on a machine that was lost, may hold the run folder."""


@dataclass(frozen=True, slots=True)
class Training:
    """A configuration, what replaces its settings, and the file to be written."""

    config: str
    out: str
    data: tuple[str, ...] = ()
    fold: int | None = None
    steps: int | None = None
    start: str | None = None

    def settings(self) -> SpecialistTraining:
        """Read the configuration and replace what was given besides."""
        settings = read_specialist_training(Path(self.config))
        if self.data:
            settings = replace(settings, data=replace(settings.data, folders=tuple(self.data)))
        if self.fold is not None:
            settings = replace(settings, held_out=replace(settings.held_out, fold=self.fold))
        if self.steps is not None:
            settings = replace(settings, supervised=replace(settings.supervised, steps=self.steps))
        return settings

    @property
    def began(self) -> bool:
        """Whether there is a run to go on with."""
        return (run_folder_of(Path(self.out)) / CHECKPOINT).exists()

    def train(self) -> TrainedSpecialist:
        """Begin the training, or go on with it, without a word."""
        start = Path(self.start) if self.start else None
        return train_specialist(self.settings(), Path(self.out), _Silent(), start, self.began)


@contextmanager
def open_training(_settings: Mapping[str, Any], _workers: int) -> Iterator[RunShard]:
    """Train what comes; nothing is loaded beforehand."""

    def run(shard: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        for index, item in enumerate(shard):
            training = Training(**item)
            try:
                _wait_for_lock(run_folder_of(Path(training.out)))
                done = training.train()
            except AegirError as error:  # the other trainings go on
                yield (
                    index,
                    {"out": training.out, "error": str(error), "exit_code": error.exit_code},
                )
                continue
            yield index, {"out": training.out, **asdict(done.manifest), "figures": done.metrics}

    yield run


def _wait_for_lock(folder: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_LET_GO
    while folder.is_dir():
        try:
            with hold_lock(folder):
                return
        except UsageError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


class _Silent:
    """Nobody is told of the progress; the run folder has it."""

    def say(self, line: str) -> None:
        pass

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        pass
