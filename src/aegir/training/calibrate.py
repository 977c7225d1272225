"""Calibration: temperatures, the weights of models and rules, thresholds for a wanted precision.

    fold runs of the byte network  --> logits for every validation column from a network not trained on it
    logits kept by `train ngrams`  --> the same columns            --> weights, temperatures, thresholds, figures

Everything is fitted on columns the models were not trained on, by minimal log loss. N-grams and byte network are
mixed by log P = a log P(n-grams) + b log P(bytes); then rules are applied to types, and types to relations.

Figures are cross-fitted: `cross_fitted` fits on even tables and measures on odd ones, then the other way round.
Only the two mixing weights per task are chosen on all tables.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeVar

import numpy as np

from aegir.annotators.calibration import TASKS, ByteCalibration, Mixture, PerTask
from aegir.annotators.combined import (
    apply_verdicts,
    mix_log_probabilities,
    reweigh_relations,
    rule_out_relations,
    type_shares,
)
from aegir.annotators.scores import Probabilities
from aegir.arrays import F32, I64, softmax
from aegir.data.sources import TrainingTable, read_training_tables, types_of_relations
from aegir.files import replace_file
from aegir.metrics import compute_class_f1, expected_calibration_error, threshold_for_precision
from aegir.tables.labelled import Task
from aegir.training.held_out import (
    ANSWERS,
    HeldOut,
    aligned,
    load_answers,
    stack_folds,
    with_verdicts,
)
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

TEMPERATURES = tuple(float(t) for t in np.geomspace(0.2, 3.0, 60))
RULE_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0)
COMPATIBILITY_WEIGHTS = (0.5, 0.75, 1.0)
"""0.25 loses least on web tables, but on others lets too many relations contradict the type."""
MIX_WEIGHTS = tuple(i / 10 for i in range(13))
PRECISIONS = tuple(percent / 100 for percent in range(70, 100))
Calibrator = Callable[[HeldOut], Probabilities]
"""Turns held-out logits into probabilities (columns, classes)."""


def calibrate_folds(
    folds: Sequence[Path], data: Sequence[Path], ngrams: Path | None, out: Path
) -> "dict[str, Judgement]":
    """Calibrate the byte network on the answers of its fold runs, and the mixture if `ngrams` is given.

    Writes what `aegir train export` needs to `out` as JSON; returns the figures by annotator and task.
    """
    answers = stack_folds([load_answers(folder / ANSWERS) for folder in folds])
    temperature, figures = calibrate_bytes(answers)
    mixture = None
    if ngrams is not None:
        mixture, mixed = calibrate_mixture(
            load_answers(ngrams), answers, read_training_tables(data)
        )
        figures |= mixed
    facts = {
        "calibration": ByteCalibration(temperature, mixture).as_json(),
        "held_out": {name: asdict(judgement) for name, judgement in figures.items()},
        "per_class": scores_per_class(answers),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_file(out, (json.dumps(facts, indent=1) + "\n").encode())
    return figures


@dataclass(frozen=True, slots=True)
class Tempered:
    """The probabilities of one model."""

    temperature: float

    def __call__(self, held_out: HeldOut) -> Probabilities:
        """Return (columns, classes)."""
        return self.apply(held_out.logits)

    def apply(self, logits: F32) -> Probabilities:
        """Return the probabilities of logits (columns, classes)."""
        return softmax(logits / np.float32(self.temperature))


@dataclass(frozen=True, slots=True)
class RuledTypes:
    """Type probabilities after the rules were applied."""

    inner: Tempered
    rule_weight: float
    temperature: float

    def __call__(self, held_out: HeldOut) -> Probabilities:
        """Return (columns, types)."""
        learnt = self.inner(held_out)
        return apply_verdicts(learnt, held_out.verdicts, self.rule_weight, self.temperature)


@dataclass(frozen=True, slots=True)
class CompatibleRelations:
    """Relation probabilities weighed by the types of the columns."""

    inner: Tempered
    types: RuledTypes
    compatibility: F32
    """(relations, types)"""
    weight: float
    temperature: float

    def __call__(self, held_out: HeldOut) -> Probabilities:
        """Return (columns, relations); the rest to 1 is the probability of no known relation."""
        assert held_out.type_logits is not None, "relations are weighed by types"
        types = self.types(replace(held_out, logits=held_out.type_logits))
        relations = reweigh_relations(
            self.inner(held_out), types, self.compatibility, self.weight, self.temperature
        )
        return rule_out_relations(relations, held_out.verdicts, type_shares(self.compatibility))


def fit_temperature(held_out: HeldOut) -> Tempered:
    """Return the temperature of least log loss."""
    return _least_loss([Tempered(t) for t in TEMPERATURES], held_out)


def fit_temperatures(answers: Mapping[str, HeldOut]) -> PerTask:
    """Return the temperature of each task; 1 for a task without columns."""
    return {
        task: fit_temperature(answers[task]).temperature if task in answers else 1.0
        for task in TASKS
    }


def fit_rules(held_out: HeldOut) -> RuledTypes:
    """Fit the weight of the rules, then the temperature after them."""
    inner = fit_temperature(held_out)
    weighed = _least_loss([RuledTypes(inner, w, 1.0) for w in RULE_WEIGHTS], held_out)
    return _least_loss([replace(weighed, temperature=t) for t in TEMPERATURES], held_out)


def fit_relations(held_out: HeldOut, types: RuledTypes, compatibility: F32) -> CompatibleRelations:
    """Fit the weight of the compatibility with types, then the temperature after it."""
    inner = fit_temperature(held_out)
    choices = [
        CompatibleRelations(inner, types, compatibility, weight, 1.0)
        for weight in COMPATIBILITY_WEIGHTS
    ]
    weighed = _least_loss(choices, held_out)
    return _least_loss([replace(weighed, temperature=t) for t in TEMPERATURES], held_out)


_C = TypeVar("_C", bound=Calibrator)


def _least_loss(choices: Sequence[_C], held_out: HeldOut) -> _C:
    losses = [_log_loss(choice(held_out), held_out.labels) for choice in choices]
    return choices[int(np.argmin(losses))]


def _log_loss(probabilities: Probabilities, labels: I64) -> float:
    return float(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-7).mean())


@dataclass(frozen=True, slots=True)
class Judgement:
    """Figures of an annotator on held-out tables."""

    columns: int
    micro_f1: float
    macro_f1: float
    ece: float
    thresholds: tuple[tuple[float, float, float], ...]
    """Wanted precision, threshold, coverage; precisions that no threshold reached are left out."""

    def __str__(self) -> str:
        return (
            f"{self.columns} columns, micro F1 {self.micro_f1:.4f}, macro F1 {self.macro_f1:.4f}, "
            f"ECE {self.ece:.4f}"
        )


def cross_fitted(held_out: HeldOut, fit: Callable[[HeldOut], Calibrator]) -> Judgement:
    """Measure scores and calibration error on columns that the calibration was not fitted on."""
    odd = held_out.table % 2 == 1
    confidence = np.zeros(len(held_out))
    answers = np.zeros(len(held_out), np.int64)
    for measured in (odd, ~odd):
        probabilities = fit(held_out.part(~measured))(held_out.part(measured))
        confidence[measured] = probabilities.max(axis=1)
        answers[measured] = probabilities.argmax(axis=1)
    right = answers == held_out.labels
    f1 = compute_class_f1(held_out.labels, answers)
    points = [(p, threshold_for_precision(confidence, right, p)) for p in PRECISIONS]
    return Judgement(
        columns=len(held_out),
        micro_f1=f1.micro_f1,
        macro_f1=f1.macro_f1,
        ece=expected_calibration_error(confidence, right),
        thresholds=tuple(
            (wanted, point.threshold, point.coverage) for wanted, point in points if point
        ),
    )


def calibrate_bytes(answers: Mapping[str, HeldOut]) -> tuple[PerTask, dict[str, Judgement]]:
    """Return the temperatures of the byte network and its figures."""
    figures = {
        f"byte_model/{name}": cross_fitted(part, fit_temperature) for name, part in answers.items()
    }
    return fit_temperatures(answers), figures


def calibrate_mixture(
    ngrams: Mapping[str, HeldOut],
    byte_model: Mapping[str, HeldOut],
    tables: Sequence[TrainingTable],
) -> tuple[Mixture, dict[str, Judgement]]:
    """Fit how the `combined` annotator mixes both models and the rules.

    Returns that and figures, also those of n-grams and rules without the byte network.
    """
    pairs = {name: aligned(ngrams[name], byte_model[name]) for name in byte_model if name in ngrams}
    mixers = {task: fit_mixer(*pairs[task]) for task in TASKS}
    mixed = {
        name: with_verdicts(_mix(*pair, mixers[_task(name)], mixers["cta"]), tables)
        for name, pair in pairs.items()
    }
    compatibility = compatibility_of(tables)
    ngrams_alone = {name: with_verdicts(pair[0], tables) for name, pair in pairs.items()}
    _, _, figures = _fit_with_rules("ngrams+rules", ngrams_alone, compatibility)
    types, relations, more = _fit_with_rules("combined", mixed, compatibility)
    mixture = Mixture(
        mix={task: mixers[task].weights for task in TASKS},
        sharpness={"cta": types.inner.temperature, "cpa": relations.inner.temperature},
        temperature={"cta": types.temperature, "cpa": relations.temperature},
        rule_weight=types.rule_weight,
        compatibility_weight=relations.weight,
    )
    return mixture, figures | more


def _fit_with_rules(
    annotator: str, answers: Mapping[str, HeldOut], compatibility: F32
) -> tuple[RuledTypes, CompatibleRelations, dict[str, Judgement]]:
    """Fit rules to types, then types to relations; return both fits and the figures."""
    types = fit_rules(answers["cta"])
    relations = fit_relations(answers["cpa"], types, compatibility)
    fits: dict[Task, Callable[[HeldOut], Calibrator]] = {
        "cta": fit_rules,
        "cpa": partial(fit_relations, types=types, compatibility=compatibility),
    }
    figures = {
        f"{annotator}/{name}": cross_fitted(part, fits[_task(name)])
        for name, part in answers.items()
    }
    return types, relations, figures


def _task(name: str) -> Task:
    """Return the task of held-out answers: "cta@source" are types of tables from one source."""
    return "cta" if name.startswith("cta") else "cpa"


@dataclass(frozen=True, slots=True)
class Mixer:
    """Mixes the logits of two models after giving each its temperature."""

    models: tuple[Tempered, Tempered]
    weights: tuple[float, float]

    def __call__(self, ngrams: F32, byte_model: F32) -> F32:
        """Return mixed log probabilities (columns, classes)."""
        first, second = self.models
        return mix_log_probabilities(first.apply(ngrams), second.apply(byte_model), self.weights)


def fit_mixer(ngrams: HeldOut, byte_model: HeldOut) -> Mixer:
    """Return the temperatures and the weights of least log loss."""
    models = (fit_temperature(ngrams), fit_temperature(byte_model))
    rows = np.arange(len(ngrams))

    def loss(mixer: Mixer) -> float:
        logits = mixer(ngrams.logits, byte_model.logits)
        top = logits.max(axis=1)
        total = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        return float((total - logits[rows, ngrams.labels]).mean())

    weights = (pair for pair in product(MIX_WEIGHTS, MIX_WEIGHTS) if any(pair))
    return min((Mixer(models, pair) for pair in weights), key=loss)


def _mix(ngrams: HeldOut, byte_model: HeldOut, mixer: Mixer, types: Mixer) -> HeldOut:
    assert ngrams.type_logits is not None, "n-grams answer both tasks"
    assert byte_model.type_logits is not None, "the byte network answers both tasks"
    return replace(
        ngrams,
        logits=mixer(ngrams.logits, byte_model.logits),
        type_logits=types(ngrams.type_logits, byte_model.type_logits),
    )


def compatibility_of(tables: Sequence[TrainingTable]) -> F32:
    """Return (relations, types) shares of types; all 1 for a relation without labelled columns."""
    shares = types_of_relations(tables)
    matrix = np.ones((len(RELATION_NAMES), len(TYPE_NAMES)), np.float32)
    for row, relation in zip(matrix, RELATION_NAMES, strict=True):
        if share := shares.get(relation):
            row[:] = [share.get(name, 0.0) for name in TYPE_NAMES]
    return matrix


def scores_per_class(answers: Mapping[str, HeldOut]) -> dict[str, dict[str, list[float]]]:
    """Return, per task and label, columns, precision, recall and F1 of the byte network alone."""
    scores = {}
    for task, names in (("cta", TYPE_NAMES), ("cpa", RELATION_NAMES)):
        if task in answers:
            report = compute_class_f1(
                answers[task].labels, answers[task].logits.argmax(axis=1), names
            )
            scores[task] = {
                score.label: [
                    score.support,
                    *(round(x, 3) for x in (score.precision, score.recall, score.f1)),
                ]
                for score in report.classes
            }
    return scores
