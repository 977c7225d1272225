"""Recall: which review is about a column, and which ones are about columns like it.

    memory.apply(table, annotation)      the annotation with reviewed answers, and offers for the rest

The same column, so that the review counts without asking: the same header, most of the same headers beside it, and
similar content. It may have grown, moved, or be in another file. A column without a header must stand at
the same index. Of several reviews the last one counts.

A similar column: very similar content under another header or in another table, or the same header and similar content.
Its review is offered with a reason, and changes nothing.

Measured on made-up columns: benchmarks/review_memory.py, docs/review.md.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.reviewing import Offer
from aegir.memory.applying import apply_review
from aegir.memory.conventions import Conventions
from aegir.memory.review import Review
from aegir.tables.fingerprint import (
    Fingerprint,
    compute_context,
    compute_overlap,
    compute_similarity,
    fingerprint_table,
    unit_textures,
)
from aegir.tables.table import Table
from aegir_rl.base.text import amount

SAME_CONTENT = 0.7
"""Similarity of the content from which a column of the same name in the same table is the same."""
SAME_CONTENT_ALONE = 0.8
"""The same where no other header confirms the table."""
SAME_TABLE = 0.5
"""Share of common headers from which two tables are versions of one."""
SIMILAR_CONTENT, SIMILAR_WITH_NAME = 0.85, 0.7
"""Similarity of the content from which a review is offered: under another header, and under the same."""
FEWEST_CELLS = 3
"""Fewer cells say nothing about similar columns."""
MOST_OFFERS = 3
MOSTLY = 0.5
"""From this share on, common values are a reason."""
LEAST_AFFINITY = 0.7
"""Columns whose groups of characters are less alike are not compared further."""
MOST_COMPARED = 12
NAME_WEIGHT = 0.25
"""How much the header counts in the similarity of an offer."""


@dataclass(frozen=True, slots=True)
class Match:
    """A remembered column that is like the one looked for."""

    review: Review
    similarity: float
    reason: str


class ReviewMemory:
    """The reviews at one moment, ready to be looked up."""

    def __init__(self, reviews: Sequence[Review], conventions: Conventions | None = None) -> None:
        self.conventions = conventions
        """What the reviews have in common, as `aegir rl update` learnt it; applied to columns without a review."""
        self.reviews = tuple(sorted(reviews, key=lambda review: review.order))
        self.current = self._last_of_each()
        """The reviews that count: no later one of the same column replaces them."""
        self._by_spelling: dict[str | None, list[Review]] = defaultdict(list)
        for review in self.current:
            self._by_spelling[review.column.spelling].append(review)
        self._textures = unit_textures([review.column for review in self.current])

    def __len__(self) -> int:
        return len(self.reviews)

    @property
    def note(self) -> str | None:
        """What is to be said once about these reviews; None if there is nothing."""
        migrated = sum(review.migrated for review in self.reviews)
        if not migrated:
            return None
        return (
            f"{amount(migrated, 'review')} of an earlier version that say whether a column is personal, "
            "but not how near to a person, are taken with the levels of their labels; "
            "`aegir review export` writes them in the form of today"
        )

    def apply(self, table: Table, annotation: TableAnnotation) -> TableAnnotation:
        """Return the annotation of a table with what was reviewed, and with offers for what was not."""
        prints = fingerprint_table(table)
        repeated = {
            spelling
            for spelling, count in Counter(each.spelling for each in prints).items()
            if count > 1
        }
        return replace(
            annotation,
            columns=tuple(
                self._apply_column(column, prints[column.index], repeated)
                for column in annotation.columns
            ),
        )

    def find(self, column: Fingerprint, *, repeated: bool = False) -> Review | None:
        """Return the last review of this column; `repeated` says that others of its table have the same header."""
        for review in reversed(self._by_spelling.get(column.spelling, ())):
            in_place = review.column.index == column.index
            if (in_place or not repeated) and is_same(review.column, column):
                return review
        return None

    def find_similar(self, column: Fingerprint) -> list[Match]:
        """Return the reviews of other columns like this one, the most similar first, one per label."""
        matches: dict[str | None, Match] = {}
        for review in self._candidates(column):
            match = _compare(review, column)
            best = matches.get(review.label)
            if match and (best is None or match.similarity >= best.similarity):
                matches[review.label] = match
        ranked = sorted(matches.values(), key=lambda match: -match.similarity)
        return ranked[:MOST_OFFERS]

    def _candidates(self, column: Fingerprint) -> list[Review]:
        """Return the reviews under the same header, and those of columns with the most similar texts."""
        named = [
            review
            for review in self._by_spelling.get(column.spelling, ())[-MOST_COMPARED:]
            if column.name is not None
        ]
        affinity = self._textures @ unit_textures([column])[0]
        likely = np.argsort(-affinity, kind="stable")[:MOST_COMPARED]
        return named + [self.current[i] for i in likely.tolist() if affinity[i] >= LEAST_AFFINITY]

    def _apply_column(
        self, column: ColumnAnnotation, fingerprint: Fingerprint, repeated: set[str | None]
    ) -> ColumnAnnotation:
        review = self.find(fingerprint, repeated=fingerprint.spelling in repeated)
        if review is not None:
            return apply_review(column, review)
        offers = tuple(
            Offer(
                match.review.label, match.similarity, match.reason, match.review.by, match.review.at
            )
            for match in self.find_similar(fingerprint)
            if match.review.label != column.label
        )
        if self.conventions is not None:
            column = self.conventions.apply(column, fingerprint)
        return replace(column, offers=offers)

    def _last_of_each(self) -> list[Review]:
        """Return the last review of each column of each file, in order."""
        last = {
            (review.source, review.table, review.column.spelling, review.column.index): review
            for review in self.reviews
        }
        return sorted(last.values(), key=lambda review: review.order)


def is_same(remembered: Fingerprint, column: Fingerprint) -> bool:
    """Return whether a column is the remembered one, perhaps with other rows."""
    if remembered.spelling != column.spelling:
        return False
    if remembered.name is None and remembered.index != column.index:
        return False
    if compute_context(remembered, column) < SAME_TABLE:
        return False
    confirmed = bool(remembered.others and column.others) and column.name is not None
    needed = SAME_CONTENT if confirmed else SAME_CONTENT_ALONE
    return compute_similarity(remembered, column) >= needed


def _compare(review: Review, column: Fingerprint) -> Match | None:
    """Return how a column is like a remembered one; None if it is not."""
    known = review.column
    if min(known.cells, column.cells) < FEWEST_CELLS:
        return None
    same_name = column.name is not None and known.spelling == column.spelling
    content = compute_similarity(known, column)
    if content < (SIMILAR_WITH_NAME if same_name else SIMILAR_CONTENT):
        return None
    if not same_name and known.datatype != "string":
        return None  # numbers of the same size, dates and flags are everywhere
    shared = compute_overlap(known, column)
    values = (
        f"{shared:.0%} of the values in common" if shared >= MOSTLY else "values of the same form"
    )
    name = (
        "the same header"
        if same_name
        else f"another header ({known.name!r})"
        if known.name
        else "no header there"
    )
    similarity = NAME_WEIGHT * same_name + (1 - NAME_WEIGHT) * content
    where = f"{review.table}, column {known.index + 1}"
    return Match(review, round(similarity, 4), f"{name} and {values}, compared with {where}")
