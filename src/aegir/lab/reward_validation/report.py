"""What a validation of the rewards found: every check with its evidence, ready for JSON and for a page."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from aegir.lab.reward_validation.config import ValidationConfig
from aegir_rl.rewards.combined import PartScale

ADVICE = {
    "gradient": "make the reward depend on what the router chooses, or measure it on more tables",
    "polarity": "look at the two cases in cases.py and turn the sign or the weights of the reward round",
    "independence": "let each reward measure one thing; drop the one that repeats another",
    "scale": "rescale the reward, or lower the weight that takes it out of reach",
    "presence": "return a number for every table, or leave the reward out of the sum",
}
"""Kind of check to what to do when it fails."""


@dataclass(frozen=True, slots=True)
class RewardCheck:
    """One answered question."""

    kind: str
    component: str
    name: str
    passed: bool
    sentence: str
    evidence: Mapping[str, float | None]

    @classmethod
    def of(
        cls, kind: str, component: str, name: str, passed: bool, sentence: str, **evidence: float
    ) -> "RewardCheck":
        """Make a check; evidence that is not finite could not be measured and becomes None."""
        numbers = {key: number_or_none(value) for key, value in evidence.items()}
        return cls(kind, component, name, bool(passed), sentence, numbers)

    @property
    def advice(self) -> str:
        """What to do when it failed."""
        return ADVICE[self.kind]


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Every check with its evidence, the scales and suggested lambdas, and the learning curves."""

    checks: tuple[RewardCheck, ...]
    scales: Mapping[str, PartScale]
    correlations: Mapping[str, float | None]
    curves: Mapping[str, tuple[float | None, ...]]
    config: ValidationConfig
    errors: tuple[str, ...]
    """What components said when they raised."""

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> tuple[RewardCheck, ...]:
        return tuple(check for check in self.checks if not check.passed)

    def as_dict(self) -> dict[str, Any]:
        """One JSON-ready object; a number that could not be measured is null."""
        return {
            "version": version("aegir-tables"),
            "passed": self.passed,
            "checks": [
                {**asdict(check), **({} if check.passed else {"advice": check.advice})}
                for check in self.checks
            ],
            "scales": {name: asdict(scale) for name, scale in self.scales.items()},
            "correlations": dict(self.correlations),
            "curves": {name: list(curve) for name, curve in self.curves.items()},
            "errors": list(self.errors),
            "config": asdict(self.config),
        }


def number_or_none(value: float) -> float | None:
    """What JSON can hold of a number that may not have been measurable."""
    return float(value) if np.isfinite(value) else None
