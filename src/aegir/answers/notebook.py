"""Answers as a notebook shows them: a small HTML table per table, escaped, without script, styled by the notebook itself.

Limit: the first `MOST_TABLES` tables and `MOST_COLUMNS` columns of each; a line says what is not shown.
"""

from collections.abc import Sequence
from html import escape

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir_rl.base.text import amount, escape_controls

MOST_TABLES = 20
MOST_COLUMNS = 100
LONGEST_REASON = 90
HEADINGS = ("", "column", "label", "sure", "relation", "personal", "why")


def notebook_html(tables: Sequence[TableAnnotation]) -> str:
    """Return the tables as HTML."""
    parts = [_table(each) for each in tables[:MOST_TABLES]]
    if len(tables) > MOST_TABLES:
        rest = amount(len(tables) - MOST_TABLES, "more table")
        parts.append(f"<p>{rest} not shown; take one as answers[{MOST_TABLES}]</p>")
    return "\n".join(parts) or "<p>no tables</p>"


def _table(answer: TableAnnotation) -> str:
    heads = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
    rows = [_row(answer, column) for column in answer.columns[:MOST_COLUMNS]]
    caption = f"<b>{_safe(answer.table)}</b>"
    if answer.row and answer.row.name:
        caption += f" one row is a {_safe(answer.row.noun or answer.row.name)}"
    if len(rows) < len(answer.columns):
        caption += f", the first {MOST_COLUMNS} of {len(answer.columns):,} columns"
    return "\n".join(
        ("<table>", f"<caption>{caption}</caption>", f"<tr>{heads}</tr>", *rows, "</table>")
    )


def _row(answer: TableAnnotation, column: ColumnAnnotation) -> str:
    relation = column.relation
    reason = column.reasons[0] if column.reasons else ""
    cells = (
        "*" if column.index == answer.subject else "",
        column.name if column.name is not None else f"#{column.index + 1}",
        column.label or "?",
        f"{column.confidence:.2f}",
        f"{relation.label} {relation.confidence:.2f}" if relation else "",
        (column.personal_level or "personal") if column.personal else "",
        reason if len(reason) <= LONGEST_REASON else f"{reason[: LONGEST_REASON - 1]}…",
    )
    return f"<tr>{''.join(f'<td>{_safe(cell)}</td>' for cell in cells)}</tr>"


def _safe(text: str) -> str:
    return escape(escape_controls(text))
