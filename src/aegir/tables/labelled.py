"""Tables with gold labels for training and `aegir eval`: one JSON object per line.

    {"id": "…", "columns": [{"name": header or null, "values": [strings], "cta": label, "cpa": label}, …]}

A label is a string, a list of accepted strings, or null if the column is not labelled. A table may have a
`subject`, the number of its subject column; for relations the default is 0. The format is described in
docs/labelled-tables.md.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from aegir.errors import UsageError
from aegir.tables.table import Column, Table

Task = Literal["cta", "cpa"]


@dataclass(frozen=True, slots=True)
class LabelledTable:
    """A table and the accepted labels of each column for both tasks (empty if not labelled)."""

    table: Table
    cta: tuple[tuple[str, ...], ...]
    cpa: tuple[tuple[str, ...], ...]
    origin: dict[str, object]
    """The other keys of the line, such as `domain` and `source`."""

    def labels(self, task: Task) -> tuple[tuple[str, ...], ...]:
        """The accepted labels of one task."""
        return self.cta if task == "cta" else self.cpa

    def with_subject(self, subject: int) -> "LabelledTable":
        """Return the same table with this subject column."""
        return replace(self, table=replace(self.table, subject=subject))


def read_labelled_tables(path: Path) -> Iterator[LabelledTable]:
    """Yield the tables of a .jsonl or .jsonl.gz file; `UsageError` names the line of a malformed one."""
    number = 0
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8") as lines
        ):
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _parse(line, f"{path}:{number}")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}:{number + 1} is not UTF-8 text ({error.reason})") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read labelled tables from {path}: {reason}") from None
    if number == 0:
        raise UsageError(f"{path} is empty; expected one table as a JSON object per line")


def _parse(line: str, where: str) -> LabelledTable:
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON ({error}); expected one table per line") from None
    columns = record.get("columns") if isinstance(record, dict) else None
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        raise UsageError(f'{where} has no list of columns; expected {{"id", "columns": […]}}')
    subject = record.get("subject")
    if subject is not None and not (isinstance(subject, int) and 0 <= subject < len(columns)):
        raise UsageError(f"{where}: subject is {subject!r}; expected a column number or null")
    parsed = tuple(_column(column, f"{where}, column {i}") for i, column in enumerate(columns))
    rows = max((len(column.values) for column in parsed), default=0)
    filled = tuple(
        Column(column.name, column.values + ("",) * (rows - len(column.values)))
        for column in parsed
    )
    return LabelledTable(
        Table(str(record.get("id", where)), filled, subject=subject),
        tuple(_labels(column.get("cta"), where) for column in columns),
        tuple(_labels(column.get("cpa"), where) for column in columns),
        {key: value for key, value in record.items() if key not in ("id", "columns", "subject")},
    )


def _column(column: dict[str, object], where: str) -> Column:
    values, name = column.get("values"), column.get("name")
    if not isinstance(values, list):
        raise UsageError(f"{where} has no list of values")
    if name is not None and not isinstance(name, str):
        raise UsageError(f"{where}: name is {name!r}; expected text or null")
    return Column(name, tuple("" if value is None else str(value) for value in values))


def _labels(label: object, where: str) -> tuple[str, ...]:
    if label is None:
        return ()
    accepted = label if isinstance(label, list) else [label]
    if not all(isinstance(one, str) for one in accepted):
        raise UsageError(f"{where}: a label is {label!r}; expected text, a list of texts or null")
    return tuple(accepted)
