"""Answers as a frame of pandas or polars: `aegir.annotate("lake/").to_frame()`.

A row per column of every table. The columns of the frame are those of the CSV format (`writers.CSV_HEADER`) that are single values, then
`key` (primary or None), `refers_to` and the statistics of answers/statistics.py.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation, statistics_of
from aegir_rl.base.errors import UsageError

LIBRARIES = ("pandas", "polars")
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


def answer_frame(tables: Sequence[TableAnnotation], library: str | None = None) -> Any:
    """Return a frame with a row per column, of this library or the first that is installed; raise if none is."""
    if library not in (None, *LIBRARIES):
        raise UsageError(f"there are no frames of {library!r}; choose pandas or polars")
    wanted = LIBRARIES if library is None else (library,)
    installed = next((name for name in wanted if find_spec(name)), None)
    if installed is None:
        raise UsageError(f"to_frame needs {' or '.join(wanted)}; pip install {wanted[0]}")
    rows = [_row(table, column) for table in tables for column in table.columns]
    names = ["table", "source", "index", "name", "subject", *ANSWER]
    names += ["relation", "relation_confidence", "key", "refers_to", *STATISTICS, "most_common"]
    if installed == "pandas":
        import pandas

        return pandas.DataFrame(rows, columns=names)
    import polars

    columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in names}
    for end in ("min", "max"):  # of numbers or dates, by column; a column of polars has one type
        columns[end] = [None if value is None else str(value) for value in columns[end]]
    columns["tags"] = [list(tags) for tags in columns["tags"]]
    return polars.DataFrame(columns, strict=False)


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
