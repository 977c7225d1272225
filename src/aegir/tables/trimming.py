"""Rows of a table that are no data: the header repeated among them, comments, and totals at the end.

    id,name,price
    1,Tea,3.50
    id,name,price      <- left out
    # checked in May   <- left out
    Total,,3.50        <- left out
    Average,,3.50      <- left out

A row counts as totals if its first cell is a word for them that the rows above do not use, and a number stands behind it; or
if its first cell alone is blank in the column and a number is the sum of those above it. A comment has nothing behind its first cell, and no
full row begins as it does.
"""

import math
import re
from collections.abc import Sequence

from aegir.tables.datatype import cell_datatype, is_typed
from aegir.tables.layout import Layout
from aegir_rl.base.text import amount

TOTALS = re.compile(
    r"(?:grand |sub|sub-)?totals?(?: general| général| geral| generale)?|sums?|average|avg\.?|mean|median|durchschnitt|moyenne|promedio|media|(?:gesamt)?summe|gesamt|totale|totaal|somma"
    r"|soma|suma|razem|celkem|összesen|yhteensä|toplam|ukupno|итого|всего|разом|合計|总计|合计|總計|합계|المجموع",
    re.IGNORECASE,
)
MOST_TOTALS = 4
MARKS = ("#", "//")
LEAST_ROWS = 3
"""A table with fewer rows has no totals."""


def trim_body(
    body: Sequence[Sequence[str]], layout: Layout
) -> tuple[Sequence[Sequence[str]], list[str]]:
    """Return the body without rows that repeat the header and totals at its end, and what was left out."""
    notes = []
    names = [(name or "").strip() for name in layout.header]
    if len(names) > 1 and any(names):
        first = names[0]
        kept = [
            row
            for row in body
            if row[0].strip() != first or [cell.strip() for cell in row[: len(names)]] != names
        ]
        if len(kept) < len(body):
            count = len(body) - len(kept)
            verb = "repeats" if count == 1 else "repeat"
            notes.append(f"left out: {amount(count, 'row')} that {verb} the header")
            body = kept
    if len(names) > 1 and (comments := _count_comments(body)):
        notes.append(f"left out: {amount(comments, 'comment')} among the data")
        body = [row for row in body if not row[0].lstrip().startswith(MARKS)]
    if count := count_totals(body[-MOST_TOTALS:], body):
        body = body[:-count]
        notes.append(describe_totals(count))
    return body, notes


def describe_totals(count: int) -> str:
    """The warning about totals that were left out."""
    return f"left out: the totals in the last {'row' if count == 1 else f'{count} rows'}"


def count_totals(last: Sequence[Sequence[str]], body: Sequence[Sequence[str]]) -> int:
    """How many of the last rows sum up others; `body` is what is known of the rows, with or without the last ones."""
    own = [row for row in body if not any(row is each or row == each for each in last)]
    rows = list(last)
    count = 0
    while rows and _is_totals_row(rows.pop(), [*own, *rows]):
        count += 1
    return count


def _count_comments(body: Sequence[Sequence[str]]) -> int:
    """How many rows are comments; 0 if other rows begin as they do, or most are."""
    marked = [row for row in body if row[0].lstrip().startswith(MARKS)]
    comments = [row for row in marked if not any(map(str.strip, row[1:]))]
    plain = len(comments) == len(marked) and len(comments) * 2 <= len(body)
    return len(comments) if plain else 0


def _is_totals_row(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a row sums up those above it."""
    index = next((index for index, cell in enumerate(row) if cell.strip()), None)
    if index is None or len(body) < LEAST_ROWS:
        return False
    word = row[index].strip().rstrip(":").rstrip()
    if not TOTALS.fullmatch(word):
        return index > 0 and all(other[0].strip() for other in body) and _has_sum(row, body)
    used = any(len(other) > index and other[index].strip() == row[index].strip() for other in body)
    return not used and any(
        is_typed(cell_datatype(cell.strip())) for cell in row[index + 1 :] if cell
    )


def _has_sum(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a number of the row is the sum of at least two other numbers above it."""
    for index, cell in enumerate(row):
        if not cell.strip():
            continue
        try:
            numbers = [
                float(other[index]) for other in body if len(other) > index and other[index].strip()
            ]
            total = float(cell)
        except ValueError:
            continue
        if sum(map(bool, numbers)) >= 2 and math.isclose(sum(numbers), total, abs_tol=1e-9):
            return True
    return False
