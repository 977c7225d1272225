"""The default annotator: a mixture of n-grams and byte network, corrected by rules.

    mixture    log P = a log P(n-grams) + b log P(byte model)
    types      log P + weight * strength where a rule supports a type;  P = 0 where the values rule it out
    relations  log P + weight * log(share of the relation's columns that are of the column's likely types)

Vetoes that would leave no type are ignored. The result is calibrated again, because rules make the models
more certain. All weights were fitted on held-out tables (training/calibrate.py).
"""

from collections.abc import Sequence

import numpy as np

from aegir.annotators.byte_model import ByteModelAnnotator
from aegir.annotators.calibration import TASKS, OperatingPoints
from aegir.annotators.ngrams.annotator import NgramsAnnotator
from aegir.annotators.rules.judge import Verdict, judge_columns
from aegir.annotators.rules_annotator import explain_verdict
from aegir.annotators.scores import Explanation, Probabilities, TableScores
from aegir.arrays import F32, softmax
from aegir.errors import UsageError
from aegir.model.dense import rows_times
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_INDEX, TYPE_NAMES

FLOOR = 1e-9
FINE_TYPE_WEIGHT = 1.0
"""Times its confidence, this is added to the log odds of the type that a named fine type supports most."""
SURE_SUPPORT = 0.5
"""Strength from which a rule is taken to know the column's type."""
INCOMPATIBLE = 0.03
"""Added to the compatibility of type and relation, so that a wrong type cannot exclude a relation."""
RULED_OUT = 0.9
"""Share of a relation's columns that must be of vetoed types; it excluded 2 of 2,318 right relations."""
NO_RELATION = 0.02
"""Weight of "no known relation"; it wins where every likely relation contradicts the type."""


class CombinedAnnotator:
    """Mixes two learnt models and applies the rules to the mixture."""

    name = "combined"

    def __init__(self, ngrams: NgramsAnnotator, byte_model: ByteModelAnnotator) -> None:
        if byte_model.calibration.mixture is None:
            raise UsageError(
                "these weights of the byte model were not calibrated together with n-grams; use "
                "--annotator byte_model, or export them with the result of `aegir train calibrate`"
            )
        self.ngrams, self.byte_model = ngrams, byte_model
        self.operating_points = OperatingPoints.from_facts(byte_model.model.facts, self.name)
        self._mixture = byte_model.calibration.mixture
        self._compatibility = ngrams.model.compatibility
        self._type_shares = type_shares(self._compatibility)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        learnt = [
            self._mix(*scores)
            for scores in zip(self.ngrams.score(tables), self.byte_model.score(tables), strict=True)
        ]
        verdicts = iter(judge_columns([column for table in tables for column in table.columns]))
        return [
            self._apply_rules(scores, [next(verdicts) for _ in table.columns])
            for table, scores in zip(tables, learnt, strict=True)
        ]

    def _mix(self, ngrams: TableScores, byte_model: TableScores) -> TableScores:
        """Mix the probabilities of both models; subject and explanations are those of the n-grams."""
        mixed = []
        pairs = ((ngrams.types, byte_model.types), (ngrams.relations, byte_model.relations))
        for task, (first, second) in zip(TASKS, pairs, strict=True):
            logits = mix_log_probabilities(first, second, self._mixture.mix[task])
            both = softmax(logits / np.float32(self._mixture.sharpness[task]))
            both[~first.any(axis=1)] = 0
            mixed.append(both)
        return TableScores(mixed[0], mixed[1], ngrams.subject, ngrams.explanations)

    def _apply_rules(self, learnt: TableScores, verdicts: list[Verdict]) -> TableScores:
        if not verdicts:
            return learnt
        mixture = self._mixture
        types = apply_verdicts(
            learnt.types, verdicts, mixture.rule_weight, mixture.temperature["cta"]
        )
        has_values = learnt.types.any(axis=1)
        types[~has_values] = 0
        before, after = learnt.types.argmax(axis=1), types.argmax(axis=1)
        explanations = tuple(
            _explain(verdict, explanation, None if was == now else TYPE_NAMES[was])
            for verdict, explanation, was, now in zip(
                verdicts, learnt.explanations, before, after, strict=True
            )
        )
        relations = reweigh_relations(
            learnt.relations,
            types,
            self._compatibility,
            mixture.compatibility_weight,
            mixture.temperature["cpa"],
        )
        relations = rule_out_relations(relations, verdicts, self._type_shares)
        relations[~has_values] = 0
        return TableScores(types, relations, learnt.subject, explanations)


def mix_log_probabilities(
    first: Probabilities, second: Probabilities, weights: Sequence[float]
) -> F32:
    """Return the weighted sum (columns, classes) of log probabilities."""
    a, b = (np.float32(weight) for weight in weights)
    return np.asarray(a * np.log(first + FLOOR) + b * np.log(second + FLOOR), np.float32)


def apply_verdicts(
    types: Probabilities, verdicts: Sequence[Verdict], weight: float, temperature: float
) -> Probabilities:
    """Return type probabilities (columns, 82) after the rules were applied.

    Where a rule supports a type, the probability of vetoed types is shared out among the others. Where none
    does, it is lost: a column that is none of the likely types may well be none of the 82.
    """
    logits = np.log(types + FLOOR)
    for row, verdict in zip(logits, verdicts, strict=True):
        for name, strength in verdict.support:
            row[TYPE_INDEX[name]] += weight * strength
        if verdict.fine_type and verdict.support:
            row[TYPE_INDEX[verdict.support[0][0]]] += FINE_TYPE_WEIGHT * verdict.fine_confidence
    result = softmax(logits / np.float32(temperature))
    for row, verdict in zip(result, verdicts, strict=True):
        if len(verdict.vetoes) < len(row):
            row[[TYPE_INDEX[name] for name in verdict.vetoes]] = 0
            if verdict.support and verdict.support[0][1] >= SURE_SUPPORT:
                row /= row.sum()
    return result


def reweigh_relations(
    relations: Probabilities,
    types: Probabilities,
    compatibility: F32,
    weight: float,
    temperature: float,
) -> Probabilities:
    """Return relation probabilities (columns, 108) weighed by the types; the rest to 1 is "none of these".

    `compatibility` (108, 82) is the share of each relation's columns that are of each type.
    """
    allowed = rows_times(types, compatibility.T)
    logits = np.log(relations + FLOOR) + np.float32(weight) * np.log(allowed + INCOMPATIBLE)
    none = np.full((len(logits), 1), np.log(NO_RELATION))
    both = np.hstack([logits, none]).astype(np.float32) / np.float32(temperature)
    return softmax(both)[:, :-1]


def type_shares(compatibility: F32) -> F32:
    """Return (108, 82) shares that sum to 1; those of a relation without data are equal for all types."""
    return np.asarray(compatibility / compatibility.sum(axis=1, keepdims=True), np.float32)


def rule_out_relations(
    relations: Probabilities, verdicts: Sequence[Verdict], shares: F32
) -> Probabilities:
    """Return (columns, 108) without the relations nearly all of whose columns are of vetoed types."""
    result = relations.copy()
    for row, verdict in zip(result, verdicts, strict=True):
        vetoed = shares[:, [TYPE_INDEX[name] for name in verdict.vetoes]].sum(axis=1)
        if verdict.vetoes and len(verdict.vetoes) < shares.shape[1]:
            row[vetoed > RULED_OUT] = 0
    return result


def _explain(verdict: Verdict, learnt: Explanation, overruled: str | None) -> Explanation:
    """Give the rules' reasons, then the models' reasons or the type of theirs that was overruled."""
    rules = explain_verdict(verdict)
    if overruled is None:
        return Explanation(rules.fine_type, (*rules.evidence, *learnt.evidence))
    if overruled in verdict.vetoes:
        reason = f"the model's first guess, {overruled}, was ruled out"
    else:
        reason = f"the model's first guess was {overruled}"
    return Explanation(rules.fine_type, (*rules.evidence, reason))
