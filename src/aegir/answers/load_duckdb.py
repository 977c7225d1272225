"""How DuckDB reads a file and parses values, for load_script.py.

Delimited text is read by `read_csv` where its rows are regular, else line by line. DuckDB reads UTF-8, UTF-16 and Latin-1; a file
in another encoding of one byte per character is read as bytes, and its characters are put together in SQL.
JSON lines, JSON arrays and Parquet are read by their own readers.
"""

from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

from aegir.answers.annotation import TableAnnotation
from aegir.answers.load_script import (
    RAW,
    UnloadableError,
    boolean_case,
    plain_number,
    with_scale,
)
from aegir.answers.split_lines import TextFunctions, records_query, sign_literal
from aegir.tables.notation import BIGINT_DIGITS, ISO_SHAPES, shape_of
from aegir.tables.table import Notation, TextFormat
from aegir_rl.base.duckdb_engine import quote_name, quote_path, quote_text
from aegir_rl.base.text import escape_controls

ENCODINGS = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "utf-16": "utf-16", "utf-16-le": "utf-16"}
JSON_LINES = (".jsonl", ".ndjson")
NEVER_IN_TEXT = "chr(29)"


class DuckDb:
    """Reading and parsing in DuckDB 1.3 or newer."""

    first_line = "-- Load script by aegir annotate --format load, for DuckDB."

    def reading(self, annotation: TableAnnotation) -> Iterator[str]:
        """Yield the statements that fill `RAW`."""
        text, width = annotation.text, len(annotation.columns)
        if text is None:
            yield from _typed_reading(annotation)
            return
        if text.path is None:
            raise UnloadableError("it was not read from a file; write it to one and annotate that")
        _check_path(text.path)
        encoding = _encoding(text)
        whole_lines = text.lines_above == text.rows_above + text.header_rows
        if text.regular and whole_lines and encoding is not None:
            columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(1, width + 1))
            quote = quote_text(text.quote or "")
            escape = quote_text(text.escape or text.quote or "")
            rows = (
                f"read_csv({quote_path(Path(text.path))}, delim = {sign_literal(text.delimiter)}, quote = {quote}, "
                f"escape = {escape}, header = false, skip = {text.lines_above}, auto_detect = false, "
                f"encoding = '{encoding}', columns = {{{columns}}})"
            )
            empties = ", ".join(
                f"coalesce(c{number}, '') AS c{number}" for number in range(1, width + 1)
            )
            yield f"CREATE TEMP TABLE {RAW} AS SELECT row_number() OVER () AS row, {empties}, '' AS extra FROM {rows};"
            return
        yield "CREATE TEMP TABLE aegir_lines AS"
        yield from _line_query(text, encoding)
        yield f"CREATE TEMP TABLE {RAW} AS"
        yield from records_query(text, width, _DuckDbText())
        yield "DROP TABLE aegir_lines;"

    def parsed(self, cell: str, notation: Notation) -> str:
        """Return the expression that parses a trimmed cell."""
        if notation.datatype == "boolean":
            return boolean_case(cell, notation)
        shape = shape_of(notation)
        if notation.datatype == "integer":
            kind = "BIGINT" if notation.digits <= BIGINT_DIGITS else "HUGEINT"
            value = f"TRY_CAST({plain_number(cell, notation)} AS {kind})"
        elif notation.datatype == "number":
            kind = "DOUBLE"
            if notation.scale:
                kind, shape = f"DECIMAL(38, {notation.scale})", with_scale(shape, notation)
            value = f"TRY_CAST({plain_number(cell, notation)} AS {kind})"
        else:
            value = _date(cell, notation)
        return f"CASE WHEN regexp_full_match({cell}, {quote_text(shape)}) THEN {value} END"


def _check_path(path: str) -> None:
    """Raise for a name that cannot be written into a script."""
    if escape_controls(path) != path:
        raise UnloadableError(
            "its name has control characters or bytes that are no text; rename the file"
        )


def _date(cell: str, notation: Notation) -> str:
    format_ = notation.format or ""
    if format_.endswith(("%z", "zone")):
        return f"TRY_CAST({cell} AS TIMESTAMPTZ)"
    if format_ in ISO_SHAPES:
        return f"TRY_CAST({cell} AS TIMESTAMP)"
    kind = {"date": "DATE", "time": "TIME"}.get(notation.datatype, "TIMESTAMP")
    return f"CAST(try_strptime({cell}, {quote_text(format_)}) AS {kind})"


def _encoding(text: TextFormat) -> str | None:
    """The name of the encoding for `read_csv`; None if the file must be read as bytes."""
    if text.encoding in ENCODINGS:
        return ENCODINGS[text.encoding]
    if text.encoding in ("cp1252", "latin-1", None) and not _has_control_bytes(text):
        return "latin-1"
    return None


def _has_control_bytes(text: TextFormat) -> bool:
    """Whether bytes occur that Latin-1 has no letters for, which DuckDB refuses; as if so where the file is gone."""
    upper = bytes(range(0x80, 0xA0))
    try:
        with Path(text.path or "").open("rb") as file:
            while block := file.read(1 << 20):
                if len(block.translate(None, upper)) < len(block):
                    return True
    except OSError:
        return True
    return False


def _line_query(text: TextFormat, encoding: str | None) -> Iterator[str]:
    """Yield a query for the lines below the header, numbered."""
    path = quote_path(Path(text.path or ""))
    if encoding is not None:
        yield "SELECT row_number() OVER () AS n, coalesce(line, '') AS line FROM"
        yield (
            f"  read_csv({path}, delim = {NEVER_IN_TEXT}, quote = '', escape = '', header = false, skip = {text.lines_above},"
            f" auto_detect = false, encoding = '{encoding}', columns = {{'line': 'VARCHAR'}});"
        )
        return
    decoded = "line"
    for code, char in _characters(text.encoding or "latin-1"):
        decoded = f"replace({decoded}, '\\x{code:02X}', {_text_literal(char)})"
    yield f"SELECT n, {decoded} AS line FROM ("
    yield "  SELECT generate_subscripts(lines, 1) AS n, rtrim(unnest(lines), '') AS line FROM ("
    yield "    SELECT string_split(regexp_replace(content::VARCHAR, '(\\\\x0D)?\\\\x0A$', ''), '\\x0A') AS lines"
    yield f"    FROM read_blob({path})))"
    yield f"WHERE n > {text.lines_above};"


def _text_literal(text: str) -> str:
    return sign_literal(text) if text else quote_text(text)


def _characters(codec: str) -> Iterator[tuple[int, str]]:
    """The bytes that DuckDB writes as escapes, and their characters; a carriage return at the end of a line is dropped."""
    for code in (*range(1, 0x20), 0x22, 0x27, *range(0x7F, 0x100), 0x5C):
        raw = bytes([code])
        char = raw.decode(codec, "ignore") or raw.decode("latin-1")
        if len(bytes([0x82, 0xA0]).decode(codec, "ignore")) < 2 and code >= 0x80:
            raise UnloadableError(f"DuckDB does not read {codec}; write it as UTF-8: {_CONVERT}")
        if code != 0x0A:
            yield code, "" if code == 0x0D else char


_CONVERT = "iconv -t UTF-8 FILE > NEW"


def _typed_reading(annotation: TableAnnotation) -> Iterator[str]:
    """Yield the statement that reads JSON lines, a JSON array or Parquet; values become texts, to be parsed like the others."""
    source = annotation.source or ""
    suffix = PureWindowsPath(source).suffix.lower()
    names = [column.name for column in annotation.columns]
    _check_path("".join([source, *(name or "" for name in names)]))
    if "#" in annotation.table or None in names or len(set(names)) < len(names):
        raise UnloadableError(
            "DuckDB does not read it as a table; save it as CSV and annotate that"
        )
    if any("." in (name or "") for name in names):
        raise UnloadableError("it is nested; save it as CSV and annotate that")
    if suffix in (".parquet", ".pq"):
        rows = f"read_parquet({quote_path(Path(source))})"
    elif suffix in JSON_LINES or (suffix == ".json" and _is_array(source)):
        columns = ", ".join(f"{quote_text(name or '')}: 'VARCHAR'" for name in names)
        rows = f"read_json({quote_path(Path(source))}, columns = {{{columns}}})"
    else:
        raise UnloadableError(
            "DuckDB does not read it as a table; save it as CSV and annotate that"
        )
    cells = ", ".join(
        f"coalesce(CAST({quote_name(name or '')} AS VARCHAR), '') AS c{number}"
        for number, name in enumerate(names, start=1)
    )
    yield f"CREATE TEMP TABLE {RAW} AS SELECT row_number() OVER () AS row, {cells}, '' AS extra FROM {rows};"


def _is_array(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(1 << 10).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    except OSError:
        return False


class _DuckDbText(TextFunctions):
    """What splitting lines needs of DuckDB."""

    flags = "gs"

    def count(self, pattern: str) -> str:
        """The number of matches in a line."""
        return f"len(regexp_extract_all(line, {quote_text(pattern)}))"

    def matches(self, text: str, pattern: str) -> str:
        """The list of all matches."""
        return f"regexp_extract_all({text}, {quote_text(pattern)})"

    def beyond(self, width: int) -> str:
        """What follows the last column."""
        return f"coalesce(array_to_string(cells[{width + 1}:], ''), '')"
