"""What a benchmark found: measurements, ratios to a named reference, and targets reached or not.

These are plain nouns; runner.py prints them and recording.py keeps them.
"""

from dataclasses import dataclass, field

from benchmarks.measuring import Runs


@dataclass(frozen=True, slots=True)
class Measurement:
    """A named figure: the median of its runs, in a unit."""

    name: str
    unit: str
    runs: Runs

    @property
    def value(self) -> float:
        return self.runs.median

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "unit": self.unit,
            "value": _rounded(self.value),
            "runs": [_rounded(value) for value in self.runs.values],
        }


@dataclass(frozen=True, slots=True)
class Ratio:
    """One measurement divided by a reference measured in the same run."""

    of: Measurement
    to: Measurement

    def __post_init__(self) -> None:
        assert self.of.unit == self.to.unit, f"{self.of.unit} is not {self.to.unit}"

    @property
    def value(self) -> float:
        return self.of.value / self.to.value

    def as_dict(self) -> dict[str, object]:
        return {"of": self.of.name, "to": self.to.name, "value": _rounded(self.value)}


@dataclass(frozen=True, slots=True)
class Target:
    """What we want a measurement to be: at least, or at most, a number."""

    measurement: Measurement
    bound: float
    at_least: bool

    @property
    def reached(self) -> bool:
        value = self.measurement.value
        return bool(value >= self.bound if self.at_least else value <= self.bound)

    def as_dict(self) -> dict[str, object]:
        return {
            "measurement": self.measurement.name,
            "unit": self.measurement.unit,
            "value": _rounded(self.measurement.value),
            "at_least" if self.at_least else "at_most": self.bound,
            "reached": self.reached,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """Everything one benchmark has to say; `data` says what it was measured on."""

    benchmark: str
    question: str
    data: str
    measurements: tuple[Measurement, ...]
    ratios: tuple[Ratio, ...]
    targets: tuple[Target, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    """References that could not be measured, and why."""

    def as_dict(self) -> dict[str, object]:
        """One JSON-ready object."""
        return {
            "benchmark": self.benchmark,
            "question": self.question,
            "data": self.data,
            "settings": self.settings,
            "measurements": [one.as_dict() for one in self.measurements],
            "ratios": [one.as_dict() for one in self.ratios],
            "targets": [one.as_dict() for one in self.targets],
            "left_out": list(self.left_out),
        }


def at_least(measurement: Measurement, bound: float) -> Target:
    """A target that more is better."""
    return Target(measurement, bound, at_least=True)


def at_most(measurement: Measurement, bound: float) -> Target:
    """A target that less is better."""
    return Target(measurement, bound, at_least=False)


def _rounded(value: float) -> float:
    """Five significant digits: more would be noise."""
    return float(f"{value:.5g}")
