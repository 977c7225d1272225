"""The answer for a table: one annotation per column, and which column the others describe.

    annotation_from_dict(annotation_as_dict(annotation)) == annotation      (up to rounding)

`type` is None where the annotator abstained; `runners_up` then still lists its best guesses. The dictionaries
are the shape behind JSON, Parquet metadata and the service.

Promises
  - keys come in a fixed order and are all present, so two outputs can be compared line by line;
  - confidences are rounded to 4 decimals; nothing else is changed;
  - what cannot be read back is refused in one sentence that names the part at fault.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aegir.errors import UsageError

DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Guess:
    """A label and the calibrated probability that it is right."""

    label: str
    confidence: float


@dataclass(frozen=True, slots=True)
class ColumnAnnotation:
    """The answer for one column."""

    index: int
    name: str | None
    type: str | None
    """One of the 82 column types, or one that the user taught; None: abstained."""
    confidence: float
    """Calibrated probability of the best guess, also when abstaining."""
    runners_up: tuple[Guess, ...]
    """Up to three next-best types (with the best guess first when abstaining)."""
    fine_type: str | None
    """A finer type under or beside `type`, only when sure."""
    datatype: str
    """Physical type of the values: string, integer, number, boolean, date, datetime, time or empty."""
    personal: bool
    """Whether the column is likely to hold personal data."""
    evidence: tuple[str, ...]
    """Short sentences: which values, rules or headers decided."""
    relation: Guess | None = None
    """Relation to the subject column; None for the subject itself and when abstaining."""
    relation_runners_up: tuple[Guess, ...] = ()
    iri: str | None = None
    """Schema.org (or other vocabulary) IRI of the type."""
    relation_iri: str | None = None


@dataclass(frozen=True, slots=True)
class TableAnnotation:
    """The answer for one table."""

    table: str
    source: str | None
    subject: int | None
    columns: tuple[ColumnAnnotation, ...]
    annotator: str
    warnings: tuple[str, ...] = ()


def annotation_as_dict(annotation: TableAnnotation) -> dict[str, object]:
    """A dictionary of strings, numbers, booleans, lists and None, ready for JSON."""
    return {
        "table": annotation.table,
        "source": annotation.source,
        "subject": annotation.subject,
        "annotator": annotation.annotator,
        "columns": [_column_as_dict(column) for column in annotation.columns],
        "warnings": list(annotation.warnings),
    }


def annotation_from_dict(data: Mapping[str, Any]) -> TableAnnotation:
    """The annotation that `annotation_as_dict` was given, up to the rounding of confidences."""
    try:
        return TableAnnotation(
            table=_text(data["table"]),
            source=_optional_text(data["source"]),
            subject=None if data["subject"] is None else int(data["subject"]),
            columns=tuple(_column_from_dict(column) for column in data["columns"]),
            annotator=_text(data["annotator"]),
            warnings=tuple(_text(warning) for warning in data["warnings"]),
        )
    except KeyError as missing:
        raise UsageError(
            f"this annotation has no {missing.args[0]!r}; it must be an object as written by "
            "`aegir annotate --json`"
        ) from None
    except (TypeError, ValueError, AttributeError) as wrong:
        raise UsageError(
            f"this annotation holds a value of the wrong kind ({wrong}); it must be an object as "
            "written by `aegir annotate --json`"
        ) from None


def _column_as_dict(column: ColumnAnnotation) -> dict[str, object]:
    return {
        "index": column.index,
        "name": column.name,
        "type": column.type,
        "confidence": round(column.confidence, DECIMALS),
        "fine_type": column.fine_type,
        "datatype": column.datatype,
        "personal": column.personal,
        "relation": None if column.relation is None else _guess_as_dict(column.relation),
        "iri": column.iri,
        "relation_iri": column.relation_iri,
        "runners_up": [_guess_as_dict(guess) for guess in column.runners_up],
        "relation_runners_up": [_guess_as_dict(guess) for guess in column.relation_runners_up],
        "evidence": list(column.evidence),
    }


def _column_from_dict(data: Mapping[str, Any]) -> ColumnAnnotation:
    relation = data["relation"]
    return ColumnAnnotation(
        index=int(data["index"]),
        name=_optional_text(data["name"]),
        type=_optional_text(data["type"]),
        confidence=float(data["confidence"]),
        runners_up=tuple(_guess_from_dict(guess) for guess in data["runners_up"]),
        fine_type=_optional_text(data["fine_type"]),
        datatype=_text(data["datatype"]),
        personal=_flag(data["personal"]),
        evidence=tuple(_text(sentence) for sentence in data["evidence"]),
        relation=None if relation is None else _guess_from_dict(relation),
        relation_runners_up=tuple(_guess_from_dict(guess) for guess in data["relation_runners_up"]),
        iri=_optional_text(data["iri"]),
        relation_iri=_optional_text(data["relation_iri"]),
    )


def _guess_as_dict(guess: Guess) -> dict[str, object]:
    return {"label": guess.label, "confidence": round(guess.confidence, DECIMALS)}


def _guess_from_dict(data: Mapping[str, Any]) -> Guess:
    return Guess(_text(data["label"]), float(data["confidence"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} where text was expected")
    return value


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} where true or false was expected")
    return value
