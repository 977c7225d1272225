"""Annotations as SQL: `COMMENT ON COLUMN` statements, so that the answers live in the database itself.

PostgreSQL and DuckDB execute them, and other databases with this statement (Oracle, Snowflake, Trino) should. MySQL and SQLite
have no such statement: MySQL's comments are part of a column's definition, which an answer does not know.

Promises
  - names and texts are quoted, whatever they hold; a name with control characters cannot be, and is left out with a line
    that says so;
  - only columns with an answer get a comment, and values of personal columns are not quoted in it;
  - all statements together are one transaction: either every comment is set or none;
  - what one row is stands behind dashes as the comment of the table: a view needs COMMENT ON VIEW instead;
  - keys stand below as constraints behind dashes: a person takes off those of the ones to be enforced.
"""

from collections.abc import Iterator, Sequence

from aegir.answers.annotation import TableAnnotation
from aegir.answers.catalogue_names import catalogue_table
from aegir.answers.key_exports import sql_key_lines
from aegir.answers.metadata_formats import describe, describe_personal, describe_rows
from aegir_rl.base.duckdb_engine import quote_name, quote_text
from aegir_rl.base.text import escape_controls

FIRST_LINE = "-- Column comments by aegir annotate --format sql, for PostgreSQL and DuckDB; MySQL and SQLite have no COMMENT ON."

KEYS_LINE = "-- Keys that names and sampled values suggest, with their confidence; take off the dashes of those to be enforced."


def sql_comment_lines(annotations: Sequence[TableAnnotation]) -> Iterator[str]:
    """The lines of the script."""
    yield FIRST_LINE
    yield "BEGIN;"
    for annotation in annotations:
        yield from _table_lines(annotation)
    yield "COMMIT;"
    relations = [_relation(annotation) for annotation in annotations]
    keys = list(sql_key_lines(annotations, relations))
    if keys:
        yield KEYS_LINE
        yield from keys


def _relation(annotation: TableAnnotation) -> str | None:
    """The quoted name of a table; None if it cannot be quoted."""
    where = catalogue_table(annotation)
    names = [where.schema, where.table] if where.schema else [where.table]
    if any(escape_controls(name) != name for name in names):
        return None
    return ".".join(map(quote_name, names))


def _table_lines(annotation: TableAnnotation) -> Iterator[str]:
    relation = _relation(annotation)
    yield f"-- {escape_controls(annotation.table)}, annotator {escape_controls(annotation.annotator)}"
    if relation is None:
        yield "-- the table's name has control characters or bytes that are no text: no comments"
        return
    if rows := describe_rows(annotation):
        yield f"-- COMMENT ON TABLE {relation} IS {quote_text(escape_controls(rows))};"
    for column in annotation.columns:
        if column.label is None or column.name is None:
            continue
        if (shown := escape_controls(column.name)) != column.name:
            yield f"-- the name of column {column.index + 1} has control characters: {shown}"
            continue
        target = f"{relation}.{quote_name(column.name)}"
        comment = escape_controls(describe(column) + describe_personal(column))
        yield f"COMMENT ON COLUMN {target} IS {quote_text(comment)};"
