"""Annotations as documents that data catalogues ingest: OpenMetadata and DataHub.

OpenMetadata: one object with what its API takes, in the order in which to send it
  glossary        CreateGlossary: one glossary, called Aegir
  glossaryTerms   CreateGlossaryTerm: a term for every label that was answered, with its definition
  tables          CreateTable: columns with description, glossary term and tags, as suggestions of a tool; the tags of an
                  organisation stand in place of those that OpenMetadata ships, since it takes one tag of PII or PersonalData

DataHub: a list of metadata change proposals, as its source `file` reads them
  tagProperties, glossaryTermInfo      what tags and terms mean
  editableSchemaMetadata               description, tags and terms of the columns of a dataset
  editableDatasetProperties            what one row of a dataset is

Promises
  - confidence, annotator and personal level stand beside the answer; an unsure column gets a description that says so,
    and no term;
  - values of personal columns are never quoted (metadata_formats.py);
  - nothing but the annotations decides the output: times are 0, and names that a catalogue refuses are changed the same
    way each time.
"""

import re
from collections.abc import Sequence

from aegir.answers.annotation import DECIMALS, ColumnAnnotation, TableAnnotation
from aegir.answers.catalogue_names import CatalogueTable, catalogue_table
from aegir.answers.metadata_formats import (
    PERSONAL_TAGS,
    all_tags,
    describe,
    describe_personal,
    describe_rows,
    describe_table,
    personal_tags,
    unique_names,
)
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, KINDS, plain_name
from aegir_rl.base.text import escape_controls

GLOSSARY = "Aegir"
GLOSSARY_MEANING = "What columns hold, as named by Aegir."
LONGEST_NAME = 256
OPEN_METADATA_TYPES = {
    "boolean": "BOOLEAN",
    "date": "DATE",
    "datetime": "DATETIME",
    "empty": "UNKNOWN",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "string": "STRING",
    "time": "TIME",
}
OPEN_METADATA_TAGS = ("PII.Sensitive", "PersonalData.SpecialCategory")
"""Tags that OpenMetadata ships, for personal data and for special categories."""
DATAHUB_ACTOR = "urn:li:corpuser:aegir"

Document = dict[str, object]


def open_metadata_document(annotations: Sequence[TableAnnotation]) -> Document:
    """The requests that describe these tables to OpenMetadata."""
    terms = [
        {
            "glossary": GLOSSARY,
            "name": _open_metadata_name(label),
            "displayName": _shown(label),
            "description": meaning,
            **({"references": [{"name": _shown(label), "endpoint": iri}]} if iri else {}),
        }
        for label, (meaning, iri) in _terms(annotations).items()
    ]
    return {
        "glossary": {"name": GLOSSARY, "displayName": GLOSSARY, "description": GLOSSARY_MEANING},
        "glossaryTerms": terms,
        "tables": [_open_metadata_table(each) for each in annotations],
    }


def datahub_proposals(annotations: Sequence[TableAnnotation]) -> list[Document]:
    """The metadata change proposals that describe these tables to DataHub."""
    columns = [column for annotation in annotations for column in annotation.columns]
    used = {tag for column in columns for tag in personal_tags(column)}
    proposals = [
        _proposal("tag", f"urn:li:tag:{tag}", "tagProperties", {"name": tag, "description": text})
        for tag, text in PERSONAL_TAGS.items()
        if tag in used
    ]
    for label, (meaning, iri) in _terms(annotations).items():
        info: Document = {
            "name": _shown(label),
            "definition": meaning,
            "termSource": "EXTERNAL" if iri else "INTERNAL",
            "customProperties": {},
            **(
                {"sourceRef": "schema.org" if "schema.org" in iri else iri, "sourceUrl": iri}
                if iri
                else {}
            ),
        }
        proposals.append(_proposal("glossaryTerm", _term_urn(label), "glossaryTermInfo", info))
    for annotation in annotations:
        stamp: Document = {"time": 0, "actor": DATAHUB_ACTOR}
        names = unique_names([column.name for column in annotation.columns])
        fields = [
            _datahub_field(name, column, annotation.annotator)
            for name, column in zip(names, annotation.columns, strict=True)
        ]
        schema: Document = {
            "created": stamp,
            "lastModified": stamp,
            "editableSchemaFieldInfo": fields,
        }
        urn = _dataset_urn(catalogue_table(annotation))
        if rows := describe_rows(annotation):
            properties: Document = {
                "created": stamp,
                "lastModified": stamp,
                "description": _shown(rows),
            }
            proposals.append(_proposal("dataset", urn, "editableDatasetProperties", properties))
        proposals.append(_proposal("dataset", urn, "editableSchemaMetadata", schema))
    return proposals


def _terms(annotations: Sequence[TableAnnotation]) -> dict[str, tuple[str, str | None]]:
    """Every label that was answered, sorted, with its definition and IRI."""
    columns = [column for annotation in annotations for column in annotation.columns]
    labels = {column.label: column for column in columns if column.label}
    return {label: _meaning(labels[label]) for label in sorted(labels)}


def _meaning(column: ColumnAnnotation) -> tuple[str, str | None]:
    label = column.label or ""
    of_type = (
        COLUMN_TYPES.get(column.type or "") if label == plain_name(column.type or "") else None
    )
    term = FINE_TYPES.get(label) or of_type
    if term is not None:
        return term.definition, term.iri
    if label in KINDS:
        return KINDS[label].definition, None
    return f"A type that was taught, of the kind {_shown(column.kind or 'unknown')}.", None


def _description(column: ColumnAnnotation, annotator: str) -> str:
    """What is said of a column, how sure it is, and who says it."""
    return _shown(f"{describe(column)}{describe_personal(column)} [Aegir, {annotator}]")


def _open_metadata_table(annotation: TableAnnotation) -> Document:
    where = catalogue_table(annotation)
    names = unique_names(
        [_open_metadata_name(column.name) if column.name else None for column in annotation.columns]
    )
    name, parents = _open_metadata_place(where)
    table: Document = {
        "name": _open_metadata_name(name),
        "displayName": _shown(where.table),
        "description": _shown(describe_table(annotation, where.path or annotation.table)),
        "tableType": "Regular",
        "databaseSchema": ".".join(
            _quoted_part(_open_metadata_name(part or "default")) for part in parents
        ),
        "columns": [
            _open_metadata_column(name, column, annotation.annotator)
            for name, column in zip(names, annotation.columns, strict=True)
        ],
    }
    return table


def _open_metadata_place(where: CatalogueTable) -> tuple[str, tuple[str | None, ...]]:
    """The name of a table, and service, database and schema above it; no two tables of an export share all of them.

    A file with several tables is a database. A file that is a table keeps its whole name, in the schema of its folder.
    """
    if where.path is None or where.within:
        return where.table, (where.platform, where.path or where.database, where.schema)
    folder, _, name = where.path.rpartition("/")
    return name, (where.platform, None, folder)


def _open_metadata_column(name: str, column: ColumnAnnotation, annotator: str) -> Document:
    tags = []
    if column.label:
        term = f"{GLOSSARY}.{_quoted_part(_open_metadata_name(column.label))}"
        tags.append(_tag_label(term, "Glossary"))
    if column.personal:
        shipped = OPEN_METADATA_TAGS if column.special else OPEN_METADATA_TAGS[:1]
        names = map(_open_metadata_name, column.tags or shipped)
        tags += [_tag_label(name, "Classification") for name in dict.fromkeys(names)]
    described: Document = {"name": name}
    if column.name and column.name != name:
        described["displayName"] = _shown(column.name)
    described["dataType"] = OPEN_METADATA_TYPES.get(column.datatype, "UNKNOWN")
    described["ordinalPosition"] = column.index + 1
    described["description"] = _description(column, annotator)
    described["tags"] = tags
    return described


def _tag_label(name: str, source: str) -> Document:
    return {"tagFQN": name, "source": source, "labelType": "Automated", "state": "Suggested"}


def _open_metadata_name(name: str) -> str:
    """A name as OpenMetadata takes it: at most 256 characters on one line, without `::` and `>`, which it reserves."""
    text = re.sub(r"::|>|\s+", lambda match: " " if match[0].isspace() else "_", _shown(name))
    return text.strip()[:LONGEST_NAME] or "_"


def _quoted_part(name: str) -> str:
    """A part of a fully qualified name, in quotes where it has a dot or quotes of its own."""
    return '"' + name.replace('"', '""') + '"' if "." in name or '"' in name else name


def _datahub_field(name: str, column: ColumnAnnotation, annotator: str) -> Document:
    described: Document = {
        "fieldPath": _shown(name),
        "description": _description(column, annotator),
    }
    if tags := [f"urn:li:tag:{_urn_part(tag)}" for tag in all_tags(column)]:
        why = _attribution(annotator, "reason", _shown(column.personal_reason or ""))
        described["globalTags"] = {
            "tags": [{"tag": tag, "attribution": why} for tag in dict.fromkeys(tags)]
        }
    if column.label:
        sure = _attribution(annotator, "confidence", f"{round(column.confidence, DECIMALS)}")
        described["glossaryTerms"] = {
            "terms": [{"urn": _term_urn(column.label), "attribution": sure}],
            "auditStamp": {"time": 0, "actor": DATAHUB_ACTOR},
        }
    return described


def _attribution(annotator: str, key: str, value: str) -> Document:
    detail = {"annotator": annotator, key: value}
    return {"time": 0, "actor": DATAHUB_ACTOR, "sourceDetail": detail}


def _term_urn(label: str) -> str:
    return f"urn:li:glossaryTerm:{GLOSSARY}.{_urn_part(label)}"


def _dataset_urn(where: CatalogueTable) -> str:
    name = ".".join(where.parts)
    if where.path is not None:
        name = f"{where.path}.{name}" if where.within else where.path
    return f"urn:li:dataset:(urn:li:dataPlatform:{where.platform},{_urn_part(name)},PROD)"


def _urn_part(name: str) -> str:
    """A name inside a URN: commas, brackets and the unit separator are written as percent escapes, as DataHub does."""
    return (
        "".join(_percent(char) if char in ",()␟%" else char for char in _shown(name)).strip() or "_"
    )


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())


def _proposal(entity: str, urn: str, aspect: str, content: Document) -> Document:
    return {
        "entityType": entity,
        "entityUrn": urn,
        "changeType": "UPSERT",
        "aspectName": aspect,
        "aspect": {"json": content},
    }


def _shown(text: str) -> str:
    return escape_controls(text)
