"""Annotations as Markdown: a summary for pull requests, with the columns that identify a person first.

No value of a table is in it, and nothing from a table is markup.
"""

from collections.abc import Iterator, Sequence

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.difference_report import markdown_cell
from aegir.vocabulary.terms import PERSONAL_LEVELS
from aegir_rl.base.text import amount

MOST_COLUMNS = 100
"""Columns of a table that are listed; code hosts cut long comments."""
HEADING = "## What the columns are"


def markdown_lines(annotations: Sequence[TableAnnotation]) -> Iterator[str]:
    """Yield the lines of the summary."""
    columns = [column for annotation in annotations for column in annotation.columns]
    personal = sum(column.personal for column in columns)
    direct = sum(column.personal_level == "direct" for column in columns)
    unsure = sum(column.label is None for column in columns)
    yield HEADING
    yield ""
    counts = f"{amount(len(annotations), 'table')}, {amount(len(columns), 'column')}"
    yield f"{counts}: {personal} with personal data ({direct} direct), {unsure} not decided."
    for annotation in annotations:
        yield from _table(annotation)


def _table(annotation: TableAnnotation) -> Iterator[str]:
    yield ""
    yield f"### {markdown_cell(annotation.table)}"
    yield ""
    yield from (f"> {markdown_cell(warning)}" for warning in annotation.warnings)
    if annotation.warnings:
        yield ""
    yield "| column | answer | sure | personal |"
    yield "|---|---|---|---|"
    ordered = sorted(annotation.columns, key=_nearness)
    for column in ordered[:MOST_COLUMNS]:
        yield f"| {' | '.join(_cells(column))} |"
    if len(ordered) > MOST_COLUMNS:
        yield ""
        yield f"{len(ordered) - MOST_COLUMNS} more columns are not listed."


def _nearness(column: ColumnAnnotation) -> int:
    """The place of a column: what identifies a person comes first."""
    if not column.personal:
        return len(PERSONAL_LEVELS) + 1
    level = column.personal_level
    return PERSONAL_LEVELS.index(level) if level in PERSONAL_LEVELS else len(PERSONAL_LEVELS)


def _cells(column: ColumnAnnotation) -> list[str]:
    name = column.name or f"column {column.index + 1}"
    level = markdown_cell(column.personal_level or "yes")
    return [
        markdown_cell(name),
        markdown_cell(column.label or "not decided"),
        f"{column.confidence:.2f}",
        f"**{level}**" if column.personal else "",
    ]
