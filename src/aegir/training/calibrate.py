"""Making confidence honest: temperatures, the weight of the rules, thresholds for a wanted precision.

    held-out logits --fit_...--> a calibration, which turns logits into probabilities

Everything here is fitted on predictions for tables the model has not seen, and judged on the other half of
them: `cross_fitted` calibrates on even tables and measures on odd ones, then the other way round.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from aegir.annotators.combined import (
    apply_verdicts,
    reweigh_relations,
    rule_out_relations,
    usual_types,
)
from aegir.annotators.rules.judge import Verdict
from aegir.annotators.scores import Probabilities
from aegir.arrays import F32, I64, softmax
from aegir.metrics import compute_f1, expected_calibration_error, threshold_for_precision

TEMPERATURES = tuple(float(t) for t in np.geomspace(0.2, 3.0, 60))
RULE_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0)
COMPATIBILITY_WEIGHTS = (0.5, 0.75, 1.0)
"""0.25 loses least on web tables, but on others lets too many relations contradict the type."""
PRECISIONS = tuple(percent / 100 for percent in range(70, 100))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Logits for labelled columns of tables kept out of training."""

    logits: F32
    """(columns, classes) of the task that is judged."""
    labels: I64
    table: I64
    """Which table each column is from."""
    verdicts: tuple[Verdict, ...] = ()
    type_logits: F32 | None = None
    """(columns, types) of the same columns, when the task is relations."""
    names: tuple[str, ...] = ()
    """What each column goes by."""

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, chosen: npt.NDArray[np.bool_]) -> "HeldOut":
        """Some of the columns."""
        return self.at(np.flatnonzero(chosen))

    def at(self, places: I64) -> "HeldOut":
        """The columns at these places, in this order."""
        return HeldOut(
            self.logits[places],
            self.labels[places],
            self.table[places],
            tuple(self.verdicts[i] for i in places) if self.verdicts else (),
            None if self.type_logits is None else self.type_logits[places],
            tuple(self.names[i] for i in places) if self.names else (),
        )


class Calibration(Protocol):
    """Turns held-out logits into probabilities."""

    def __call__(self, held_out: HeldOut) -> Probabilities:
        """(columns, classes)"""
        ...


@dataclass(frozen=True, slots=True)
class Tempered:
    """The learnt model alone."""

    temperature: float

    def __call__(self, held_out: HeldOut) -> Probabilities:
        """(columns, classes)"""
        return softmax(held_out.logits / np.float32(self.temperature))


@dataclass(frozen=True, slots=True)
class RuledTypes:
    """Types of the learnt model after the rules have spoken."""

    inner: Tempered
    rule_weight: float
    temperature: float

    def __call__(self, held_out: HeldOut) -> Probabilities:
        """(columns, types)"""
        learnt = self.inner(held_out)
        return apply_verdicts(learnt, held_out.verdicts, self.rule_weight, self.temperature)


@dataclass(frozen=True, slots=True)
class CompatibleRelations:
    """Relations of the learnt model, believed as far as the column's type allows."""

    inner: Tempered
    types: RuledTypes
    compatibility: F32
    """(relations, types)"""
    weight: float
    temperature: float

    def __call__(self, held_out: HeldOut) -> Probabilities:
        """(columns, relations); what is missing to 1 is the probability of no known relation."""
        assert held_out.type_logits is not None, "relations are weighed by the types beside them"
        types = self.types(replace(held_out, logits=held_out.type_logits))
        relations = reweigh_relations(
            self.inner(held_out), types, self.compatibility, self.weight, self.temperature
        )
        return rule_out_relations(relations, held_out.verdicts, usual_types(self.compatibility))


def fit_temperature(held_out: HeldOut) -> Tempered:
    """The temperature under which the right answers were least surprising."""
    return _least_surprised([Tempered(t) for t in TEMPERATURES], held_out)


def fit_rules(held_out: HeldOut) -> RuledTypes:
    """The weight of the rules that answers best, then the temperature that makes it honest."""
    inner = fit_temperature(held_out)
    weighed = _least_surprised([RuledTypes(inner, w, 1.0) for w in RULE_WEIGHTS], held_out)
    return _least_surprised([replace(weighed, temperature=t) for t in TEMPERATURES], held_out)


def fit_relations(held_out: HeldOut, types: RuledTypes, compatibility: F32) -> CompatibleRelations:
    """How far a relation must fit the type, then the temperature that makes it honest."""
    inner = fit_temperature(held_out)
    choices = [
        CompatibleRelations(inner, types, compatibility, weight, 1.0)
        for weight in COMPATIBILITY_WEIGHTS
    ]
    weighed = _least_surprised(choices, held_out)
    return _least_surprised([replace(weighed, temperature=t) for t in TEMPERATURES], held_out)


_Some = TypeVar("_Some", bound=Calibration)


def _least_surprised(choices: Sequence[_Some], held_out: HeldOut) -> _Some:
    losses = [_log_loss(choice(held_out), held_out.labels) for choice in choices]
    return choices[int(np.argmin(losses))]


def _log_loss(probabilities: Probabilities, labels: I64) -> float:
    return float(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-7).mean())


@dataclass(frozen=True, slots=True)
class Judgement:
    """What held-out tables say of an annotator."""

    columns: int
    micro_f1: float
    macro_f1: float
    ece: float
    thresholds: tuple[tuple[float, float, float], ...]
    """Wanted precision, threshold, coverage; precisions that are out of reach are left out."""


def cross_fitted(held_out: HeldOut, fit: Callable[[HeldOut], Calibration]) -> Judgement:
    """Scores and calibration error on columns not used for the calibration they are judged by."""
    odd = held_out.table % 2 == 1
    confidence = np.zeros(len(held_out))
    answers = np.zeros(len(held_out), np.int64)
    for judged in (odd, ~odd):
        probabilities = fit(held_out.part(~judged))(held_out.part(judged))
        confidence[judged] = probabilities.max(axis=1)
        answers[judged] = probabilities.argmax(axis=1)
    right = answers == held_out.labels
    points = [(p, threshold_for_precision(confidence, right, p)) for p in PRECISIONS]
    return Judgement(
        columns=len(held_out),
        micro_f1=float(right.mean()),
        macro_f1=compute_f1(
            [(str(label),) for label in held_out.labels], [str(a) for a in answers]
        ).macro_f1,
        ece=expected_calibration_error(confidence, right),
        thresholds=tuple(
            (wanted, point.threshold, point.coverage) for wanted, point in points if point
        ),
    )


def stack(parts: Sequence[HeldOut]) -> HeldOut:
    """Held-out predictions of several folds as one, tables numbered through."""
    offsets = np.cumsum([0, *(int(part.table.max(initial=-1)) + 1 for part in parts)])
    return HeldOut(
        np.concatenate([part.logits for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.table + o for part, o in zip(parts, offsets[:-1], strict=True)]),
        tuple(verdict for part in parts for verdict in part.verdicts),
        None
        if any(part.type_logits is None for part in parts)
        else np.concatenate([part.type_logits for part in parts if part.type_logits is not None]),
        tuple(name for part in parts for name in part.names),
    )
