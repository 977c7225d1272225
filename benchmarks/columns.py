"""How many five-value columns does each annotator score per CPU second?

The figure of `aegir eval`: scoring and deciding, without reading files or loading weights. The reference
predicts the same columns, after being trained on other synthetic tables in the same run.
"""

import random
from collections.abc import Sequence

from aegir.evaluation.evaluation import evaluate
from aegir.pipeline.registry import load_annotator
from aegir.readers.scores import Annotator
from aegir.tables.labelled import LabelledTable
from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.reference_model import NAME, column_text, fit_reference
from benchmarks.result import Measurement, Ratio, Result, at_least
from benchmarks.synthetic_tables import labelled_tables

QUESTION = "five-value columns scored per CPU second"
UNIT = "columns per CPU second"
ANNOTATORS = ("dispatch", "combined", "byte_model", "ngrams", "rules")
TARGETS = {"dispatch": 1200, "combined": 470, "byte_model": 300, "ngrams": 1500}


def run(options: Options) -> Result:
    """Every repeat scores tables of its own, so that no cache makes the later ones cheaper."""
    tables, repeats = (40, 1) if options.quick else (400, options.repeats)
    seeds = Seeds(options.seed)
    training, *measured = (
        labelled_tables(tables, random.Random(seeds.derive("columns", number)))
        for number in range(repeats + 1)
    )
    ours = [
        Measurement(name, UNIT, _our_speed(load_annotator(name), measured)) for name in ANNOTATORS
    ]
    reference = Measurement(NAME, UNIT, _reference_speed(training, measured))
    return Result(
        benchmark="columns",
        question=QUESTION,
        data="synthetic five-value columns without headers",
        measurements=(*ours, reference),
        ratios=tuple(Ratio(one, reference) for one in ours),
        targets=tuple(at_least(one, TARGETS[one.name]) for one in ours if one.name in TARGETS),
        settings={"tables": tables, "columns": _count(measured[0]), "repeats": repeats},
    )


def _our_speed(annotator: Annotator, measured: Sequence[list[LabelledTable]]) -> Runs:
    return Runs(
        tuple(evaluate(annotator, tables, "cta").columns_per_cpu_second for tables in measured)
    )


def _reference_speed(
    training: list[LabelledTable], measured: Sequence[list[LabelledTable]]
) -> Runs:
    types = [labels.accepted("cta")[0] for one in training for labels in one.labels]
    model = fit_reference(_texts(training), types)
    model.predict(_texts(training[:1]))
    return Runs(
        tuple(
            _count(tables) / cpu_seconds(lambda tables=tables: model.predict(_texts(tables)))
            for tables in measured
        )
    )


def _texts(tables: Sequence[LabelledTable]) -> list[str]:
    return [column_text(column) for one in tables for column in one.table.columns]


def _count(tables: Sequence[LabelledTable]) -> int:
    return sum(len(one.table.columns) for one in tables)
