"""A review: what a person says a column is, with enough of the column to find it again.

    Review(id, at, by, label, kind, personal, level, said, table, source, column)      one line of JSON each

`label` is a name of the vocabulary or of a type of the user's own; None says that no name fits.
Reviews of form 1 say whether a column is personal, but not how near to a person; what is read from them has the level of their label.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from aegir.answers.reviewing import Verdict
from aegir.tables.fingerprint import Fingerprint
from aegir.vocabulary.hierarchy import kind_of, personal_meaning
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, KINDS, PERSONAL_LEVELS, TYPE_CALLED
from aegir_rl.base.errors import UsageError, reason_of

LONGEST_TEXT = 1000
FORM, WITHOUT_LEVELS = 2, 1
"""The version of the lines of JSON, and the earlier one, without levels of personal data."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a person says about a column; never changed, only followed by another one."""

    id: str
    at: str
    """When, in UTC, as ISO 8601 writes it; the last review of a column counts."""
    by: str
    label: str | None
    kind: str | None
    """The kind of the label; None where no name fits."""
    personal: bool | None
    """Whether the column holds personal data; None: as follows from the label."""
    level: str | None
    """How near to a person, one of PERSONAL_LEVELS, where `personal` is True; else None."""
    said: str | None
    """The label that was answered without the review."""
    table: str
    source: str | None
    """The file, as it was named."""
    column: Fingerprint
    migrated: bool = field(default=False, compare=False)
    """Whether its level was not said, but follows from the label, because it was read from a review without levels."""

    @property
    def verdict(self) -> Verdict:
        """Whether the answer was accepted, corrected, or no name fits."""
        if self.label is None:
            return "none"
        return "accepted" if self.said == self.label else "corrected"

    @property
    def order(self) -> tuple[str, str]:
        """Reviews are ordered by time; those of the same instant by their ids."""
        return self.at, self.id

    def to_json(self) -> str:
        """Return one line; the same for the same review everywhere."""
        record = {"form": FORM, **asdict(self), "column": self.column.as_dict()}
        del record["migrated"]
        return json.dumps(record, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str, where: str) -> "Review":
        """Return the review that `to_json` wrote; `where` begins the sentence that refuses anything else."""
        try:
            record = json.loads(line)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"{where} is no JSON ({reason_of(error)})") from None
        if not isinstance(record, dict) or "form" not in record:
            raise UsageError(
                f"{where} is no review; expected a line as written by `aegir review export`"
            )
        if record["form"] not in (FORM, WITHOUT_LEVELS):
            raise UsageError(
                f"{where} is a review of form {record['form']!r}, but form {FORM} is expected; "
                "export it again with this version"
            )
        try:
            return _from_record(record)
        except KeyError as missing:
            raise UsageError(f"{where} is a damaged review: it has no {missing}") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{where} is a damaged review ({error})") from None


def usual_level(label: str | None, kind: str | None) -> str:
    """Return the level of a personal column with this label, as far as the label tells."""
    name = TYPE_CALLED.get(label or "", label)
    return personal_meaning(name, name, None, kind).level


def check_label(label: str, own_types: Iterable[str] = ()) -> None:
    """Raise for a label that is neither in the vocabulary nor one of the user's own types, and suggest a near one."""
    known = {*FINE_TYPES, *COLUMN_TYPES, *TYPE_CALLED, *KINDS, *own_types}
    if label not in known:
        by_lower = {name.lower(): name for name in sorted(known)}
        near = get_close_matches(label.lower(), by_lower, 1)
        hint = f"did you mean {by_lower[near[0]]!r}?" if near else "see: aegir types list"
        raise UsageError(f"unknown label {label!r}; {hint}")


def kind_of_label(label: str | None, own_types: Mapping[str, str]) -> str | None:
    """Return the kind of a label, given those of the user's own types; None for None."""
    if label is None or label in own_types:
        return own_types[label] if label is not None else None
    return kind_of(label)


def now() -> str:
    """Return the time, as reviews write it."""
    return _written(datetime.now(UTC))


def _written(time: datetime) -> str:
    """Return a time in UTC, always as long, so that times sort as text."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _from_record(record: dict[str, Any]) -> Review:
    known = {"form", *(each.name for each in fields(Review))} - {"migrated"}
    earlier = record["form"] == WITHOUT_LEVELS
    if unknown := set(record) - (known - {"level"} if earlier else known):
        raise ValueError(f"unknown key {min(unknown)!r}")
    optional = {
        name: None if record[name] is None else _line(name, record[name])
        for name in ("label", "kind", "said", "source")
    }
    identity, at = _line("id", record["id"]), _line("at", record["at"])
    if not identity.isprintable():
        raise ValueError(f"the id {identity!r}; expected plain text")
    if _written(datetime.fromisoformat(at)) != at:
        raise ValueError(f"the time {at!r}; expected one like {now()}")
    if optional["kind"] not in {None, *KINDS} or (optional["label"] and not optional["kind"]):
        raise ValueError(f"the kind {optional['kind']!r}")
    if record["personal"] not in (None, True, False):
        raise ValueError(f"personal is {record['personal']!r}")
    if earlier:
        level = usual_level(optional["label"], optional["kind"]) if record["personal"] else None
    elif (level := record["level"]) not in (PERSONAL_LEVELS if record["personal"] else (None,)):
        raise ValueError(f"the level is {level!r} where personal is {record['personal']!r}")
    return Review(
        id=identity,
        at=at,
        by=_line("by", record["by"]),
        label=optional["label"],
        kind=optional["kind"],
        personal=record["personal"],
        level=level,
        said=optional["said"],
        table=_line("table", record["table"]),
        source=optional["source"],
        column=Fingerprint.from_dict(record["column"]),
        migrated=earlier and record["personal"] is not None,
    )


def _line(name: str, value: object) -> str:
    if not isinstance(value, str) or not value or len(value) > LONGEST_TEXT:
        raise ValueError(f"{name} is {str(value)[:40]!r}; expected up to {LONGEST_TEXT} characters")
    return value
