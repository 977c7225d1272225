"""Sample tables in memory: DataFrames, Arrow tables, dicts of lists, lists of dicts, dicts of tables by name; open connections.

Objects are recognised by their attributes, so that neither pandas nor Polars nor PyArrow has to be installed:
`iloc` means pandas, `__arrow_c_stream__` the Arrow interface (Polars, PyArrow, DuckDB, …).
The first `LAZY_ROWS` rows of a Polars LazyFrame are collected and sampled, with a warning.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import Any

from aegir.tables.assembling import COLUMN_LIMIT, Request, choose_rows
from aegir.tables.cell_text import cell_text
from aegir.tables.columnar import read_arrow_object
from aegir.tables.connections import is_connection, read_connection
from aegir.tables.nesting import Columns, is_list_of_objects, nested_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError

LAZY_ROWS = 100_000


def read_in_memory(source: Any, request: Request) -> Iterator[Table]:
    """Sample the tables that an object holds: one, and those of the lists of objects in it."""
    if type(source).__name__ == "Series":
        raise UsageError("a Series is one column without a table; give series.to_frame()")
    if type(source).__name__ == "LazyFrame":
        yield from _from_lazy(source, request)
    elif is_connection(source):
        yield from read_connection(source, request)
    elif isinstance(source, Mapping) and _is_named(source):
        for key, table in source.items():
            name = cell_text(key)
            part = replace(request, name=name, file_name=name, label=name, title=name)
            yield from read_in_memory(table, part)
    elif hasattr(source, "iloc") and hasattr(source, "columns"):
        yield from nested_tables(_from_pandas(source, request), request)
    elif hasattr(source, "__arrow_c_stream__"):
        yield from read_arrow_object(source, request)
    elif isinstance(source, Mapping) and _is_tables(source):
        yield from _from_lists(source, request)
    elif isinstance(source, Mapping):
        yield from nested_tables(_from_columns(source, request), request)
    elif isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source):
        yield from nested_tables(_from_records(source, request), request)
    else:
        raise UsageError(
            f"cannot read a table from {type(source).__name__}; give a path, an open binary file, a "
            "DataFrame, an Arrow table, a dict of lists, a list of dicts, a dict of such tables by name, or a connection to a database"
        )


def _is_named(source: Mapping[Any, Any]) -> bool:
    """Whether every value is a table of its own: a frame, an Arrow table, a dict of lists."""
    return bool(source) and all(
        is_frame(each) or (isinstance(each, Mapping) and _has_columns(each))
        for each in source.values()
    )


def is_frame(source: Any) -> bool:
    """Whether an object is a DataFrame, a LazyFrame or an Arrow table; a Series and an Arrow array, which are columns, are none."""
    if type(source).__name__ == "LazyFrame":
        return True
    has_rows = hasattr(source, "iloc") or hasattr(source, "__arrow_c_stream__")
    return has_rows and hasattr(source, "columns")


def _has_columns(source: Mapping[Any, Any]) -> bool:
    return bool(source) and all(isinstance(cells, list | tuple) for cells in source.values())


def _is_tables(source: Mapping[Any, Any]) -> bool:
    """Whether every value is a list of dicts: the tables of a document, by their names."""
    return bool(source) and all(
        isinstance(rows, list | tuple) and is_list_of_objects(rows) for rows in source.values()
    )


def _from_lists(source: Mapping[Any, Any], request: Request) -> Iterator[Table]:
    from aegir.tables.json_documents import tables_from_json

    yield from tables_from_json(
        {cell_text(key): list(rows) for key, rows in source.items()}, request
    )


def _from_pandas(frame: Any, request: Request) -> Columns:
    chosen = choose_rows(len(frame), request.rows, request.generator("rows"))
    sampled = frame.iloc[chosen]
    width = len(frame.columns)
    values = [list(sampled.iloc[:, index].array) for index in range(min(width, COLUMN_LIMIT))]
    # The columns of a frame without names are numbered from 0.
    unnamed = list(frame.columns) == list(range(width))
    names = [None if unnamed else cell_text(name) for name in frame.columns]
    return Columns(names, values, len(frame), typed=True)


def _from_lazy(frame: Any, request: Request) -> list[Table]:
    """Sample the first rows of a Polars query, which may have any size."""
    import polars

    try:
        head = frame.head(LAZY_ROWS + 1).collect()
    except (polars.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UsageError(f"the LazyFrame cannot be collected ({reason})") from error
    table, *others = read_arrow_object(head.head(LAZY_ROWS), request)
    if len(head) <= LAZY_ROWS:
        table = replace(table, total_rows=len(head))
    else:
        note = f"only the first {LAZY_ROWS:,} rows of the LazyFrame were collected"
        table = replace(table, warnings=(*table.warnings, note))
    return [table, *others]


def _from_columns(columns: Mapping[Any, Any], request: Request) -> Columns:
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
    values = [
        [getattr(cells, "iloc", cells)[index] for index in chosen]
        for cells in islice(columns.values(), COLUMN_LIMIT)
    ]
    names = [None if name is None else cell_text(name) for name in columns]
    return Columns(names, values, total, typed=True)


def _from_records(records: Sequence[Mapping[Any, Any]], request: Request) -> Columns:
    chosen = choose_rows(len(records), request.rows, request.generator("rows"))
    sampled = [records[index] for index in chosen]
    return Columns.of_records(sampled, len(records), typed=True)
