"""One table as an agent sees it: verdicts about all columns, and values only of those that the mask policy keeps.

    answered ──▶ plan (masking/plan.py) ──▶ MaskedTable.verdicts()    what the columns are
                                            MaskedTable.explain()     reasons and statistics
                                            MaskedTable.sample(10)    rows, masked as `aegir mask` does

Promises
  - no value of a column that the policy masks is in a row, in a reason, among the statistics or in a column's name;
  - a value of a masked direct column is redacted where it is a kept cell of any sampled row, or stands inside one of its own row; so is
    every e-mail address.

Limit: only the sampled rows are known here. Prose that the policy keeps may name persons that the columns of its row do not.
"""

from collections.abc import Mapping
from typing import Any

from aegir.answers.annotation import (
    ColumnAnnotation,
    TableAnnotation,
    annotation_as_dict,
    profile_of,
)
from aegir.answers.statistics import statistics_as_dict
from aegir.masking.plan import MASKED, plan_masking
from aegir.masking.policy import MaskPolicy
from aegir.masking.rows import EMAIL, RowMasker
from aegir.pipeline.run import Answered
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError

LONGEST_CELL = 200
"""Characters of a cell that are shown, counted after masking."""
EXAMPLE = ", such as "
"""Where a reason goes on with a value."""


class MaskedTable:
    """The answer to a table, with a mask for its rows."""

    def __init__(self, answered: Answered, policy: MaskPolicy, key: bytes) -> None:
        assert isinstance(answered.answer, TableAnnotation), "failures have no table"
        assert answered.table is not None, "an answer has a table"
        self.answer: TableAnnotation = answered.answer
        self.table: Table = answered.table
        self.plan = plan_masking(self.table, self.answer, answered.personal, policy)
        self._masker = RowMasker(self.plan, policy, key)
        self._direct = set(
            RowMasker.found_by(
                [value for index in self._masker.direct for value in self._cells(index)]
            )
        )
        self.names = tuple(
            f"#{column.index + 1}" if column.name and self._gives_away(column.name) else column.name
            for column in self.answer.columns
        )

    def verdicts(self) -> dict[str, object]:
        """What the table and its columns are, without any value."""
        answer = self.answer
        row, key = answer.row, answer.primary_key
        return {
            **self._head(),
            "rows": self.table.total_rows,
            "row": None if row is None else {"class": row.name, "noun": row.noun},
            "subject": None if answer.subject is None else self.names[answer.subject],
            "primary_key": None if key is None else [self.names[each] for each in key.columns],
            "foreign_keys": [
                {
                    "columns": [self.names[each] for each in foreign.columns],
                    "table": foreign.table,
                    "references": list(foreign.names),
                }
                for foreign in answer.foreign_keys
            ],
            "columns": [self._verdict(column) for column in answer.columns],
            "warnings": list(answer.warnings),
        }

    def explain(self, column: str | None = None) -> dict[str, object]:
        """All that `aegir annotate --json` says of the columns, or of one; of masked ones without values."""
        data: dict[str, Any] = annotation_as_dict(self.answer)
        chosen = range(len(self.names)) if column is None else [self.index_of(column)]
        data["columns"] = [self._explained(index, data["columns"][index]) for index in chosen]
        return data

    def sample(self, rows: int) -> dict[str, object]:
        """Rows spread over those that were sampled, masked by the policy; a missing cell is null."""
        columns = [self.table.columns[index].values for index in range(len(self.names))]
        total = len(columns[0]) if columns else 0
        shown = min(rows, total)
        chosen = [
            [values[number * total // shown] for values in columns] for number in range(shown)
        ]
        masked = self._masker.mask_rows(chosen) if chosen else []
        return {
            **self._head(),
            "columns": list(self.names),
            "rows": [[self._shown(*cell) for cell in enumerate(row)] for row in masked],
            "masked": {
                self._name(each.index): f"{each.action} ({each.why})"
                for each in self.plan.columns
                if each.state == MASKED
            },
            "notes": list(self.plan.notes),
        }

    def index_of(self, column: str) -> int:
        """The index of a column by its name, or its number from 1 as `#3`."""
        for index in range(len(self.names)):
            if column in (self.names[index], f"#{index + 1}"):
                return index
        known = ", ".join(self._name(index) for index in range(min(30, len(self.names))))
        raise UsageError(f"{self.answer.table} has no column {column!r}; it has {known}")

    def _head(self) -> dict[str, object]:
        return {"table": self.answer.table, "file": self.answer.source}

    def _name(self, index: int) -> str:
        return self.names[index] or f"#{index + 1}"

    def _cells(self, index: int) -> tuple[str, ...]:
        return self.table.columns[index].present

    def _is_masked(self, index: int) -> bool:
        return self.plan.columns[index].state == MASKED

    def _verdict(self, column: ColumnAnnotation) -> dict[str, object]:
        plan = self.plan.columns[column.index]
        return {
            "name": self.names[column.index],
            "label": column.label,
            "confidence": round(column.confidence, 2),
            "kind": column.kind,
            "type": column.type,
            "datatype": column.datatype,
            "relation": column.relation.label if column.relation else None,
            "personal": column.personal_level if column.personal else None,
            "special_category": column.special_category,
            "masked": plan.action if plan.state == MASKED else None,
        }

    def _explained(self, index: int, data: dict[str, Any]) -> dict[str, Any]:
        """The dictionary of a column as it may be shown."""
        plan, column = self.plan.columns[index], self.answer.columns[index]
        masked = self._is_masked(index)
        statistics: dict[str, Any] = {}
        if profile := profile_of(self.answer, column):
            hidden = masked or column.personal
            statistics = dict(statistics_as_dict(profile, personal=hidden))
            statistics = statistics if hidden else self._without_given_away(statistics)
        reasons = [
            reason.partition(EXAMPLE)[0] if masked or self._holds_value(reason) else reason
            for reason in column.reasons
        ]
        own = RowMasker.found_by(self._cells(index)) if masked else []
        kept = [
            reason
            for reason in reasons
            if not EMAIL.search(reason) and not any(each in reason.lower() for each in own)
        ]
        shown = {**data, "name": self.names[index], "reasons": kept}
        if statistics:
            shown["statistics"] = statistics
        return {**shown, "mask": {"action": plan.action, "state": plan.state, "why": plan.why}}

    def _holds_value(self, reason: str) -> bool:
        return self._gives_away(reason.partition(EXAMPLE)[2].strip("'\""))

    def _without_given_away(self, statistics: Mapping[str, Any]) -> dict[str, Any]:
        common = [each for each in statistics["most_common"] if not self._gives_away(each["value"])]
        ends = {
            end: None if self._gives_away(str(statistics[end])) else statistics[end]
            for end in ("min", "max")
        }
        return {**statistics, **ends, "most_common": common}

    def _gives_away(self, text: str) -> bool:
        """Whether a text is a value of a masked direct column, or holds an e-mail address."""
        return text.strip().lower() in self._direct or EMAIL.search(text) is not None

    def _shown(self, index: int, cell: str) -> str | None:
        if not cell:
            return None
        if not self._is_masked(index) and self._gives_away(cell):
            return self._masker.mark
        return cell if len(cell) <= LONGEST_CELL else f"{cell[: LONGEST_CELL - 1]}…"
