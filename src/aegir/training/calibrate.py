"""Calibration: how models are mixed on web and everyday tables, the weight of rules, thresholds for a precision.

    answers of the linear stages and the networks to held-out tables    --> Mixing of the `ngrams` annotator
    those, mixed, and answers of the byte network's fold runs           --> Mixture of the `combined` annotator

Everything is fitted on columns the models were not trained on, by least log loss; where several names are acceptable, by
that of their sum. Web and everyday tables have weights of their own (annotators/mixing.py).

Figures are cross-fitted: all weights are fitted on one half of the groups of tables and measured on the other, then
the other way round. Measured is what the annotator answers, with everything `decide` does.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from aegir.annotators.calibration import ByteCalibration, Mixture, NgramCalibration
from aegir.annotators.combined import apply_rules, apply_verdicts, reweigh_relations
from aegir.annotators.decide import decide
from aegir.annotators.mixing import FLOOR, Mixing, Weights, log_odds, per_column, with_none
from aegir.annotators.open_evaluation import OpenEvaluation, score_answers
from aegir.annotators.rules.judge import judge_columns
from aegir.annotators.rules_annotator import explain_verdict
from aegir.annotators.scores import Probabilities, TableScores
from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.arrays import F32, I64, Bools, softmax
from aegir.data.sources import (
    Source,
    TrainingTable,
    read_training_tables,
    types_of_relations,
)
from aegir.errors import UsageError
from aegir.files import replace_file
from aegir.metrics import compute_f1, expected_calibration_error, threshold_for_precision
from aegir.tables.labelled import Task
from aegir.training.held_out import (
    ANSWERS,
    HeldOut,
    column_names,
    load_answers,
    places_of,
    stack_folds,
)
from aegir.training.linear_stages import fit_temperatures
from aegir.vocabulary.hierarchy import goes_with
from aegir.vocabulary.terms import FINE_NAMES, NO_TYPE, RELATION_NAMES, TYPE_NAMES

LINEAR, NETWORK = "linear", "network"
"""The two models whose answers `aegir train ngrams` keeps."""
LINEAR_ANSWERS, NETWORK_ANSWERS = "linear.safetensors", "network-fold{}.safetensors"
"""The files in its folder."""
RULE_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
COMPATIBILITY_WEIGHTS = (0.25, 0.5, 0.75, 1.0)
VIA_FINE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
PRECISIONS = tuple(percent / 100 for percent in range(70, 100))
PRIOR = 0.5
"""Columns' worth of the types that a fine type goes with, added to those that were counted."""
Parts = Mapping[str, Probabilities]
"""Part of the answer to (columns, names) probabilities, the rest to 1 being none; personal and web to (columns,)."""


@dataclass(frozen=True, slots=True)
class Held:
    """Everything that is known about the columns of held-out tables of one origin."""

    tables: tuple[TrainingTable, ...]
    """The tables, all columns of each in order."""
    half: Bools
    """(tables,) which half of the groups a table is in."""
    known: Mapping[str, Bools]
    accepted: Mapping[str, Bools]
    parts: Mapping[str, Parts]
    """The probabilities of each model; columns that it did not answer have zeros."""
    answered: Mapping[str, Bools]
    """(columns,) which columns a model answered."""

    def columns(self, tables: Bools) -> Bools:
        """Return (columns,) which columns are of these tables."""
        return np.repeat(tables, [len(t.labelled.table.columns) for t in self.tables])


def probabilities_of(held_out: HeldOut) -> Parts:
    """Return the probabilities of held-out logits, as an annotator gives them."""
    parts: dict[str, Probabilities] = {}
    names = {"types": len(TYPE_NAMES), "relations": len(RELATION_NAMES), "fine": len(FINE_NAMES)}
    for part, logits in held_out.logits.items():
        if logits.shape[1] == 1:
            parts[part] = np.asarray(1 / (1 + np.exp(-logits[:, 0])), np.float32)
        else:
            parts[part] = softmax(logits)[:, : names[part]]
    return parts


def collect(
    origin: str, models: Mapping[str, Mapping[str, HeldOut]], tables: Sequence[TrainingTable]
) -> Held:
    """Bring the answers of several models to the same tables into one order."""
    network = models[NETWORK][origin]
    wanted = set(network.names)
    chosen = [table for table in tables if column_names(table) and column_names(table)[0] in wanted]
    names = [name for table in chosen for name in column_names(table)]
    places = places_of(names, network)
    if (places < 0).any():
        raise UsageError("the networks were not held out on whole tables")
    first = np.append(0, np.cumsum([len(t.labelled.table.columns) for t in chosen]))[:-1]
    halves = network.group[places][first] % 2 == 1
    parts, answered = {}, {}
    for model, by_origin in models.items():
        there = places_of(names, by_origin[origin])
        found = probabilities_of(by_origin[origin])
        answered[model] = there >= 0
        parts[model] = {
            part: np.where(
                (there >= 0).reshape(-1, *[1] * (array.ndim - 1)), array[np.maximum(there, 0)], 0
            ).astype(np.float32)
            for part, array in found.items()
        }
    return Held(
        tuple(chosen),
        halves,
        {part: known[places] for part, known in network.known.items()},
        {part: accepted[places] for part, accepted in network.accepted.items()},
        parts,
        answered,
    )


def extend_linear(linear: Parts, network: Parts) -> Parts:
    """Return the linear stages' probabilities with the networks' "none of these"."""
    return {
        part: linear[part] * network[part].sum(axis=1, keepdims=True)
        for part in ("types", "relations")
    }


def fit_pair(first: Probabilities, second: Probabilities, accepted: Bools) -> tuple[float, float]:
    """Return the weights of two models' log probabilities (columns, names) with least log loss, both at least 0."""
    from scipy.optimize import minimize

    logs = np.stack([np.log(with_none(part) + FLOOR) for part in (first, second)])

    def loss(weights: F32) -> tuple[float, F32]:
        logits = np.tensordot(weights, logs, 1)
        logits -= logits.max(axis=1, keepdims=True)
        powers = np.exp(logits)
        right = np.where(accepted, powers, 0)
        total, of_right = powers.sum(axis=1), right.sum(axis=1) + 1e-9
        slope = (logs * (powers / total[:, None] - right / of_right[:, None])).sum(axis=(1, 2))
        value = (np.log(total) - np.log(of_right)).mean()
        return float(value), slope / len(accepted)

    bounds = [(0.0, 3.0), (0.0, 3.0)]
    found = minimize(loss, np.array([0.5, 0.5]), jac=True, bounds=bounds, method="L-BFGS-B")
    return float(found.x[0]), float(found.x[1])


def fit_personal(first: F32, second: F32, personal: Bools) -> tuple[float, float, float]:
    """Return the weights of two log odds, and the constant, with least log loss."""
    from sklearn.linear_model import LogisticRegression

    features = np.stack([log_odds(first), log_odds(second)], axis=1)
    if len(set(personal.tolist())) < 2:
        return 0.5, 0.5, 0.0
    fitted = LogisticRegression(C=10.0).fit(features, personal)
    return float(fitted.coef_[0, 0]), float(fitted.coef_[0, 1]), float(fitted.intercept_[0])


def types_of_fine_from(fine: Bools, types: Bools) -> F32:
    """Return (fine types + 1, types + 1) shares of types among columns with both labels, and what goes together."""
    prior = np.array(
        [[goes_with(name, other) for other in (*TYPE_NAMES, None)] for name in FINE_NAMES]
        + [[True] * (len(TYPE_NAMES) + 1)],
        float,
    )
    prior *= PRIOR / prior.sum(axis=1, keepdims=True)
    shares = fine / np.maximum(fine.sum(axis=1, keepdims=True), 1)
    counts = shares.T @ (types / np.maximum(types.sum(axis=1, keepdims=True), 1)) + prior
    # as the weights file has it
    rounded = np.asarray(counts / counts.sum(axis=1, keepdims=True), np.float16)
    return rounded.astype(np.float32)


def fit_weights(
    held: Held, chosen: Bools, first: Parts, second: Parts, types_of_fine: F32
) -> Weights:
    """Fit how two models are mixed on the chosen columns (columns,) of one origin."""
    pairs: dict[str, tuple[float, float]] = {}
    for part in ("types", "relations", "fine"):
        used = np.flatnonzero(chosen & held.known[part])
        pairs[part] = (0.5, 0.5)
        if len(used):
            pairs[part] = fit_pair(first[part][used], second[part][used], held.accepted[part][used])
    used = np.flatnonzero(chosen & held.known["personal"])
    personal = (0.5, 0.5, 0.0)
    if len(used):
        personal = fit_personal(
            first["personal"][used], second["personal"][used], held.accepted["personal"][used, 0]
        )
    weights = Weights(pairs["types"], pairs["relations"], pairs["fine"], personal, 0.0)
    used = np.flatnonzero(chosen & held.known["types"] & held.known["fine"])
    if not len(used):
        return weights
    mixing, web = Mixing(weights, weights), np.ones(len(used), np.float32)
    types = mixing.mix("types", first["types"][used], second["types"][used], web)
    fine = mixing.mix("fine", first["fine"][used], second["fine"][used], web)

    def loss(share: float) -> float:
        asked = Mixing(*[replace(weights, via_fine=share)] * 2)
        found = with_none(asked.with_fine(types, fine, types_of_fine, web))
        return float(-np.log((found * held.accepted["types"][used]).sum(axis=1) + 1e-6).mean())

    return replace(weights, via_fine=min(VIA_FINE, key=loss))


def mix_parts(
    mixing: Mixing, first: Parts, second: Parts, web: F32, types_of_fine: F32
) -> dict[str, Probabilities]:
    """Return the mixture of two models for all columns, as the annotators make it."""
    mixed = {
        part: mixing.mix(part, first[part], second[part], web)
        for part in ("types", "relations", "fine")
    }
    mixed["personal"] = mixing.mix_personal(first["personal"], second["personal"], web)
    mixed["types"] = mixing.with_fine(mixed["types"], mixed["fine"], types_of_fine, web)
    return mixed


@dataclass(frozen=True, slots=True)
class Fitted:
    """What calibration fits for one annotator."""

    mixing: Mixing
    types_of_fine: F32
    rule_weight: float = 0.0
    compatibility_weight: float = 0.0

    @property
    def mixture(self) -> Mixture:
        """The part that ships with the byte network."""
        return Mixture(self.mixing, self.rule_weight, self.compatibility_weight)


class Calibrating:
    """Fits one annotator on held-out answers and replays it.

    `first` and `second` are the probabilities of the two models it mixes, per origin; the second may lack columns, which
    then go by the first alone.
    """

    def __init__(
        self,
        annotator: str,
        held: Mapping[str, Held],
        first: Mapping[str, Parts],
        second: Mapping[str, Parts],
        compatibility: F32,
        *,
        with_rules: bool,
    ) -> None:
        self.annotator, self.held, self.with_rules = annotator, held, with_rules
        self.first, self.second, self.compatibility = first, second, compatibility
        self.verdicts = {
            origin: judge_columns([c for t in each.tables for c in t.labelled.table.columns])
            for origin, each in held.items()
        }

    def fit(self, half: bool | None = None) -> Fitted:
        """Fit everything on one half of the groups, or on all."""
        chosen = {
            origin: each.columns(np.ones_like(each.half) if half is None else each.half == half)
            for origin, each in self.held.items()
        }
        everyday = self.held["open"]
        both = chosen["open"] & everyday.known["fine"] & everyday.known["types"]
        types_of_fine = types_of_fine_from(
            everyday.accepted["fine"][both], everyday.accepted["types"][both]
        )
        weights = {
            origin: fit_weights(
                each,
                chosen[origin] & each.answered[self._least_answered(origin)],
                self.first[origin],
                self.second[origin],
                types_of_fine,
            )
            for origin, each in self.held.items()
        }
        # Web tables have no labels of fine types and personal data: there, everyday tables decide.
        web = replace(
            weights["open"], **{p: getattr(weights["web"], p) for p in ("types", "relations")}
        )
        fitted = Fitted(Mixing(replace(web, via_fine=0.0), weights["open"]), types_of_fine)
        return self._fit_rules(fitted, chosen["web"]) if self.with_rules else fitted

    def _least_answered(self, origin: str) -> str:
        answered = self.held[origin].answered
        return min(answered, key=lambda model: int(answered[model].sum()))

    def _fit_rules(self, fitted: Fitted, chosen: Bools) -> Fitted:
        """Fit the weights that rules and types have on web tables."""
        held, verdicts = self.held["web"], self.verdicts["web"]
        mixed = self.mixed("web", fitted)
        used = np.flatnonzero(chosen & held.known["types"])
        of_used = [verdicts[i] for i in used]

        def loss(part: str, found: Probabilities, used: I64) -> float:
            right = (with_none(found) * held.accepted[part][used]).sum(axis=1)
            return float(-np.log(right + 1e-6).sum())

        rule_weight = min(
            RULE_WEIGHTS,
            key=lambda w: loss("types", apply_verdicts(mixed["types"][used], of_used, w), used),
        )
        related = np.flatnonzero(chosen & held.known["relations"])
        types = apply_verdicts(mixed["types"][related], [verdicts[i] for i in related], rule_weight)
        relations = mixed["relations"][related]
        compatibility_weight = min(
            COMPATIBILITY_WEIGHTS,
            key=lambda w: loss(
                "relations", reweigh_relations(relations, types, self.compatibility, w), related
            ),
        )
        return replace(fitted, rule_weight=rule_weight, compatibility_weight=compatibility_weight)

    def mixed(self, origin: str, fitted: Fitted) -> dict[str, Probabilities]:
        """Return the mixture for all columns of an origin; a column without values has zeros, as in the annotators."""
        held, first, second = self.held[origin], self.first[origin], self.second[origin]
        columns = [column for table in held.tables for column in table.labelled.table.columns]
        sizes = [len(table.labelled.table.columns) for table in held.tables]
        by_table = np.split(held.parts[NETWORK]["web"], np.cumsum(sizes)[:-1])
        web = per_column([float(found.mean()) for found in by_table], sizes)
        mixed = mix_parts(fitted.mixing, first, second, web, fitted.types_of_fine)
        missing = ~held.answered[self._least_answered(origin)]
        empty = [not column.present for column in columns]
        for part in mixed:
            mixed[part][missing] = first[part][missing]
            mixed[part][empty] = 0
        return mixed | {"web": web}

    def replay(self, origin: str, fitted: Fitted) -> list[TableAnnotation]:
        """Return what the annotator would have answered to the held-out tables."""
        held, mixed = self.held[origin], self.mixed(origin, fitted)
        ends = np.cumsum([len(t.labelled.table.columns) for t in held.tables]).tolist()
        answers = []
        for table, end in zip(held.tables, ends, strict=True):
            span = slice(end - len(table.labelled.table.columns), end)
            verdicts = self.verdicts[origin][span]
            types, relations = mixed["types"][span], mixed["relations"][span]
            web = float(mixed["web"][span][0])
            if self.with_rules:
                types, relations = apply_rules(
                    types, relations, verdicts, web, fitted.mixture, self.compatibility
                )
            scores = TableScores(
                types,
                relations,
                table.labelled.table.subject,
                tuple(map(explain_verdict, verdicts)),
                fine=mixed["fine"][span],
                personal=mixed["personal"][span],
                web=web,
            )
            answers.append(decide(table.labelled.table, scores, self.annotator))
        return answers

    def cross_fitted(self, origin: str) -> list[TableAnnotation]:
        """Return the answers to all tables, each by weights fitted on the other half of the groups."""
        held = self.held[origin]
        by_half = {half: self.replay(origin, self.fit(not half)) for half in (False, True)}
        return [by_half[bool(half)][i] for i, half in enumerate(held.half)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Figures of an annotator on held-out tables, for one task."""

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


def judge(held: Held, answers: Sequence[TableAnnotation], annotator: str) -> dict[str, Judgement]:
    """Return the figures per task; files that do not calibrate, and everyday tables, are judged by themselves.

    Everyday columns without a type or relation count where one was answered, and then as wrong.
    """
    figures = {}
    suffixes = [_suffix(table.source) for table in held.tables]
    tasks: tuple[Task, ...] = ("cta", "cpa")
    for task in tasks:
        for suffix in sorted(set(suffixes)):
            rows = [
                (accepted, answer)
                for table, annotation, own in zip(held.tables, answers, suffixes, strict=True)
                if own == suffix
                and (table.source.cta_weight if task == "cta" else table.source.cpa_weight) > 0
                for labels, answer in zip(table.labelled.labels, annotation.columns, strict=True)
                for accepted in [labels.types if task == "cta" else labels.relations]
                if accepted or (accepted is not None and _said(task, answer)[0])
            ]
            if rows:
                figures[f"{annotator}/{task}{suffix}"] = _judge(task, rows)
    return figures


def _suffix(source: Source) -> str:
    if source.everyday:
        return "@open"
    return "" if source.calibrates else f"@{source.stem}"


def _judge(task: Task, rows: Sequence[tuple[tuple[str, ...], ColumnAnnotation]]) -> Judgement:
    said = [(accepted or (NO_TYPE,), *_said(task, answer)) for accepted, answer in rows]
    f1 = compute_f1([accepted for accepted, _, _ in said], [name for _, name, _ in said])
    answered = [(name in accepted, sure) for accepted, name, sure in said if name]
    right = np.array([correct for correct, _ in answered], bool)
    confidence = np.array([sure for _, sure in answered])
    points = [(p, threshold_for_precision(confidence, right, p)) for p in PRECISIONS]
    share = len(answered) / len(rows)
    return Judgement(
        len(rows),
        f1.micro_f1,
        f1.macro_f1,
        expected_calibration_error(confidence, right),
        tuple((p, point.threshold, point.coverage * share) for p, point in points if point),
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
    folds = sorted(work.glob(NETWORK_ANSWERS.format("*")))
    if not folds or not (work / LINEAR_ANSWERS).exists():
        raise UsageError(f"{work} has no answers of n-grams; make them with: aegir train ngrams")
    linear = load_answers(work / LINEAR_ANSWERS)
    temperature = fit_temperatures(linear["web"])
    tempered = {
        origin: replace(
            held,
            logits={
                part: logits / np.float32(temperature["cta" if part == "types" else "cpa"])
                for part, logits in held.logits.items()
            },
        )
        for origin, held in linear.items()
    }
    networks = stack_folds([load_answers(fold) for fold in folds])
    return {LINEAR: tempered, NETWORK: networks}, temperature


def calibrate_ngrams(
    work: Path, tables: Sequence[TrainingTable]
) -> tuple[NgramCalibration, F32, dict[str, Judgement], OpenEvaluation]:
    """Fit how linear stages and networks are mixed, on the answers in the folder of their training.

    Returns that, the types of fine types, and figures on web and on everyday tables.
    """
    answers, temperature = load_models(work)
    calibrating = _ngrams(answers, tables)
    fitted = calibrating.fit()
    calibration = NgramCalibration(temperature, fitted.mixing)
    return calibration, fitted.types_of_fine, *_figures(calibrating)


def calibrate_folds(
    folds: Sequence[Path], data: Sequence[Path], ngrams: Path, out: Path
) -> tuple[dict[str, Judgement], OpenEvaluation]:
    """Fit how the `combined` annotator mixes n-grams, the byte network of these fold runs, and rules.

    Writes what `aegir train export` needs to `out` as JSON; returns figures on web and on everyday tables.
    """
    tables = read_training_tables(data)
    answers, _ = load_models(ngrams)
    bytes_ = stack_folds([load_answers(folder / ANSWERS) for folder in folds])
    inner = _ngrams(answers, tables)
    held = {origin: collect(origin, {**answers, "bytes": bytes_}, tables) for origin in inner.held}
    combined = Calibrating(
        "combined",
        held,
        {origin: inner.mixed(origin, inner.fit()) for origin in held},
        {origin: each.parts["bytes"] for origin, each in held.items()},
        inner.compatibility,
        with_rules=True,
    )
    fitted = combined.fit()
    figures, everyday = _figures(combined)
    facts = {
        "calibration": ByteCalibration({"cta": 1.0, "cpa": 1.0}, fitted.mixture).as_json(),
        "held_out": {name: asdict(judgement) for name, judgement in figures.items()},
        "everyday": everyday.as_dict(),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_file(out, (json.dumps(facts, indent=1) + "\n").encode())
    return figures, everyday


def _ngrams(
    answers: Mapping[str, Mapping[str, HeldOut]], tables: Sequence[TrainingTable]
) -> Calibrating:
    held = {origin: collect(origin, answers, tables) for origin in answers[NETWORK]}
    second = {origin: each.parts[NETWORK] for origin, each in held.items()}
    first = {
        origin: {**second[origin], **extend_linear(each.parts[LINEAR], second[origin])}
        for origin, each in held.items()
    }
    return Calibrating("ngrams", held, first, second, compatibility_of(tables), with_rules=False)


def _figures(calibrating: Calibrating) -> tuple[dict[str, Judgement], OpenEvaluation]:
    held = calibrating.held
    answers = {origin: calibrating.cross_fitted(origin) for origin in held}
    figures: dict[str, Judgement] = {}
    for origin, each in held.items():
        figures |= judge(each, answers[origin], calibrating.annotator)
    return figures, score_answers([t.labelled for t in held["open"].tables], answers["open"])
