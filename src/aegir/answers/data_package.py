"""Annotations as a Frictionless Data Package: a resource with dialect, encoding and Table Schema per table.

Promises
  - a file that Frictionless finds valid by itself is valid with its package: a type is stated only where every value parses,
    for delimited text every value of the file (tables/whole_file.py), else a weaker one;
  - what a reader must know to parse the same values is stated: delimiter, quotes, encoding, rows above the header, decimal and
    group characters, words for true, false and missing values, formats of dates;
  - `primaryKey` and `foreignKeys` are stated where all rows were seen and agree; what else is known of keys is in the schema's `aegir`;
  - a table that was made of nested data is a resource without dialect and schema, since readers see its file otherwise; its
    fields are under the key `aegir`;
  - names are unique, paths relative (metadata_formats.py).

Of an answer read from JSON the values are not known: a field has the type of its column, dates the format `any`.
Specification: https://datapackage.org (Data Package, Table Dialect, Table Schema).
"""

import re
from collections.abc import Sequence
from pathlib import PureWindowsPath

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.key_exports import table_schema_keys
from aegir.answers.keys import keys_as_dict
from aegir.answers.metadata_formats import (
    describe,
    describe_rows,
    known_facts,
    relative_path,
    slug_of,
    unique_names,
)
from aegir.tables.notation import ISO_SHAPES
from aegir.tables.table import Notation, TextFormat
from aegir.tables.whole_file import CheckedFile, check_file

Document = dict[str, object]

TABLE_SCHEMA_TYPES = {"empty": "any"}
DATES = ("date", "datetime", "time")
DEFAULT_FORMATS = {"date": "%Y-%m-%d"}
NO_QUOTE = "\x02"
"""Stands for no quote where a character must be given; it does not occur in text."""
NESTING = (".json", ".jsonl", ".ndjson", ".geojson", ".parquet", ".pq", ".avro", ".orc")
RESOURCE_OF_FILE = ("name", "title", "description", "path")
WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")


def data_package(annotations: Sequence[TableAnnotation]) -> Document:
    """A Data Package with one resource and Table Schema per table."""
    names = unique_names([slug_of(each.table) for each in annotations])
    fields = [unique_names([column.name for column in each.columns]) for each in annotations]
    keys = table_schema_keys(annotations, names, fields)
    tables = [each.table for each in annotations]
    resources = [
        _as_file(_resource(*each)) if _is_unfolded(each[1], tables) else _resource(*each)
        for each in zip(names, annotations, keys, strict=True)
    ]
    return {"name": "annotated-tables", "resources": resources}


def stated_notations(annotation: TableAnnotation) -> CheckedFile:
    """The encoding and the notations that hold for all values that can be looked at; none of an answer read from JSON."""
    if annotation.text is None:
        weaker = (
            Notation(plain_text=False) if each.unparsed else each for each in annotation.notations
        )
        return CheckedFile(None, tuple(weaker))
    return check_file(annotation.text, annotation.notations)


def _resource(name: str, annotation: TableAnnotation, keys: Document) -> Document:
    checked = stated_notations(annotation)
    rows = describe_rows(annotation)
    resource: Document = {
        "name": name,
        "title": annotation.table,
        **({"description": rows} if rows else {}),
        "type": "table",
        "path": relative_path(annotation.source or annotation.table),
    }
    if annotation.text is not None:
        resource["format"] = "csv"
        if checked.encoding is not None:
            resource["encoding"] = checked.encoding
        resource["dialect"] = _dialect(annotation.text)
    elif part := _part_of(annotation):
        resource["dialect"] = part
    schema: Document = {"fields": _fields(annotation, checked.notations), **keys}
    if suggested := keys_as_dict(annotation.primary_key, annotation.foreign_keys):
        schema["aegir"] = suggested
    resource["schema"] = schema
    return resource


def _is_unfolded(annotation: TableAnnotation, tables: Sequence[str]) -> bool:
    """Whether a table was made of nested data: of objects, or with lists that became tables of their own."""
    source = annotation.source or annotation.table
    if PureWindowsPath(source).suffix.lower() not in NESTING:
        return False
    inside = "." if "#" in annotation.table else "#"
    if any(each.startswith(annotation.table + inside) for each in tables):
        return True
    return any(re.search(r"\S[.]\S", column.name or "") for column in annotation.columns)


def _as_file(resource: Document) -> Document:
    """The resource of a table that its file does not hold as such: a file, with the fields beside it."""
    kept = {key: value for key, value in resource.items() if key in RESOURCE_OF_FILE}
    return {**kept, "aegir": resource["schema"]}


def _dialect(text: TextFormat) -> Document:
    dialect: Document = {"header": text.header_rows > 0}
    if text.header_rows:
        first = text.rows_above + 1
        dialect["headerRows"] = list(range(first, first + text.header_rows))
    elif text.rows_above:
        dialect["commentRows"] = list(range(1, text.rows_above + 1))
    dialect["delimiter"] = text.delimiter
    dialect["quoteChar"] = text.quote or NO_QUOTE
    dialect["doubleQuote"] = text.escape is None
    if text.escape is not None:
        dialect["escapeChar"] = text.escape
    dialect["skipInitialSpace"] = False
    return dialect


def _part_of(annotation: TableAnnotation) -> Document | None:
    """The dialect that chooses one table of a workbook or of a JSON document."""
    part = annotation.table.partition("#")[2]
    suffix = PureWindowsPath(annotation.source or "").suffix.lower()
    if not part:
        return None
    if suffix in WORKBOOKS:
        return {"ods" if suffix == ".ods" else "excel": {"sheet": part}}
    return {"json": {"property": part}} if suffix == ".json" else None


def _fields(annotation: TableAnnotation, notations: Sequence[Notation]) -> list[Document]:
    names = unique_names([column.name for column in annotation.columns])
    return [
        _field(name, column, notations[column.index] if column.index < len(notations) else None)
        for name, column in zip(names, annotation.columns, strict=True)
    ]


def _field(name: str, column: ColumnAnnotation, notation: Notation | None) -> Document:
    field: Document = {"name": name}
    if notation is not None:
        field.update(_type_of(notation))
    else:
        field["type"] = TABLE_SCHEMA_TYPES.get(column.datatype, column.datatype)
        if column.datatype in DATES:
            field["format"] = "any"
    if column.name and column.name != name:
        field["title"] = column.name
    field["description"] = describe(column)
    if column.iri:
        field["rdfType"] = column.iri
    field["aegir"] = {**known_facts(column), "personal": column.personal}
    return field


def _type_of(notation: Notation) -> Document:
    """Type, format and characters of a field."""
    kind = notation.datatype
    if kind in ("string", "empty") or (notation.padded and kind not in ("integer", "number")):
        return _text_type(notation)
    field: Document = {"type": kind}
    if kind in ("integer", "number"):
        field.update(_number(notation))
    elif kind == "boolean":
        field.update({"trueValues": list(notation.true), "falseValues": list(notation.false)})
    elif notation.format in ISO_SHAPES:
        return _text_type(notation)
    elif notation.format != DEFAULT_FORMATS.get(kind):
        field["format"] = notation.format
    if notation.missing:
        field["missingValues"] = ["", *notation.missing]
    return field


def _text_type(notation: Notation) -> Document:
    return {"type": "string" if notation.plain_text and notation.datatype != "empty" else "any"}


def _number(notation: Notation) -> Document:
    """An integer with group characters is a number: not every reader knows them in integers."""
    field: Document = {"type": "number" if notation.group else notation.datatype}
    if notation.decimal != ".":
        field["decimalChar"] = notation.decimal
    if notation.group:
        field["groupChar"] = notation.group
    return field
