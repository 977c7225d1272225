"""The default annotator: the learnt model first, then rules confirm or veto.

    log P + weight * strength where a rule supports a type;  P = 0 where the values rule a type out

A veto is ignored when it would leave nothing. The sum is calibrated again, because rules make the model
surer than it was.
"""

from collections.abc import Sequence

import numpy as np

from aegir.annotators.annotator import FineGuess, Probabilities, TableScores
from aegir.annotators.ngrams import NgramsAnnotator, softmax
from aegir.annotators.rules.judge import judge_columns
from aegir.annotators.rules.verdict import Verdict
from aegir.annotators.rules_annotator import TYPE_INDEX, fine_guess
from aegir.tables.table import Table
from aegir.vocabulary.types import TYPE_NAMES

FLOOR = 1e-9


class CombinedAnnotator:
    """n-grams propose, rules dispose."""

    name = "combined"

    def __init__(self, ngrams: NgramsAnnotator) -> None:
        self.ngrams = ngrams
        self.operating_points = ngrams.model.operating_points(self.name)
        calibration = ngrams.model.facts["calibration"]
        self._rule_weight = float(calibration["rule_weight"])
        self._temperatures = calibration["combined"]

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Probabilities for every column of every table."""
        learnt = self.ngrams.score(tables)
        verdicts = iter(judge_columns([column for table in tables for column in table.columns]))
        return [
            self._combine(scores, [next(verdicts) for _ in table.columns])
            for table, scores in zip(tables, learnt, strict=True)
        ]

    def _combine(self, learnt: TableScores, verdicts: list[Verdict]) -> TableScores:
        if not verdicts:
            return learnt
        types = apply_verdicts(learnt.types, verdicts, self._rule_weight, self._temperatures["cta"])
        before, after = learnt.types.argmax(axis=1), types.argmax(axis=1)
        fine = tuple(
            _explain(verdict, guess, None if was == now else TYPE_NAMES[was])
            for verdict, guess, was, now in zip(verdicts, learnt.fine, before, after, strict=True)
        )
        return TableScores(types, learnt.relations, learnt.subject, fine)


def apply_verdicts(
    types: Probabilities, verdicts: Sequence[Verdict], weight: float, temperature: float
) -> Probabilities:
    """(columns, 82) probabilities after the rules have spoken."""
    logits = np.log(types + FLOOR)
    for row, verdict in zip(logits, verdicts, strict=True):
        for name, strength in verdict.support:
            row[TYPE_INDEX[name]] += weight * strength
        vetoed = [TYPE_INDEX[name] for name in verdict.vetoes]
        if len(vetoed) < len(row):
            row[vetoed] = np.log(FLOOR) * temperature * 2
    return softmax(logits / np.float32(temperature))


def _explain(verdict: Verdict, learnt: FineGuess, overruled: str | None) -> FineGuess:
    """The rules' reasons, then the model's, or which answer of the model they overruled."""
    rules = fine_guess(verdict)
    model = learnt.evidence if overruled is None else (f"the rules overrule {overruled}",)
    return FineGuess(rules.fine_type, (*rules.evidence, *model))
