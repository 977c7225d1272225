"""Made-up answers to held-out tables, as training keeps them: the right logits raised above noise."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from aegir.lab.calibrate import LINEAR_ANSWERS, NETWORK_ANSWERS
from aegir.lab.data.sources import TrainingTable
from aegir.lab.held_out import ANSWERS, HeldOut, column_names, save_answers
from aegir.vocabulary.terms import (
    FINE_INDEX,
    FINE_NAMES,
    PERSON_STATES,
    PERSONAL_LEVELS,
    RELATION_INDEX,
    RELATION_NAMES,
    ROW_NAMES,
    TYPE_INDEX,
    TYPE_NAMES,
)

SIZES = {"types": len(TYPE_NAMES), "relations": len(RELATION_NAMES), "fine": len(FINE_NAMES)}
INDEX = {"types": TYPE_INDEX, "relations": RELATION_INDEX, "fine": FINE_INDEX}


def by_origin(tables: list[TrainingTable]) -> dict[str, list[TrainingTable]]:
    """Web and everyday tables apart."""
    return {
        "web": [table for table in tables if not table.source.everyday],
        "open": [table for table in tables if table.source.everyday],
    }


def answers_about(tables: list[TrainingTable], seed: int, signal: float = 4.0) -> HeldOut:
    """Noisy logits for every column of the tables, and their labels; groups are the tables."""
    random = np.random.default_rng(seed)
    labels = [each for table in tables for each in table.labelled.labels]
    accepted = {part: np.zeros((len(labels), size + 1), bool) for part, size in SIZES.items()}
    known = {part: np.zeros(len(labels), bool) for part in SIZES}
    for row, each in enumerate(labels):
        for part, names in (
            ("types", each.types),
            ("relations", each.relations),
            ("fine", each.fine),
        ):
            known[part][row] = names is not None
            places = [INDEX[part][name] for name in names or ()] or [SIZES[part]]
            accepted[part][row, places] = names is not None
    sizes = [len(table.labelled.table.columns) for table in tables]
    _add_persons(accepted, known, tables, sizes)
    logits = {
        part: (signal * right + random.standard_normal(right.shape)).astype(np.float32)
        for part, right in accepted.items()
    }
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    for part in ("rows", "person"):  # one answer per table
        logits[part] = logits[part][first]
    logits["special"] -= np.float32(signal / 2)
    everyday = np.array([table.source.everyday for table in tables])
    logits["web"] = np.repeat(np.where(everyday, -3, 3), sizes)[:, None].astype(np.float32)
    numbers = np.repeat(np.arange(len(tables)), sizes)
    return HeldOut(
        logits,
        accepted,
        known,
        numbers,
        numbers,
        tuple(name for table in tables for name in column_names(table)),
    )


def _add_persons(
    accepted: dict[str, np.ndarray],
    known: dict[str, np.ndarray],
    tables: list[TrainingTable],
    sizes: list[int],
) -> None:
    """Add what is right of levels, special categories, rows and persons; none is the last level."""
    labels = [each for table in tables for each in table.labelled.labels]
    levels = [(*PERSONAL_LEVELS, None).index(each.personal_level) for each in labels]
    accepted["levels"] = np.eye(len(PERSONAL_LEVELS) + 1, dtype=bool)[levels]
    accepted["special"] = np.array([[bool(each.special)] for each in labels])
    known["levels"] = np.array([each.personal is not None for each in labels])
    known["special"] = np.array([each.special is not None for each in labels])
    for part, names, of_table in (
        ("rows", ROW_NAMES, [table.labelled.row_class for table in tables]),
        ("person", PERSON_STATES, [table.labelled.person for table in tables]),
    ):
        right = np.array([[name == each for name in names] for each in of_table])
        accepted[part] = np.repeat(right, sizes, axis=0)
        known[part] = np.any(accepted[part], axis=1)


def linear_only(answers: HeldOut) -> HeldOut:
    """What the linear stages would keep: types and relations, none of them without an output."""
    parts = ("types", "relations")
    return replace(
        answers,
        logits={part: answers.logits[part][:, :-1] for part in parts},
        accepted={part: answers.accepted[part][:, :-1] for part in parts},
        known={part: answers.known[part] for part in parts},
    )


def write_answers(folder: Path, tables: list[TrainingTable]) -> tuple[Path, list[Path]]:
    """The folder of intermediate results of n-grams, and two fold runs of a byte network."""
    labelled = by_origin(tables)
    ngrams = folder / "ngrams-parts"
    ngrams.mkdir()
    linear = {o: linear_only(answers_about(t, 1, 3.0)) for o, t in labelled.items()}
    save_answers(ngrams / LINEAR_ANSWERS, linear)
    runs = [folder / f"fold-{number}" for number in range(2)]
    for number, run in enumerate(runs):
        run.mkdir()
        part = {origin: tables[number::2] for origin, tables in labelled.items()}
        for path, seed in ((ngrams / NETWORK_ANSWERS.format(number), 2), (run / ANSWERS, 3)):
            save_answers(path, {o: answers_about(t, seed + 9 * number) for o, t in part.items()})
    return ngrams, runs
