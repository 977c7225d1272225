"""Read the tables that a request brought, in a worker process and within limits.

Files are read with the folder of the request as the current one, so that names in answers and sentences are those of the files.

Compressed files that unpack to more than is allowed are refused before they are read. Of gz, bz2, xz and zst files nothing says
how large they are unpacked, so they are unpacked once, without keeping anything and no further than the limit; a file too small to
reach it is not. Zip archives and workbooks state the size of every member, and readers unpack no member beyond what it states.
"""

import json
import zipfile
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from aegir.pipeline.run import Failure, read_source
from aegir.pipeline.settings import AnnotationSettings
from aegir.service.jobs import Sent
from aegir.service.limits import Refused, RequestLimits
from aegir.tables.archives import BROKEN_ZIP, open_compressed
from aegir.tables.assembling import Request
from aegir.tables.cell_text import cell_text
from aegir.tables.database_urls import DatabaseUrl
from aegir.tables.delimited import table_from_grid
from aegir.tables.formats import COMPRESSED, MAGIC_LENGTH, Format, recognise
from aegir.tables.json_documents import WrittenNumber, written_integer
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError, reason_of

JSON_KEYS = ("rows", "columns", "name")
LONGEST_NAME = 255
"""Characters, as of the names of files."""
GZIP_RATIO = 1032
"""No deflate stream unpacks to more than this many times its size; the other formats know no such bound."""
PIECE = 1 << 20
DATABASES = {Format.SQLITE: "sqlite", Format.DUCKDB: "duckdb"}
"""Formats whose tables can be chosen, and the schemes of their addresses."""


def read_sent(
    sent: Sent, limits: RequestLimits, settings: AnnotationSettings
) -> list[Table | Failure]:
    """Read the tables of the files, or of the JSON document, that a request brought."""
    folder, rows, seed = Path(sent.folder), settings.rows, settings.seed
    overrides = settings.overrides
    if sent.body:
        source, name = read_document(folder / sent.body)
        if isinstance(source, list) and source and isinstance(source[0], list):
            tables = [_read_grid(source, settings)]
        else:
            tables = list(
                read_tables(
                    source,
                    rows=rows,
                    seed=seed,
                    name=name,
                    names_only=settings.names_only,
                    overrides=overrides,
                )
            )
        if not any(table.columns for table in tables):
            raise UnreadableTable(_describe_document("holds no columns"))
        return [*tables]
    if not sent.files:
        raise UsageError(
            "the request holds no files; send at least one, as a part with a file name"
        )
    with chdir(folder):
        files = [_checked(Path(file), limits, settings.tables) for file in sent.files]
        if settings.tables and not any(isinstance(file, DatabaseUrl) for file in files):
            raise UsageError("tables chooses tables of SQLite and DuckDB files; no file is one")
        outcomes = [
            each
            for file in files
            for each in read_source(
                file, rows, seed, names_only=settings.names_only, overrides=overrides
            )
        ]
    return [_without_folder(outcome, folder) for outcome in outcomes]


def _read_grid(rows: list[list[Any]], settings: AnnotationSettings) -> Table:
    """The table in a list of lists, the first of which may be its header."""
    name = "table"
    request = Request(name, name, name, None, settings.rows, settings.seed)
    return table_from_grid([[cell_text(cell) for cell in row] for row in rows], request)


def _checked(path: Path, limits: RequestLimits, tables: tuple[str, ...]) -> Path | DatabaseUrl:
    """Return the source that a file is: with patterns of tables, those of a database; raise `Refused` if it is too large."""
    with path.open("rb") as file:
        try:
            format_ = recognise(file.read(MAGIC_LENGTH), path.name)
        except UnreadableTable:  # reading it will say why
            return path
        file.seek(0)
        size = 0
        if format_ is Format.ZIP:
            size = _stated_size(path)
        elif format_ in COMPRESSED and _may_exceed(path, format_, limits):
            size = _unpacked_size(file, format_, path.name, limits)
    if size > limits.unpacked_bytes:
        raise Refused(
            413,
            f"{path.name} unpacks to more than {limits.unpacked_bytes >> 20:,} MB; send it unpacked and in parts, or run "
            "aegir annotate on it",
        )
    if tables and format_ in DATABASES:
        return DatabaseUrl(DATABASES[format_], str(path), path=path, tables=tables)
    return path


def _may_exceed(path: Path, format_: Format, limits: RequestLimits) -> bool:
    return format_ is not Format.GZIP or path.stat().st_size * GZIP_RATIO > limits.unpacked_bytes


def _stated_size(path: Path) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except BROKEN_ZIP:
        return 0  # reading it will say why


def _unpacked_size(file: BinaryIO, format_: Format, name: str, limits: RequestLimits) -> int:
    """Return the size of the unpacked content, or a larger one than allowed."""
    request = Request(name, name, name, None, 1, 0)
    try:
        stream = open_compressed(file, format_, request)
    except UnreadableTable:
        return 0
    size = 0
    while size <= limits.unpacked_bytes and (piece := stream.read(PIECE)):
        size += len(piece)
    return size


def _without_folder(outcome: Table | Failure, folder: Path) -> Table | Failure:
    """Leave the folder of the upload out of what libraries say about a file."""
    inside = f"{folder}/"
    if isinstance(outcome, Failure):
        return replace(outcome, reason=outcome.reason.replace(inside, ""))
    warnings = tuple(warning.replace(inside, "") for warning in outcome.warnings)
    return replace(outcome, warnings=warnings)


def parse_json(content: str | bytes, what: str, **options: Any) -> Any:
    """Return what a JSON document holds; `what` begins the sentence about one that holds nothing of the kind."""
    try:
        return json.loads(content, **options)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the {what} no JSON ({reason_of(error)})") from None


def read_document(path: Path) -> tuple[object, str | None]:
    """Return the rows or columns in a JSON document, and the name of their table; a bare list is one of rows."""
    # Numbers as they are written: of 2.50, both decimals say something.
    document = parse_json(
        path.read_bytes(), "request is", parse_float=WrittenNumber, parse_int=written_integer
    )
    if isinstance(document, list):
        return _bare_list(document), None
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


def _bare_list(rows: list[Any]) -> list[Any]:
    """Return the rows of a document that is nothing but a list: objects, or lists of values."""
    if not rows:
        raise UnreadableTable(_describe_document("is an empty list"))
    kind = list if isinstance(rows[0], list) else dict
    expected = "a list of values, as row 1 is" if kind is list else "an object with a value for each column"  # fmt: skip
    for number, row in enumerate(rows, 1):
        _check(f"row {number}", row, kind, expected)
        if kind is list and not row:
            raise UnreadableTable(_describe_document(f"has an empty row {number}"))
    return rows


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
        'and perhaps "name", or the list of rows alone'
    )
