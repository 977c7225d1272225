"""What effort gains: searches with several efforts on tables that no model has seen.

    metrics = measure_efforts(load_held_out(runs, data, ngrams), efforts)
    metrics[0].web_types, metrics[0].hardest, metrics[0].seconds                 shares right; CPU seconds per column

The first row has no pairs and calls the byte network about columns below 0.7: what the default was before columns were read together.
The hardest quarter of the types is chosen for each fold on the others, by the F1 of that row.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegir.lab.held_out_dispatch import Fold
from aegir.pipeline.pipeline import build_pipeline
from aegir.pipeline.settings import NORMAL
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.calibration import ByteCalibration
from aegir.readers.mixing import with_none
from aegir.readers.scores import TableScores
from aegir.tables.labelled import ColumnLabels
from aegir.vocabulary.terms import NO_TYPE, RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.metrics import compute_f1
from aegir_rl.offline.intervals import estimate_gain

WITHOUT_PAIRS = "normal, without pairs"
BATCH = 64
"""Tables searched together."""


@dataclass(frozen=True, slots=True)
class EffortMetrics:
    """What one effort gave on all folds."""

    name: str
    web_types: float
    web_relations: float
    everyday_types: float
    hardest: float
    """Web types right on columns of the hardest quarter of the types."""
    columns: tuple[int, ...]
    """Columns behind these four shares."""
    seconds: float
    """CPU seconds per column."""
    gain: tuple[float, float, float]
    """Web types right minus those of the first row, and its 95 % interval, columns of one table being dependent."""


@dataclass(frozen=True, slots=True)
class _Column:
    table: tuple[int, int]
    """Fold and index of its table."""
    web: bool
    labels: ColumnLabels


def measure_efforts(
    folds: Sequence[Fold],
    efforts: Sequence[float],
    watch: Callable[[str], None] = lambda _: None,
) -> list[EffortMetrics]:
    """Search every fold's tables with every effort."""
    rows = [(WITHOUT_PAIRS, NORMAL, False), *((f"{each:g}", each, True) for each in efforts)]
    columns = [
        _Column((number, at), not (table.group or "").startswith("open "), each)
        for number, fold in enumerate(folds)
        for at, table in enumerate(fold.tables)
        for each in table.labels
    ]
    said: dict[str, list[tuple[str, str]]] = {}
    seconds = {}
    for name, effort, pairs in rows:
        said[name], spent = [], 0.0
        for fold in folds:
            scored, took = _search(fold, effort, pairs)
            said[name] += (column for scores in scored for column in _names(scores))
            spent += took
            watch(f"effort {name}: {fold.name} done")
        seconds[name] = spent / max(len(columns), 1)
    hardest = _hardest_types(folds, columns, said[WITHOUT_PAIRS])
    return [_metrics(name, columns, said, hardest, seconds[name]) for name, _, _ in rows]


def _search(fold: Fold, effort: float, pairs: bool) -> tuple[list[TableScores], float]:
    pipeline = fold.pipeline
    byte_model = pipeline.byte_model if pairs else _without_pairs(pipeline.byte_model)
    search = build_pipeline(
        pipeline.ngrams, byte_model, pipeline.plan.table, fold.open_search, effort=effort
    )
    tables = [each.table for each in fold.tables]
    began = time.process_time()
    scored = [
        scores
        for start in range(0, len(tables), BATCH)
        for scores in search.score(tables[start : start + BATCH])
    ]
    return scored, time.process_time() - began


def _without_pairs(byte_model: ByteModelAnnotator) -> ByteModelAnnotator:
    calibration = byte_model.calibration
    assert calibration.mixture is not None, "checked when it was made"
    plain = ByteCalibration(calibration.temperature, replace(calibration.mixture, pairs=None))
    network = byte_model.model
    before, network.facts = network.facts, {**network.facts, "calibration": plain.as_json()}
    try:
        return ByteModelAnnotator(network)
    finally:
        network.facts = before


def _names(scores: TableScores) -> list[tuple[str, str]]:
    """Return the likeliest type, or none of them, and the likeliest relation of each column."""
    types = with_none(scores.types).argmax(axis=1).tolist()
    relations = scores.relations.argmax(axis=1).tolist()
    return [
        ((*TYPE_NAMES, NO_TYPE)[first], RELATION_NAMES[second])
        for first, second in zip(types, relations, strict=True)
    ]


def _right(columns: Sequence[_Column], said: Sequence[tuple[str, str]], part: str) -> Bools:
    pairs = zip((column.labels for column in columns), said, strict=True)
    if part == "types":
        right = [labels.accepts_type(None if own == NO_TYPE else own) for labels, (own, _) in pairs]
    else:
        right = [relation in (labels.relations or ()) for labels, (_, relation) in pairs]
    return np.array(right, bool)


def _hardest_types(
    folds: Sequence[Fold], columns: Sequence[_Column], said: Sequence[tuple[str, str]]
) -> Bools:
    """(columns,) which web columns are of the quarter of types with the lowest F1 on the other folds."""
    fold_of = np.array([column.table[0] for column in columns])
    web = np.array([column.web and bool(column.labels.types) for column in columns])
    hard = np.zeros(len(columns), bool)
    for number in range(len(folds)):
        others = np.flatnonzero(web & (fold_of != number)).tolist()
        f1 = compute_f1(
            [columns[i].labels.types or () for i in others], [said[i][0] for i in others]
        )
        ranked = sorted((each for each in f1.classes if each.support), key=lambda each: each.f1)
        worst = {each.label for each in ranked[: max(len(ranked) // 4, 1)]}
        for index in np.flatnonzero(web & (fold_of == number)).tolist():
            hard[index] = bool(worst.intersection(columns[index].labels.types or ()))
    return hard


def _metrics(
    name: str,
    columns: Sequence[_Column],
    said: Mapping[str, Sequence[tuple[str, str]]],
    hardest: Bools,
    seconds: float,
) -> EffortMetrics:
    web, types, relations = (
        np.array([test(column) for column in columns], bool)
        for test in (
            lambda x: x.web,
            lambda x: bool(x.labels.types),
            lambda x: bool(x.labels.relations),
        )
    )
    known = np.array([column.labels.types is not None for column in columns], bool)
    right, before = (_right(columns, said[row], "types") for row in (name, WITHOUT_PAIRS))
    shares = {
        "web_types": (right, web & types),
        "web_relations": (_right(columns, said[name], "relations"), web & relations),
        "everyday_types": (right, ~web & known),
        "hardest": (right, hardest),
    }
    return EffortMetrics(
        name=name,
        **{part: float(flags[rows].mean()) for part, (flags, rows) in shares.items()},
        columns=tuple(int(rows.sum()) for _, rows in shares.values()),
        seconds=seconds,
        gain=_gain(columns, right.astype(float) - before, web & types),
    )


def _gain(
    columns: Sequence[_Column], difference: Floats, used: Bools
) -> tuple[float, float, float]:
    """Return the mean difference over the used columns, and its 95 % interval, tables counted whole."""
    tables = np.unique([column.table for column in columns], axis=0, return_inverse=True)[1]
    gain = estimate_gain(difference[used], tables.reshape(-1)[used])
    return gain.value, gain.low, gain.high
