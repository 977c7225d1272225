"""Example columns by the names that users give them, each with its table.

    wards.csv:patient          the column with this header; in a file of several tables, wherever it occurs
    wards.csv:3                the third column
    shop.xlsx#Orders:customer  the column of one table
    columns.jsonl              labelled tables: the columns with the type's name among their types or fine types;
                               all, if no column has a label

A few long columns can replace many: the rows of their tables are cut into parts, and each part is an example.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from aegir.tables.labelled import Accepted, ColumnLabels, LabelledTable, read_labelled_tables
from aegir.tables.readers import read_tables
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError

ROWS = 400
LEAST_CELLS = 8
"""A part of a column needs this many cells to be an example."""
LABELLED = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class ExampleColumn:
    """A column and its table."""

    table: Table
    index: int
    group: int
    """Parts of one column share a group."""

    @property
    def column(self) -> Column:
        """The column itself."""
        return self.table.columns[self.index]


def read_examples(
    column_paths: Sequence[str], name: str, *, of_type: bool = True
) -> list[ExampleColumn]:
    """Return the columns at these paths; with `of_type` False, of labelled tables those of other types."""
    examples: list[ExampleColumn] = []
    seen: set[tuple[str, str | None, int]] = set()
    for column_path in column_paths:
        for table, index in _columns_at(column_path, name, of_type):
            key = (table.name, table.source, index)
            if key not in seen and table.columns[index].present:
                seen.add(key)
                examples.append(ExampleColumn(table, index, len(examples)))
    return examples


def cut_examples(examples: Sequence[ExampleColumn], wanted: int) -> list[ExampleColumn]:
    """Return at least `wanted` examples, cutting long ones if needed; fewer if they are too short."""
    if not examples or len(examples) >= wanted:
        return list(examples)
    pieces = -(-wanted // len(examples))
    return [part for example in examples for part in _parts(example, pieces)]


def names_of(labels: ColumnLabels) -> Accepted:
    """Return the types and fine types that a column is labelled with."""
    return (*labels.accepted("cta"), *(labels.fine or ()))


def alone(example: ExampleColumn) -> Table:
    """Return the example's column as a table by itself."""
    return replace(example.table, columns=(example.column,), subject=None)


def without_header(example: ExampleColumn) -> Table:
    """Return the example's table without the header of its column."""
    columns = list(example.table.columns)
    columns[example.index] = replace(example.column, name=None)
    return replace(example.table, columns=tuple(columns))


def _parts(example: ExampleColumn, wanted: int) -> Iterator[ExampleColumn]:
    """Yield the example cut by rows into up to `wanted` parts, each with enough cells of its column."""
    rows = [row for row, cell in enumerate(example.column.values) if cell.strip()]
    pieces = max(1, min(wanted, len(rows) // LEAST_CELLS))
    for piece in range(pieces):
        taken = rows[piece::pieces]  # interleaved, so that a sorted column gives similar parts
        columns = tuple(
            replace(column, values=tuple(column.values[row] for row in taken))
            for column in example.table.columns
        )
        yield replace(example, table=replace(example.table, columns=columns))


def _columns_at(column_path: str, name: str, of_type: bool) -> Iterator[tuple[Table, int]]:
    file, title, wanted = _split(column_path)
    if wanted is None:
        if not file.lower().endswith(LABELLED):
            raise UsageError(_names_no_column(file, title))
        yield from _labelled(Path(file), name, of_type)
        return
    tables = [table for table in read_tables(file, rows=ROWS) if _is_called(table, title)]
    matches = [(table, i) for table in tables for i in _indices(table, wanted)]
    if not matches:
        raise UsageError(_no_such_column(file, title, wanted, tables))
    yield from matches


def _split(column_path: str) -> tuple[str, str | None, str | None]:
    """Return file, table and column; the file is the longest prefix that is one, so all may have colons."""
    if Path(column_path).is_file():
        return column_path, None, None
    ends = [at for at in range(len(column_path) - 1, 0, -1) if column_path[at] == ":"]
    for end in [*ends, len(column_path)]:
        file, wanted = column_path[:end], column_path[end + 1 :] or None
        if Path(file).is_file():
            return file, None, wanted
        file, _, title = file.rpartition("#")
        if Path(file).is_file():
            return file, title, wanted
    file = column_path.rpartition(":")[0] or column_path
    raise UsageError(f"there is no file {file}; expected FILE:COLUMN or labelled.jsonl")


def _is_called(table: Table, title: str | None) -> bool:
    return title is None or table.name.rpartition("#")[2] == title


def _indices(table: Table, wanted: str) -> list[int]:
    """Return the columns with this header, or with this number, counted from 1."""
    named = [i for i, column in enumerate(table.columns) if column.name == wanted]
    if named:
        return named
    number = wanted.removeprefix("column_")
    if number.isascii() and number.isdigit() and 1 <= int(number) <= len(table.columns):
        return [int(number) - 1]
    return []


def _labelled(path: Path, name: str, of_type: bool) -> Iterator[tuple[Table, int]]:
    tables = list(read_labelled_tables(path))
    labels = {
        name for labelled in tables for labels in labelled.labels for name in names_of(labels)
    }
    if of_type and labels and name not in labels:
        near = get_close_matches(name, labels, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(labels)[:5])}"
        raise UsageError(f"no column of {path} is labelled {name!r}; {hint}")
    for number, labelled in enumerate(tables):
        table = replace(labelled.table, source=f"{path}:{number}", subject=None)
        yield from ((table, i) for i in _chosen(labelled, name, of_type and bool(labels), of_type))


def _chosen(labelled: LabelledTable, name: str, by_label: bool, of_type: bool) -> list[int]:
    named = [names_of(labels) for labels in labelled.labels]
    if of_type:
        return [i for i, names in enumerate(named) if name in names or not by_label]
    return [i for i, names in enumerate(named) if name not in names]


def _names_no_column(file: str, title: str | None) -> str:
    table = next(iter(read_tables(file, rows=10)), None)
    column = "COLUMN" if table is None else (table.columns or (Column(None, ()),))[0].name or "1"
    where = file if title is None else f"{file}#{title}"
    return f"{where} names no column; write it behind a colon, such as {where}:{column}"


def _no_such_column(file: str, title: str | None, wanted: str, tables: Sequence[Table]) -> str:
    if not tables:
        return f"{file} has no table {title!r}"
    headers = [column.name for table in tables for column in table.columns if column.name]
    near = get_close_matches(wanted, headers, 1)
    shown = ", ".join(headers[:6]) + ("…" if len(headers) > 6 else "")
    hint = (
        f"did you mean {near[0]!r}?" if near else f"it has {shown or 'no headers; give a number'}"
    )
    return f"{file} has no column {wanted!r}; {hint}"
