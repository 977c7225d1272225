"""What Aegir says about a table: one answer per column, and which column the others describe.

These are plain nouns without behaviour; annotators fill them in, writers render them.
`type` is None where the annotator abstained; `runners_up` then still lists its best guesses.
"""

from dataclasses import dataclass


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
