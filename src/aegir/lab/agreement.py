"""Choose how far the parts of an answer must agree (pipeline/agree.py) on tables that the readers have not seen.

    choose_strengths(tables, scores)     the strengths with the least log loss of types and relations

    python -m aegir.lab.agreement open/more.jsonl.gz web/web_read.jsonl.gz

The command annotates the tables of labelled files, chooses on half of their groups, and prints the loss on the other half
before and after. Files that the shipped weights were trained on say nothing: what was learnt by heart agrees by itself.
"""

import argparse
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from aegir.answers.gold_labels import within_vocabulary
from aegir.pipeline.agree import AGREEMENT, Strengths, agree
from aegir.readers.mixing import with_none
from aegir.readers.scores import Probabilities, TableScores
from aegir.tables.labelled import Accepted, LabelledTable, read_labelled_tables
from aegir.vocabulary.terms import RELATION_INDEX, TYPE_INDEX

LEFT_ALONE = Strengths(fine=1.0, relation=1.0, taken=0.0)
GRID = {
    "fine": (1.0, 0.7, 0.5, 0.3, 0.1),
    "relation": (1.0, 0.5, 0.2, 0.1, 0.05, 0.02),
    "taken": (0.0, 0.5, 0.8, 0.9, 0.95, 1.0),
}
ROUNDS = 2
LEAST = 1e-4
"""Probability below which a wrong answer costs no more."""


def choose_strengths(
    tables: Sequence[LabelledTable],
    scores: Sequence[TableScores],
    start: Strengths = AGREEMENT,
) -> Strengths:
    """Return the strengths of GRID with the least loss, each chosen in turn; of equal ones those of `start`."""
    best, least = start, log_loss(tables, scores, start)
    for _ in range(ROUNDS):
        for name, values in GRID.items():
            for value in values:
                tried = replace(best, **{name: value})
                loss = log_loss(tables, scores, tried)
                if loss < least:
                    best, least = tried, loss
    return best


def log_loss(
    tables: Sequence[LabelledTable], scores: Sequence[TableScores], strengths: Strengths
) -> float:
    """Return the mean loss of labelled types plus that of labelled relations; 0 for a part without labels."""
    losses: dict[str, list[float]] = {"types": [0.0], "relations": [0.0]}
    for labelled, read in zip(tables, scores, strict=True):
        agreed = agree(labelled.table, read, strengths)
        types, relations = with_none(agreed.types), with_none(agreed.relations)
        for index, labels in enumerate(labelled.labels):
            if not labelled.table.columns[index].present:
                continue
            if labels.types is not None:
                loss = _loss(types[index], labels.types, TYPE_INDEX, labels.none_too)
                losses["types"].append(loss)
            if labels.relations is not None and index != read.subject:
                losses["relations"].append(
                    _loss(relations[index], labels.relations, RELATION_INDEX)
                )
    return sum(float(np.sum(each)) / max(len(each) - 1, 1) for each in losses.values())


def _loss(
    row: Probabilities, accepted: Accepted, index: Mapping[str, int], none_too: bool = False
) -> float:
    """Return the negative log probability of the acceptable names; the last of the row is none of them."""
    right = float(sum(row[index[name]] for name in accepted))
    if none_too or not accepted:
        right += float(row[-1])
    return -float(np.log(max(right, LEAST)))


def _is_chosen_on(labelled: LabelledTable) -> bool:
    """Return whether a table is of the half of the groups on which strengths are chosen."""
    return zlib.crc32((labelled.group or labelled.table.name).encode()) % 2 == 0


def main() -> None:
    """Choose on one half of the groups and print what it is worth on the other."""
    from aegir.pipeline.pipeline import load_pipeline
    from aegir.pipeline.settings import AnnotationSettings

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path, nargs="+")
    asked = parser.parse_args()
    tables = [
        within_vocabulary(each) for file in asked.tables for each in read_labelled_tables(file)
    ]
    chosen_on = [each for each in tables if _is_chosen_on(each)]
    others = [each for each in tables if not _is_chosen_on(each)]
    pipeline = load_pipeline(AnnotationSettings())
    chosen = choose_strengths(chosen_on, pipeline.score([each.table for each in chosen_on]))
    scores = pipeline.score([each.table for each in others])
    for name, strengths in (("left alone", LEFT_ALONE), ("now", AGREEMENT), ("chosen", chosen)):
        loss = log_loss(others, scores, strengths)
        print(f"{name:<12}{loss:.4f}  {strengths}")  # noqa: T201


if __name__ == "__main__":
    main()
