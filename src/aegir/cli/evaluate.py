"""`aegir eval`: score an annotator on labelled tables."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aegir.annotators.annotate import prepare
from aegir.annotators.evaluation import Evaluation
from aegir.annotators.evaluation import evaluate as evaluate_annotator
from aegir.answers.printable import escape_controls
from aegir.cli.options import PathName, annotator_options, threshold_options
from aegir.cli.terminal import say
from aegir.errors import CheckFailed, UsageError
from aegir.tables.labelled import read_labelled_tables


@click.command("eval", epilog="Example: aegir eval --task cta --data tables.jsonl --at-least 0.8")
@click.option("--task", required=True, metavar="cta|cpa", help="Column types or relations.")
@click.option(
    "--data",
    required=True,
    type=PathName(),
    help="Labelled tables, one JSON object per line.",
)
@annotator_options
@threshold_options(default=0.0)
@click.option(
    "--at-least", type=click.FloatRange(0, 1), help="Exit with 3 when micro F1 is below this."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def evaluate(
    task: str,
    data: Path,
    annotator: str,
    model: Path | None,
    min_confidence: float,
    precision: float | None,
    at_least: float | None,
    as_json: bool,
) -> None:
    """Score an annotator on labelled tables.

    Reports F1, calibration, abstention and speed.
    """
    if task not in ("cta", "cpa"):
        raise UsageError(f"--task is {task!r}; expected cta (types) or cpa (relations)")
    tables = list(read_labelled_tables(data))
    chosen, thresholds = prepare(
        annotator, model, min_confidence=min_confidence, precision=precision, custom_types=False
    )
    result = evaluate_annotator(chosen, tables, "cta" if task == "cta" else "cpa", thresholds)
    if as_json:
        click.echo(json.dumps(result.as_dict()))
    else:
        _show(result)
    if at_least is not None and not result.f1.micro_f1 >= at_least:  # not even for nan
        raise CheckFailed(f"micro F1 is {result.f1.micro_f1:.4f}, below {at_least} (--at-least)")


def _show(result: Evaluation) -> None:
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
        points.add_row(f"{point.threshold}", f"{point.coverage:.3f}", f"{point.precision:.3f}")
    console.print(points)
    console.print(
        f"{result.task} with {result.annotator}: {result.columns} labelled columns "
        f"in {result.tables} tables\n"
        f"micro F1 {result.f1.micro_f1:.4f}   macro F1 {result.f1.macro_f1:.4f}   "
        f"ECE {result.ece:.4f}   abstained {result.f1.abstained}   "
        f"{result.columns_per_cpu_second:.0f} columns per CPU second",
        soft_wrap=True,
    )
    if result.unknown_labels:
        names = ", ".join(result.unknown_labels[:5])
        say(
            f"{len(result.unknown_labels)} gold labels are not in the vocabulary "
            f"and count as missed: {names}…"
        )
