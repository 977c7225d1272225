"""How PostgreSQL reads a file and parses values, for load_script.py: a script for `psql`, which sends the file with `\\copy`.

Dates are parsed by a function of the session that gives NULL for a text that is none; the script sets the time zone to UTC for
its transactions, so that times keep their digits.
"""

import re
from collections.abc import Iterator

from aegir.answers.annotation import TableAnnotation
from aegir.answers.load_script import (
    RAW,
    UnloadableError,
    boolean_case,
    plain_number,
    with_scale,
)
from aegir.answers.split_lines import TextFunctions, records_query
from aegir.tables.notation import BIGINT_DIGITS, ISO_SHAPES, shape_of
from aegir.tables.table import Notation, TextFormat
from aegir_rl.base.duckdb_engine import quote_text

ENCODINGS = {
    "utf-8": "UTF8",
    "utf-8-sig": "UTF8",
    "latin-1": "LATIN1",
    "cp932": "SJIS",
    "euc_jp": "EUC_JP",
    "big5": "BIG5",
    "cp949": "UHC",
    "gb18030": "GB18030",
    "koi8_r": "KOI8R",
    "cp866": "WIN866",
    "iso8859_5": "ISO_8859_5",
    **{f"cp125{number}": f"WIN125{number}" for number in range(9)},
}
DIRECTIVES = {
    "%Y": "YYYY",
    "%y": "YY",
    "%m": "MM",
    "%d": "DD",
    "%H": "HH24",
    "%I": "HH12",
    "%M": "MI",
    "%S": "SS",
    "%f": "US",
    "%p": "AM",
    "%b": "Mon",
    "%B": "Month",
}
PLAIN_FILES = ("csv", "tsv", "tab", "txt", "dat", "psv")
_FUNCTIONS = """\\set ON_ERROR_STOP on
CREATE FUNCTION pg_temp.aegir_moment(value text, shape text, format text) RETURNS timestamp LANGUAGE plpgsql AS $$
BEGIN
  IF value !~ shape THEN RETURN NULL; END IF;
  IF format = '' THEN RETURN value::timestamp; END IF;
  RETURN to_timestamp(value, format)::timestamp;
EXCEPTION WHEN others THEN RETURN NULL;
END $$;
CREATE FUNCTION pg_temp.aegir_instant(value text, shape text) RETURNS timestamptz LANGUAGE plpgsql AS $$
BEGIN
  IF value !~ shape THEN RETURN NULL; END IF;
  RETURN value::timestamptz;
EXCEPTION WHEN others THEN RETURN NULL;
END $$;"""


class Postgres:
    """Reading and parsing in PostgreSQL 12 or newer."""

    first_line = (
        "-- Load script by aegir annotate --format load_postgres, for psql and PostgreSQL.\n"
        + _FUNCTIONS
    )

    def reading(self, annotation: TableAnnotation) -> Iterator[str]:
        """Yield the statements that fill `RAW`."""
        text, width = annotation.text, len(annotation.columns)
        if text is None or text.path is None:
            raise UnloadableError(
                "PostgreSQL reads delimited text only; save it as CSV and annotate that"
            )
        encoding = _encoding(text)
        _check_path(text.path)
        yield "SET LOCAL TIME ZONE 'UTC';"
        if _is_plain(text):
            names = [f"c{number}" for number in range(1, width + 1)]
            columns = ", ".join(f"{name} text DEFAULT ''" for name in names)
            yield f"CREATE TEMP TABLE {RAW} (row bigint GENERATED ALWAYS AS IDENTITY, {columns}, extra text DEFAULT '');"
            options = [
                f"DELIMITER {_literal(text.delimiter)}",
                f"QUOTE {_literal(text.quote or chr(2))}",
                *([f"ESCAPE {_literal(text.escape)}"] if text.escape else []),
                *(["HEADER"] if text.header_rows else []),
            ]
            yield _copy(f"{RAW} ({', '.join(names)})", text.path, encoding, options)
            return
        yield "CREATE TEMP TABLE aegir_file (n bigint GENERATED ALWAYS AS IDENTITY, line text);"
        options = [f"DELIMITER {_literal(chr(29))}", f"QUOTE {_literal(chr(2))}"]
        yield _copy("aegir_file (line)", text.path, encoding, options)
        yield "CREATE TEMP TABLE aegir_lines AS"
        yield f"  SELECT n, ltrim(line, chr(65279)) AS line FROM aegir_file WHERE n > {text.lines_above};"
        yield f"CREATE TEMP TABLE {RAW} AS"
        yield from records_query(text, width, _PostgresText())
        yield "DROP TABLE aegir_lines, aegir_file;"

    def parsed(self, cell: str, notation: Notation) -> str:
        """Return the expression that parses a trimmed cell."""
        if notation.datatype == "boolean":
            return boolean_case(cell, notation)
        shape = shape_of(notation)
        if notation.datatype in ("integer", "number"):
            kind = "numeric"
            if notation.datatype == "integer" and notation.digits <= BIGINT_DIGITS:
                kind = "bigint"
            elif notation.scale:
                kind, shape = f"numeric(38, {notation.scale})", with_scale(shape, notation)
            shape = f"^({shape})$"
            value = f"CAST({plain_number(cell, notation)} AS {kind})"
            return f"CASE WHEN {cell} ~ {quote_text(shape)} THEN {value} END"
        return _date(cell, f"^({shape})$", notation)


def _date(cell: str, shape: str, notation: Notation) -> str:
    format_ = notation.format or ""
    if format_.endswith(("%z", "zone")):
        return f"pg_temp.aegir_instant({cell}, {quote_text(shape)})"
    iso = format_ in ISO_SHAPES
    pattern = "" if iso else _pattern(format_)
    kind = {"date": "date", "time": "time"}.get(notation.datatype, "timestamp")
    return (
        f"CAST(pg_temp.aegir_moment({cell}, {quote_text(shape)}, {quote_text(pattern)}) AS {kind})"
    )


def _pattern(format_: str) -> str:
    """The format in the words of `to_timestamp`; letters between are quoted."""
    parts = re.split("(%[A-Za-z])", format_)
    return "".join(DIRECTIVES.get(part) or re.sub("([A-Za-z]+)", r'"\1"', part) for part in parts)


def _encoding(text: TextFormat) -> str:
    if text.encoding is None:
        return "LATIN1"
    if text.encoding not in ENCODINGS:
        raise UnloadableError(
            f"PostgreSQL does not read {text.encoding}; write it as UTF-8: iconv -t UTF-8 FILE > NEW"
        )
    return ENCODINGS[text.encoding]


def _check_path(path: str) -> None:
    """Raise for a name that `\\copy` cannot take."""
    if any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in path):
        raise UnloadableError("psql takes no file name with control characters; rename the file")
    if path.rpartition(".")[2].lower() in ("gz", "bz2", "xz", "zst", "zip"):
        raise UnloadableError("PostgreSQL reads no packed files; unpack it and annotate that")


def _is_plain(text: TextFormat) -> bool:
    """Whether COPY reads the rows as they are."""
    return (
        text.regular
        and text.encoding is not None
        and not text.rows_above
        and text.lines_above == text.header_rows
        and text.delimiter.isascii()
        and not (text.encoding == "utf-8-sig" and not text.header_rows)
    )


def _copy(target: str, path: str, encoding: str, options: list[str]) -> str:
    """The `\\copy` command, which must be one line."""
    given = ", ".join(
        ["FORMAT csv", *options, f"NULL {_literal(chr(3))}", f"ENCODING '{encoding}'"]
    )
    return f"\\copy {target} FROM {quote_text(path)} WITH ({given})"


def _literal(char: str) -> str:
    return quote_text(char) if char.isprintable() and char != "\\" else f"E'\\x{ord(char):02x}'"


class _PostgresText(TextFunctions):
    """What splitting lines needs of PostgreSQL."""

    flags = "g"

    def count(self, pattern: str) -> str:
        """The number of matches in a line."""
        return f"(SELECT count(*) FROM regexp_matches(line, {quote_text(pattern)}, 'g'))"

    def matches(self, text: str, pattern: str) -> str:
        """The list of all matches."""
        return (
            f"ARRAY(SELECT m[1] FROM regexp_matches({text}, {quote_text(f'({pattern})')}, 'g') m)"
        )

    def beyond(self, width: int) -> str:
        """What follows the last column."""
        return f"array_to_string(cells[{width + 1}:], '')"
