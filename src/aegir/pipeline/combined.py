"""The `combined` annotator: a mixture of n-grams and byte network, on tables of the web corrected by rules.

    asked      the byte network reads a table only if the n-grams leave the type of one of its columns unsure
    mixture    mixing.py: log P = a log P(n-grams) + b log P(byte network); fine types count for types, too
    types      log P + weight * strength where a rule supports a type;  P = 0 where the values rule it out
    relations  log P + weight * log(share of the relation's columns that are of the column's likely types)
    pairs      pairs.py: types, then relations, of all columns of a table of the web together

The n-gram networks read what the rules say as evidence. On tables of the web, where the linear stages lead, rules are
applied once more, as far as the table is one of the web: the weights of the last three lines are multiplied by its
probability. On everyday tables only telephones are ruled out, where a rule names something else: digits and dashes look
like them in any script. Vetoes that would leave no type are ignored.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from aegir.pipeline.part_of_table import Part
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.calibration import Mixture, OperatingPoints
from aegir.readers.mixing import per_column, with_none
from aegir.readers.ngrams.annotator import trust_fine
from aegir.readers.rules.headers import TELEPHONES
from aegir.readers.rules.judge import Verdict, judge_columns
from aegir.readers.scores import (
    LIKELY,
    NO_VALUES,
    SURE_TYPE,
    Explanation,
    Probabilities,
    TableScores,
    explain_networks,
    explain_verdict,
    table_spans,
    type_places,
)
from aegir.tables.table import Table
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, RELATION_INDEX, TYPE_INDEX, TYPE_NAMES
from aegir_rl.base.arrays import F32, Bools, softmax
from aegir_rl.base.dense import rows_times
from aegir_rl.base.errors import UsageError

FLOOR = 1e-9
FINE_TYPE_WEIGHT = 1.0
"""Times its confidence, this is added to the log odds of the type that a named fine type supports most."""
SURE_SUPPORT = 0.5
"""Strength from which a rule is taken to know the column's type."""
INCOMPATIBLE = 0.03
"""Added to the compatibility of type and relation, so that a wrong type cannot exclude a relation."""
RULED_OUT = 0.9
"""Share of a relation's columns that must be of vetoed types; it excluded 2 of 2,318 right relations."""

PHONE_NAMES = ("telephone_number", "fax_number")
_PHONE_NAMES = [FINE_INDEX[name] for name in PHONE_NAMES]
_PHONE_TYPES = [TYPE_INDEX[name] for name in sorted(TELEPHONES)]
_PHONE_RELATIONS = [RELATION_INDEX[name] for name in sorted(TELEPHONES)]


class _Learnt(Protocol):
    """What is read of the n-gram model beside its answers."""

    @property
    def compatibility(self) -> F32: ...
    @property
    def types_of_fine(self) -> F32: ...


class NgramAnswers(Protocol):
    """Whatever answers as n-grams do; `NgramsAnnotator` does."""

    @property
    def model(self) -> _Learnt: ...
    def score_judged(
        self, tables: Sequence[Table], verdicts: Sequence[Verdict]
    ) -> list[TableScores]: ...


class CombinedAnnotator:
    """Mixes two learnt models and applies the rules to the mixture."""

    name = "combined"

    def __init__(self, ngrams: NgramAnswers, byte_model: ByteModelAnnotator) -> None:
        if byte_model.calibration.mixture is None:
            raise UsageError(
                "these weights of the byte model were not calibrated together with n-grams; use "
                "--annotator byte_model, or export them with the result of `aegir train calibrate`"
            )
        self.ngrams, self.byte_model = ngrams, byte_model
        self.operating_points = OperatingPoints.from_facts(byte_model.facts, self.name)
        self._mixture = byte_model.calibration.mixture
        self._compatibility = ngrams.model.compatibility

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        return self.score_and_tell(tables)[0]

    def score_and_tell(self, tables: Sequence[Table]) -> tuple[list[TableScores], list[bool]]:
        """Return the same, and for every table whether the byte network was asked."""
        verdicts, learnt = self.read_cheaply(tables)
        asked = [is_unsure(each.types) for each in learnt]
        woken = [np.full(len(each.types), a) for each, a in zip(learnt, asked, strict=True)]
        return self.correct(tables, self.wake(tables, learnt, woken), verdicts), asked

    def read_cheaply(self, tables: Sequence[Table]) -> tuple[list[Verdict], list[TableScores]]:
        """Return the rules' verdict on every column, and what the n-grams say before rules correct it."""
        verdicts = judge_columns([column for table in tables for column in table.columns])
        return verdicts, self.ngrams.score_judged(tables, verdicts)

    def wake(
        self,
        tables: Sequence[Table],
        learnt: Sequence[TableScores],
        woken: Sequence[Bools],
        context: int | None = None,
    ) -> list[TableScores]:
        """Return what the n-grams say, mixed with the byte network for the columns that are `woken`.

        The byte network reads these columns beside at most `context` others of their table, or beside all of them.
        """
        parts = [
            Part.of(table, scores, columns, context)
            for table, scores, columns in zip(tables, learnt, woken, strict=True)
        ]
        asked = [place for place, part in enumerate(parts) if part.columns]
        few = [parts[place].table for place in asked]
        mixed = self._mix(
            few,
            [parts[place].of_scores(learnt[place]) for place in asked],
            self.byte_model.score_beside(few, [parts[place].woken for place in asked]),
        )
        result = list(learnt)
        for place, scores in zip(asked, mixed, strict=True):
            result[place] = parts[place].put(scores, into=learnt[place])
        return result

    def correct(
        self, tables: Sequence[Table], learnt: Sequence[TableScores], verdicts: Sequence[Verdict]
    ) -> list[TableScores]:
        """Return scores to which the rules were applied."""
        return [
            self._apply_rules(scores, verdicts[span])
            for scores, span in zip(learnt, table_spans(tables), strict=True)
        ]

    def _mix(
        self,
        tables: Sequence[Table],
        ngrams: Sequence[TableScores],
        byte_model: Sequence[TableScores],
    ) -> list[TableScores]:
        """Mix the probabilities of both models; the subject is that of the n-grams."""
        if not tables:
            return []
        mixing = self._mixture.mixing
        web = per_column([scores.web for scores in ngrams], [len(t.columns) for t in tables])
        types, relations, fine = (
            mixing.mix(head, _joined(ngrams, head), _joined(byte_model, head), web)
            for head in ("types", "relations", "fine")
        )
        personal = mixing.mix_personal(
            _joined(ngrams, "personal"), _joined(byte_model, "personal"), web
        )
        types = mixing.with_fine(types, fine, self.ngrams.model.types_of_fine, web)
        empty = [not column.present for table in tables for column in table.columns]
        for part in (types, relations, fine, personal):
            part[empty] = 0
        return [
            replace(
                scores,
                types=types[span],
                relations=relations[span],
                explanations=_explain_mixture(table, scores, types[span], fine[span]),
                fine=fine[span],
                personal=personal[span],
            )
            for table, scores, span in zip(tables, ngrams, table_spans(tables), strict=True)
        ]

    def _apply_rules(self, learnt: TableScores, verdicts: Sequence[Verdict]) -> TableScores:
        if not verdicts:
            return learnt
        types, relations = apply_rules(
            learnt.types, learnt.relations, verdicts, learnt.web, self._mixture, self._compatibility
        )
        fine = learnt.fine
        if fine is not None and learnt.web < LIKELY:
            fine = rule_out_phone_names(fine, verdicts)
        ruled = trust_fine(
            replace(learnt, types=types, relations=relations, fine=fine),
            verdicts,
            self._mixture.rule_trust,
        )
        explanations = tuple(
            _explain(
                _without_others(verdict, int(types[row].argmax())),
                learnt.explanations[row],
                _overruled(learnt, ruled, row),
            )
            for row, verdict in enumerate(verdicts)
        )
        return replace(ruled, explanations=explanations)


def is_unsure(types: Probabilities) -> bool:
    """Return whether no type, nor none of them, is sure for some column of a table."""
    return bool((with_none(types).max(axis=1) < SURE_TYPE).any())


def _joined(scores: Sequence[TableScores], part: str) -> F32:
    """Return one part of the scores for all columns of all tables."""
    return np.concatenate([getattr(each, part) for each in scores])


def apply_rules(
    types: Probabilities,
    relations: Probabilities,
    verdicts: Sequence[Verdict],
    web: float,
    mixture: Mixture,
    compatibility: F32,
) -> tuple[Probabilities, Probabilities]:
    """Return the types and relations of one table after rules and pairs were applied, as far as it is one of the web."""
    if web < LIKELY:
        return rule_out_phones(types, relations, verdicts)
    types = apply_verdicts(types, verdicts, mixture.rule_weight * web)
    if mixture.pairs is not None:
        types = mixture.pairs.types.apply(types, web)
    weight = mixture.compatibility_weight * web
    relations = reweigh_relations(relations, types, compatibility, weight)
    relations = rule_out_relations(relations, verdicts, type_shares(compatibility))
    if mixture.pairs is not None:
        relations = mixture.pairs.relations.apply(relations, web)
    return types, relations


def apply_verdicts(
    types: Probabilities, verdicts: Sequence[Verdict], weight: float
) -> Probabilities:
    """Return type probabilities (columns, 82) after the rules were applied; the rest to 1 stays "none of these".

    Where a rule supports a type, the probability of vetoed types is shared out among the others. Where none
    does, it is lost: a column that is none of the likely types may well be none of the 82.
    """
    some = types.sum(axis=1, keepdims=True)
    logits = np.log(types + FLOOR)
    for row, verdict in zip(logits, verdicts, strict=True):
        for name, strength in verdict.support:
            row[TYPE_INDEX[name]] += weight * strength
        if verdict.fine_type and verdict.support:
            row[TYPE_INDEX[verdict.support[0][0]]] += FINE_TYPE_WEIGHT * verdict.fine_confidence
    result: Probabilities = softmax(logits.astype(np.float32))
    for row, verdict in zip(result, verdicts, strict=True):
        if len(verdict.vetoes) < len(row):
            row[type_places(verdict.vetoes)] = 0
            if verdict.support and verdict.support[0][1] >= SURE_SUPPORT:
                row /= row.sum()
    return np.asarray(result * some, np.float32)


def rule_out_phones(
    types: Probabilities, relations: Probabilities, verdicts: Sequence[Verdict]
) -> tuple[Probabilities, Probabilities]:
    """Return the probabilities without telephones where a rule names something else, whose type gets theirs."""
    types, relations = types.copy(), relations.copy()
    for row, related, verdict in zip(types, relations, verdicts, strict=True):
        if _names_no_phone(verdict):
            moved = row[_PHONE_TYPES].sum()
            row[_PHONE_TYPES] = related[_PHONE_RELATIONS] = 0
            if verdict.support:
                row[TYPE_INDEX[verdict.support[0][0]]] += moved
    return types, relations


def rule_out_phone_names(fine: Probabilities, verdicts: Sequence[Verdict]) -> Probabilities:
    """Return the probabilities of fine types without telephones where a rule names something else, which gets theirs."""
    fine = fine.copy()
    for row, verdict in zip(fine, verdicts, strict=True):
        if verdict.fine_type and _names_no_phone(verdict):
            moved = row[_PHONE_NAMES].sum()
            row[_PHONE_NAMES] = 0
            row[FINE_INDEX[verdict.fine_type]] += moved
    return fine


def _names_no_phone(verdict: Verdict) -> bool:
    """Return whether a rule names a fine type that rules out telephones; that values are equal says nothing."""
    named = verdict.fine_type not in (None, "constant", *PHONE_NAMES)
    return named and verdict.vetoes >= TELEPHONES


def reweigh_relations(
    relations: Probabilities, types: Probabilities, compatibility: F32, weight: float
) -> Probabilities:
    """Return relation probabilities (columns, 108) weighed by the types; the rest to 1 is "none of these".

    `compatibility` (108, 82) is the share of each relation's columns that are of each type.
    """
    allowed = rows_times(types, compatibility.T)
    none = np.maximum(1 - relations.sum(axis=1, keepdims=True), FLOOR)
    factors = (allowed + INCOMPATIBLE) ** np.float32(weight)
    weighed = np.hstack([relations * factors, none * factors.mean(axis=1, keepdims=True)])
    return np.asarray(weighed / weighed.sum(axis=1, keepdims=True), np.float32)[:, :-1]


def type_shares(compatibility: F32) -> F32:
    """Return (108, 82) shares that sum to 1; those of a relation without data are equal for all types."""
    return np.asarray(compatibility / compatibility.sum(axis=1, keepdims=True), np.float32)


def rule_out_relations(
    relations: Probabilities, verdicts: Sequence[Verdict], shares: F32
) -> Probabilities:
    """Return (columns, 108) without the relations nearly all of whose columns are of vetoed types."""
    vetoed = np.zeros((len(verdicts), shares.shape[1]), np.float32)
    for row, verdict in zip(vetoed, verdicts, strict=True):
        if len(verdict.vetoes) < len(row):
            row[type_places(verdict.vetoes)] = 1
    return np.where(rows_times(vetoed, shares.T) > RULED_OUT, np.float32(0), relations)


def _explain_mixture(
    table: Table, ngrams: TableScores, types: Probabilities, fine: Probabilities
) -> tuple[Explanation, ...]:
    """Explain what both models read; on tables of the web, what the n-grams read where that is the same type."""
    if ngrams.web < LIKELY:
        return explain_networks(table.columns, types, fine)
    return tuple(
        explanation
        if first == both or not row.any()
        else Explanation(
            evidence=(f"reads like {TYPE_NAMES[both]}, by n-grams alone like {TYPE_NAMES[first]}",)
        )
        for row, explanation, first, both in zip(
            types,
            ngrams.explanations,
            ngrams.types.argmax(axis=1).tolist(),
            types.argmax(axis=1).tolist(),
            strict=True,
        )
    )


def _overruled(learnt: TableScores, ruled: TableScores, row: int) -> str | None:
    """Return what the models read a column like, if the rules made another type or fine type likelier."""
    was, now = int(learnt.types[row].argmax()), int(ruled.types[row].argmax())
    if was != now:
        return TYPE_NAMES[was]
    if learnt.web >= LIKELY or learnt.fine is None or ruled.fine is None:
        return None
    named = int(learnt.fine[row].argmax())
    if learnt.fine[row, named] < LIKELY or named == int(ruled.fine[row].argmax()):
        return None
    return FINE_NAMES[named]


def _without_others(verdict: Verdict, answered: int) -> Verdict:
    """Return the verdict without a finding that supports other types than the likeliest: it is no reason for that."""
    if not verdict.argues_for or TYPE_NAMES[answered] in verdict.argues_for:
        return verdict
    return replace(verdict, evidence=verdict.evidence[1:])


def _explain(verdict: Verdict, learnt: Explanation, overruled: str | None) -> Explanation:
    """Give the rules' reasons, then the models' reasons or the type of theirs that was overruled."""
    rules = explain_verdict(verdict)
    if rules.evidence and learnt.evidence == (NO_VALUES,):  # the rules say so, too
        return rules
    if overruled is None:
        return Explanation(rules.fine_type, (*rules.evidence, *learnt.evidence))
    if overruled in verdict.vetoes:
        reason = f"the models' first guess, {overruled}, was ruled out"
    else:
        reason = f"the models' first guess was {overruled}"
    return Explanation(rules.fine_type, (*rules.evidence, reason))
