"""Annotations as SQL: `COMMENT ON COLUMN` statements, so that the answers live in the database itself.

PostgreSQL and DuckDB execute them, and other databases with this statement (Oracle, Snowflake, Trino) should. MySQL and SQLite
have no such statement: MySQL's comments are part of a column's definition, which an answer does not know.

Promises
  - names and texts are quoted, whatever they hold; a name with control characters cannot be, and is left out with a line
    that says so;
  - only columns with an answer get a comment, and values of personal columns are not quoted in it;
  - all statements together are one transaction: either every comment is set or none.
"""

from collections.abc import Iterator, Sequence

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.catalogue_names import catalogue_table
from aegir.answers.metadata_formats import describe
from aegir_rl.base.duckdb_engine import quote_name, quote_text
from aegir_rl.base.text import escape_controls

FIRST_LINE = "-- Column comments by aegir annotate --format sql, for PostgreSQL and DuckDB; MySQL and SQLite have no COMMENT ON."


def sql_comment_lines(annotations: Sequence[TableAnnotation]) -> Iterator[str]:
    """The lines of the script."""
    yield FIRST_LINE
    yield "BEGIN;"
    for annotation in annotations:
        yield from _table_lines(annotation)
    yield "COMMIT;"


def _table_lines(annotation: TableAnnotation) -> Iterator[str]:
    where = catalogue_table(annotation)
    yield f"-- {escape_controls(annotation.table)}, annotator {escape_controls(annotation.annotator)}"
    relation = [where.schema, where.table] if where.schema else [where.table]
    if any(escape_controls(name) != name for name in relation):
        yield "-- the table's name has control characters or bytes that are no text: no comments"
        return
    for column in annotation.columns:
        if column.label is None or column.name is None:
            continue
        names = [*relation, column.name]
        if (shown := escape_controls(column.name)) != column.name:
            yield f"-- the name of column {column.index + 1} has control characters: {shown}"
            continue
        target = ".".join(quote_name(name) for name in names)
        yield f"COMMENT ON COLUMN {target} IS {quote_text(_comment(column))};"


def _comment(column: ColumnAnnotation) -> str:
    level = f"; personal data ({column.personal_level or 'yes'})" if column.personal else ""
    return escape_controls(f"{describe(column)}{level}")
