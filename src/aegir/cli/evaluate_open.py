"""The report of `aegir eval` on the open form, for people."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from aegir.answers.gold_labels import unknown_names_sentence
from aegir.cli.terminal import say
from aegir.evaluation.open_evaluation import OpenEvaluation
from aegir.evaluation.open_metrics import PartFigures, Share
from aegir.pipeline.judged_columns import SAID
from aegir_rl.base.text import amount, escape_controls

COLUMNS_WORTH_A_LINE = 30
"""Domains with fewer labelled columns are only in the JSON object."""


def show_open(result: OpenEvaluation) -> None:
    """Print the metrics: by domain and by kind, when abstaining, then the totals."""
    console = Console(highlight=False)
    large = [part for part in result.domains if part.columns >= COLUMNS_WORTH_A_LINE]
    for name, parts in (("domain", large), ("kind", result.kinds)):
        if parts:
            console.print(_parts_table(name, parts), "")
    console.print(_points_table(result), "")
    console.print(*_summary(result), sep="\n", soft_wrap=True)
    if sentence := unknown_names_sentence(result.unknown_labels):
        say(sentence)


def _parts_table(name: str, parts: Sequence[PartFigures]) -> Table:
    table = Table(name, "columns", "type right", "label right", "misleading", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for part in parts:
        shares = map(_shown, (part.type_right, part.label_right, part.misleading))
        table.add_row(Text(escape_controls(part.name or "-")), str(part.columns), *shares)
    return table


def _points_table(result: OpenEvaluation) -> Table:
    table = Table("abstain below", "types: coverage", "precision", box=None)
    table.add_column("labels: coverage")
    table.add_column("precision")
    both = (part.confidence.operating_points for part in (result.type, result.label))
    for of_type, of_label in zip(*both, strict=True):
        shares = [
            _shown(share)
            for point in (of_type, of_label)
            for share in (point.coverage, point.precision if point.coverage else None)
        ]
        table.add_row(f"{of_type.threshold}", *shares)
    return table


def _summary(result: OpenEvaluation) -> list[str]:
    kind, fine, label, relation = result.type, result.fine, result.label, result.relation
    personal, subject, misleading = result.personal, result.subject, result.misleading
    lines = [
        f"open with {result.annotator}: {amount(result.columns, 'labelled column')} "
        f"in {amount(result.tables, 'table')}",
        f"type        right {_shown(kind.right)}   ECE {kind.confidence.ece:.3f}   none of them: "
        f"precision {_shown(kind.none_precision)}, recall {_shown(kind.none_recall)}",
        f"fine name   given {_shown(fine.given)}   of these right {_shown(fine.precision)}",
        f"label       right {_shown(label.right)}   ECE {label.confidence.ece:.3f}   as fine name "
        f"{_shown(label.right_as_fine)}, type {_shown(label.right_as_type)}, "
        f"kind {_shown(label.right_as_kind)}",
        f"misleading  {_shown(misleading.share)}   wrong at confidence {SAID} or more: label "
        f"{_shown(misleading.label)}, type {_shown(misleading.type)}, relation "
        f"{_shown(misleading.relation)}; label or type {_shown(misleading.without_relations)}",
        f"relation    at {SAID}: precision {_shown(relation.precision)}, recall "
        f"{_shown(relation.recall)}; given to {_shown(relation.false_given)} of columns without any",
        f"personal    precision {_shown(personal.precision)}, recall {_shown(personal.recall)}",
        f"subject     plausible {_shown(subject.plausible)}   first that can name the rows "
        f"{_shown(subject.first)}",
    ]
    if result.columns_per_cpu_second is not None:
        lines.append(f"speed       {result.columns_per_cpu_second:.0f} columns per CPU second")
    return lines


def _shown(share: Share) -> str:
    return "-" if share is None else f"{share:.3f}"
