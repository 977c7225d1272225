"""Mask rows: every cell by the plan of its column, and kept cells that give away a masked one.

    masker = RowMasker(plan, policy, key)
    masker.mask_rows([["C-1", "Ada Lovelace", "ask Ada Lovelace"]])  ->  [["tok_…", "tok_…", "[redacted]"]]

Rows come some thousands at a time and are masked column by column, which is three times as fast as cell by cell.

Promises
  - a missing cell stays as it is; every other cell of a masked column is changed: what does not fit the column's kind (a date
    that cannot be read, an e-mail among postcodes) and what masking would leave equal is redacted;
  - a kept cell that holds an e-mail address, or the value of a direct column of the same row, is redacted;
  - counts say what happened in every column.

Limits: in other rows than its own a masked value is not looked for while masking; the check at the end (checking.py) lists
kept columns in which one stands.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aegir.masking.actions import REMEMBERED, Shifts, Tokens, generaliser
from aegir.masking.checking import Originals
from aegir.masking.dates import shift_date
from aegir.masking.plan import MASKED, ColumnPlan, MaskPlan
from aegir.masking.policy import MaskPolicy
from aegir.tables.datatype import MISSING

EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
ROWS_AT_ONCE = 4096
SHORTEST_FOUND = 5
"""Characters of a value that is looked for inside kept cells; of one that is all digits, `SHORTEST_NUMBER`."""
SHORTEST_NUMBER = 6
WHOLE_TABLE = ""
"""The subject of a shift of all rows."""
Masks = Callable[[str, int], str | None]
"""From a value and the days by which its row moves to its mask; None for a value that does not fit."""


@dataclass(slots=True)
class ColumnCounts:
    """What happened to the cells of a column."""

    changed: int = 0
    redacted: int = 0
    """Among the changed ones, those that were redacted because they did not fit, or gave away another column."""
    missing: int = 0
    left: int = 0


class MaskedColumn(dict[tuple[str, int], str]):
    """The masks of a column's values and shifts, made on first use; the last ones are remembered."""

    def __init__(self, plan: ColumnPlan, masks: Masks, mark: str, exact_columns: int) -> None:
        super().__init__()
        self.action, self.mark = plan.action, mark
        self.shifted = plan.action == "shift"
        self._masks = masks
        self._missing: set[str] = set()
        self.originals = Originals(exact_columns) if plan.action in EXACT else None
        self.counts = ColumnCounts()

    def __missing__(self, key: tuple[str, int]) -> str:
        if len(self) >= REMEMBERED:
            self.clear()
        masked = self[key] = self._make(*key)
        return masked

    def _make(self, cell: str, days: int) -> str:
        if is_missing(cell):
            self._missing.add(cell)
            return cell
        text = cell.strip()
        if self.originals is not None and text != self.mark:
            self.originals.add(text)
        masked = self._masks(cell, days)
        return self.mark if masked is None or masked == text else masked

    def mask(self, cells: Sequence[str], days: Sequence[int]) -> list[str]:
        """The masks of cells, counted."""
        masked = list(map(self.__getitem__, zip(cells, days, strict=True)))
        missing = sum(map(self._missing.__contains__, cells))
        self.counts.missing += missing
        self.counts.changed += len(cells) - missing
        if self.action != "redact":
            self.counts.redacted += masked.count(self.mark)
        return masked


EXACT = ("redact", "tokenise")
"""Actions after which no original value of a column may be left in it."""


class RowMasker:
    """Masks the rows of one table, and counts."""

    def __init__(self, plan: MaskPlan, policy: MaskPolicy, key: bytes) -> None:
        self.plan, self.policy = plan, policy
        self.mark = policy.redacted
        self.rows = 0
        self.odd_rows = 0
        """Rows whose number of cells is not the table's."""
        self.outside = 0
        """Values that belong to no column of the plan."""
        self._tokens, self._shifts = Tokens(key), Shifts(key, policy.shift.days)
        exact = sum(each.action in EXACT for each in plan.columns)
        self.masked = {
            each.index: MaskedColumn(each, self._masks_of(each), self.mark, exact)
            for each in plan.columns
            if each.state == MASKED
        }
        self.kept = {
            each.index: ColumnCounts() for each in plan.columns if each.index not in self.masked
        }
        self.direct = [each.index for each in plan.columns if each.index in self.masked and each.level == "direct"]  # fmt: skip

    def counts_of(self, index: int) -> ColumnCounts:
        """What happened to the cells of a column so far."""
        return self.kept[index] if index in self.kept else self.masked[index].counts

    @property
    def originals(self) -> dict[int, Originals]:
        """Values that must not be found in the result, by column."""
        return {
            index: column.originals
            for index, column in self.masked.items()
            if column.originals is not None
        }

    def _masks_of(self, column: ColumnPlan) -> Masks:
        if column.action == "tokenise":
            return lambda value, _days: self._tokens(value)
        if column.action == "shift":
            form = column.date_format
            assert form is not None, "a column without dates is redacted"
            return lambda value, days: shift_date(value, form, days)
        if column.action == "generalise":
            assert column.way is not None, "a column that cannot be generalised is redacted"
            change = generaliser(column.way, self.policy.generalise, column.sample)
            return lambda value, _days: change(value)
        return lambda _value, _days: self.mark

    def mask_rows(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        """The masked rows; each has one cell per column."""
        self.rows += len(rows)
        return self._mask(rows)

    def _mask(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        columns = list(zip(*rows, strict=True))
        masked = [list(row) for row in rows]
        unmoved = (0,) * len(rows)
        days = tuple(map(self.days_of, rows)) if self._shifts_any else unmoved
        for index, column in self.masked.items():
            cells = column.mask(columns[index], days if column.shifted else unmoved)
            for changed, cell in zip(masked, cells, strict=True):
                changed[index] = cell
        for index, counts in self.kept.items():
            missing = sum(map(is_missing, columns[index]))
            counts.missing += missing
            counts.left += len(rows) - missing
        for row, changed in zip(rows, masked, strict=True):
            self._redact_kept(row, changed)
        return masked

    @property
    def _shifts_any(self) -> bool:
        return any(column.shifted for column in self.masked.values())

    def _redact_kept(self, row: Sequence[str], masked: list[str]) -> None:
        """Redact the kept cells of a row that give away a masked one."""
        together = "\n".join([row[index] for index in self.kept])
        given_away = self.found_by([row[index] for index in self.direct])
        if not self.gives_away(together, given_away):
            return
        for index, counts in self.kept.items():
            if self.gives_away(row[index], given_away):
                counts.changed += 1
                counts.redacted += 1
                counts.left -= 1
                masked[index] = self.mark

    def mask_cell(self, index: int, cell: str, days: int, given_away: Sequence[str]) -> str:
        """The mask of one cell, for readers that have no rows."""
        if index in self.masked:
            column = self.masked[index]
            return column.mask([cell], [days if column.shifted else 0])[0]
        counts = self.kept[index]
        if is_missing(cell):
            counts.missing += 1
        elif self.gives_away(cell, given_away):
            counts.changed += 1
            counts.redacted += 1
            return self.mark
        else:
            counts.left += 1
        return cell

    def days_of(self, cells: Sequence[str]) -> int:
        """By how many days the dates of this row move; 0, which redacts them, if it has no subject."""
        subject = self.plan.shift_subject
        return self.days_by(None if subject is None else cells[subject])

    def days_by(self, subject: str | None) -> int:
        """The same for a subject's value; None where the whole table moves alike or, with a subject column, it is missing."""
        if self.plan.shift_subject is None:
            return self._shifts.days_for(WHOLE_TABLE)
        return 0 if subject is None or is_missing(subject) else self._shifts.days_for(subject)

    @staticmethod
    def found_by(values: Sequence[str]) -> list[str]:
        """What must not stand in kept cells of the row of these values of direct columns."""
        texts = [value.strip().lower() for value in values]
        return [
            text
            for text in texts
            if len(text) >= SHORTEST_FOUND and (len(text) >= SHORTEST_NUMBER or not text.isdigit())
        ]

    @staticmethod
    def gives_away(cell: str, given_away: Sequence[str]) -> bool:
        """Whether a kept cell holds an e-mail address or the value of a direct column of its row."""
        if "@" in cell and EMAIL.search(cell):
            return True
        if len(cell) < SHORTEST_FOUND or not given_away:
            return False
        lowered = cell.lower()
        return any(value in lowered for value in given_away)

    def mask_outside(self, cell: str) -> str:
        """A value that belongs to no column of the plan: redacted, or left and counted if unsure columns are listed."""
        if is_missing(cell):
            return cell
        self.outside += 1
        return self.mark if self.policy.masks_unsure else cell

    def mask_odd_row(self, cells: Sequence[str]) -> list[str]:
        """A row of another width, whose cells may stand in wrong columns: redacted, or masked by position if unsure columns are listed."""
        self.rows += 1
        self.odd_rows += 1
        width = len(self.plan.columns)
        if self.policy.masks_unsure:
            return [cell if is_missing(cell) else self.mark for cell in cells]
        (inside,) = self._mask([[*cells[:width], *[""] * (width - len(cells))]])
        return [*inside[: len(cells)], *map(self.mask_outside, cells[width:])]


LONGEST_MISSING = max(map(len, MISSING))


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or a word for it, such as n/a."""
    if len(cell) > LONGEST_MISSING and not (cell[0].isspace() or cell[-1].isspace()):
        return False
    return cell.strip().lower() in MISSING
