"""Annotations as text for people and programs: the formats behind `aegir annotate --format`.

    FORMATS["csv"](annotations)       the text for people in a terminal is text_report.py

  json          one array of tables                 jsonl        one table per line
  csv           one line per column, see CSV_HEADER
  frictionless  a Data Package with Table Schemas   csvw         W3C metadata for CSV on the web
  dbt           a schema.yml with meta, contains_pii and tests
  openmetadata  requests for glossary and tables     datahub      metadata change proposals
  sql           COMMENT ON COLUMN statements         great_expectations  a list of suites
  load, load_postgres   scripts that load the tables with proper types
  sarif         results for code hosts                markdown     a summary for pull requests
  html          one page for people, with a preview of the tables and a filter

Promises
  - every format takes any annotation: odd names, quotes, newlines, no columns at all; lone surrogates, as in
    file names that are not UTF-8, are written as escapes (text.py);
  - output ends with exactly one newline, is valid UTF-8, and depends on nothing but the annotations; frictionless and csvw read the
    file again, to state only types that all of its values have.

The module of a format is imported when the format is written.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from importlib import import_module

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation, annotation_as_dict
from aegir.answers.wording import shown_review
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import SURROGATE, escape_controls, escape_formula, escape_surrogates

_CSV_COLUMNS = (
    "table source index name subject label confidence kind type type_confidence fine_type datatype personal "
    "personal_level personal_reason identifying_confidence special special_category tags relation relation_confidence iri relation_iri runners_up reasons reviewed"
)
CSV_HEADER = tuple(_CSV_COLUMNS.split())
"""Columns of the CSV format: `index` counts from 0, flags are true or false, lists are joined by ` | `.

A cell that a spreadsheet would compute gets an apostrophe in front; control characters other than line feeds and tabs
are written as escapes.
"""

Writer = Callable[[Sequence[TableAnnotation]], str]

# Legal in JSON strings, but line breaks to some readers, invisible, or refused by YAML.
TROUBLESOME = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def quoted_json(value: object, *, indent: int | None = None) -> str:
    """JSON that keeps readable letters, escapes troublesome ones, and is valid YAML as well."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    text = TROUBLESOME.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    # Only Python reads back a lone surrogate: others refuse the document or lose the character.
    return SURROGATE.sub(lambda match: json.dumps(escape_surrogates(match[0]))[1:-1], text)


def render_json(annotations: Sequence[TableAnnotation]) -> str:
    """One indented array with an object per table."""
    return quoted_json([annotation_as_dict(each) for each in annotations], indent=2) + "\n"


def render_jsonl(annotations: Sequence[TableAnnotation]) -> str:
    """One object per table, each on its own line."""
    return "".join(quoted_json(annotation_as_dict(each)) + "\n" for each in annotations)


def render_csv(annotations: Sequence[TableAnnotation]) -> str:
    """A header line, then one line per column of every table."""
    rows = [_csv_line(CSV_HEADER)]
    for annotation in annotations:
        rows += [_csv_line(_csv_cells(annotation, column)) for column in annotation.columns]
    return "".join(row + "\n" for row in rows)


def render_dbt(annotations: Sequence[TableAnnotation]) -> str:
    """A dbt properties file (schema.yml)."""
    from aegir.answers.value_expectations import dbt_lines

    return "".join(line + "\n" for line in dbt_lines(annotations))


def render_sql(annotations: Sequence[TableAnnotation]) -> str:
    """A script of COMMENT ON COLUMN statements."""
    from aegir.answers.sql_comments import sql_comment_lines

    return "".join(line + "\n" for line in sql_comment_lines(annotations))


def render_load(annotations: Sequence[TableAnnotation]) -> str:
    """A script that loads the tables into DuckDB."""
    from aegir.answers.load_duckdb import DuckDb
    from aegir.answers.load_script import load_lines

    return "".join(line + "\n" for line in load_lines(annotations, DuckDb()))


def render_load_postgres(annotations: Sequence[TableAnnotation]) -> str:
    """A script for psql that loads the tables into PostgreSQL."""
    from aegir.answers.load_postgres import Postgres
    from aegir.answers.load_script import load_lines

    return "".join(line + "\n" for line in load_lines(annotations, Postgres()))


def render_markdown(annotations: Sequence[TableAnnotation]) -> str:
    """A summary for pull requests."""
    from aegir.answers.markdown_summary import markdown_lines

    return "".join(line + "\n" for line in markdown_lines(annotations))


def render_html(annotations: Sequence[TableAnnotation]) -> str:
    """One page for people."""
    from aegir.answers.html_page import render_page

    return render_page(annotations)


def _document_of(module: str, function: str) -> Writer:
    """Return a writer of the JSON document that a function of a module here builds from annotations."""

    def render(annotations: Sequence[TableAnnotation]) -> str:
        build = getattr(import_module(f"aegir.answers.{module}"), function)
        return quoted_json(build(annotations), indent=2) + "\n"

    return render


FORMATS: dict[str, Writer] = {
    "json": render_json,
    "jsonl": render_jsonl,
    "csv": render_csv,
    "frictionless": _document_of("data_package", "data_package"),
    "csvw": _document_of("csvw_metadata", "csvw_document"),
    "dbt": render_dbt,
    "openmetadata": _document_of("catalogues", "open_metadata_document"),
    "datahub": _document_of("catalogues", "datahub_proposals"),
    "sql": render_sql,
    "load": render_load,
    "load_postgres": render_load_postgres,
    "great_expectations": _document_of("value_expectations", "expectation_suites"),
    "sarif": _document_of("sarif", "annotations_as_sarif"),
    "markdown": render_markdown,
    "html": render_html,
}


NOTATED = ("frictionless", "csvw", "load", "load_postgres", "great_expectations")
"""Formats that say how values are written."""


def check_format(format_name: str) -> None:
    """Raise for an unknown format and list the known ones."""
    known = ("text", *FORMATS)
    if format_name not in known:
        raise UsageError(f"unknown format {format_name!r}; there are {', '.join(known)}")


def _csv_cells(annotation: TableAnnotation, column: ColumnAnnotation) -> list[str]:
    relation = column.relation
    others = {
        "table": annotation.table,
        "source": annotation.source,
        "subject": column.index == annotation.subject,
        "relation": relation and relation.label,
        "relation_confidence": relation and relation.confidence,
        "reviewed": shown_review(column),
    }
    return [
        _csv_cell(others[name] if name in others else getattr(column, name)) for name in CSV_HEADER
    ]


def _csv_cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, Guess):
        return f"{value.label} {value.confidence:.4f}"
    if isinstance(value, tuple):
        return " | ".join(map(_csv_cell, value))
    return "" if value is None else str(value)


def _csv_line(cells: Sequence[str]) -> str:
    buffer = io.StringIO()
    safe = [escape_formula(escape_controls(cell, keep="\n\t")) for cell in cells]
    csv.writer(buffer, lineterminator="\n").writerow(safe)
    return buffer.getvalue().removesuffix("\n")
