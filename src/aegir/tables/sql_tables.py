"""Sample a table from anything DuckDB can select from: Parquet, Arrow streams, its own files.

    rows have a number and their count is known  -> short runs of rows; the rest is not read
    otherwise                                    -> all rows are scanned, those whose number has the
                                                    smallest hash are kept

The fields of structs are columns, `LEVELS` deep, and lists of structs are tables of their own, as in JSON (nesting.py).
Fields are read by the engine one by one; a list comes as JSON of at most `LIST_TEXT` characters per row.

DuckDB's own `USING SAMPLE reservoir` is not used: for a few rows it favours the beginning (5 rows of
100,000 never came from beyond row 20,000 in DuckDB 1.4.5).
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aegir.tables.assembling import (
    CELL_LIMIT,
    COLUMN_LIMIT,
    Request,
    choose_rows,
    choose_runs,
    describe_wide,
    most_rows,
    table_of_names,
)
from aegir.tables.cell_text import tidy_column
from aegir.tables.json_documents import decode_list
from aegir.tables.nesting import FLATTENED, LEVELS, TABLES, Columns, key_name, nested_tables
from aegir.tables.table import Declared, Table
from aegir_rl.base.duckdb_engine import QUERY_SECONDS, Clock, deadline, quote_name, quote_text
from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.text import amount

ADDRESSED_SINGLY = 100_000
"""Up to this many rows, single rows are picked; above, runs of neighbours, which read less."""
NESTED = ("STRUCT", "MAP", "UNION")
COLUMNS_AT_ONCE = 250
"""Columns per query: whatever it holds, each takes up to 600 KB of DuckDB's memory."""
LIST_DEPTH = 16
"""Lists in lists are read this deep: with every level DuckDB takes twice as long to read Parquet."""
TYPE_LENGTH = 200
"""Characters of a declared type that are kept: that of a nested column may be as long as a schema."""
EMPTY_CELL = "''"
CUT = CELL_LIMIT + 1
LIST_TEXT = 64 << 10
"""Characters of a list of structs that are read."""
_TYPE_MARK = re.compile(r'"(?:[^"]|"")*"|MAP\(|[(),\[]')


@dataclass(frozen=True, slots=True)
class _Cell:
    """A column of a relation, or a field of a struct in it, and the SQL for its cells."""

    path: tuple[str, ...]
    kind: str
    has_objects: bool = False
    """Whether the cells are lists of structs."""
    fields: tuple[tuple[str, Any], ...] = ()
    """The fields of these structs and their types."""

    @property
    def name(self) -> str:
        """The name of the column: `user.email` for a field."""
        return ".".join(self.path)

    @property
    def column(self) -> str:
        """The SQL for the whole value."""
        value = quote_name(self.path[0])
        for field in self.path[1:]:
            value = f"struct_extract({value}, {quote_text(field)})"
        return value

    @property
    def is_deep(self) -> bool:
        """Whether the column holds lists too deep to be read."""
        return _list_depth(self.kind) > LIST_DEPTH

    @property
    def beginning(self) -> str:
        """The value; a text, blob or list is cut to what its cell needs."""
        column = self.column
        if self.is_deep:
            return EMPTY_CELL
        if self.kind == "VARCHAR":  # not CASE: left() runs once per entry of a dictionary
            return f"left({column}, {CUT})"
        if self.kind == "BLOB":
            return f"{column}[:{CUT}]"
        if self.kind.endswith("[]"):
            return f"CASE WHEN len({column}) > {CUT} THEN {column}[:{CUT}] ELSE {column} END"
        return column

    def text(self, value: str) -> str:
        """The text of a value; one character more than a cell may have shows that it was cut."""
        if self.is_deep or self.kind == "VARCHAR":
            return value
        if self.kind.startswith(NESTED) or self.kind.endswith("]"):
            value = f"to_json({value})"
        return f"left(CAST({value} AS VARCHAR), {LIST_TEXT + 1 if self.has_objects else CUT})"


def read_relation(
    connection: Any,
    relation: str,
    request: Request,
    *,
    row_number: str | None = None,
    total_rows: int | None = None,
    reopen: Callable[[], None] = lambda: None,
    seconds: float = QUERY_SECONDS,
    clock: Clock = time.monotonic,
    declared: Mapping[str, Declared] | None = None,
) -> list[Table]:
    """Sample a relation (SQL text after FROM) and the lists of structs in it; `row_number` is its virtual column of row numbers.

    `declared` has what is known of columns by name beside their types; None if its source declares nothing. Tables of many columns are read in several queries; `reopen` is called before each but the first.
    `TooSlow` is raised if this takes longer than `seconds` of the clock.
    """
    with deadline(connection, request.label, seconds, clock):
        return _read_relation(
            connection, relation, request, row_number, total_rows, reopen, declared
        )


def _read_relation(
    connection: Any,
    relation: str,
    request: Request,
    row_number: str | None,
    total_rows: int | None,
    reopen: Callable[[], None],
    declared: Mapping[str, Declared] | None,
) -> list[Table]:
    described = connection.sql(f"SELECT * FROM {relation}")  # noqa: S608
    if not described.columns:
        raise UnreadableTable(f"{request.label} has no columns")
    cells, wide = _find_cells(described.columns, described.types)
    names = [cell.name for cell in cells]
    said: list[Declared] = []
    if declared is not None:
        said = [
            replace(declared.get(cell.name, Declared()), type=cell.kind[:TYPE_LENGTH])
            for cell in cells
        ]
    if request.names_only:
        return _tables_of_names(cells, request, said)
    # A column of the same name would hide the row number.
    addressed = total_rows is not None and row_number not in set(map(str.lower, described.columns))

    def read_columns(cells: list[_Cell]) -> list[tuple[str | None, ...]]:
        if addressed and row_number is not None and total_rows is not None:
            return _addressed_rows(connection, relation, cells, request, row_number, total_rows)
        return _scan_rows(connection, relation, cells, request)

    width = min(len(cells), COLUMN_LIMIT)
    asked, request = request.rows, replace(request, rows=most_rows(width, request.rows))
    texts = _read_in_groups(read_columns, cells[:COLUMN_LIMIT], reopen)
    if not (texts and texts[0]):
        return _tables_of_names(cells, request, said)
    deep = sum(cell.is_deep for cell in cells[:COLUMN_LIMIT])
    warnings = []
    if deep:
        warnings.append(
            f"left empty: {amount(deep, 'column')} of lists more than {LIST_DEPTH} deep"
        )
    if wide:
        warnings.append(f"kept as JSON (too many fields to be columns): {wide[0]!r}")
    values: list[Sequence[Any]] = list(texts)
    for index, cell in enumerate(cells[:COLUMN_LIMIT]):
        if cell.has_objects:
            values[index] = [decode_list(text) if text else None for text in texts[index]]
            if cut := sum(len(text) > LIST_TEXT for text in texts[index]):
                warnings.append(f"cut {amount(cut, 'list')} in {cell.name!r}, too long to be read")
    if texts and len(texts[0]) == request.rows < min(asked, total_rows or asked):
        warnings.append(describe_wide(width, request.rows))
    columns = Columns(names, values, total_rows, warnings, typed=True, declared=said)
    return list(nested_tables(columns, request))


def _tables_of_names(
    cells: Sequence[_Cell], request: Request, said: Sequence[Declared]
) -> list[Table]:
    """The table of these columns and those of the lists in them, as for rows, but without cells."""
    total = None if request.names_only else 0
    own = [index for index, cell in enumerate(cells) if not cell.has_objects]
    names = [cells[index].name for index in own]
    tables = []
    if own:
        tables.append(
            table_of_names(request, names, [said[index] for index in own] if said else ())
        )
    waiting = [(cell, cell.name, "parent", names, 1) for cell in cells if cell.has_objects]
    while waiting and len(tables) < TABLES:
        cell, where, parent, above, level = waiting.pop(0)
        fields = [name for name, _ in cell.fields]
        inner, _ = _find_cells(fields, [kind for _, kind in cell.fields])
        lists = [each for each in inner if each.has_objects and level < LEVELS]
        names = [each.name for each in inner if each not in lists]
        last = where.rpartition(".")[2]
        names = [f"{parent}.{key_name(above)}", *names]
        tables.append(table_of_names(request.part(where, last), names))
        waiting += [(each, f"{where}.{each.name}", last, names, level + 1) for each in lists]
    return [replace(table, total_rows=total) for table in tables]


def _find_cells(names: Sequence[str], kinds: Sequence[Any]) -> tuple[list[_Cell], list[str]]:
    """The columns of a relation with structs opened, and the names of structs with too many fields."""
    found: list[tuple[tuple[str, ...], Any]] = [
        ((name,), kind) for name, kind in zip(names, kinds, strict=True)
    ]
    wide: list[str] = []
    room = FLATTENED
    for _ in range(LEVELS):
        opened: list[tuple[tuple[str, ...], Any]] = []
        for path, kind in found:
            fields = kind.children if kind.id == "struct" and _has_names(kind) else ()
            if len(fields) > room + 1:
                wide.append(".".join(path))
                fields = ()
            room -= max(len(fields) - 1, 0)
            opened += [((*path, name), child) for name, child in fields] or [(path, kind)]
        found = opened
    return [_Cell(path, str(kind), *_listed_fields(kind)) for path, kind in found], wide


def _has_names(struct: Any) -> bool:
    return all(name for name, _ in struct.children)


def _listed_fields(kind: Any) -> tuple[bool, tuple[tuple[str, Any], ...]]:
    """Whether a type is a list of structs, and their fields."""
    if kind.id != "list" or kind.children[0][1].id != "struct":
        return False, ()
    return True, tuple(kind.children[0][1].children)


def _read_in_groups(
    read_columns: Callable[[list[_Cell]], list[tuple[str | None, ...]]],
    cells: list[_Cell],
    reopen: Callable[[], None],
) -> list[list[str]]:
    """The columns for these cells; groups that need too much memory are halved and read again."""
    import duckdb

    waiting = [
        cells[start : start + COLUMNS_AT_ONCE] for start in range(0, len(cells), COLUMNS_AT_ONCE)
    ]
    columns: list[list[str]] = []
    while waiting:
        group = waiting.pop(0)
        try:
            rows = read_columns(group)
        except duckdb.OutOfMemoryException:
            if len(group) == 1:
                raise
            half = len(group) // 2
            waiting[:0] = [group[:half], group[half:]]
        else:
            columns += [tidy_column([row[i] or "" for row in rows]) for i in range(len(group))]
        if waiting:
            reopen()
    return columns


def _list_depth(kind: str) -> int:
    """How many lists and maps a DuckDB type has inside each other."""
    depth, open_types = 0, []
    deepest_sibling = 0
    for mark in _TYPE_MARK.findall(kind):
        if mark == "[":
            depth += 1
        elif mark.endswith("("):
            open_types.append((deepest_sibling, mark == "MAP("))
            depth = deepest_sibling = 0
        elif mark == ",":
            depth, deepest_sibling = 0, max(depth, deepest_sibling)
        elif mark == ")" and open_types:
            inside = max(depth, deepest_sibling)
            deepest_sibling, is_map = open_types.pop()
            depth = inside + is_map
    return max(depth, deepest_sibling)


def _addressed_rows(
    connection: Any, relation: str, cells: list[_Cell], request: Request, number: str, total: int
) -> list[tuple[str | None, ...]]:
    """Sample rows by their numbers."""
    generator = request.generator("rows")
    texts = ", ".join(cell.text(cell.beginning) for cell in cells)
    select = f"SELECT {texts} FROM {relation}"  # noqa: S608
    if total <= request.rows:
        conditions = ["TRUE"]
    elif total <= ADDRESSED_SINGLY:
        chosen = choose_rows(total, request.rows, generator)
        # Not IN: DuckDB makes a join of it, which copies cells before they are cut.
        conditions = [f"list_contains([{', '.join(map(str, chosen))}], {number})"]
    else:
        runs = choose_runs(total, request.rows, generator)
        conditions = [f"{number} BETWEEN {run.start} AND {run.stop - 1}" for run in runs]
    rows: list[tuple[str | None, ...]] = []
    for condition in conditions:
        rows += connection.execute(f"{select} WHERE {condition}").fetchall()
    return rows


def _scan_rows(
    connection: Any, relation: str, cells: list[_Cell], request: Request
) -> list[tuple[str | None, ...]]:
    """Sample all rows in one pass; only the sampled ones are converted to text."""
    seed = int(request.generator("rows").integers(2**32))
    names = [f"c{index}" for index in range(len(cells))]
    beginnings = ", ".join(cell.beginning for cell in cells)
    numbered = f"SELECT {beginnings}, row_number() OVER () FROM {relation}"  # noqa: S608
    sample = (
        f"SELECT * FROM ({numbered}) AS numbered({', '.join(names)}, number) "  # noqa: S608
        f"ORDER BY hash(number + {seed}) LIMIT {request.rows}"
    )
    texts = ", ".join(cell.text(name) for cell, name in zip(cells, names, strict=True))
    rows = connection.execute(f"SELECT {texts}, number FROM ({sample})").fetchall()  # noqa: S608
    return [row[:-1] for row in sorted(rows, key=lambda row: row[-1])]
