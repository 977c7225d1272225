"""Fits how names alone are read: the weights of columns without values (readers/ngrams/annotator.py).

    tables the networks were not trained on --values removed--> both readings of every header --fit_names--> Weights

    python -m aegir.lab.names_fit WEIGHTS TABLES.jsonl.gz... [--known TRAINED_ON.jsonl.gz...] [--out NEW_WEIGHTS]

Tables that share a group with those in --known are left out. The figures are cross-fitted: the weights for the tables of a group were
fitted on other groups. With --out the weights file is written with weights fitted on all groups.

Several names can be acceptable, and the loss is that of their sum; a confidence is that of one name. So the sharpness of types and
fine types is chosen last, by the squared error of the confidence of the likeliest name.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from aegir.answers.gold_labels import within_vocabulary
from aegir.lab.mixing_fit import fit_weights
from aegir.readers.mixing import Weights, with_none
from aegir.readers.ngrams.annotator import NgramNetworks, mix_names
from aegir.readers.ngrams.model import NgramModel
from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir.tables.leakage import HeldOutGroups, fold_of_group, group_tables
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import F32, I64, Bools
from aegir_rl.base.metrics import expected_calibration_error

NAMES: Mapping[str, Sequence[str]] = {
    "types": TYPE_NAMES,
    "fine": FINE_NAMES,
    "relations": RELATION_NAMES,
}
FOLDS = 5
POWERS = np.round(np.arange(0.8, 2.05, 0.05), 2)
Reading = dict[str, F32]
_Right = tuple[str | None, ...] | None
"""Acceptable names, None standing for none of them; None for a column that is not labelled."""


class NamedColumns:
    """Columns with a header, their two readings, and what would be right."""

    def __init__(self, networks: NgramNetworks, tables: Sequence[LabelledTable]) -> None:
        self.inside, self.alone = networks.read_names([each.table for each in tables])
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
        personal = [label.personal for label in labels]
        self.known["personal"] = named & np.array([each is not None for each in personal])
        self.accepted["personal"] = np.array([[bool(each)] for each in personal])
        groups = group_tables(tables)
        folds = fold_of_group(groups, FOLDS, 0)
        self.fold = np.repeat(
            np.array([folds[group] for group in groups]), [len(each.labels) for each in tables]
        )

    def at(self, reading: Reading, rows: I64) -> Reading:
        return {head: part[rows] for head, part in reading.items()}

    def fit(self, chosen: Bools, types_of_fine: F32) -> Weights:
        """Fit the weights on the chosen columns."""
        first, second = (
            {**reading, "personal": reading["personal"][:, 0]}
            for reading in (self.inside, self.alone)
        )
        weights = fit_weights(self.known, self.accepted, chosen, first, second, types_of_fine)
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
        for fold in range(FOLDS):
            rows = np.flatnonzero(self.fold == fold)
            weights = self.fit(self.fold != fold, types_of_fine)
            for head, part in self.answers(weights, rows, types_of_fine).items():
                whole.setdefault(head, np.zeros((len(self.fold), *part.shape[1:]), np.float32))
                whole[head][rows] = part
        return whole


def fit_names(
    networks: NgramNetworks, tables: Sequence[LabelledTable], types_of_fine: F32
) -> tuple[Weights, dict[str, float]]:
    """Return weights fitted on these tables, and cross-fitted figures."""
    columns = NamedColumns(networks, tables)
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
    rows = np.flatnonzero(columns.known["personal"])
    said, personal = answers["personal"][rows] >= 0.5, columns.accepted["personal"][rows, 0]
    figures |= {
        "personal/columns": len(rows),
        "personal/precision": float(personal[said].mean()),
        "personal/recall": float(said[personal].mean()),
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


def main() -> None:
    """Fit, print the figures, and write the weights file."""
    parser = argparse.ArgumentParser(description="Fit how names alone are read.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--known", type=Path, nargs="*", default=())
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    model = NgramModel.load(asked.weights)
    known = HeldOutGroups([each for file in asked.known for each in read_labelled_tables(file)])
    tables = [
        within_vocabulary(each)
        for file in asked.tables
        for each in read_labelled_tables(file)
        if each not in known
    ]
    weights, figures = fit_names(NgramNetworks(model.networks), tables, model.types_of_fine)
    for name, value in figures.items():
        print(f"{name:<20}{value:.4f}")  # noqa: T201
    print(weights)  # noqa: T201
    if asked.out is not None:
        calibration = replace(model.calibration, names=weights)
        facts = {**model.facts, "names": figures}
        replace(model, calibration=calibration, facts=facts).save(asked.out)


if __name__ == "__main__":
    main()
