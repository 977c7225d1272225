"""`aegir eval`: score an annotator on labelled tables, by what their form can say.

cta, cpa    one label per column, types or relations: F1 (evaluation/evaluation.py)
open        several acceptable names or none, of all parts of the answer (evaluation/open_evaluation.py)
"""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aegir.answers.annotation import TableAnnotation
from aegir.answers.gold_labels import within_vocabulary
from aegir.cli.engines import LOCAL, check_engine, engine_options, open_ray
from aegir.cli.evaluate_open import show_open
from aegir.cli.options import (
    PathName,
    settings_from,
    verb_options,
)
from aegir.cli.page_output import write_page
from aegir.cli.terminal import say, tell
from aegir.engines.annotating import annotate_all_over
from aegir.evaluation.evaluation import AnnotateAll, TaskEvaluation, annotate_timed
from aegir.evaluation.evaluation import evaluate as evaluate_task
from aegir.evaluation.open_evaluation import OpenEvaluation, evaluate_open
from aegir.pipeline.run import prepare
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.tables.labelled import LabelledTable, Task, read_labelled_tables
from aegir.tables.table import Table as InputTable
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.text import amount, escape_controls

PARTS_OF_TASK = {"cta": ("types",), "cpa": ("relations",), "open": ()}
"""Parts of the answer whose errors are shown; none for all of them."""
NAMES_LISTED = 5
"""How many names outside the vocabulary are shown."""


@click.command("eval", epilog="Example: aegir eval tables.jsonl.gz --at-least 0.8")
@click.argument("file", type=PathName(), required=False)
@verb_options("eval", "annotator", "effort", "routing", "threshold", min_confidence=0.0)
@engine_options
def evaluate(
    file: Path | None,
    task: str | None,
    data: Path | None,
    at_least: float | None,
    errors: Path | None,
    as_json: bool,
    engine: str,
    address: str | None,
    **options: Any,
) -> None:
    """Score an annotator on labelled tables.

    FILE has a table as a JSON object per line, in one of two forms. Reports what is right, calibration,
    abstention and speed.
    """
    if file is not None and data is not None:
        raise UsageError(f"{file} and --data {data} are both given; name one file")
    path = file or data
    if path is None:
        raise UsageError("no file of labelled tables is given, such as: aegir eval tables.jsonl")
    if task not in (None, "cta", "cpa", "open"):
        raise UsageError(
            f"--task is {task!r}; expected cta (types), cpa (relations) or open (all parts)"
        )
    if errors is not None and errors.exists() and path.exists() and errors.samefile(path):
        raise UsageError(f"--errors {errors} is the file of labelled tables; name another file")
    check_engine(engine, address)
    tables = list(read_labelled_tables(path))
    wanted = task or task_of(tables, path)
    settings = settings_from({**options, "custom_types": False, "no_memory": True})
    prepared = prepare(settings, say=tell)
    chosen, thresholds = prepared.annotator, prepared.thresholds
    result: TaskEvaluation | OpenEvaluation
    answers: list[TableAnnotation] = []
    with ExitStack() as ended_after:
        ask: AnnotateAll = annotate_timed
        if engine != LOCAL:
            from aegir.cli.annotate_cluster import annotating_job

            ray = ended_after.enter_context(open_ray(address))
            ask = annotate_all_over(ray, annotating_job(settings))
        if errors is not None:
            ask = _recording(ask, answers)
        if wanted == "open":
            result = evaluate_open(chosen, tables, thresholds, ask)
            name, metric = "the share of right types", result.type["right"]
        else:
            task_name: Task = "cta" if wanted == "cta" else "cpa"
            result = evaluate_task(chosen, tables, task_name, thresholds, ask)
            name, metric = "micro F1", result.f1.micro_f1
    if errors is not None:
        _write_errors(errors, tables, answers, wanted)
    if as_json:
        click.echo(json.dumps(result.as_dict()))
    elif isinstance(result, OpenEvaluation):
        show_open(result)
    else:
        _show(result)
    _check(name, metric, at_least)


def task_of(tables: Sequence[LabelledTable], path: Path) -> Literal["cta", "cpa", "open"]:
    """Return what the labels of a file can be scored for; raise if that leaves a choice."""
    if any(labelled.in_open_form for labelled in tables):
        return "open"
    types, relations = (
        any(labels.accepted(task) for labelled in tables for labels in labelled.labels)
        for task in ("cta", "cpa")
    )
    if types and relations:
        raise UsageError(f"{path} has types and relations; choose with --task cta or --task cpa")
    return "cpa" if relations else "cta"


def _recording(ask: AnnotateAll, answers: list[TableAnnotation]) -> AnnotateAll:
    """Return the same with the answers kept in a list."""

    def record(
        annotator: Annotator, tables: Sequence[InputTable], thresholds: Thresholds | None
    ) -> tuple[list[TableAnnotation], float | None]:
        given, speed = ask(annotator, tables, thresholds)
        answers.extend(given)
        return given, speed

    return record


def _write_errors(
    out: Path, tables: Sequence[LabelledTable], answers: Sequence[TableAnnotation], task: str
) -> None:
    """Write the page of disagreements; names outside the vocabulary count as they do in the scores."""
    from aegir.evaluation.disagreements import find_disagreements
    from aegir.evaluation.disagreements_page import render_disagreements

    gold = [within_vocabulary(labelled) for labelled in tables] if task == "open" else tables
    found = find_disagreements(gold, answers, PARTS_OF_TASK[task])
    write_page(out, render_disagreements(gold, answers, found), "what is wrong")


def _check(name: str, metric: float | None, at_least: float | None) -> None:
    if at_least is not None and (metric is None or metric < at_least):
        shown = "not known" if metric is None else f"{metric:.4f}"
        raise CheckFailed(f"{name} is {shown}, below {at_least} (--at-least)")


def _show(result: TaskEvaluation) -> None:
    console = Console(highlight=False)
    classes = Table("class", "columns", "answered", "precision", "recall", "F1", box=None)
    for column in classes.columns[1:]:
        column.justify = "right"
    for score in result.f1.classes:
        rates = (f"{rate:.3f}" for rate in (score.precision, score.recall, score.f1))
        label = Text(escape_controls(score.label))
        classes.add_row(label, str(score.support), str(score.predicted), *rates)
    console.print(classes)
    points = Table("abstain below", "coverage", "precision", box=None)
    for point in result.operating_points:
        precision = f"{point.precision:.3f}" if point.coverage else "-"
        points.add_row(f"{point.threshold}", f"{point.coverage:.3f}", precision)
    console.print(points)
    speed = result.columns_per_cpu_second
    console.print(
        f"{result.task} with {result.annotator}: {amount(result.columns, 'labelled column')} "
        f"in {amount(result.tables, 'table')}\n"
        f"micro F1 {result.f1.micro_f1:.4f}   macro F1 {result.f1.macro_f1:.4f}   "
        f"ECE {result.ece:.4f}   abstained {result.f1.abstained}"
        + (f"   {speed:.0f} columns per CPU second" if speed is not None else ""),
        soft_wrap=True,
    )
    if result.unknown_labels:
        listed = ", ".join(result.unknown_labels[:NAMES_LISTED])
        more = ", …" if len(result.unknown_labels) > NAMES_LISTED else ""
        say(f"labels that are not in the vocabulary count as missed: {listed}{more}")
