"""Keys in the words of other tools: Table Schema, dbt, SQL.

    table_schema_keys(annotations, resources, fields)    `primaryKey` and `foreignKeys` per table
    dbt_relationships(annotations, models, fields)       the `relationships` test of each column that refers to a table of the run
    sql_key_lines(annotations, relations)                constraints, commented out, for a person to choose from

dbt warns, so its tests are written from SURE_KEY on. A validator of Data Packages refuses rows, so a Table Schema states only keys that hold in
all rows of their tables; the rest stands under `aegir`. People read everything that was found, with its confidence.
"""

from collections.abc import Iterator, Sequence

from aegir.answers.annotation import TableAnnotation
from aegir.answers.keys import ForeignKey, PrimaryKey
from aegir.answers.wording import shown_sureness
from aegir_rl.base.duckdb_engine import quote_name
from aegir_rl.base.text import escape_controls

SURE_KEY = 0.7
"""Confidence from which a key is stated in a format that has no place for one."""

Document = dict[str, object]


def table_schema_keys(
    annotations: Sequence[TableAnnotation],
    resources: Sequence[str],
    fields: Sequence[Sequence[str]],
) -> list[Document]:
    """Return, for each table, the keys of its Table Schema; `resources` and `fields` are the names used in the package.

    A reference within a table has an empty resource, as the specification asks.
    """
    places = _places(annotations)
    documents: list[Document] = []
    for index, annotation in enumerate(annotations):
        document: Document = {}
        key = annotation.primary_key
        if key is not None and key.confidence >= SURE_KEY and (key.holds or key.declared):
            names = [fields[index][column] for column in key.columns]
            document["primaryKey"] = names[0] if len(names) == 1 else names
        references = []
        for foreign in _sure(annotation):
            other = places.get(foreign.table)
            if other is None or not (foreign.holds or foreign.declared):
                continue
            reference = {
                "resource": "" if other == index else resources[other],
                "fields": [fields[other][column] for column in foreign.references],
            }
            own = [fields[index][column] for column in foreign.columns]
            references.append({"fields": own, "reference": reference})
        if references:
            document["foreignKeys"] = references
        documents.append(document)
    return documents


def dbt_relationships(
    annotations: Sequence[TableAnnotation],
    models: Sequence[str],
    fields: Sequence[Sequence[str]],
) -> list[dict[int, tuple[str, str]]]:
    """Return, for each table, column to the model and field that it refers to."""
    places = _places(annotations)
    return [
        {
            foreign.columns[0]: (models[other], fields[other][foreign.references[0]])
            for foreign in _sure(annotation)
            if len(foreign.columns) == 1 and (other := places.get(foreign.table)) is not None
        }
        for annotation in annotations
    ]


def sql_key_lines(
    annotations: Sequence[TableAnnotation], relations: Sequence[str | None]
) -> Iterator[str]:
    """Yield the keys as constraints behind dashes; `relations` are the quoted names of the tables, None for those without one."""
    places = _places(annotations)
    for annotation, relation in zip(annotations, relations, strict=True):
        headers = [column.name for column in annotation.columns]
        keys: list[tuple[PrimaryKey | ForeignKey, str]] = []
        if annotation.primary_key is not None:
            own = _quoted(headers, annotation.primary_key.columns)
            keys.append((annotation.primary_key, f"PRIMARY KEY {own}"))
        for foreign in annotation.foreign_keys:
            other = places.get(foreign.table)
            if other is None or relations[other] is None:
                continue
            names = [column.name for column in annotations[other].columns]
            referred = f"{relations[other]} {_quoted(names, foreign.references)}"
            own = _quoted(headers, foreign.columns)
            keys.append((foreign, f"FOREIGN KEY {own} REFERENCES {referred}"))
        for key, constraint in keys:
            if relation is not None and "\n" not in constraint and "()" not in constraint:
                yield f"-- ALTER TABLE {relation} ADD {constraint}; -- {shown_sureness(key)}"


def _quoted(headers: Sequence[str | None], columns: Sequence[int]) -> str:
    """Return headers in brackets; empty brackets if one of them is missing or cannot be written on a line."""
    names = [headers[column] for column in columns]
    if any(name is None or escape_controls(name) != name for name in names):
        return "()"
    return f"({', '.join(quote_name(name or '') for name in names)})"


def _places(annotations: Sequence[TableAnnotation]) -> dict[str, int]:
    """Return the index of every table by its name; a name that two tables have leads nowhere."""
    names = [each.table for each in annotations]
    return {name: index for index, name in enumerate(names) if names.count(name) == 1}


def _sure(annotation: TableAnnotation) -> list[ForeignKey]:
    return [key for key in annotation.foreign_keys if key.declared or key.confidence >= SURE_KEY]
