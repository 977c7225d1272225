"""Fits how names alone are read: the weights of columns without values (readers/ngrams/annotator.py).

    held-out tables of each fold --values removed--> both readings by the fold's networks --fit_names--> Weights

`aegir train ngrams` calls it. The figures are cross-fitted: the weights for the tables of a fold were fitted on the other folds.

Several names can be acceptable, and the loss is that of their sum; a confidence is that of one name. So the sharpness of types and
fine types is chosen last, by the squared error of the confidence of the likeliest name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from aegir.lab.mixing_fit import fit_weights
from aegir.readers.mixing import Weights, with_none
from aegir.readers.ngrams.annotator import NgramNetworks, mix_names
from aegir.readers.ngrams.network import TABLE_HEADS
from aegir.tables.labelled import LabelledTable
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import F32, I64, Bools
from aegir_rl.base.metrics import expected_calibration_error

NAMES: Mapping[str, Sequence[str]] = {
    "types": TYPE_NAMES,
    "fine": FINE_NAMES,
    "relations": RELATION_NAMES,
}
POWERS = np.round(np.arange(0.8, 2.05, 0.05), 2)
Reading = dict[str, F32]
_Right = tuple[str | None, ...] | None
"""Acceptable names, None standing for none of them; None for a column that is not labelled."""


class NamedColumns:
    """Columns with a header, their two readings, and what would be right."""

    def __init__(self, folds: Sequence[tuple[NgramNetworks, Sequence[LabelledTable]]]) -> None:
        """`folds` are networks and tables that these were not trained on."""
        read = [networks.read_names([each.table for each in own]) for networks, own in folds]
        self.inside, self.alone = (_joined([each[number] for each in read]) for number in (0, 1))
        tables = [each for _, own in folds for each in own]
        labels = [label for each in tables for label in each.labels]
        named = np.array([bool(c.name) for each in tables for c in each.table.columns], bool)
        missing = [label.fine is not None and "all_missing" in label.fine for label in labels]
        named &= ~np.array(missing, bool)  # their labels say what the values are, not the header
        wanted: dict[str, list[_Right]] = {
            "types": [label.right_types for label in labels],
            "fine": [label.fine for label in labels],
            "relations": [label.relations for label in labels],
        }
        self.known = {
            head: named & np.array([each is not None for each in wanted[head]]) for head in wanted
        }
        self.accepted = {head: _accepted(wanted[head], NAMES[head]) for head in wanted}
        sizes = [sum(len(each.labels) for each in own) for _, own in folds]
        self.fold = np.repeat(np.arange(len(folds)), sizes)
        self.folds = len(folds)

    def at(self, reading: Reading, rows: I64) -> Reading:
        return {head: part[rows] for head, part in reading.items()}

    def fit(self, chosen: Bools, types_of_fine: F32) -> Weights:
        """Fit the weights on the chosen columns."""
        weights = fit_weights(
            self.known, self.accepted, chosen, self.inside, self.alone, types_of_fine
        )
        rows = np.flatnonzero(chosen & self.known["types"] & self.known["fine"])
        power = min(
            POWERS,
            key=lambda each: self._error("fine", rows, _sharper(weights, each), types_of_fine),
        )
        weights = _sharper(weights, float(power))
        power = min(
            POWERS,
            key=lambda each: self._error(
                "types",
                rows,
                replace(weights, sharpness=weights.sharpness * float(each)),
                types_of_fine,
            ),
        )
        return replace(weights, sharpness=weights.sharpness * float(power))

    def answers(self, weights: Weights, rows: I64, types_of_fine: F32) -> Reading:
        """Return the answers to these columns."""
        return mix_names(
            self.at(self.inside, rows), self.at(self.alone, rows), weights, types_of_fine
        )

    def _error(self, head: str, rows: I64, weights: Weights, types_of_fine: F32) -> float:
        confidence, right = self.judge(head, rows, self.answers(weights, rows, types_of_fine))
        return float(((confidence - right) ** 2).mean())

    def judge(self, head: str, rows: I64, answers: Reading) -> tuple[F32, Bools]:
        """Return the confidence in the likeliest name, none included, and whether it is acceptable."""
        parts = with_none(answers[head])
        best = parts.argmax(axis=1)
        return parts.max(axis=1), self.accepted[head][rows, best]

    def cross_fitted(self, types_of_fine: F32) -> Reading:
        """Return answers to all columns, by weights fitted on the groups of other folds."""
        whole: Reading = {}
        for fold in range(self.folds):
            rows = np.flatnonzero(self.fold == fold)
            weights = self.fit(self.fold != fold, types_of_fine)
            for head, part in self.answers(weights, rows, types_of_fine).items():
                whole.setdefault(head, np.zeros((len(self.fold), *part.shape[1:]), np.float32))
                whole[head][rows] = part
        return whole


def fit_names(
    folds: Sequence[tuple[NgramNetworks, Sequence[LabelledTable]]], types_of_fine: F32
) -> tuple[Weights, dict[str, float]]:
    """Return weights fitted on these tables, and cross-fitted figures."""
    columns = NamedColumns(folds)
    answers = columns.cross_fitted(types_of_fine)
    figures: dict[str, float] = {}
    for head in ("types", "fine"):
        rows = np.flatnonzero(columns.known[head])
        confidence, right = columns.judge(head, rows, columns.at(answers, rows))
        figures |= {
            f"{head}/columns": len(rows),
            f"{head}/right": float(right.mean()),
            f"{head}/confidence": float(confidence.mean()),
            f"{head}/ece": expected_calibration_error(confidence, right),
        }
    everything = np.ones(len(columns.fold), bool)
    return columns.fit(everything, types_of_fine), figures


def _sharper(weights: Weights, power: float) -> Weights:
    first, second = weights.fine
    return replace(weights, fine=(first * power, second * power))


def _accepted(wanted: Sequence[_Right], names: Sequence[str]) -> Bools:
    """Return (columns, names + 1) what is right, none being the last."""
    index = {name: number for number, name in enumerate((*names, None))}
    accepted = np.zeros((len(wanted), len(names) + 1), bool)
    for row, each in zip(accepted, wanted, strict=True):
        row[[index[name] for name in each or ()]] = True
        if each == ():
            row[-1] = True
    return accepted


def _joined(readings: Sequence[Reading]) -> Reading:
    """Return the readings of columns one after the other, without those of tables."""
    return {
        head: np.concatenate([reading[head] for reading in readings])
        for head in readings[0]
        if head not in TABLE_HEADS
    }
