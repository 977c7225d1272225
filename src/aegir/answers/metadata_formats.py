"""Annotations as metadata documents other tools read: Frictionless, CSV on the Web; what they share with dbt.

These functions build documents; `writers.py` turns them into text.

Promises
  - names are unique where a format demands it: a second `id` becomes `id_2`, a missing header `column_3`;
  - paths in a Data Package are relative, as its specification asks; absolute ones keep their file name;
  - only what is known is stated: no constraints, no keys, no date patterns are made up;
  - values of personal columns are never quoted, since people commit and publish these files: an example
    is given by its shape ('anders.solheim@…' becomes 'xxxxxx.xxxxx').

Specifications: https://datapackage.org (Data Package and Table Schema), https://www.w3.org/TR/tabular-metadata/.
"""

import re
from collections.abc import Sequence
from pathlib import PureWindowsPath
from urllib.parse import quote

from aegir.answers.annotation import DECIMALS, ColumnAnnotation, TableAnnotation
from aegir.answers.key_exports import table_schema_keys
from aegir.answers.keys import keys_as_dict
from aegir.answers.statistics import shape_of
from aegir.answers.wording import shown_review
from aegir.tables.database_urls import is_database_url

CSVW_CONTEXT = "http://www.w3.org/ns/csvw"
SCHEMA_NAME = "https://schema.org/name"
TABLE_SCHEMA_TYPES = {"empty": "any"}
CSVW_TYPES = {"datetime": "dateTime", "empty": "string"}
EXAMPLE = ", such as "
"""What stands before the example in a reason; a test holds the rules to it."""
# Table Schema reads dates as ISO 8601 unless told otherwise, and an annotation does not know the pattern.
TABLE_SCHEMA_GUESSED = frozenset({"date", "datetime", "time"})


def data_package(annotations: Sequence[TableAnnotation]) -> dict[str, object]:
    """A Data Package with one resource and Table Schema per table."""
    names = unique_names([slug_of(each.table) for each in annotations])
    fields = [unique_names([column.name for column in each.columns]) for each in annotations]
    keys = table_schema_keys(annotations, names, fields)
    return {
        "name": "annotated-tables",
        "resources": [
            {
                "name": name,
                "title": annotation.table,
                "path": relative_path(annotation.source or annotation.table),
                "schema": {"fields": _fields(annotation), **stated, **_suggested_keys(annotation)},
            }
            for name, annotation, stated in zip(names, annotations, keys, strict=True)
        ],
    }


def _suggested_keys(annotation: TableAnnotation) -> dict[str, object]:
    """What is known of keys, with confidence, under a name of our own; nothing where nothing is known."""
    suggested = keys_as_dict(annotation.primary_key, annotation.foreign_keys)
    return {"aegir": suggested} if suggested else {}


def csvw_document(annotations: Sequence[TableAnnotation]) -> dict[str, object]:
    """A CSVW table group with one table description per table."""
    return {"@context": CSVW_CONTEXT, "tables": [_csvw_table(each) for each in annotations]}


def describe(column: ColumnAnnotation) -> str:
    """One line for a catalogue: the answer, how sure it is, and the first reason."""
    answer = f"{column.label or 'not decided'} ({column.confidence:.2f})"
    return ": ".join([answer, *_publishable_reasons(column)[:1]])


def _publishable_reasons(column: ColumnAnnotation) -> list[str]:
    return [without_examples(each) if column.personal else each for each in column.reasons]


def without_examples(sentence: str) -> str:
    """The sentence with the value it gives as an example replaced by the value's shape.

    The value stands last and is quoted as Python quotes text; from the opening quote on nothing is kept.
    """
    said, such_as, example = sentence.partition(EXAMPLE)
    return said + such_as + f"'{shape_of(example[1:-1])}'" if such_as else sentence


def unique_names(names: Sequence[str | None]) -> list[str]:
    """Every name once: missing ones by position, repeated ones numbered, own ones unchanged."""
    headers = {name for name in names if name}
    used: set[str] = set()
    result = []
    for position, name in enumerate(names, start=1):
        stem = name or f"column_{position}"
        candidate, number = stem, 1
        # A made-up name must not take one that a later column was really given.
        while candidate in used or (candidate in headers and candidate != name):
            number += 1
            candidate = f"{stem}_{number}"
        used.add(candidate)
        result.append(candidate)
    return result


def relative_path(source: str) -> str:
    """The source as a Data Package may state it: a URL, or a POSIX path below the package."""
    if source.startswith(("http://", "https://")) or is_database_url(source):
        return source
    path = PureWindowsPath(source)
    if path.root or path.drive or ".." in path.parts:
        return path.name or "table"
    return path.as_posix() if path.name else "table"


def known_facts(column: ColumnAnnotation) -> dict[str, object]:
    """What is known about a column; what is not known is left out."""
    facts = {
        "label": column.label,
        "confidence": round(column.confidence, DECIMALS),
        "kind": column.kind,
        "type": column.type,
        "type_confidence": round(column.type_confidence, DECIMALS),
        "fine_type": column.fine_type,
        "personal_level": column.personal_level,
        "personal_reason": column.personal_reason,
        "relation": column.relation.label if column.relation else None,
        "relation_confidence": round(column.relation.confidence, DECIMALS)
        if column.relation
        else None,
        "reasons": _publishable_reasons(column) or None,
        "reviewed": shown_review(column) or None,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _fields(annotation: TableAnnotation) -> list[dict[str, object]]:
    names = unique_names([column.name for column in annotation.columns])
    return [_field(name, column) for name, column in zip(names, annotation.columns, strict=True)]


def _field(name: str, column: ColumnAnnotation) -> dict[str, object]:
    field: dict[str, object] = {
        "name": name,
        "type": TABLE_SCHEMA_TYPES.get(column.datatype, column.datatype),
    }
    if column.datatype in TABLE_SCHEMA_GUESSED:
        field["format"] = "any"
    if column.name and column.name != name:
        field["title"] = column.name
    field["description"] = describe(column)
    if column.iri:
        field["rdfType"] = column.iri
    field["aegir"] = {**known_facts(column), "personal": column.personal}
    return field


def _csvw_table(annotation: TableAnnotation) -> dict[str, object]:
    names = unique_names([column.name for column in annotation.columns])
    columns = [
        _csvw_column(name, column, is_subject=column.index == annotation.subject)
        for name, column in zip(names, annotation.columns, strict=True)
    ]
    schema: dict[str, object] = {"columns": columns}
    for name, column in zip(names, annotation.columns, strict=True):
        if column.index == annotation.subject:
            schema["aboutUrl"] = f"#{{{_template_variable(name)}}}"
    source = annotation.source or annotation.table
    table: dict[str, object] = {
        "url": quote(_file_name_bytes(relative_path(source)), safe="/:?&=%#"),
        "dc:title": annotation.table,
        "tableSchema": schema,
    }
    if annotation.columns and all(column.name is None for column in annotation.columns):
        table["dialect"] = {"header": False}
    return table


def _file_name_bytes(path: str) -> bytes:
    """The path as the file system holds it."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other surrogates: no file is called so
        return path.encode("utf-8", "replace")


def _csvw_column(name: str, column: ColumnAnnotation, *, is_subject: bool) -> dict[str, object]:
    described: dict[str, object] = {
        "name": _template_variable(name),
        "datatype": CSVW_TYPES.get(column.datatype, column.datatype),
    }
    if column.name:
        described["titles"] = column.name
    if column.relation_iri:
        described["propertyUrl"] = column.relation_iri
    elif is_subject and column.iri == SCHEMA_NAME:
        described["propertyUrl"] = SCHEMA_NAME
    described["dc:description"] = describe(column)
    if column.iri:
        described["dc:type"] = {"@id": column.iri}
    facts = {**known_facts(column), "personal": column.personal}
    described["schema:additionalProperty"] = [
        {"@type": "schema:PropertyValue", "schema:name": name, "schema:value": value}
        for name, value in facts.items()
    ]
    return described


def _template_variable(name: str) -> str:
    """A CSVW column name: URI template variables know letters, digits, `_` and percent escapes only."""
    escaped = "".join(
        char if char.isascii() and char.isalnum() else _percent(char) for char in name
    )
    # CSVW keeps names that begin with an underscore for itself.
    return "%5F" + escaped[1:] if escaped.startswith("_") else escaped


def _percent(char: str) -> str:
    if char == "_":
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))


def slug_of(table: str) -> str:
    """Lower-case letters, digits and single dashes: what Data Package and dbt accept as names."""
    stem = PureWindowsPath(table.partition("#")[0]).name
    stem = re.sub(r"\.(csv|tsv|txt|json|jsonl|ndjson|parquet|xlsx|xls|ods)(\.\w+)?$", "", stem)
    sheet = table.partition("#")[2]
    words = re.findall(r"[a-z0-9]+", f"{stem} {sheet}".lower())
    return "-".join(words) or "table"
