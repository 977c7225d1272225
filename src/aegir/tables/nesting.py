"""Nested values as tables: objects become columns, lists of objects become tables with a key to their parent.

    [{"id": 7, "user": {"email": "ann@example.org"}, "items": [{"sku": "A1"}, {"sku": "B2"}]}]

    t.json          id | user.email              t.json#items    parent.id | sku
                    7  | ann@example.org                         7         | A1
                                                                 7         | B2

One rule for JSON, Avro, Parquet, Arrow and what Python holds in memory. The key is a column of the parent that is called like
an identifier and never repeats, else the number of its row.

Promises
  - objects are opened `LEVELS` deep and lists of objects in lists of objects as deep; together that makes at most
    `FLATTENED` more columns per table, and of the lists of a document at most `TABLES` tables and about
    `COLUMN_LIMIT` columns;
  - a few values among objects or lists that are neither (`"n/a"`) are left out, and a warning counts them;
  - what is beyond that stays in its cell as JSON, and a warning of the table names it;
  - a geometry (GeoJSON) and an object whose keys are data, as in {"2024-05-01": 3, …}, stay in their cell.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aegir.tables.assembling import COLUMN_LIMIT, Request, assemble_table, choose_rows
from aegir.tables.cell_text import cell_text, tidy_column
from aegir.tables.table import Declared, Table
from aegir_rl.base.text import amount

LEVELS = 3
FLATTENED = 1000
TABLES = 100
KEYS_OF_DATA = 50
"""An object with more keys than this, of which a record has few, is a mapping: its keys are data."""
SHARE_OF_KEYS = 0.2
SHARE_OF_OTHERS = 0.1
"""Of the values of a column of objects, or of lists, so many may be something else, and are left out with a warning."""
GEOMETRY = {"type", "coordinates", "geometries", "bbox", "crs"}
LISTED = 3
ROW = "row"
_IDENTIFIER = re.compile(r"(?:.*[\W_])?_?(?:id|key|uuid|guid)|.*[a-z](?:Id|ID|Key)", re.DOTALL)


@dataclass(slots=True)
class TableBudget:
    """How many more tables, and how many columns in them, may be made of the lists of a document."""

    tables: int = TABLES
    columns: int = COLUMN_LIMIT

    def take(self) -> bool:
        """Return whether another table may be made, and count it."""
        if self.tables <= 0 or self.columns <= 0:
            return False
        self.tables -= 1
        return True


@dataclass(frozen=True, slots=True)
class Columns:
    """Named columns of values; of many columns only those up to the limit have values."""

    names: Sequence[str | None]
    values: Sequence[Sequence[Any]]
    total_rows: int | None = None
    warnings: Sequence[str] = ()
    typed: bool = False
    """Whether values have types of their own, which may have made floats of integers."""
    declared: Sequence[Declared] = ()
    """What the source says of each column, if it says anything."""

    @classmethod
    def of_records(
        cls,
        records: Sequence[Mapping[Any, Any]],
        total_rows: int | None,
        warnings: Sequence[str] = (),
        *,
        typed: bool = False,
    ) -> "Columns":
        """Return a column per key that occurs."""
        names = list(dict.fromkeys(name for record in records for name in record))
        values = [[record.get(name) for record in records] for name in names[:COLUMN_LIMIT]]
        return cls([cell_text(name) for name in names], values, total_rows, warnings, typed)


@dataclass(frozen=True, slots=True)
class _Leaf:
    name: str | None
    values: Sequence[Any]
    declared: Declared | None = None


@dataclass(slots=True)
class _Left:
    """What stays in its cell, by the reason."""

    deep: list[str] = field(default_factory=list)
    wide: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=dict)
    """How many values of an opened column are no objects, and in no column."""

    def count_others(self, leaf: _Leaf, is_nested: Callable[[Any], bool]) -> None:
        """Note the values of a column to be opened that are neither nested nor missing."""
        count = sum(not is_nested(value) and not _is_missing(value) for value in leaf.values)
        if count:
            self.others[leaf.name or ""] = count

    def notes(self) -> Iterator[str]:
        for names, why in (
            (self.deep, f"nested more than {LEVELS} levels deep"),
            (self.wide, "too many different keys to be columns"),
            (
                self.lists,
                f"lists of objects beyond {TABLES} tables, {COLUMN_LIMIT:,} columns or {LEVELS} levels",
            ),
        ):
            if names:
                yield f"kept as JSON ({why}): {_listed(names)}"
        for name, count in list(self.others.items())[:LISTED]:
            yield f"left out: {amount(count, 'value')} of {name!r} beside its objects"
        if len(self.others) > LISTED:
            yield f"left out: values beside the objects of {len(self.others) - LISTED:,} more columns"


def nested_tables(
    columns: Columns,
    request: Request,
    *,
    root: Request | None = None,
    path: str = "",
    budget: TableBudget | None = None,
) -> Iterator[Table]:
    """Yield the table that columns of nested values make, then those of the lists in them.

    `path` leads to the columns in the document that `root` is the request for: the tables of lists are called `orders.items`.
    """
    yield from _tables(columns, request, root or request, path, budget or TableBudget(), 1)


def is_list_of_objects(value: Any) -> bool:
    """Whether at least half of the items of a list are objects."""
    objects = sum(isinstance(item, Mapping) for item in value)
    return objects > 0 and objects >= len(value) / 2


def _tables(
    columns: Columns, request: Request, root: Request, path: str, budget: TableBudget, level: int
) -> Iterator[Table]:
    left = _Left()
    leaves, lists = [], []
    for leaf in _flatten(columns, left):
        if not _holds_lists_of_objects(leaf.values):
            leaves.append(leaf)
        elif level <= LEVELS and budget.take():
            lists.append(leaf)
            left.count_others(leaf, _is_list)
        else:
            left.lists.append(leaf.name or "")
            leaves.append(leaf)
    notes = [*columns.warnings, *left.notes()]
    texts = [[cell_text(value) for value in leaf.values] for leaf in leaves]
    unread = list(columns.names[len(columns.values) :])
    budget.columns -= len(leaves)
    if leaves or not lists:
        yield assemble_table(
            request,
            [*(leaf.name for leaf in leaves), *unread],
            [tidy_column(cells) for cells in texts] if columns.typed else texts,
            total_rows=columns.total_rows,
            warnings=notes,
            declared=[leaf.declared or Declared() for leaf in leaves] if columns.declared else (),
        )
    for leaf in lists:
        where = f"{path}.{leaf.name}" if path else str(leaf.name)
        parent = path.rpartition(".")[2] or "parent"
        rows = _ListedRows(leaf.values, *_key(leaves, texts, len(leaf.values)))
        part = root.part(where, where.rpartition(".")[2])
        yield from _tables(
            rows.columns(part, parent, columns), part, root, where, budget, level + 1
        )


@dataclass(frozen=True, slots=True)
class _ListedRows:
    """The lists in a column, and the key of the row that each is in."""

    lists: Sequence[Any]
    key: str
    keys: Sequence[Any]

    def columns(self, request: Request, parent: str, above: Columns) -> Columns:
        """Sample the objects in the lists, behind the key of their parent."""
        items = [
            (key, item)
            for key, values in zip(self.keys, self.lists, strict=True)
            for item in _items(values)
        ]
        rows = [(key, item) for key, item in items if isinstance(item, Mapping)]
        others = len(items) - len(rows)
        notes = [f"left out: {amount(others, 'item')} of the lists, no objects"] if others else []
        chosen = [
            rows[index] for index in choose_rows(len(rows), request.rows, request.generator("rows"))
        ]
        whole = above.total_rows is not None and above.total_rows == len(self.lists)
        inner = Columns.of_records([item for _, item in chosen], None, typed=above.typed)
        return Columns(
            [f"{parent}.{self.key}", *inner.names],
            [[key for key, _ in chosen], *inner.values],
            len(rows) if whole else None,
            notes,
            above.typed,
        )


def _key(
    leaves: Sequence[_Leaf], texts: Sequence[Sequence[str]], rows: int
) -> tuple[str, Sequence[Any]]:
    """The name and values of the column that identifies rows; their numbers if there is none."""
    for leaf, cells in zip(leaves, texts, strict=True):
        named = leaf.name is not None and _IDENTIFIER.fullmatch(leaf.name)
        if named and all(cells) and len(set(cells)) == rows:
            return str(leaf.name), leaf.values
    return ROW, range(1, rows + 1)


def key_name(names: Sequence[str]) -> str:
    """The name of the key where no rows are known: the first column that is called like an identifier."""
    return next((name for name in names if _IDENTIFIER.fullmatch(name)), ROW)


def _flatten(columns: Columns, left: _Left) -> list[_Leaf]:
    """Open objects level by level; those that would make too many columns are named in `left`."""
    known = zip(columns.names[: len(columns.values)], columns.values, strict=True)
    leaves = [
        _Leaf(name, values, columns.declared[index] if columns.declared else None)
        for index, (name, values) in enumerate(known)
    ]
    room = FLATTENED
    for _ in range(LEVELS):
        opened: list[_Leaf] = []
        changed = False
        for leaf in leaves:
            keys = _keys_of_objects(leaf.values)
            if len(keys) > room + 1 or _keys_are_data(keys, leaf.values):
                left.wide.append(leaf.name or "")
                keys = []
            if not keys:
                opened.append(leaf)
                continue
            changed = True
            left.count_others(leaf, lambda value: isinstance(value, Mapping))
            room -= len(keys) - 1
            opened += (_Leaf(_joined(leaf.name, key), _inside(leaf.values, key)) for key in keys)
        leaves = opened
        if not changed:
            break
    wide = set(left.wide)
    left.wide[:] = wide
    left.deep += (
        leaf.name or ""
        for leaf in leaves
        if leaf.name not in wide and _keys_of_objects(leaf.values)
    )
    return leaves


def _keys_of_objects(values: Sequence[Any]) -> list[Any]:
    """The keys of the objects in a column, as they come; none unless nearly all its values are objects to be opened."""
    keys: dict[Any, None] = {}
    objects = others = 0
    for value in values:
        if isinstance(value, Mapping):
            keys.update(dict.fromkeys(value))
            objects += 1
        elif not _is_missing(value):
            others += 1
    if others > SHARE_OF_OTHERS * (objects + others):
        return []
    if "type" in keys and len(keys) > 1 and keys.keys() <= GEOMETRY:
        return []
    return list(keys)


def _keys_are_data(keys: Sequence[Any], values: Sequence[Any]) -> bool:
    if len(keys) <= KEYS_OF_DATA:
        return False
    objects = [value for value in values if isinstance(value, Mapping)]
    return sum(map(len, objects)) < SHARE_OF_KEYS * len(keys) * len(objects)


def _inside(values: Sequence[Any], key: Any) -> list[Any]:
    return [value.get(key) if isinstance(value, Mapping) else None for value in values]


def _joined(name: str | None, key: Any) -> str:
    return f"{name}.{cell_text(key)}" if name else cell_text(key)


def _holds_lists_of_objects(values: Sequence[Any]) -> bool:
    """Whether nearly all values of a column are lists, and most of what they hold are objects."""
    items: list[Any] = []
    lists = others = 0
    for value in values:
        if _is_list(value):
            items += _items(value)
            lists += 1
        elif not _is_missing(value):
            others += 1
    if others > SHARE_OF_OTHERS * (lists + others):
        return False
    return is_list_of_objects(items)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or bool(getattr(value, "ndim", 0))


def _items(value: Any) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    return list(value) if _is_list(value) else ()


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in sorted(names)[:LISTED])
    more = len(names) - LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown
