"""What to ask a reviewer: which columns, and in which order.

Unsure columns come first, then those that similar columns were reviewed differently from, then personal ones; of each the least
sure first. What was reviewed, is empty, or is sure and not personal is included only with `everything`.
"""

from collections.abc import Iterable

from aegir.answers.annotation import ColumnAnnotation
from aegir.answers.wording import SURE


def columns_to_review(
    columns: Iterable[ColumnAnnotation], *, everything: bool = False
) -> list[ColumnAnnotation]:
    """Return the columns to ask about, the most doubtful first."""
    chosen = [column for column in columns if everything or _is_doubtful(column)]
    return sorted(chosen, key=_doubt)


def _is_doubtful(column: ColumnAnnotation) -> bool:
    if column.reviewed is not None or column.datatype == "empty":
        return False
    return _is_unsure(column) or column.personal or bool(column.offers)


def _is_unsure(column: ColumnAnnotation) -> bool:
    return column.label is None or column.confidence < SURE


def _doubt(column: ColumnAnnotation) -> tuple[bool, bool, bool, bool, float]:
    reviewed = column.reviewed is not None
    unsure = _is_unsure(column)
    return reviewed, not unsure, not column.offers, not column.personal, column.confidence
