"""What holds for any column, review and pair of answers: fingerprints, JSON lines, differences."""

import json
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.answers.annotation import TableAnnotation
from aegir.answers.difference_report import DIFFERENCE_FORMATS, render_differences
from aegir.answers.differences import ComparedAnswer, TableDifference, compare, count_changes
from aegir.memory.review import Review
from aegir.memory.store import read_lines, write_lines
from aegir.tables.fingerprint import (
    Fingerprint,
    compute_context,
    compute_overlap,
    compute_similarity,
    fingerprint_column,
)
from aegir.tables.table import Column
from answer_columns import annotations
from reviewed_tables import cells, fingerprints, reviews

LAW = settings(max_examples=40)


@LAW
@given(cells, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_a_fingerprint(values: list[str], draw):
    shuffled = draw.sample(values, len(values))
    assert fingerprint_column(Column("x", tuple(values))) == fingerprint_column(
        Column("x", tuple(shuffled))
    )


@LAW
@given(fingerprints, fingerprints)
def test_similarities_are_symmetric_shares_and_1_for_the_same_column(
    one: Fingerprint, other: Fingerprint
):
    for measure in (compute_similarity, compute_context, compute_overlap):
        assert 0 <= measure(one, other) <= 1
        assert abs(measure(one, other) - measure(other, one)) < 1e-12
    assert compute_similarity(one, one) > 1 - 1e-9
    assert compute_context(one, one) == 1


@LAW
@given(st.lists(reviews, max_size=4, unique_by=lambda review: review.id), st.randoms())
def test_reviews_survive_json_lines_whose_order_depends_on_nothing_else(
    given_reviews: list[Review], draw
):
    lines = list(write_lines(given_reviews))
    shuffled = draw.sample(given_reviews, len(given_reviews))
    assert list(write_lines(shuffled)) == lines
    assert all(line.isascii() and line.count("\n") == 1 for line in lines)
    again = read_lines(lines + lines, "x")  # as git's union merge would leave them
    assert sorted(again, key=lambda each: each.order) == sorted(
        given_reviews, key=lambda each: each.order
    )


def sides(tables: list[TableAnnotation]) -> list[ComparedAnswer]:
    return [ComparedAnswer(table) for table in tables]


@settings(max_examples=25)
@given(annotations)
def test_an_answer_does_not_differ_from_itself(tables: list[TableAnnotation]):
    assert compare(sides(tables), sides(tables)) == ()


def columns_of(
    differences: tuple[TableDifference, ...], change: str
) -> Counter[tuple[int | None, int | None]]:
    """The places of changed columns, old ones before new ones."""
    found: Counter[tuple[int | None, int | None]] = Counter()
    for each in differences:
        for one in each.changes:
            if one.change == change:
                old, new = (None if each is None else id(each) for each in (one.old, one.new))
                found[old, new] += 1
    return found


@settings(max_examples=25)
@given(annotations, annotations)
def test_compared_the_other_way_round_added_and_removed_change_places(
    old: list[TableAnnotation], new: list[TableAnnotation]
):
    there, back = compare(sides(old), sides(new)), compare(sides(new), sides(old))
    for change, reverse in (("added", "removed"), ("renamed", "renamed"), ("type", "type")):
        swapped = {(b, a): count for (a, b), count in columns_of(back, reverse).items()}
        assert columns_of(there, change) == swapped
    for name in DIFFERENCE_FORMATS:
        text = render_differences(there, name)
        assert text == "" or text.endswith("\n")
        text.encode()
    assert json.loads(render_differences(there, "json"))["counts"] == count_changes(there)
    lines = render_differences(there, "jsonl").splitlines()
    assert len([json.loads(line) for line in lines]) == sum(count_changes(there).values())
