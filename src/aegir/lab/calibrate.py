"""Calibration: how models are mixed on web and everyday tables, the weight of rules, thresholds for a precision.

    answers of the linear stages and the networks to held-out tables    --> Mixing of the `ngrams` annotator
    those, mixed, and answers of the byte network's fold runs           --> Mixture of the `combined` annotator

Everything is fitted on columns the models were not trained on; web and everyday tables have weights of their own. Figures
are cross-fitted: all weights are fitted on one half of the groups of tables and measured on the other, then the other way
round (replay.py).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.evaluation.open_evaluation import OpenEvaluation, score_answers
from aegir.lab.data.sources import (
    Source,
    TrainingTable,
    read_training_tables,
    types_of_relations,
)
from aegir.lab.held_out import ANSWERS, HeldOut, column_names, load_answers, stack_folds
from aegir.lab.linear_stages import fit_temperatures
from aegir.lab.mixing_fit import Parts
from aegir.lab.model_card import LEAST_COLUMNS
from aegir.lab.pair_fit import LabelledPairs
from aegir.lab.replay import LINEAR, NETWORK, Calibrating, Held, collect, replay_alone
from aegir.pipeline.judged_columns import JudgedColumn
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.calibration import IDENTIFYING, LABELS, ByteCalibration, NgramCalibration
from aegir.readers.mixing import Mixing, Weights, with_none
from aegir.readers.ngrams.annotator import EVERYDAY
from aegir.readers.ngrams.network import RAREST
from aegir.tables.labelled import Accepted, ColumnLabels, Task
from aegir.tables.leakage import HeldOutGroups
from aegir.vocabulary.terms import IDENTIFYING_LEVELS, NO_TYPE, RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import F32, Bools
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.metrics import compute_f1, expected_calibration_error, threshold_for_precision

BYTES = "bytes"
TRAINED_ON = "open/tables.jsonl.gz"
"""The everyday tables that byte networks are trained on (lab/byte_network/corpus.py)."""
LINEAR_ANSWERS, NETWORK_ANSWERS = "linear.safetensors", "network-fold{}.safetensors"
"""The files in the folder of `aegir train ngrams`."""
_Row = tuple[Accepted, ColumnAnnotation]
"""What is right for a column, and the answer."""
_Said = tuple[Accepted, str | None, float]
"""What is right for a column, the name that was given, if any, and its confidence."""
PRECISIONS = tuple(percent / 100 for percent in range(70, 100))
DOUBT = 1.645
"""Standard errors by which answers must exceed a precision: without them, thresholds for 0.9 gave 0.875 on other tables of the web."""


def extend_linear(linear: Parts, network: Parts, web: F32, answered: Bools) -> Parts:
    """Return the linear stages' probabilities with the networks' "none of these".

    On everyday tables, and where they have not answered (columns,), the networks' stand for theirs.
    """
    theirs = ((web >= EVERYDAY) & answered)[:, None]
    return {
        part: np.where(
            theirs, linear[part] * network[part].sum(axis=1, keepdims=True), network[part]
        )
        for part in ("types", "relations")
    }


@dataclass(frozen=True, slots=True)
class Judgement:
    """Figures of an annotator on held-out tables, for one task."""

    columns: int
    micro_f1: float
    macro_f1: float
    ece: float
    thresholds: tuple[tuple[float, float, float], ...]
    """Wanted precision, threshold, coverage; precisions that no threshold reached are left out."""
    classes: Mapping[str, Sequence[float]]
    """Per label: columns, precision, recall and F1."""

    def __str__(self) -> str:
        return (
            f"{self.columns} columns, micro F1 {self.micro_f1:.4f}, macro F1 {self.macro_f1:.4f}, "
            f"ECE {self.ece:.4f}"
        )


def judge(held: Held, answers: Sequence[TableAnnotation], annotator: str) -> dict[str, Judgement]:
    """Return the metrics per task; files that do not calibrate, and everyday tables, are judged by themselves.

    Everyday columns for which none is acceptable count where a type or relation was answered, and then by that. So do those with another
    label than their type, a fine type or a kind.
    """
    rows = _rows(held, answers)
    metrics = {
        f"{annotator}/{task}{suffix}": _judge(_accepted_and_said(task, rows[task, suffix]))
        for task, suffix in rows
    }
    if finer := _finer_labels(held, answers):
        metrics[f"{annotator}/{LABELS}"] = _judge(finer)
    if identifying := _identifying_columns(held, answers):
        metrics[f"{annotator}/{IDENTIFYING}"] = _judge(identifying)
    return metrics


def _rows(held: Held, answers: Sequence[TableAnnotation]) -> dict[tuple[Task, str], list[_Row]]:
    """Return what is right and what was answered, by task and by the tables that are judged together."""
    rows: dict[tuple[Task, str], list[_Row]] = {}
    for table, annotation in zip(held.tables, answers, strict=True):
        trust: dict[Task, float] = {
            "cta": table.source.cta_weight,
            "cpa": table.source.cpa_weight,
        }
        for task, weight in trust.items():
            judged = [
                (accepted, answer)
                for labels, answer in zip(table.labelled.labels, annotation.columns, strict=True)
                for accepted in [labels.types if task == "cta" else labels.relations]
                if accepted is not None
                and (_said(task, answer)[0] or not _none_right(task, labels))
            ]
            if weight > 0 and judged:
                rows.setdefault((task, _suffix(table.source)), []).extend(judged)
    return dict(sorted(rows.items()))


def _none_right(task: Task, labels: ColumnLabels) -> bool:
    """Return whether no answer is right: such a column has no class to be judged by, and counts where one was answered."""
    return bool(labels.accepts_type(None)) if task == "cta" else labels.relations == ()


def _suffix(source: Source) -> str:
    if source.everyday:
        return "@open"
    return "" if source.calibrates else f"@{source.stem}"


def _accepted_and_said(task: Task, rows: Sequence[_Row]) -> list[_Said]:
    return [(accepted or (NO_TYPE,), *_said(task, answer)) for accepted, answer in rows]


def _finer_labels(held: Held, answers: Sequence[TableAnnotation]) -> list[_Said]:
    """Return the labels of everyday columns that are fine types or kinds, where it is known whether they are right."""
    judged = [
        JudgedColumn(labels, answer)
        for table, annotation in zip(held.tables, answers, strict=True)
        if table.source.everyday
        for labels, answer in zip(table.labelled.labels, annotation.columns, strict=True)
    ]
    return [
        (
            (one.answer.label,) if one.label_right else one.labels.fine or (NO_TYPE,),
            one.answer.label,
            one.answer.confidence,
        )
        for one in judged
        if one.answer.label and one.label_level != "type" and one.label_right is not None
    ]


def _identifying_columns(held: Held, answers: Sequence[TableAnnotation]) -> list[_Said]:
    """Return the everyday columns of which it is known or said that they identify persons."""
    judged = [
        (labels.personal_level in IDENTIFYING_LEVELS, answer)
        for table, annotation in zip(held.tables, answers, strict=True)
        if table.source.everyday
        for labels, answer in zip(table.labelled.labels, annotation.columns, strict=True)
        if labels.personal is not None
    ]
    return [
        (
            (IDENTIFYING,) if right else (NO_TYPE,),
            IDENTIFYING if answer.personal_level in IDENTIFYING_LEVELS else None,
            answer.identifying_confidence or 0.0,
        )
        for right, answer in judged
        if right or answer.personal_level in IDENTIFYING_LEVELS
    ]


def _judge(said: Sequence[_Said]) -> Judgement:
    f1 = compute_f1([accepted for accepted, _, _ in said], [name for _, name, _ in said])
    answered = [(name in accepted, sure) for accepted, name, sure in said if name]
    right = np.array([correct for correct, _ in answered], bool)
    confidence = np.array([sure for _, sure in answered])
    points = [(p, threshold_for_precision(confidence, right, p, DOUBT)) for p in PRECISIONS]
    share = len(answered) / len(said)
    return Judgement(
        len(said),
        f1.micro_f1,
        f1.macro_f1,
        expected_calibration_error(confidence, right),
        tuple((p, point.threshold, point.coverage * share) for p, point in points if point),
        {
            score.label: (
                score.support,
                *(round(x, 3) for x in (score.precision, score.recall, score.f1)),
            )
            for score in f1.classes
        },
    )


def _said(task: Task, answer: ColumnAnnotation) -> tuple[str | None, float]:
    if task == "cta":
        return answer.type, answer.type_confidence
    return (answer.relation.label, answer.relation.confidence) if answer.relation else (None, 0.0)


def compatibility_of(tables: Sequence[TrainingTable]) -> F32:
    """Return (relations, types) shares of types; all 1 for a relation without labelled columns."""
    shares = types_of_relations(tables)
    matrix = np.ones((len(RELATION_NAMES), len(TYPE_NAMES)), np.float32)
    for row, relation in zip(matrix, RELATION_NAMES, strict=True):
        if share := shares.get(relation):
            row[:] = [share.get(name, 0.0) for name in TYPE_NAMES]
    return matrix


def load_models(work: Path) -> tuple[dict[str, dict[str, HeldOut]], dict[Task, float]]:
    """Read the answers that `aegir train ngrams` kept, those of the linear stages with their temperatures."""
    folds = _find_answers(work)
    linear = load_answers(work / LINEAR_ANSWERS)
    temperature = fit_temperatures([linear["web"]])
    tempered = {origin: _tempered(held, temperature) for origin, held in linear.items()}
    networks = stack_folds([load_answers(fold) for fold in folds])
    return {LINEAR: tempered, NETWORK: networks}, temperature


def _find_answers(work: Path) -> list[Path]:
    """Return the files with the networks' answers in the folder of `aegir train ngrams`; raise if it has none."""
    folds = sorted(work.glob(NETWORK_ANSWERS.format("*")))
    if not folds or not (work / LINEAR_ANSWERS).exists():
        raise UsageError(f"{work} has no answers of n-grams; make them with: aegir train ngrams")
    return folds


def _tempered(held: HeldOut, temperature: Mapping[Task, float]) -> HeldOut:
    """Return the answers with logits of types and relations divided by their temperatures."""
    scales: dict[str, float] = {"types": temperature["cta"], "relations": temperature["cpa"]}
    logits = {part: each / np.float32(scales.get(part, 1.0)) for part, each in held.logits.items()}
    return replace(held, logits=logits)


def calibrate_ngrams(
    work: Path, tables: Sequence[TrainingTable]
) -> tuple[NgramCalibration, F32, dict[str, Judgement], OpenEvaluation]:
    """Fit how linear stages and networks are mixed, on the answers in the folder of their training.

    Returns that, the types of fine types, and metrics on web and on everyday tables.
    """
    answers, temperature = load_models(work)
    calibrating = calibrating_ngrams(answers, tables)
    fitted = calibrating.fit()
    calibration = NgramCalibration(temperature, fitted.mixing, fitted.trust(), powers=fitted.powers)
    return calibration, fitted.types_of_fine, *_metrics(calibrating)


def calibrate_folds(
    folds: Sequence[Path],
    data: Sequence[Path],
    ngrams: Path,
    out: Path,
    annotator: str = "byte_model",
) -> tuple[dict[str, Judgement], OpenEvaluation]:
    """Fit how the `combined` annotator mixes n-grams, the byte network or swarm of these fold runs, and rules.

    Writes what `aegir train export` needs to `out` as JSON; returns metrics on web and on everyday tables, those of the
    second model alone under the name of its annotator.
    """
    tables = read_training_tables(data)
    _find_answers(ngrams)
    temperature = fit_temperatures(list(_stacked(folds).values()))
    combined = calibrating_combined(folds, tables, ngrams, temperature)
    held = combined.held
    fitted = combined.fit()
    metrics, everyday = _metrics(combined)
    for each in held.values():
        answers_alone = replay_alone(each, BYTES, annotator)
        answered = [i for i, known in enumerate(each.by_table(each.answered[BYTES])) if known.any()]
        answered_tables = replace(each, tables=tuple(each.tables[i] for i in answered))
        metrics |= judge(answered_tables, [answers_alone[i] for i in answered], annotator)
    write_calibration(out, ByteCalibration(temperature, fitted.mixture), metrics, everyday)
    return metrics, everyday


def calibrate_again(
    byte_model: ByteModelAnnotator, data: Sequence[Path], ngrams: Path, out: Path
) -> tuple[dict[str, Judgement], OpenEvaluation]:
    """Fit what follows the mixture again, for a byte network beside n-grams that were trained anew.

    Folds of the byte network are not needed: the weights with which it is mixed are kept. It answers everyday tables of files that
    it was not trained on; elsewhere its training tables are left to the n-grams, so figures of web tables are without it.
    """
    mixture = byte_model.calibration.mixture
    if mixture is None:
        raise UsageError(
            "these weights of the byte network were never mixed with n-grams; give the folders of fold runs"
        )
    tables = read_training_tables(data)
    seen = HeldOutGroups([t.labelled for t in tables if t.source.file == TRAINED_ON])
    unseen = [
        table
        for table in tables
        if table.source.everyday
        and table.source.file != TRAINED_ON
        and table.labelled not in seen
        and any(labels.types is not None for labels in table.labelled.labels)
    ]
    models, _ = load_models(ngrams)
    answers = {"open": _answers_of(byte_model, unseen), "web": _answers_of(byte_model, unseen[:1])}
    combined = _combined({**models, BYTES: answers}, tables, mixture.mixing)
    fitted = combined.fit()
    metrics, everyday = _metrics(combined)
    temperature = byte_model.calibration.temperature
    calibration = ByteCalibration(temperature, fitted.mixture)
    write_calibration(out, calibration, metrics, everyday, _figures_alone(byte_model))
    return metrics, everyday


def _figures_alone(byte_model: ByteModelAnnotator) -> dict[str, Any]:
    """Return the figures of the byte network alone, which do not change with the n-grams."""
    known = byte_model.model.facts.get("held_out", {})
    return {name: each for name, each in known.items() if not name.startswith("combined/")}


def _answers_of(byte_model: ByteModelAnnotator, tables: Sequence[TrainingTable]) -> HeldOut:
    """Return the answers of a byte network to tables that it has not seen."""
    scores = byte_model.score([table.labelled.table for table in tables])
    logits = {
        part: np.log(with_none(np.concatenate([getattr(each, part) for each in scores])) + RAREST)
        for part in ("types", "relations", "fine")
    }
    sizes = [len(table.labelled.table.columns) for table in tables]
    names = tuple(name for table in tables for name in column_names(table))
    zeros = np.zeros(len(names), np.int64)
    return HeldOut(logits, {}, {}, np.repeat(np.arange(len(tables)), sizes), zeros, names)


def write_calibration(
    out: Path,
    calibration: ByteCalibration,
    metrics: Mapping[str, Judgement],
    everyday: OpenEvaluation,
    kept: Mapping[str, Any] | None = None,
) -> None:
    """Write what `aegir train export` needs as JSON; `kept` are figures that were measured before."""
    facts = {
        "calibration": calibration.as_json(),
        "held_out": {
            **(kept or {}),
            **{name: asdict(judgement) for name, judgement in metrics.items()},
        },
        "everyday": everyday.as_dict(),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_file(out, (json.dumps(facts, indent=1) + "\n").encode())


def calibrating_combined(
    runs: Sequence[Path],
    tables: Sequence[TrainingTable],
    ngrams: Path,
    temperature: Mapping[Task, float] | None = None,
) -> Calibrating:
    """Prepare the calibration of `combined` on answers of fold runs, and of the n-grams whose folder is named.

    `temperature` is that of the fold runs' answers; 1 if it is None.
    """
    answers, _ = load_models(ngrams)
    of_runs = _stacked(runs)
    if temperature:
        of_runs = {origin: _tempered(each, temperature) for origin, each in of_runs.items()}
    return _combined({**answers, BYTES: of_runs}, tables)


def _combined(
    models: Mapping[str, Mapping[str, HeldOut]],
    tables: Sequence[TrainingTable],
    kept: Mixing | None = None,
) -> Calibrating:
    answers = {name: models[name] for name in (LINEAR, NETWORK)}
    inner = calibrating_ngrams(answers, tables)
    held = {origin: collect(origin, models, tables) for origin in inner.held}
    second = {origin: each.parts[BYTES] for origin, each in held.items()}
    return Calibrating(
        "combined",
        held,
        first=inner,
        second=second,
        compatibility=inner.compatibility,
        with_rules=True,
        pairs=LabelledPairs.of(tables),
        kept=kept,
    )


def ngrams_with_rules(
    models: Mapping[str, Mapping[str, HeldOut]], tables: Sequence[TrainingTable]
) -> Calibrating:
    """Prepare the calibration of rules, n-grams and pairs without a byte network, which is what low effort answers by."""
    inner = calibrating_ngrams(models, tables)
    first_alone = Weights((1.0, 0.0), (1.0, 0.0), (1.0, 0.0))
    return Calibrating(
        "ngrams",
        inner.held,
        first=inner,
        second=inner.second,
        compatibility=inner.compatibility,
        with_rules=True,
        pairs=LabelledPairs.of(tables),
        kept=Mixing(first_alone, first_alone),
    )


def _stacked(runs: Sequence[Path]) -> dict[str, HeldOut]:
    return stack_folds([load_answers(run / ANSWERS) for run in runs])


def calibrating_ngrams(
    answers: Mapping[str, Mapping[str, HeldOut]],
    tables: Sequence[TrainingTable],
    validation: bool = True,
) -> Calibrating:
    """Prepare the calibration of the `ngrams` annotator on the answers of linear stages and networks.

    With `validation` false, answers to other tables that the networks kept out are mixed, too; nothing can be fitted on those.
    """
    held = {
        origin: collect(origin, answers, tables, validation=validation)
        for origin in answers[NETWORK]
    }
    second = {origin: each.parts[NETWORK] for origin, each in held.items()}
    first = {
        origin: {
            **second[origin],
            **extend_linear(each.parts[LINEAR], second[origin], each.web(), each.answered[LINEAR]),
        }
        for origin, each in held.items()
    }
    compatibility = compatibility_of(tables)
    return Calibrating("ngrams", held, first, second, compatibility, with_rules=False)


def _metrics(calibrating: Calibrating) -> tuple[dict[str, Judgement], OpenEvaluation]:
    held = calibrating.held
    answers = {origin: calibrating.cross_fitted(origin) for origin in held}
    metrics: dict[str, Judgement] = {}
    for origin, each in held.items():
        metrics |= judge(each, answers[origin], calibrating.annotator)
    everyday = score_answers([t.labelled for t in held["open"].tables], answers["open"])
    listed = tuple(part for part in everyday.domains if part.columns >= LEAST_COLUMNS)
    return metrics, replace(everyday, domains=listed)  # hundreds of smaller ones say little
