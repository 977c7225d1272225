"""The report of `aegir eval` on the open form, for people."""

from collections.abc import Sequence

from aegir.answers.cells import table_lines
from aegir.answers.gold_labels import unknown_names_sentence
from aegir.cli.evaluate_groups import show_groups
from aegir.cli.terminal import say
from aegir.evaluation.open_evaluation import MEASURES, OpenEvaluation, PartMetrics, Share
from aegir.pipeline.judged_columns import SAID
from aegir_rl.base.text import amount, escape_controls

COLUMNS_WORTH_A_LINE = 30
"""Domains with fewer labelled columns are only in the JSON object."""


def show_open(result: OpenEvaluation) -> None:
    """Print the metrics: by domain and by kind, when abstaining, then the totals."""
    large = [part for part in result.domains if part.columns >= COLUMNS_WORTH_A_LINE]
    for name, parts in (("domain", large), ("kind", result.kinds)):
        if parts:
            say(*_parts_table(name, parts), "")
    if result.by_group is not None:
        show_groups(result.by_group)
    say(*_points_table(result), "")
    say(*_summary(result))
    if sentence := unknown_names_sentence(result.unknown_labels):
        say(sentence)


def _parts_table(name: str, parts: Sequence[PartMetrics]) -> list[str]:
    rows = [
        (
            escape_controls(part.name or "-"),
            str(part.columns),
            *map(_shown, (part.type_right, part.label_right, part.misleading)),
        )
        for part in parts
    ]
    return table_lines((name, "columns", "type right", "label right", "misleading"), rows)


def _points_table(result: OpenEvaluation) -> list[str]:
    rows = []
    both = (part["confidence"]["operating_points"] for part in (result.type, result.label))
    for points in zip(*both, strict=True):
        shares = [
            _shown(share)
            for point in points
            for share in (point["coverage"], point["precision"] if point["coverage"] else None)
        ]
        rows.append((f"{points[0]['threshold']}", *shares))
    return table_lines(
        ("abstain below", "types: coverage", "precision", "labels: coverage", "precision"), rows
    )


SUMMARY = """\
type        right {type[right]}   ECE {ece[type]}   none of them: precision {type[none_precision]}, recall {type[none_recall]}
fine name   given {fine[given]}   of these right {fine[precision]}
label       right {label[right]}   ECE {ece[label]}   as fine name {label[right_as_fine]}, type {label[right_as_type]}, \
kind {label[right_as_kind]}
misleading  {misleading[share]}   wrong at confidence {said} or more: label {misleading[label]}, type {misleading[type]}, \
relation {misleading[relation]}; label or type {misleading[without_relations]}
relation    at {said}: precision {relation[precision]}, recall {relation[recall]}; given to {relation[false_given]} of columns \
without any
personal    precision {personal[precision]}, recall {personal[recall]}
subject     plausible {subject[plausible]}   first that can name the rows {subject[first]}"""


def _summary(result: OpenEvaluation) -> list[str]:
    columns, tables = amount(result.columns, "labelled column"), amount(result.tables, "table")
    parts = {
        part: {
            name: _shown(value)
            for name, value in getattr(result, part).items()
            if name != "confidence"
        }
        for part in (*MEASURES, "subject")
    }
    ece = {part: _shown(getattr(result, part)["confidence"]["ece"]) for part in ("type", "label")}
    lines = [
        f"open with {result.annotator}: {columns} in {tables}",
        *SUMMARY.format(**parts, ece=ece, said=SAID).splitlines(),
    ]
    if result.columns_per_cpu_second is not None:
        lines.append(f"speed       {result.columns_per_cpu_second:.0f} columns per CPU second")
    return lines


def _shown(share: Share) -> str:
    return "-" if share is None else f"{share:.3f}"
