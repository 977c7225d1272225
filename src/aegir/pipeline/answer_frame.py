"""Answers as a pandas frame: `aegir.annotate("lake/").to_frame()`.

A row per column of every table. The columns of the frame are those of the CSV format (`writers.CSV_HEADER`) that are single values, then
`key` (primary or None), `refers_to` and the statistics of answers/statistics.py.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation, statistics_of
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    import pandas

ANSWER = (
    *("label", "confidence", "kind", "type", "type_confidence", "fine_type", "datatype"),
    *("personal", "personal_level", "personal_reason"),
    *("identifying_confidence", "special", "special_category", "tags"),
)
STATISTICS = (
    "rows",
    "nulls",
    "distinct",
    "distinct_is",
    "min",
    "max",
    "mean_length",
    "digits",
    "emails",
)


def answer_frame(tables: Sequence[TableAnnotation]) -> "pandas.DataFrame":
    """Return a frame with a row per column; raise if pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise UsageError("to_frame needs pandas; pip install pandas") from None
    rows = [_row(table, column) for table in tables for column in table.columns]
    names = ["table", "source", "index", "name", "subject", *ANSWER]
    names += ["relation", "relation_confidence", "key", "refers_to", *STATISTICS, "most_common"]
    return pandas.DataFrame(rows, columns=names)


def _row(table: TableAnnotation, column: ColumnAnnotation) -> dict[str, object]:
    key = table.primary_key
    refers = [
        f"{foreign.table}: {foreign.names[foreign.columns.index(column.index)]}"
        for foreign in table.foreign_keys
        if column.index in foreign.columns
    ]
    return {
        "table": table.table,
        "source": table.source,
        "index": column.index,
        "name": column.name,
        "subject": column.index == table.subject,
        **{name: getattr(column, name) for name in ANSWER},
        "relation": column.relation.label if column.relation else None,
        "relation_confidence": column.relation.confidence if column.relation else None,
        "key": "primary" if key and column.index in key.columns else None,
        "refers_to": refers[0] if refers else None,
        **statistics_of(table, column),
    }
