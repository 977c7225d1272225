"""Numbers fitted on held-out tables: from a model's logits to probabilities, from a precision to a threshold.

    ngrams.safetensors   NgramCalibration    temperatures of the linear stages, and how networks are mixed with them
    bytes.safetensors    ByteCalibration     temperatures, and the Mixture of the `combined` annotator

They are stored as JSON under "calibration" in the metadata of a weights file; thresholds are among the metrics under
"held_out". A number that is missing, not finite or out of range raises UsageError at construction, so that no
annotator starts with one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from aegir.readers.mixing import UNCHANGED, Mixing, PairModel, Powers, RuleTrust, Weights
from aegir.readers.scores import LIKELY
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    from aegir.tables.labelled import Task

NEVER = math.inf
"""The threshold of what is not to be answered."""
SMALLEST, LARGEST = 1e-6, 1_000_000
"""Of a number of a calibration: what logits are multiplied or divided by stays within float32."""
TASKS: "tuple[Task, Task]" = ("cta", "cpa")
LABELS = "label@open"
"""Metrics of the labels that are fine types or kinds; only everyday tables have labels to judge them by."""
IDENTIFYING = "identifying"
"""Metrics of columns that identify persons, directly or with others."""
PerTask: TypeAlias = "Mapping[Task, float]"
"""One number for column types and one for relations."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The confidence below which a type, a relation, or another label than the type is not answered."""

    types: float = 0.0
    relations: float = 0.0
    everyday: "Thresholds | None" = None
    """Those of everyday tables, where they differ."""
    labels: float | None = None
    """Of fine types and kinds; None for that of types."""
    identifying: float = 0.0
    """The probability below which no column is said to identify persons."""

    @property
    def finer(self) -> float:
        """The confidence below which no fine type or kind is answered."""
        return self.types if self.labels is None else self.labels

    def on(self, web: float) -> "Thresholds":
        """Return the thresholds for a table that is one of the web with this probability."""
        return self.everyday if self.everyday is not None and web < LIKELY else self


NAMES = Weights((0.5, 0.5), (0.5, 0.5), (0.5, 0.5))
"""How names alone are read by weights that were not calibrated for it: the mean of both readings."""


@dataclass(frozen=True, slots=True)
class NgramCalibration:
    """How the `ngrams` annotator turns logits into probabilities."""

    temperature: PerTask
    """Of the linear stages."""
    mixing: Mixing
    """Linear stages first, networks second."""
    rule_trust: RuleTrust
    names: Weights = NAMES
    """Of columns without values: headers among those of their table first, each by itself second."""
    powers: Powers = UNCHANGED
    """Of levels of personal data, special categories, what rows are and whose."""

    def __post_init__(self) -> None:
        _check_tasks("ngrams", self.temperature, above=0)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `as_json` wrote."""
        temperature, mixing, trust = _items(data, "ngrams", "mixing", "rule_trust")
        names = Weights.from_json(data["names"]) if "names" in data else NAMES
        powers = Powers.from_json(data["powers"]) if "powers" in data else UNCHANGED
        return cls(temperature, Mixing.from_json(mixing), RuleTrust.from_json(trust), names, powers)

    def as_json(self) -> dict[str, object]:
        """Return the JSON object that is stored under "calibration"."""
        return {
            "ngrams": dict(self.temperature),
            "mixing": asdict(self.mixing),
            "rule_trust": asdict(self.rule_trust),
            "names": asdict(self.names),
            "powers": asdict(self.powers),
        }


@dataclass(frozen=True, slots=True)
class Mixture:
    """How the `combined` annotator mixes n-grams, byte network and rules."""

    mixing: Mixing
    """N-grams first, byte network second."""
    rule_trust: RuleTrust
    rule_weight: float
    """What the strength of a rule is multiplied by, on tables of the web, before it is added to a type's log odds."""
    compatibility_weight: float
    """What the log compatibility of a relation with the column's type is multiplied by, on tables of the web."""
    pairs: PairModel | None = None
    """What stands beside what in tables of the web; None in weights that were calibrated without it."""

    def __post_init__(self) -> None:
        _check_number("rule_weight", self.rule_weight)
        _check_number("compatibility_weight", self.compatibility_weight)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `as_json` wrote."""
        mixing, trust, rule_weight, compatibility_weight = _items(
            data, "mixing", "rule_trust", "rule_weight", "compatibility_weight"
        )
        return cls(
            Mixing.from_json(mixing),
            RuleTrust.from_json(trust),
            rule_weight,
            compatibility_weight,
            PairModel.from_json(data["pairs"]) if "pairs" in data else None,
        )

    def as_json(self) -> dict[str, object]:
        """Return the JSON object that is stored under "combined" in "calibration"."""
        pairs = {} if self.pairs is None else {"pairs": self.pairs.as_json()}
        return {
            "mixing": asdict(self.mixing),
            "rule_trust": asdict(self.rule_trust),
            "rule_weight": self.rule_weight,
            "compatibility_weight": self.compatibility_weight,
            **pairs,
        }


@dataclass(frozen=True, slots=True)
class ByteCalibration:
    """How the `byte_model` annotator turns logits into probabilities, and how it is mixed with n-grams."""

    temperature: PerTask
    mixture: Mixture | None = None
    """None for a network that was not calibrated together with n-grams."""

    def __post_init__(self) -> None:
        _check_tasks("bytes", self.temperature, above=0)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `as_json` wrote."""
        (temperature,) = _items(data, "bytes")
        mixture = Mixture.from_json(data["combined"]) if "combined" in data else None
        return cls(temperature, mixture)

    def as_json(self) -> dict[str, object]:
        """Return the JSON object that is stored under "calibration"."""
        combined = {} if self.mixture is None else {"combined": self.mixture.as_json()}
        return {"bytes": dict(self.temperature), **combined}


@dataclass(frozen=True, slots=True)
class OperatingPoints:
    """Per task and origin: (precision, threshold) pairs, each the lowest threshold that reached the precision."""

    points: Mapping[str, Sequence[tuple[float, float]]]
    """"cta" and "cpa" for tables of the web, "cta@open" and "cpa@open" for everyday ones. LABELS and IDENTIFYING are missing in
    weights that were calibrated without them: there, fine types and kinds have the thresholds of types, and columns that identify
    persons have none."""

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], annotator: str) -> Self:
        """Read the held-out metrics of an annotator; a task without metrics has no points."""
        try:
            held_out = facts.get("held_out", {})
            added = [name for name in (LABELS, IDENTIFYING) if f"{annotator}/{name}" in held_out]
            known = (*_WEB, *_EVERYDAY, *added)
            rows = {
                name: held_out.get(f"{annotator}/{name}", {}).get("thresholds", [])
                for name in known
            }
            return cls({name: [(float(p), float(t)) for p, t, _ in rows[name]] for name in rows})
        except (AttributeError, TypeError, ValueError):
            raise UsageError(
                f"the held-out figures of {annotator} are not those of aegir train"
            ) from None

    def thresholds(self, precision: float) -> Thresholds:
        """Return the lowest thresholds that reached the precision; what never did is not to be answered.

        Raises UsageError if nothing reached it.
        """
        web, everyday = (
            [self._lowest(name, precision) for name in names] for names in (_WEB, _EVERYDAY)
        )
        labels = self._lowest(LABELS, precision) if LABELS in self.points else None
        if min(*web, *everyday, NEVER if labels is None else labels) == NEVER:
            reached = [reached for points in self.points.values() for reached, _ in points]
            raise UsageError(
                f"precision {precision} was not reached on held-out tables; "
                f"the highest that was is {max(reached, default=0.0)}"
            )
        limits = self._lowest(IDENTIFYING, precision) if IDENTIFYING in self.points else 0.0
        on_everyday = Thresholds(everyday[0], everyday[1], labels=labels, identifying=limits)
        return Thresholds(web[0], web[1], on_everyday, labels=labels, identifying=limits)

    def _lowest(self, name: str, wanted: float) -> float:
        reached = [t for precision, t in self.points[name] if precision >= wanted - 1e-9]
        return min(reached, default=NEVER)


_WEB, _EVERYDAY = ("cta", "cpa"), ("cta@open", "cpa@open")


def _items(data: Any, *keys: str) -> list[Any]:
    for key in keys:
        if not isinstance(data, Mapping) or key not in data:
            raise UsageError(f"the calibration has no {key!r}")
    return [data[key] for key in keys]


def _check_tasks(name: str, values: Any, above: float = -math.inf) -> None:
    for task, value in zip(TASKS, _items(values, *TASKS), strict=True):
        _check_number(f"{name}.{task}", value, above)


def _check_number(name: str, value: Any, above: float = -math.inf) -> None:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if not known or not abs(value) <= LARGEST or value <= above or 0 < abs(value) < SMALLEST:
        least = "" if above == -math.inf else f" above {above:g}"
        expected = f"a finite number{least}, at most {LARGEST:,}"
        raise UsageError(f"{name} of the calibration is {value!r}; expected {expected}")
