"""Policies for tests that do one thing, well or badly. Their numbers are made up."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Always:
    """Gives one worker a probability; the first of the others has the rest."""

    worker: str
    sure: float = 1.0
    floor: float = 0.0
    features: tuple[str, ...] = ("confidence", "columns")
    actions: tuple[str, ...] = ("byte_model", "combined", "ngrams")
    version: str = "always-1"

    def probabilities(self, features: Any) -> Any:
        assert features.shape[1] == len(self.features)
        found = np.full(
            (len(features), len(self.actions)), (1 - self.sure) / (len(self.actions) - 1)
        )
        found[:, self.actions.index(self.worker)] = self.sure
        return found


class Raises(Always):
    def probabilities(self, features: Any) -> Any:
        raise RuntimeError("the disk is on fire")


class Sleeps(Always):
    def probabilities(self, features: Any) -> Any:
        time.sleep(5)


class NaNs(Always):
    def probabilities(self, features: Any) -> Any:
        return super().probabilities(features) * np.nan


class OneRow(Always):
    def probabilities(self, features: Any) -> Any:
        return super().probabilities(features)[:1]
