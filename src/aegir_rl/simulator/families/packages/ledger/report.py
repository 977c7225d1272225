"""Add up clean rows."""

from typing import Any


def is_complete(row: dict[str, Any]) -> bool:
    """Whether a row has a day and an amount."""
    return row["day"] is not None and row["amount"] is not None


def add_up(rows: list[dict[str, Any]], first: str = "", last: str = "9999") -> dict[str, float]:
    """Totals by category, rounded to cents, of complete rows from the first to the last day, both included."""
    totals: dict[str, float] = {}
    for row in rows:
        if is_complete(row) and first <= row["day"] <= last:
            totals[row["category"]] = totals.get(row["category"], 0.0) + row["amount"]
    return {name: round(totals[name], 2) for name in sorted(totals)}
