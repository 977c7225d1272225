"""Reviewed columns as examples for `aegir types learn`: those that are of a type, and those that were taken for it.

A review holds no values, so the columns are read again from the files they came from; files that are gone are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.memory.recall import ReviewMemory
from aegir.memory.review import Review


@dataclass(frozen=True, slots=True)
class ReviewedExamples:
    """Places of columns, as `--examples` and `--not` take them, and files that are gone."""

    examples: tuple[str, ...]
    against: tuple[str, ...]
    gone: tuple[str, ...]


def reviewed_examples(memory: ReviewMemory, name: str) -> ReviewedExamples:
    """Return the columns that were reviewed as this type, and those that were answered with it wrongly."""
    examples = [review for review in memory.current if review.label == name]
    against = [review for review in memory.current if review.said == name != review.label]
    gone = {
        review.source or review.table for review in (*examples, *against) if not _is_there(review)
    }
    return ReviewedExamples(_places(examples), _places(against), tuple(sorted(gone)))


def _places(reviews: Sequence[Review]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_place(review) for review in reviews if _is_there(review)))


def _is_there(review: Review) -> bool:
    return review.source is not None and Path(review.source).is_file()


def _place(review: Review) -> str:
    """Return file, table of the file if it has several, and header or number from 1 on."""
    file, hash_sign, title = review.table.rpartition("#")
    table = f"#{title}" if hash_sign and file else ""
    return f"{review.source}{table}:{review.column.name or review.column.index + 1}"
