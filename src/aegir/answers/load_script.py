"""Annotations as SQL scripts that load the tables: values parsed into proper types, and beside it what does not parse.

    aegir annotate orders.csv --format load | duckdb shop.duckdb
    aegir annotate orders.csv --format load_postgres | psql shop

    orders             aegir_row, then a column per column of the file: dates, decimals and booleans by their notation
    orders_unparsed    aegir_row, column_name, value: every value that is neither missing nor parsed; cells beyond the last
                       column have no column_name

Promises
  - every row of the file is a row of the table, and a comment names totals, comments and repeated headers among them; every value is in the table, in the other one, or stands for no value;
  - a column has a type only if at most `MOST_UNPARSED` of its sampled values do not parse in it, else it is text;
  - names and texts are quoted, whatever they hold, and control characters in names are written as escapes; no table is replaced; a table is loaded in one transaction, all or nothing;
  - what a database cannot read is left out with a comment that says what to do.

Rows whose cells differ in number and files with lines above the header are split by expressions in SQL, the others by the reader
of the database. Limit: in a file of the second kind, a quote inside a cell that begins only below its first 64 KB is read as the
database reads it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from aegir.answers.annotation import TableAnnotation
from aegir.answers.catalogue_names import catalogue_table
from aegir.answers.metadata_formats import unique_names
from aegir.tables.notation import EXPONENT, ISO_ZONE
from aegir.tables.table import Notation
from aegir_rl.base.duckdb_engine import quote_name, quote_text
from aegir_rl.base.text import escape_controls

MOST_UNPARSED = 0.02
LONGEST_NAME = 63
"""Bytes of the longest name that PostgreSQL keeps."""
ROW = "aegir_row"
RAW = "aegir_raw"
ZONED = ("%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z", ISO_ZONE)
"""Formats with a zone that databases read as they are."""
TEXT = Notation()
_LEFT_OUT = re.compile(r"left out: (?:the totals|.* the header$|.* among the data$)")
"""Warnings about rows of the file that are no data; every row is loaded."""


class Database(Protocol):
    """How one database reads files and parses values."""

    first_line: str

    def reading(self, annotation: TableAnnotation) -> Iterator[str]:
        """Yield the statements that fill `RAW` (row, c1, c2, …, extra) from the file; raise `UnloadableError` if it cannot."""
        ...

    def parsed(self, cell: str, notation: Notation) -> str:
        """Return the expression that parses a trimmed cell, NULL where it does not."""
        ...


class UnloadableError(Exception):
    """A table that a database cannot read; the text is the end of a sentence."""


def load_lines(annotations: Sequence[TableAnnotation], database: Database) -> Iterator[str]:
    """Yield the lines of the script."""
    yield database.first_line
    names = _sql_names([catalogue_table(each).table for each in annotations], room=9)
    for name, annotation in zip(names, annotations, strict=True):
        yield f"-- {escape_controls(annotation.table)}"
        try:
            reading = list(database.reading(annotation))
        except UnloadableError as reason:
            yield f"-- not loaded: {escape_controls(str(reason))}"
            continue
        for note in annotation.warnings:
            if _LEFT_OUT.match(note):
                what = note.removeprefix("left out: ")
                yield f"-- loaded like other rows, though not annotated: {escape_controls(what)}"
        yield "BEGIN;"
        yield from reading
        yield from _table_lines(name, annotation, database)
        yield f"DROP TABLE {RAW};"
        yield "COMMIT;"


def loaded_notation(annotation: TableAnnotation, index: int) -> Notation:
    """How a column is parsed: its notation, or text where too many sampled values would not parse."""
    if index >= len(annotation.notations):
        return TEXT
    notation = annotation.notations[index]
    if notation.datatype == "empty":
        return TEXT
    profile = annotation.profiles[index] if index < len(annotation.profiles) else None
    present = profile.rows - profile.missing if profile else 0
    zone = (notation.format or "").endswith("%z") and notation.format not in ZONED
    return TEXT if zone or notation.unparsed > MOST_UNPARSED * present else notation


def _table_lines(name: str, annotation: TableAnnotation, database: Database) -> Iterator[str]:
    columns = _sql_names([column.name for column in annotation.columns])
    notations = [loaded_notation(annotation, column.index) for column in annotation.columns]
    table, other = quote_name(name), quote_name(f"{name}_unparsed")
    yield f"CREATE TABLE {table} AS SELECT"
    yield f"  row AS {ROW}" + ("," if columns else "")
    for number, (column, notation) in enumerate(zip(columns, notations, strict=True), start=1):
        value = _value(f"c{number}", notation, database)
        yield f"  {value} AS {quote_name(column)}" + ("," if number < len(columns) else "")
    yield f"FROM {RAW} ORDER BY row;"
    yield f"CREATE TABLE {other} ({ROW} BIGINT, column_name TEXT, value TEXT);"
    for number, (column, notation) in enumerate(zip(columns, notations, strict=True), start=1):
        if notation.datatype == "string":
            continue
        yield f"INSERT INTO {other} SELECT r.row, {quote_text(column)}, r.c{number} FROM {RAW} r"
        yield f"  JOIN {table} t ON t.{ROW} = r.row"
        yield f"  WHERE t.{quote_name(column)} IS NULL AND trim(r.c{number}) NOT IN ({_missing(notation)});"
    yield f"INSERT INTO {other} SELECT row, NULL, extra FROM {RAW} WHERE extra <> '';"


def _value(cell: str, notation: Notation, database: Database) -> str:
    """The expression of a column; text is kept as it is, but for an empty cell."""
    if notation.datatype == "string":
        return f"nullif({cell}, '')"
    parsed = database.parsed(f"trim({cell})", notation)
    return f"CASE WHEN trim({cell}) NOT IN ({_missing(notation)}) THEN {parsed} END"


def _missing(notation: Notation) -> str:
    words = dict.fromkeys(("", *(word.strip() for word in notation.missing)))
    return ", ".join(map(quote_text, words))


def _sql_names(names: Sequence[str | None], room: int = 0) -> list[str]:
    """The names, none of them longer than a database keeps, and none equal to another but for capitals."""
    used = {ROW}
    result = []
    for name in unique_names([_short(escape_controls(each or ""), room) for each in names]):
        candidate, number = name, 1
        while candidate.casefold() in used:
            number += 1
            candidate = _short(name, room + len(str(number)) + 1) + f"_{number}"
        used.add(candidate.casefold())
        result.append(candidate)
    return result


def _short(name: str, room: int) -> str:
    """The beginning of a name that fits, with lone surrogates replaced."""
    raw = name.encode("utf-8", "replace")[: LONGEST_NAME - room]
    return raw.decode("utf-8", "ignore")


def boolean_case(cell: str, notation: Notation) -> str:
    """The expression that turns words into a boolean."""
    true, false = (", ".join(map(quote_text, words)) for words in (notation.true, notation.false))
    return f"CASE WHEN {cell} IN ({true}) THEN true WHEN {cell} IN ({false}) THEN false END"


def plain_number(cell: str, notation: Notation) -> str:
    """The expression that writes a number as programs do."""
    if notation.group:
        cell = f"replace({cell}, {quote_text(notation.group)}, '')"
    return (
        cell if notation.decimal == "." else f"replace({cell}, {quote_text(notation.decimal)}, '.')"
    )


def with_scale(shape: str, notation: Notation) -> str:
    """The shape of a number with no more decimals than its type keeps, and no exponent: a cast would round the rest away."""
    few = f"[0-9]{{0,{notation.scale}}})?|"
    bare = f"[0-9]{{1,{notation.scale}}})"
    decimals = shape.removesuffix(EXPONENT).replace("[0-9]*)?|", few)
    return decimals.removesuffix("[0-9]+)") + bare
