"""Annotations and differences as SARIF 2.1.0, which code hosts show beside the files of a pull request.

An annotation gives a result for every column with personal data, for every column without an answer, and for every warning of
reading; a difference one for every change. A result points at the line of the header of its file.
No value of a table is in it: reasons of personal columns are left out.

Specification: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
"""

import hashlib
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.differences import ColumnChange, TableDifference
from aegir.answers.metadata_formats import PERSONAL_TAGS, relative_path
from aegir.answers.wording import shown_category
from aegir.tables.database_urls import is_database_url
from aegir_rl.base.text import escape_controls, escape_surrogates

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ANNOTATION_RULES = {
    "personal-direct": ("warning", PERSONAL_TAGS["personal_direct"]),
    "personal-indirect": ("note", PERSONAL_TAGS["personal_indirect"]),
    "personal-about": ("note", PERSONAL_TAGS["personal_about"]),
    "not-decided": ("note", "No answer for the column is likely enough."),
    "reading": ("note", "Something was noticed when the table was read."),
}
"""Level and meaning by rule."""
CHANGE_RULES = {
    "personal": ("error", "A column became personal data, or nearer to a person."),
    "removed": ("warning", "A column is gone."),
    "type": ("warning", "A column holds something else."),
    "renamed": ("note", "A column has another name."),
    "added": ("note", "There is a new column."),
    "not-personal": ("note", "A column is further from a person than before."),
    "confidence": ("note", "The answer for a column is less sure than before."),
}

Document = dict[str, object]


def annotations_as_sarif(annotations: Sequence[TableAnnotation]) -> Document:
    """The document for answers."""
    results = [each for annotation in annotations for each in _findings(annotation)]
    return _document(ANNOTATION_RULES, results)


def differences_as_sarif(differences: Sequence[TableDifference]) -> Document:
    """The document for changes."""
    results = []
    for difference in differences:
        annotation = difference.new or difference.old
        assert annotation is not None
        results += [_changed(annotation, change) for change in difference.changes]
    return _document(CHANGE_RULES, results)


def _findings(annotation: TableAnnotation) -> Iterator[Document]:
    for column in annotation.columns:
        name = _column_name(column)
        if column.personal:
            what = f"{name} holds personal data: {column.label or 'not decided'} ({column.confidence:.2f})"
            said = (what, column.personal_reason, shown_category(column))
            rule = f"personal-{column.personal_level}"
            rule = rule if rule in ANNOTATION_RULES else "personal-about"
            result = _result(annotation, rule, ", ".join(filter(None, said)), name)
            if column.tags:
                result["properties"] = {"tags": list(map(_plain, dict.fromkeys(column.tags)))}
            yield result
        elif column.label is None:
            yield _result(annotation, "not-decided", f"what {name} holds is not decided", name)
    for warning in annotation.warnings:
        yield _result(annotation, "reading", warning, None)


def _changed(annotation: TableAnnotation, change: ColumnChange) -> Document:
    said = " -> ".join(filter(None, (change.before, change.after)))
    message = f"{change.column}: {change.change}" + (f", {said}" if said else "")
    return _result(annotation, change.change, message, change.column, CHANGE_RULES)


def _column_name(column: ColumnAnnotation) -> str:
    return column.name or f"column {column.index + 1}"


def _result(
    annotation: TableAnnotation,
    rule: str,
    message: str,
    column: str | None,
    rules: dict[str, tuple[str, str]] = ANNOTATION_RULES,
) -> Document:
    text = annotation.text
    line = max(1, text.lines_above if text and text.header_rows else 1)
    source = relative_path(annotation.source or annotation.table)
    place: Document = {}
    if not is_database_url(source):
        uri = quote(source.encode("utf-8", "replace"), safe="/:")
        place["physicalLocation"] = {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": line},
        }
    if column is not None:
        name = _plain(f"{annotation.table}.{column}")
        place["logicalLocations"] = [
            {"name": _plain(column), "fullyQualifiedName": name, "kind": "member"}
        ]
    identity = "\n".join((rule, annotation.table, column or message))
    return {
        "ruleId": rule,
        "ruleIndex": list(rules).index(rule),
        "level": rules[rule][0],
        "message": {"text": _plain(message)},
        "locations": [place],
        "partialFingerprints": {
            "aegir/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]
        },
    }


def _plain(text: str) -> str:
    return escape_controls(escape_surrogates(text))


def _document(rules: dict[str, tuple[str, str]], results: list[Document]) -> Document:
    described = [
        {
            "id": rule,
            "shortDescription": {"text": meaning},
            "defaultConfiguration": {"level": level},
        }
        for rule, (level, meaning) in rules.items()
    ]
    driver: Document = {"name": "aegir", "rules": described}
    run: Document = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run | {"results": results}]}
