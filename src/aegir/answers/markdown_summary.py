"""Annotations as Markdown: a summary for pull requests, with the columns that identify a person first.

No value of a table is in it, and nothing from a table is markup.
"""

from collections.abc import Iterator, Sequence

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.difference_report import markdown_cell
from aegir.answers.metadata_formats import describe_rows
from aegir.answers.wording import shown_level, shown_special
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
    special = sum(map(bool, map(shown_special, columns)))
    unsure = sum(column.label is None for column in columns)
    yield HEADING
    yield ""
    counts = f"{amount(len(annotations), 'table')}, {amount(len(columns), 'column')}"
    levels = f"{direct} direct, {special} special" if special else f"{direct} direct"
    yield f"{counts}: {personal} with personal data ({levels}), {unsure} not decided."
    for annotation in annotations:
        yield from _table(annotation)


def _table(annotation: TableAnnotation) -> Iterator[str]:
    yield ""
    yield f"### {markdown_cell(annotation.table)}"
    yield ""
    if rows := describe_rows(annotation):
        yield markdown_cell(rows)
        yield ""
    yield from (f"> {markdown_cell(warning)}" for warning in annotation.warnings)
    if annotation.warnings:
        yield ""
    tagged = any(column.tags for column in annotation.columns)
    yield "| column | answer | sure | personal |" + (" tags |" if tagged else "")
    yield "|---|---|---|---|" + ("---|" if tagged else "")
    ordered = sorted(annotation.columns, key=_nearness)
    for column in ordered[:MOST_COLUMNS]:
        tags = [markdown_cell(", ".join(column.tags))] if tagged else []
        yield f"| {' | '.join([*_cells(column), *tags])} |"
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
    level, special = markdown_cell(shown_level(column)), markdown_cell(shown_special(column))
    return [
        markdown_cell(name),
        markdown_cell(column.label or "not decided"),
        f"{column.confidence:.2f}",
        f"**{level}**" + (f" ({special})" if special else "") if level else "",
    ]
