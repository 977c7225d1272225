"""Parquet files, rewritten by DuckDB: masked columns become text, shifted ones keep their type, the rest is copied.

DuckDB streams the file through Python functions, one per column, in the order of its rows. A struct or list is one value: it is
kept if everything that the answer says about it is kept. A kept number that equals the value of a direct column of its row becomes null.

Limits: metadata that programs left in the footer (pandas, an embedded answer) is not copied. The file is parsed in this process,
which has read a sample of it in a process with limits before.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from aegir.masking.plan import MASKED, ColumnPlan, MaskPlan
from aegir.masking.rows import RowMasker
from aegir.masking.text_streams import Progress
from aegir_rl.base.duckdb_engine import duckdb_errors, first_sentence, open_connection, quote_path
from aegir_rl.base.errors import UnreadableTable

ROWS_AT_ONCE = 10_000
TEXT, TEXTS = "VARCHAR", "VARCHAR[]"
NESTED = ("STRUCT", "MAP", "UNION")


def fit_plan(path: Path, plan: MaskPlan) -> MaskPlan:
    """The plan with one entry per column of the file: those of a struct's fields become one, masked if any of them is."""
    fitted = []
    for index, (name, kind) in enumerate(_columns(path)):
        parts = [each for each in plan.columns if each.name == name] or [
            each for each in plan.columns if (each.name or "").startswith(f"{name}.")
        ]
        masked = [each for each in parts if each.state == MASKED]
        chosen = (masked or parts or [_unknown(name)])[0]
        if masked and (len(parts) > 1 or kind.startswith(NESTED) or kind.endswith("]")):
            chosen = replace(chosen, action="redact")
        fitted.append(replace(chosen, index=index, name=name))
    subject = None if plan.shift_subject is None else plan.columns[plan.shift_subject].name
    at = [each.index for each in fitted if subject is not None and each.name == subject]
    return replace(plan, columns=tuple(fitted), shift_subject=at[0] if at else None)


def _unknown(name: str) -> ColumnPlan:
    return ColumnPlan(
        0, name, None, None, None, "redact", MASKED, "unsure: it was not among the columns read"
    )


def rewrite_parquet(path: Path, out: Path, masker: RowMasker, progress: Progress) -> list[str]:
    """Write the masked table to `out`; return notes."""
    types = [kind for _, kind in _columns(path)]
    connection = open_connection(":memory:")
    calls = _Calls(masker, path.stat().st_size, progress)
    try:
        masker.rows = calls.rows = _count(connection, path)
        wanted = [
            _expression(connection, plan, types[plan.index], calls) for plan in masker.plan.columns
        ]
        query = f"SELECT {', '.join(wanted)} FROM {_source(path)}"  # noqa: S608
        connection.execute(
            f"COPY ({query}) TO {quote_path(out)} (FORMAT parquet, USE_TMP_FILE false)"
        )
    except duckdb_errors() as error:
        if calls.interruption is not None:
            raise calls.interruption from None
        raise UnreadableTable(f"{path} cannot be masked ({first_sentence(error)})") from None
    finally:
        connection.close()
    changed = [
        str(plan.name)
        for plan in masker.plan.columns
        if plan.state == MASKED and plan.action != "shift" and types[plan.index] != TEXT
    ]
    return [f"now text, because masked: {', '.join(changed)}"] if changed else []


def read_masked(path: Path) -> Iterator[list[tuple[int, str]]]:
    """The rows of a Parquet file as text, each cell with its column."""
    cast = ", ".join(f"CAST({_quoted(name)} AS {TEXT})" for name, _ in _columns(path))
    connection = open_connection(":memory:")
    try:
        found = connection.execute(f"SELECT {cast} FROM {_source(path)}")  # noqa: S608
        while rows := found.fetchmany(ROWS_AT_ONCE):
            for row in rows:
                yield [(index, cell) for index, cell in enumerate(row) if cell is not None]
    finally:
        connection.close()


class _Calls:
    """What DuckDB calls for every cell."""

    def __init__(self, masker: RowMasker, size: int, progress: Progress) -> None:
        self.masker, self.rows = masker, 0
        self.interruption: BaseException | None = None
        """What ended the work from outside, such as Ctrl-C; DuckDB would make an error of its own of it."""
        self._size, self._progress, self._done = size, progress, 0

    def mask(
        self, index: int, cell: str | None, by: str | None, given_away: list[str | None]
    ) -> str | None:
        """The mask of a cell, beside the subject of its row and the values of direct columns."""
        masker = self.masker
        try:
            if index == 0:
                self._advance()
            if cell is None:
                masker.counts_of(index).missing += 1
                return None
            found = masker.found_by([each for each in given_away if each is not None])
            return masker.mask_cell(index, cell, masker.days_by(by), found)
        except (KeyboardInterrupt, SystemExit) as interruption:
            self.interruption = interruption
            raise

    def _advance(self) -> None:
        self._done += 1
        if self._done % ROWS_AT_ONCE == 0:
            self._progress(self._size * self._done // max(1, self.rows))


def _expression(connection: Any, plan: ColumnPlan, kind: str, calls: _Calls) -> str:
    """The SQL that gives the masked column; its function is registered with the connection."""
    column, name = _quoted(str(plan.name)), f"aegir_mask_{plan.index}"
    text = f"CAST({column} AS {TEXT})"
    masker = calls.masker
    columns = masker.plan.columns
    direct = [f"CAST({_quoted(str(columns[each].name))} AS {TEXT})" for each in masker.direct]
    subject = masker.plan.shift_subject
    by = "NULL" if subject is None else f"CAST({_quoted(str(columns[subject].name))} AS {TEXT})"

    def mask(cell: str | None, by: str | None, given_away: list[str | None]) -> str | None:
        return calls.mask(plan.index, cell, by, given_away)

    # Without side effects DuckDB would call it once for all equal values of a dictionary, and counts would be short.
    connection.create_function(
        name, mask, [TEXT, TEXT, TEXTS], TEXT, null_handling="special", side_effects=True
    )
    used = direct if plan.state != MASKED else []
    call = f"{name}({text}, {by}, CAST([{', '.join(used)}] AS {TEXTS}))"
    if plan.state == MASKED and plan.action == "shift" and kind != TEXT:
        call = f"TRY_CAST({call} AS {kind})"
    elif plan.state != MASKED and kind != TEXT:
        # What gives away another column cannot be marked in a column of numbers.
        call = f"CASE WHEN {call} IS NOT DISTINCT FROM {text} THEN {column} END"
    return f"{call} AS {column}"


def _columns(path: Path) -> list[tuple[str, str]]:
    connection = open_connection(":memory:")
    try:
        described = connection.execute(f"DESCRIBE FROM {_source(path)}").fetchall()
    except duckdb_errors() as error:
        raise UnreadableTable(f"{path} cannot be read ({first_sentence(error)})") from None
    finally:
        connection.close()
    return [(row[0], row[1]) for row in described]


def _count(connection: Any, path: Path) -> int:
    rows: int = connection.execute(f"SELECT count(*) FROM {_source(path)}").fetchone()[0]  # noqa: S608
    return rows


def _source(path: Path) -> str:
    return f"read_parquet({quote_path(path)}, hive_partitioning = false)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
