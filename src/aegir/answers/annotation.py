"""The answer for a table: one annotation per column, and which column the others describe.

    annotation_from_dict(annotation_as_dict(annotation)) == annotation      (up to rounding)

A column's answer says the same thing at several levels: `label` is the most specific name that is likely enough, and
`kind`, `type` and `fine_type` are the levels themselves. The dictionaries are the shape behind JSON, Parquet
metadata and the service; docs/answers.md explains every field.

Promises
  - keys come in a fixed order and are all present, so two outputs can be compared line by line; only those of a swarm
    (routing.py), of reviews (reviewing.py), of primary and foreign keys (keys.py), of statistics (statistics.py), of what is declared, of
    missing values, of tags and of what a row is are absent where there was none;
  - confidences are rounded to 4 decimals; nothing else is changed; the preview of the values is not part of the dictionary;
  - `form` is the first key of every table and the version of this shape: another one is refused, as is what
    cannot be read back, in one sentence that names the part at fault.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from aegir.answers.keys import (
    ForeignKey,
    KeySketch,
    PrimaryKey,
    foreign_keys_from_dict,
    keys_as_dict,
    primary_key_from_dict,
)
from aegir.answers.reviewing import (
    Offer,
    Reviewed,
    offers_from_dict,
    reviewed_from_dict,
    reviewing_as_dict,
)
from aegir.answers.routing import (
    Routing,
    Timing,
    routing_as_dict,
    routing_from_dict,
    timing_as_dict,
    timing_from_dict,
)
from aegir.answers.statistics import statistics_as_dict
from aegir.tables.datatype import ColumnProfile
from aegir.tables.table import Declared, Notation, TextFormat
from aegir.vocabulary.terms import plain_name
from aegir_rl.base.errors import UsageError

FORM = 2
"""The version of the dictionaries; it changes when a field is renamed, removed or means something else."""
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
    label: str | None
    """The fine type, else the type, else the kind: the first that is likely enough; None: abstained."""
    confidence: float
    """Calibrated probability that `label` is right; of the best guess when abstaining."""
    kind: str | None
    """What sort of thing the column holds: identifier, number, money, …"""
    type: str | None
    """One of the 82 column types, or one that the user taught; None: none of these is likely enough."""
    type_confidence: float
    """Calibrated probability of the answer in `type`; for None, that none of the types is right."""
    fine_type: str | None
    """A finer name that goes with `type`."""
    datatype: str
    """Physical type of the values: string, integer, number, boolean, date, datetime, time or empty."""
    personal: bool
    """Whether the column is likely to hold personal data."""
    personal_level: str | None = None
    """How near to a person: direct (identifies), indirect (identifies with other columns) or about."""
    personal_reason: str | None = None
    """Why the column counts as personal, in a few words."""
    personal_confidence: float | None = None
    """Probability that the column is personal; None where it is not known, as in answers of earlier versions."""
    identifying_confidence: float | None = None
    """Probability that the column identifies persons, directly or with others; None where it is not known."""
    special: bool = False
    """Whether the column holds data of a special category (GDPR, articles 9 and 10)."""
    special_category: str | None = None
    """Which one: a name of SPECIAL_CATEGORIES."""
    tags: tuple[str, ...] = ()
    """Tags of the user's organisation (tags.py)."""
    relation: Guess | None = None
    """Relation to the subject column; None for the subject itself and where no relation is likelier than none."""
    iri: str | None = None
    """Schema.org (or other vocabulary) IRI of the type."""
    relation_iri: str | None = None
    runners_up: tuple[Guess, ...] = ()
    """Up to three next-best labels of any level (with the best guess first when abstaining)."""
    type_runners_up: tuple[Guess, ...] = ()
    relation_runners_up: tuple[Guess, ...] = ()
    reasons: tuple[str, ...] = ()
    """Short sentences: which values, rules or headers decided; the strongest first."""
    routing: Routing | None = None
    """What the router of a swarm decided about each specialist; None from other annotators."""
    reviewed: Reviewed | None = None
    """The review from which the answer follows; None for a column that nobody reviewed."""
    all_missing: bool = False
    """Whether every cell that was read is missing; what is answered then follows from names alone."""
    declared: Declared | None = None
    """What the source says of the column; None where it says nothing."""
    offers: tuple[Offer, ...] = ()
    """Reviews of similar columns that say something else, the most similar first."""


@dataclass(frozen=True, slots=True)
class RowAnnotation:
    """What one row of a table is, and whether it is a person or belongs to one."""

    name: str | None
    """One of ROW_NAMES; None where none is likely enough. It is called `class` in JSON."""
    noun: str | None
    """What the table itself calls it: "customer", "sensor reading"; None where neither name nor headers tell."""
    confidence: float
    """Probability of `name`; of the likeliest class where it is None."""
    person: str
    """One of PERSON_STATES: rows are persons (self), belong to one each (linked), or neither (none)."""
    person_confidence: float


@dataclass(frozen=True, slots=True)
class TableAnnotation:
    """The answer for one table."""

    table: str
    source: str | None
    subject: int | None
    columns: tuple[ColumnAnnotation, ...]
    annotator: str
    warnings: tuple[str, ...] = ()
    preview: tuple[tuple[str, ...], ...] = field(default=(), compare=False, repr=False)
    """Some cells of each column, of the same rows and cut short, for reports that show the table."""
    timing: Timing | None = None
    """How long the table took; None where it was not measured."""
    profiles: tuple[ColumnProfile, ...] = field(default=(), compare=False, repr=False)
    """Figures of the sampled values of each column, for formats that state expectations."""
    notations: tuple[Notation, ...] = field(default=(), compare=False, repr=False)
    """How the sampled values of each column are written, for formats that programs parse values with."""
    text: TextFormat | None = field(default=None, compare=False, repr=False)
    """How its file is written, if it is delimited text."""
    primary_key: PrimaryKey | None = None
    """The columns that name a row, if some are likely to."""
    foreign_keys: tuple[ForeignKey, ...] = ()
    """Columns that refer to other tables of the same run, found when all of them are known."""
    row: RowAnnotation | None = None
    """What one row is; None from an annotator that does not say."""
    subject_repeats: bool = False
    """Whether rows share values of the subject, as lines of an order do."""
    statistics: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Of an answer that was read from JSON: the numbers of rows, and under `columns` the statistics of each column."""
    sketches: tuple[KeySketch, ...] = field(default=(), compare=False, repr=False)
    """What is kept of the columns that may take part in keys."""


def annotation_as_dict(annotation: TableAnnotation) -> dict[str, object]:
    """A dictionary of strings, numbers, booleans, lists and None, ready for JSON."""
    return {
        "form": FORM,
        "table": annotation.table,
        "source": annotation.source,
        "subject": annotation.subject,
        **({"subject_repeats": True} if annotation.subject_repeats else {}),
        **_row_as_dict(annotation.row),
        "annotator": annotation.annotator,
        "columns": [_column_as_dict(column, annotation) for column in annotation.columns],
        **_rows_as_dict(annotation),
        **keys_as_dict(annotation.primary_key, annotation.foreign_keys),
        "warnings": list(annotation.warnings),
        **timing_as_dict(annotation.timing),
    }


def annotation_from_dict(
    data: Mapping[str, Any], where: str = "this annotation"
) -> TableAnnotation:
    """The annotation that `annotation_as_dict` wrote, up to the rounding of confidences.

    `where` begins the sentence that refuses what cannot be read.
    """
    _check_form(data, where)
    try:
        return TableAnnotation(
            table=_text(data["table"]),
            source=_optional_text(data["source"]),
            subject=None if data["subject"] is None else int(data["subject"]),
            columns=tuple(_column_from_dict(column) for column in data["columns"]),
            annotator=_text(data["annotator"]),
            row=_row_from_dict(data.get("row")),
            subject_repeats=_flag(data.get("subject_repeats", False)),
            warnings=tuple(_text(warning) for warning in data["warnings"]),
            timing=timing_from_dict(data),
            statistics=_statistics_from_dict(data),
            primary_key=primary_key_from_dict(data),
            foreign_keys=foreign_keys_from_dict(data),
        )
    except KeyError as missing:
        raise UsageError(
            f"{where} has no {missing.args[0]!r}; it must be an object as written by "
            "`aegir annotate --json`"
        ) from None
    except (TypeError, ValueError, AttributeError) as wrong:
        raise UsageError(
            f"{where} holds a value of the wrong kind ({wrong}); it must be an object as "
            "written by `aegir annotate --json`"
        ) from None


def _check_form(data: object, where: str) -> None:
    """Raise for an answer of another form, and for what is no answer at all."""
    if not isinstance(data, Mapping):
        raise UsageError(
            f"{where} is of type {type(data).__name__}; it must be an object as written by "
            "`aegir annotate --json`"
        )
    form = data.get("form")
    if type(form) is int and form == FORM:
        return
    came = "is of an earlier version" if form is None else f"is of form {form!r}"
    raise UsageError(
        f"{where} {came}, but form {FORM} is expected; run `aegir annotate` on its table again"
    )


def profile_of(annotation: TableAnnotation, column: ColumnAnnotation) -> ColumnProfile | None:
    """The profile of a column, if its values are known."""
    return annotation.profiles[column.index] if column.index < len(annotation.profiles) else None


def statistics_of(annotation: TableAnnotation, column: ColumnAnnotation) -> dict[str, Any]:
    """The statistics of a column; empty where its values are not known."""
    if profile := profile_of(annotation, column):
        return statistics_as_dict(profile, personal=column.personal)
    stored = annotation.statistics.get("columns", ())
    return stored[column.index] if column.index < len(stored) else {}


def _row_as_dict(row: RowAnnotation | None) -> dict[str, object]:
    """The key of what a row is, absent where that is not known."""
    if row is None:
        return {}
    plain = {name: _plain(value) for name, value in asdict(row).items()}
    return {"row": {"class": plain.pop("name"), **plain}}


def _row_from_dict(data: Mapping[str, Any] | None) -> RowAnnotation | None:
    if data is None:
        return None
    return RowAnnotation(
        _optional_text(data["class"]),
        _optional_text(data["noun"]),
        float(data["confidence"]),
        _text(data["person"]),
        float(data["person_confidence"]),
    )


def _rows_as_dict(annotation: TableAnnotation) -> dict[str, object]:
    """Return how many rows the table has, None if they were not counted, and how many were looked at."""
    if annotation.profiles:
        first = annotation.profiles[0]
        return {"rows": first.total_rows, "sampled_rows": first.rows}
    stored = annotation.statistics
    return {name: stored[name] for name in ("rows", "sampled_rows") if name in stored}


def _statistics_from_dict(data: Mapping[str, Any]) -> dict[str, Any]:
    columns = [column.get("statistics") or {} for column in data["columns"]]
    rows = {name: data[name] for name in ("rows", "sampled_rows") if name in data}
    return {**rows, "columns": columns} if any(columns) or rows else {}


def _column_as_dict(column: ColumnAnnotation, annotation: TableAnnotation) -> dict[str, object]:
    statistics = statistics_of(annotation, column)
    return {
        **{name: _plain(getattr(column, name)) for name in _READERS},
        **({"statistics": statistics} if statistics else {}),
        "special": column.special,
        **({"tags": list(column.tags)} if column.tags else {}),
        **({"all_missing": True} if column.all_missing else {}),
        **_declared_as_dict(column.declared),
        **routing_as_dict(column.routing),
        **reviewing_as_dict(column.reviewed, column.offers),
    }


def _column_from_dict(data: Mapping[str, Any]) -> ColumnAnnotation:
    values = {name: read(data[name]) for name, read in _READERS.items() if name not in _ADDED}
    values |= {name: _READERS[name](data.get(name)) for name in _ADDED}
    if values["label"] is not None:  # earlier versions wrote IdentifierAT
        values["label"] = plain_name(values["label"])
    return ColumnAnnotation(
        **values,
        all_missing=_flag(data.get("all_missing", False)),
        special=_flag(data.get("special", False)),
        tags=tuple(map(_text, data.get("tags", ()))),
        declared=_declared_from_dict(data.get("declared")),
        routing=routing_from_dict(data),
        reviewed=reviewed_from_dict(data),
        offers=offers_from_dict(data),
    )


def _declared_as_dict(declared: Declared | None) -> dict[str, object]:
    """The key of what is declared, absent where that is nothing."""
    return {} if declared is None or declared == Declared() else {"declared": asdict(declared)}


def _declared_from_dict(data: Mapping[str, Any] | None) -> Declared | None:
    if data is None:
        return None
    return Declared(
        type=_optional_text(data["type"]),
        primary_key=_flag(data["primary_key"]),
        references=_optional_text(data["references"]),
        comment=_optional_text(data["comment"]),
    )


def _plain(value: object) -> object:
    """A value of a field as JSON has it."""
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, Guess):
        return {"label": value.label, "confidence": round(value.confidence, DECIMALS)}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _guess(data: Mapping[str, Any]) -> Guess:
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


_READER_OF: dict[Any, Callable[[Any], Any]] = {
    int: int,
    float: float,
    float | None: lambda value: None if value is None else float(value),
    str: _text,
    bool: _flag,
    str | None: _optional_text,
    Guess | None: lambda data: None if data is None else _guess(data),
    tuple[Guess, ...]: lambda data: tuple(map(_guess, data)),
    tuple[str, ...]: lambda data: tuple(map(_text, data)),
}
_READERS = {
    each.name: _READER_OF[each.type]
    for each in fields(ColumnAnnotation)
    if each.type in _READER_OF and each.name not in ("all_missing", "special", "tags")
}
"""How the fields of a column that are always in its dictionary are read, in their order there."""
_ADDED = ("personal_confidence", "identifying_confidence", "special_category")
"""Fields that answers of earlier versions lack."""
