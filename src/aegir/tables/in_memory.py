"""Sample tables in memory: DataFrames, Arrow tables, dicts of lists, lists of dicts.

Objects are recognised by their attributes, so that neither pandas nor Polars nor PyArrow has to be installed:
`iloc` means pandas, `__arrow_c_stream__` the Arrow interface (Polars, PyArrow, DuckDB, …).
The first `LAZY_ROWS` rows of a Polars LazyFrame are collected and sampled, with a warning.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from aegir.tables.assembling import Request, assemble_table, choose_rows
from aegir.tables.cell_text import cell_text, column_text
from aegir.tables.columnar import read_arrow_object
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError

LAZY_ROWS = 100_000


def read_in_memory(source: Any, request: Request) -> Table:
    """Sample the table that an object holds."""
    if type(source).__name__ == "Series":
        raise UsageError("a Series is one column without a table; give series.to_frame()")
    if type(source).__name__ == "LazyFrame":
        return _from_lazy(source, request)
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return _from_pandas(source, request)
    if hasattr(source, "__arrow_c_stream__"):
        return read_arrow_object(source, request)
    if isinstance(source, Mapping):
        return _from_columns(source, request)
    if isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source):
        return _from_records(source, request)
    raise UsageError(
        f"cannot read a table from {type(source).__name__}; give a path, an open binary file, a "
        "DataFrame, an Arrow table, a dict of lists or a list of dicts"
    )


def _from_pandas(frame: Any, request: Request) -> Table:
    chosen = choose_rows(len(frame), request.rows, request.generator("rows"))
    sampled = frame.iloc[chosen]
    width = len(frame.columns)
    columns = [column_text(list(sampled.iloc[:, index].array)) for index in range(width)]
    # The columns of a frame without names are numbered from 0.
    unnamed = list(frame.columns) == list(range(width))
    names = [None if unnamed else cell_text(name) for name in frame.columns]
    return assemble_table(request, names, columns, total_rows=len(frame))


def _from_lazy(frame: Any, request: Request) -> Table:
    """Sample the first rows of a Polars query, which may have any size."""
    import polars

    try:
        head = frame.head(LAZY_ROWS + 1).collect()
    except (polars.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UsageError(f"the LazyFrame cannot be collected ({reason})") from error
    table = read_arrow_object(head.head(LAZY_ROWS), request)
    if len(head) <= LAZY_ROWS:
        return replace(table, total_rows=len(head))
    note = f"only the first {LAZY_ROWS:,} rows of the LazyFrame were collected"
    return replace(table, warnings=(*table.warnings, note))


def _from_columns(columns: Mapping[Any, Any], request: Request) -> Table:
    for name, values in columns.items():
        if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
            raise UsageError(
                f"column {name!r} is of type {type(values).__name__}; each column must be a list of values"
            )
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise UsageError(
            f"columns have {min(lengths)} to {max(lengths)} values; all must be equally long"
        )
    total = next(iter(lengths), 0)
    chosen = choose_rows(total, request.rows, request.generator("rows"))
    cells = [
        column_text([getattr(values, "iloc", values)[index] for index in chosen])
        for values in columns.values()
    ]
    names = [None if name is None else cell_text(name) for name in columns]
    return assemble_table(request, names, cells, total_rows=total)


def _from_records(records: Sequence[Mapping[Any, Any]], request: Request) -> Table:
    chosen = choose_rows(len(records), request.rows, request.generator("rows"))
    sampled = [records[index] for index in chosen]
    names = list(dict.fromkeys(name for record in sampled for name in record))
    cells = [column_text([record.get(name) for record in sampled]) for name in names]
    return assemble_table(
        request, [cell_text(name) for name in names], cells, total_rows=len(records)
    )
