"""Rows of a table that are no data: the header repeated among them, and totals at the end.

    id,name,price
    1,Tea,3.50
    id,name,price      <- left out
    Total,,3.50        <- left out

A row counts as totals if its first cell is a word for them that the rows above do not use, and a number stands behind it.
"""

import re
from collections.abc import Sequence

from aegir.tables.datatype import cell_datatype, is_typed
from aegir.tables.layout import Layout
from aegir_rl.base.text import amount

TOTALS = re.compile(
    r"(?:grand |sub|sub-)?totals?(?: general| général| geral| generale)?|sums?|(?:gesamt)?summe|gesamt|totale|totaal|somma"
    r"|soma|suma|razem|celkem|összesen|yhteensä|toplam|ukupno|итого|всего|разом|合計|总计|合计|總計|합계|المجموع",
    re.IGNORECASE,
)
TOTALS_LEFT_OUT = "left out: the totals in the last row"
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
    if len(body) > LEAST_ROWS and is_totals_row(body[-1], body[:-1]):
        body = body[:-1]
        notes.append(TOTALS_LEFT_OUT)
    return body, notes


def is_totals_row(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the last row sums up others: a word for totals, not used above, and a number behind it."""
    index = next((index for index, cell in enumerate(row) if cell.strip()), None)
    if index is None or len(body) < LEAST_ROWS:
        return False
    word = row[index].strip().rstrip(":").rstrip()
    if not TOTALS.fullmatch(word):
        return False
    used = any(
        len(other) > index and other[index].strip() == row[index].strip() for other in body[:-1]
    )
    return not used and any(
        is_typed(cell_datatype(cell.strip())) for cell in row[index + 1 :] if cell
    )
