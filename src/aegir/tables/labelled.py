"""Tables with gold labels for training and `aegir eval`: one JSON object per line, in one of two forms.

    {"id": "…", "columns": [{"name": header or null, "values": [strings], "cta": label, "cpa": label}, …]}
    {"id": "…", "group": "…", "domain": …, "language": …, "row": "…", "row_class": …, "person": …, "columns":
        [{"name", "values", "types": [labels], "none_too": bool, "fine": [labels], "relation": [labels], "meaning": "…",
          "personal": bool, "personal_level": …, "special": bool}, …]}

In the first form (web tables) a label is a string, a list of accepted strings, or null if the column is not labelled;
where it is null, `read` and `read_relation` may say what a reader took the column for, `read_confidence` how surely.
In the second, the open form, a list holds what is acceptable, best first, and an empty one says that none of the
vocabulary is right. Both become `ColumnLabels`. A table may have a `subject`: the number of its subject column, or a list of
all that are acceptable, best first; an empty one says that it has none.
docs/labelled-tables.md describes the format.

Not here: whether a name is in the vocabulary (answers/gold_labels.py), since users label with types of their own.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError, reason_of

Task = Literal["cta", "cpa"]
Accepted = tuple[str, ...]
"""Acceptable names, best first."""
_OPEN_KEYS = ("types", "fine", "relation", "personal")
_TABLE_KEYS = (
    *("id", "columns", "subject", "group", "domain", "language"),
    *("row", "row_class", "person"),
)
NO_NAME = "none"
"""What a reader says of a column that no name fits."""


@dataclass(frozen=True, slots=True)
class ColumnLabels:
    """What a column is; None where nobody said, and an empty tuple where no name of the vocabulary is right."""

    types: Accepted | None = None
    relations: Accepted | None = None
    fine: Accepted | None = None
    personal: bool | None = None
    personal_level: str | None = None
    """How near to a person; None for a column that is not personal, or whose level nobody gave."""
    special: bool | None = None
    """Whether the column holds data of a special category."""
    none_too: bool = False
    """Whether none of the types is acceptable beside those in `types`."""
    meaning: str | None = None
    """What the column means, in a reader's own words."""
    trust: float = 1.0
    """How far types that a reader gave are to be trusted, from 0 to 1; those of the benchmark fully."""
    types_read: bool = False
    """Whether a reader gave the types of a column of a web table."""

    @classmethod
    def of(cls, type_name: str | None = None, relation: str | None = None) -> "ColumnLabels":
        """Return labels of one type and one relation, either None if unknown."""
        return cls(
            None if type_name is None else (type_name,), None if relation is None else (relation,)
        )

    @property
    def type(self) -> str | None:
        """The best type; None if the column has none or is not labelled."""
        return self.types[0] if self.types else None

    @property
    def relation(self) -> str | None:
        """The best relation; None if the column has none or is not labelled."""
        return self.relations[0] if self.relations else None

    @property
    def in_open_form(self) -> bool:
        """Whether these labels say what the form of web tables cannot say."""
        return (
            self.fine is not None
            or self.personal is not None
            or self.special is not None
            or (self.types == () and not self.types_read)
        )

    @property
    def right_types(self) -> tuple[str | None, ...] | None:
        """Every answer about the type that is right, best first, with None for "none of the types"; None if nobody said."""
        if self.types is None or (self.types and not self.none_too):
            return self.types
        return (*self.types, None)

    def accepts_type(self, name: str | None) -> bool | None:
        """Whether a type, or with None that there is none, is right; None if types are not labelled."""
        right = self.right_types
        return None if right is None else name in right

    @property
    def level_known(self) -> bool:
        """Whether it is labelled how near to a person the column is, or that it is not personal."""
        return self.personal is False or self.personal_level is not None

    def accepted(self, task: Task) -> Accepted:
        """The names that are right for one task; empty if there are none or the column is not labelled."""
        return (self.types if task == "cta" else self.relations) or ()


UNLABELLED = ColumnLabels()


@dataclass(frozen=True, slots=True)
class LabelledTable:
    """A table and what is known about each of its columns."""

    table: Table
    labels: tuple[ColumnLabels, ...]
    """One per column."""
    origin: Mapping[str, object]
    """The other keys of the line, such as `source`."""
    group: str | None = None
    """What must stay on one side of a split, such as a repository; None if the file does not say."""
    domain: str | None = None
    language: str | None = None
    row: str | None = None
    """What one row is, in a few words."""
    row_class: str | None = None
    """The class of that; None if nobody said."""
    person: str | None = None
    """Whether the rows are persons (self), belong to one each (linked) or neither (none)."""
    subjects: tuple[int, ...] | None = None
    """The columns that are acceptable as the subject, best first; None if nobody said, empty if there is none."""
    unknown_names: Accepted = ()
    """Labels of the file that are not in the vocabulary and were taken out of `labels`."""

    @property
    def in_open_form(self) -> bool:
        """Whether the table or any column has labels of the open form."""
        return self.has_row_labels or any(labels.in_open_form for labels in self.labels)

    @property
    def has_row_labels(self) -> bool:
        """Whether it is labelled what a row is, or whether it is a person or belongs to one."""
        return self.row_class is not None or self.person is not None

    @property
    def types(self) -> tuple[str | None, ...]:
        """The best type of each column; None where it has none or is not labelled."""
        return tuple(labels.type for labels in self.labels)

    @property
    def relations(self) -> tuple[str | None, ...]:
        """The best relation of each column; None where it has none or is not labelled."""
        return tuple(labels.relation for labels in self.labels)

    def with_subject(self, subject: int) -> "LabelledTable":
        """Return the same table with this subject column."""
        return replace(self, table=replace(self.table, subject=subject), subjects=(subject,))


def read_labelled_tables(path: Path) -> Iterator[LabelledTable]:
    """Yield the tables of a .jsonl or .jsonl.gz file; `UsageError` names the line of a malformed one."""
    number = 0
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8") as lines
        ):
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _parse(line, f"{path}:{number}")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}:{number + 1} is not UTF-8 text ({error.reason})") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read labelled tables from {path}: {reason}") from None
    if number == 0:
        raise UsageError(f"{path} is empty; expected one table as a JSON object per line")


def _parse(line: str, where: str) -> LabelledTable:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{where} is not JSON ({reason_of(error)}); expected one table per line"
        ) from None
    columns = record.get("columns") if isinstance(record, dict) else None
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        raise UsageError(f'{where} has no list of columns; expected {{"id", "columns": […]}}')
    if "annotator" in record and not any("values" in column for column in columns):
        raise UsageError(
            f"{where} is an answer of `aegir annotate`, which has no values; expected a labelled "
            "table: columns with values and their right names"
        )
    subjects = _subjects(record, len(columns), where)
    parsed = tuple(_column(column, f"{where}, column {i}") for i, column in enumerate(columns))
    rows = max((len(column.values) for column in parsed), default=0)
    filled = tuple(
        Column(column.name, column.values + ("",) * (rows - len(column.values)))
        for column in parsed
    )
    return LabelledTable(
        Table(str(record.get("id", where)), filled, subject=subjects[0] if subjects else None),
        tuple(_labels(column, f"{where}, column {i}") for i, column in enumerate(columns)),
        {key: value for key, value in record.items() if key not in _TABLE_KEYS},
        group=_text_or_none(record, "group", where),
        domain=_text_or_none(record, "domain", where),
        language=_text_or_none(record, "language", where),
        row=_text_or_none(record, "row", where),
        row_class=_text_or_none(record, "row_class", where),
        person=_text_or_none(record, "person", where),
        subjects=subjects,
    )


def _subjects(record: Mapping[str, Any], columns: int, where: str) -> tuple[int, ...] | None:
    """Return the acceptable subject columns; None where the line does not say."""
    subject = record.get("subject")
    if subject is None:
        return None
    numbers = subject if isinstance(subject, list) else [subject]
    if not all(type(number) is int and 0 <= number < columns for number in numbers):
        raise UsageError(
            f"{where}: subject is {subject!r}; expected a column number, a list of them or null"
        )
    return tuple(numbers)


def _column(column: dict[str, object], where: str) -> Column:
    values, name = column.get("values"), column.get("name")
    if not isinstance(values, list):
        raise UsageError(f"{where} has no list of values")
    if name is not None and not isinstance(name, str):
        raise UsageError(f"{where}: name is {name!r}; expected text or null")
    return Column(name, tuple("" if value is None else str(value) for value in values))


def _labels(column: Mapping[str, Any], where: str) -> ColumnLabels:
    types, fine, relations = (_accepted(column, key, where) for key in _OPEN_KEYS[:3])
    personal, special = (_flag_or_none(column, key, where) for key in ("personal", "special"))
    web_types, web_relations = (_accepted(column, key, where) for key in ("cta", "cpa"))
    if not (web_types or web_relations or "read" in column or "read_relation" in column):
        level = _text_or_none(column, "personal_level", where)
        if level is not None and personal is False:
            raise UsageError(
                f"{where}: personal_level is {level!r} but personal is false; expected null or true"
            )
        return ColumnLabels(
            types,
            relations,
            fine,
            personal if level is None else True,
            personal_level=level,
            special=special,
            none_too=bool(_flag_or_none(column, "none_too", where)),
            meaning=_text_or_none(column, "meaning", where),
        )
    if any(column.get(key) is not None for key in _OPEN_KEYS):
        raise UsageError(
            f"{where} has labels of both forms; expected cta and cpa, or {', '.join(_OPEN_KEYS)}"
        )
    return _web_labels(column, web_types, web_relations, where)


def _web_labels(
    column: Mapping[str, Any], types: Accepted | None, relations: Accepted | None, where: str
) -> ColumnLabels:
    """Return the labels of the benchmark, and in their place those of a reader where there are none."""
    trust: Any = 1.0
    types_read = False
    if not types and (read := _accepted(column, "read", where)):
        types_read = True
        types, stated = (() if read == (NO_NAME,) else read), column.get("read_confidence")
        trust = 1.0 if stated is None else stated
        if isinstance(trust, bool) or not isinstance(trust, int | float) or not 0 <= trust <= 1:
            raise UsageError(f"{where}: read_confidence is {trust!r}; expected a share from 0 to 1")
    elif not types:
        types = None
    if not relations:
        read = _accepted(column, "read_relation", where)
        relations = read if read or "read_relation" not in column else ()
    return ColumnLabels(types, relations, trust=float(trust), types_read=types_read)


def _accepted(column: Mapping[str, Any], key: str, where: str) -> Accepted | None:
    value = column.get(key)
    if value is None:
        return None
    accepted = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str) for name in accepted):
        raise UsageError(f"{where}: {key} is {value!r}; expected text, a list of texts or null")
    return tuple(accepted)


def _text_or_none(record: Mapping[str, Any], key: str, where: str) -> str | None:
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{where}: {key} is {value!r}; expected text or null")
    return value


def _flag_or_none(record: Mapping[str, Any], key: str, where: str) -> bool | None:
    value = record.get(key)
    if value is not None and not isinstance(value, bool):
        raise UsageError(f"{where}: {key} is {value!r}; expected true, false or null")
    return value
