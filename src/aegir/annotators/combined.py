"""The default annotator: two learnt models agree on a first answer, then rules confirm or veto.

    mixture    log P = a log P(n-grams) + b log P(byte model)
    types      log P + weight * strength where a rule supports a type;  P = 0 where the values rule it out
    relations  log P + weight * log(share of the relation's columns that are of the types just found)

A veto is ignored when it would leave nothing. The result is calibrated again, because rules make the models
surer than they were. All weights were fitted on held-out tables (training/combine.py).
"""

from collections.abc import Sequence

import numpy as np

from aegir.annotators.byte_model import ByteModelAnnotator
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
"""What a named fine type adds to the log odds of the type it speaks for most, times its confidence."""
SPEAKS = 0.5
"""Strength from which a rule is taken to know what the column is."""
INCOMPATIBLE = 0.03
"""What a relation is still believed when the type speaks against it: types may be wrong, too."""
RULED_OUT = 0.9
"""Share of a relation's columns that must be of vetoed types; it hit 2 of 2,318 right relations."""
NOTHING = 0.02
"""Weight of "no known relation"; it wins where every likely relation contradicts the type."""


class CombinedAnnotator:
    """The models propose, rules dispose."""

    name = "combined"

    def __init__(self, ngrams: NgramsAnnotator, byte_model: ByteModelAnnotator) -> None:
        self.ngrams, self.byte_model = ngrams, byte_model
        facts = byte_model.model.facts
        if "combined" not in facts["calibration"]:
            raise UsageError(
                "these weights of the byte model were never combined with n-grams; use --annotator "
                "byte_model, or export them with what `aegir train calibrate` found"
            )
        self.operating_points = byte_model.operating_points_of(self.name)
        self._compatibility = ngrams.model.compatibility
        self._usual_types = usual_types(self._compatibility)
        self._settings = facts["calibration"]["combined"]

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Probabilities for every column of every table."""
        learnt = [
            self._mix(one, other)
            for one, other in zip(
                self.ngrams.score(tables), self.byte_model.score(tables), strict=True
            )
        ]
        verdicts = iter(judge_columns([column for table in tables for column in table.columns]))
        return [
            self._combine(scores, [next(verdicts) for _ in table.columns])
            for table, scores in zip(tables, learnt, strict=True)
        ]

    def _mix(self, ngrams: TableScores, byte_model: TableScores) -> TableScores:
        """The two models' answers as one; the subject and the reasons are the n-grams'."""
        mixed = []
        for task, one, other in (
            ("cta", ngrams.types, byte_model.types),
            ("cpa", ngrams.relations, byte_model.relations),
        ):
            logits = mix_log_probabilities(one, other, tuple(self._settings["mix"][task]))
            both = softmax(logits / np.float32(self._settings["sharpness"][task]))
            both[~one.any(axis=1)] = 0
            mixed.append(both)
        return TableScores(mixed[0], mixed[1], ngrams.subject, ngrams.explanations)

    def _combine(self, learnt: TableScores, verdicts: list[Verdict]) -> TableScores:
        if not verdicts:
            return learnt
        temperatures = self._settings["temperature"]
        rule_weight = float(self._settings["rule_weight"])
        types = apply_verdicts(learnt.types, verdicts, rule_weight, temperatures["cta"])
        known = learnt.types.any(axis=1)
        types[~known] = 0
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
            float(self._settings["compatibility_weight"]),
            temperatures["cpa"],
        )
        relations = rule_out_relations(relations, verdicts, self._usual_types)
        relations[~known] = 0
        return TableScores(types, relations, learnt.subject, explanations)


def mix_log_probabilities(one: Probabilities, other: Probabilities, mix: Sequence[float]) -> F32:
    """(columns, classes) weighted sum of log probabilities."""
    first, second = (np.float32(weight) for weight in mix)
    return np.asarray(first * np.log(one + FLOOR) + second * np.log(other + FLOOR), np.float32)


def apply_verdicts(
    types: Probabilities, verdicts: Sequence[Verdict], weight: float, temperature: float
) -> Probabilities:
    """(columns, 82) probabilities after the rules have spoken.

    Where a rule speaks for a type, what is vetoed is shared out. Where none does, it is lost: a column that
    is none of what the model thought likely may well be none of the 82.
    """
    logits = np.log(types + FLOOR)
    for row, verdict in zip(logits, verdicts, strict=True):
        for name, strength in verdict.support:
            row[TYPE_INDEX[name]] += weight * strength
        if verdict.fine_type and verdict.support:
            # A fine type is named only when sure; the type it speaks for most should go with it.
            row[TYPE_INDEX[verdict.support[0][0]]] += FINE_TYPE_WEIGHT * verdict.fine_confidence
    told = softmax(logits / np.float32(temperature))
    for row, verdict in zip(told, verdicts, strict=True):
        if len(verdict.vetoes) < len(row):
            row[[TYPE_INDEX[name] for name in verdict.vetoes]] = 0
            if verdict.support and verdict.support[0][1] >= SPEAKS:
                row /= row.sum()
    return told


def reweigh_relations(
    relations: Probabilities,
    types: Probabilities,
    compatibility: F32,
    weight: float,
    temperature: float,
) -> Probabilities:
    """(columns, 108) relations believed as far as the types allow; the rest to 1 is "none of these".

    `compatibility` (108, 82) is the share of each relation's columns that are of each type.
    """
    allowed = rows_times(types, compatibility.T)
    logits = np.log(relations + FLOOR) + np.float32(weight) * np.log(allowed + INCOMPATIBLE)
    nothing = np.full((len(logits), 1), np.log(NOTHING))
    both = np.hstack([logits, nothing]).astype(np.float32) / np.float32(temperature)
    return softmax(both)[:, :-1]


def usual_types(compatibility: F32) -> F32:
    """(108, 82) shares that sum to 1; a relation of which nothing is known is spread over all types."""
    return np.asarray(compatibility / compatibility.sum(axis=1, keepdims=True), np.float32)


def rule_out_relations(
    relations: Probabilities, verdicts: Sequence[Verdict], usual: F32
) -> Probabilities:
    """(columns, 108) without relations nearly all of whose columns are of types the rules have vetoed."""
    told = relations.copy()
    for row, verdict in zip(told, verdicts, strict=True):
        vetoed = usual[:, [TYPE_INDEX[name] for name in verdict.vetoes]].sum(axis=1)
        if verdict.vetoes and len(verdict.vetoes) < usual.shape[1]:
            row[vetoed > RULED_OUT] = 0
    return told


def _explain(verdict: Verdict, learnt: Explanation, overruled: str | None) -> Explanation:
    """The rules' reasons, then the model's, or which answer of the model did not stand."""
    rules = explain_verdict(verdict)
    if overruled is None:
        return Explanation(rules.fine_type, (*rules.evidence, *learnt.evidence))
    if overruled in verdict.vetoes:
        said = f"the model's first guess, {overruled}, was ruled out"
    else:
        said = f"the model's first guess was {overruled}"
    return Explanation(rules.fine_type, (*rules.evidence, said))
