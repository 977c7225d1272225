"""Read the tables that a request brought, in a worker process.

Files are read with the folder of the request as the current one, so that names in answers and sentences are those of the files.
"""

import json
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

from aegir.pipeline.run import Failure, read_source
from aegir.service.fork_server import Job
from aegir.service.limits import Limits
from aegir.service.unpacking import check_unpacked
from aegir.tables.json_documents import WrittenNumber, written_integer
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError, reason_of

JSON_KEYS = ("rows", "columns", "name")
LONGEST_NAME = 255
"""Characters, as of the names of files."""


def read_upload(job: Job, limits: Limits, rows: int, seed: int) -> list[Table | Failure]:
    """Read the tables of the files, or of the JSON document, that a request brought."""
    folder = Path(job["folder"])
    if job.get("body"):
        source, name = read_document(folder / job["body"])
        (table,) = read_tables(source, rows=rows, seed=seed, name=name)
        if not table.columns:
            raise UnreadableTable(_describe_document("holds no columns"))
        return [table]
    if not job["files"]:
        raise UsageError(
            "the request holds no files; send at least one, as a part with a file name"
        )
    files = [Path(file) for file in job["files"]]
    with chdir(folder):
        for file in files:
            check_unpacked(file, limits)
        outcomes = [each for file in files for each in read_source(file, rows, seed)]
    return [_without_folder(outcome, folder) for outcome in outcomes]


def _without_folder(outcome: Table | Failure, folder: Path) -> Table | Failure:
    """Leave the folder of the upload out of what libraries say about a file."""
    inside = f"{folder}/"
    if isinstance(outcome, Failure):
        return replace(outcome, reason=outcome.reason.replace(inside, ""))
    warnings = tuple(warning.replace(inside, "") for warning in outcome.warnings)
    return replace(outcome, warnings=warnings)


def read_document(path: Path) -> tuple[object, str | None]:
    """Return the rows or columns in a JSON document, and the name of their table."""
    try:
        # Numbers as they are written: of 2.50, both decimals say something.
        document = json.loads(
            path.read_bytes(), parse_float=WrittenNumber, parse_int=written_integer
        )
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the request is no JSON ({reason_of(error)})") from None
    if not isinstance(document, Mapping):
        raise UsageError(_describe_document(f"is {_kind(document)}"))
    if unknown := sorted(set(document) - set(JSON_KEYS)):
        raise UsageError(_describe_document(f"has the unknown key {unknown[0]!r}"))
    if ("rows" in document) == ("columns" in document):
        raise UsageError(_describe_document("must have either rows or columns"))
    name = document.get("name")
    if name is not None and (not isinstance(name, str) or not name or not name.isprintable()):
        raise UsageError(f"the name of the table is {name!r}; expected printable text")
    if name is not None and len(name) > LONGEST_NAME:
        raise UsageError(f"the name of the table is longer than {LONGEST_NAME} characters")
    if "rows" in document:
        rows: Any = document["rows"]
        _check("rows", rows, list, "a list of objects")
        for number, row in enumerate(rows, 1):
            _check(f"row {number}", row, dict, "an object with a value for each column")
        return rows, name
    columns: Any = document["columns"]
    _check("columns", columns, dict, "an object with a list of values for each column")
    for column, values in columns.items():
        _check(f"column {column!r}", values, list, "a list of values")
    return columns, name


def _check(what: str, value: object, kind: type, expected: str) -> None:
    if not isinstance(value, kind):
        raise UsageError(f"{what} is {_kind(value)}; expected {expected}")


def _kind(value: object) -> str:
    """What a value is in the words of JSON."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = ((str, "text"), (list, "a list"), (dict, "an object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a number")


def _describe_document(what: str) -> str:
    return (
        f'the JSON document {what}; expected {{"rows": [{{"city": "Oslo"}}]}} or {{"columns": {{"city": ["Oslo"]}}}}, '
        'and perhaps "name"'
    )
