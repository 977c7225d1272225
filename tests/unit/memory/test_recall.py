"""Recall: a reviewed column is found again, others are not, similar ones are offered; the answer that follows."""

from dataclasses import replace

import pytest

from aegir.memory.applying import apply_review
from aegir.memory.recall import ReviewMemory
from aegir.memory.review import Review
from aegir.tables.fingerprint import fingerprint_table
from aegir.tables.table import Column, Table
from reviewed_tables import an_answer, answer_for, made_up_table

AT = "2030-01-0{}T08:00:00.000000+00:00"
SMALL = made_up_table(30)


def a_review(
    label: str | None, *, table: Table = SMALL, index: int = 3, day: int = 1, **fields: object
) -> Review:
    given = {
        "id": f"{label}-{day}",
        "at": AT.format(day),
        "by": "ada",
        "label": label,
        "kind": "category" if label else None,
        "personal": None,
        "level": None,
        "said": "category",
        "table": table.name,
        "source": table.source,
        "column": fingerprint_table(table)[index],
    }
    return Review(**{**given, **fields})


def labels(memory: ReviewMemory, table: Table) -> list[str | None]:
    return [column.label for column in memory.apply(table, answer_for(table)).columns]


def with_header(table: Table, index: int, name: str | None) -> Table:
    columns = list(table.columns)
    columns[index] = replace(columns[index], name=name)
    return replace(table, columns=tuple(columns))


def test_a_reviewed_column_is_found_in_a_larger_renamed_and_reordered_file():
    larger = made_up_table(200, name="orders_2031.csv")
    moved = replace(larger, columns=(Column("new", ("1",) * 200), *reversed(larger.columns)))
    memory = ReviewMemory([a_review("status")])
    assert labels(memory, larger) == [None, None, None, "status"]
    assert labels(memory, moved) == [None, "status", None, None, None]


def test_another_content_under_the_same_header_is_not_taken_for_it():
    swapped = replace(SMALL, columns=(*SMALL.columns[:3], replace(SMALL.columns[1], name="state")))
    assert labels(ReviewMemory([a_review("status")]), swapped) == [None] * 4


def test_the_same_content_under_another_header_or_in_another_table_is_offered_only():
    memory = ReviewMemory([a_review("status")])
    renamed = with_header(SMALL, 3, "progress")
    elsewhere = Table("stock.csv", (Column("sku", ("a",) * 30), SMALL.columns[3]))
    for table, place, reason in (
        (renamed, 3, "another header ('state')"),
        (elsewhere, 1, "the same header"),
    ):
        column = memory.apply(table, answer_for(table)).columns[place]
        assert column.label is None
        (offer,) = column.offers
        assert (offer.label, offer.by) == ("status", "ada")
        assert offer.reason.startswith(reason)
        assert "100% of the values in common, compared with orders.csv, column 4" in offer.reason
    # 1 for the content, of which a quarter is lost to the other header
    assert memory.apply(renamed, answer_for(renamed)).columns[3].offers[0].similarity == 0.75


def test_nothing_is_offered_that_is_answered_already():
    memory = ReviewMemory([a_review("status")])
    renamed = with_header(SMALL, 3, "progress")
    answer = answer_for(renamed, (None, None, None, "status"))
    assert memory.apply(renamed, answer).columns[3].offers == ()


def test_of_two_reviewers_the_last_one_counts():
    memory = ReviewMemory([a_review("priority", day=2, by="bob"), a_review("status", day=1)])
    column = memory.apply(SMALL, answer_for(SMALL)).columns[3]
    assert (column.label, column.reviewed.by, column.reviewed.at) == (
        "priority",
        "bob",
        AT.format(2),
    )


def test_columns_of_the_same_header_are_told_apart_by_their_place():
    twice = with_header(SMALL, 0, "state")
    twice = replace(twice, columns=(SMALL.columns[3], *twice.columns[1:]))
    memory = ReviewMemory(
        [a_review("status", table=twice, index=0), a_review("priority", table=twice, day=2)]
    )
    assert labels(memory, twice) == ["status", None, None, "priority"]


def test_without_headers_the_place_must_be_the_same():
    bare = replace(SMALL, columns=tuple(replace(each, name=None) for each in SMALL.columns))
    memory = ReviewMemory([a_review("status", table=bare)])
    assert labels(memory, bare) == [None, None, None, "status"]
    assert labels(memory, replace(bare, columns=bare.columns[1:])) == [None] * 3


@pytest.mark.parametrize(
    ("label", "kind", "expected"),
    [
        (
            "iso_date",
            "time",
            ("Date", "iso_date", 1.0),
        ),  # the type that goes with it, of the runners-up
        ("Date", "time", ("Date", None, 1.0)),
        ("time", "time", (None, None, 1.0)),
        ("Ward/bed", "category", ("Ward/bed", None, 1.0)),
        (None, None, (None, None, 0.0)),
    ],
)
def test_the_levels_of_a_reviewed_answer_never_contradict_each_other(
    label: str | None, kind: str | None, expected: tuple[str | None, str | None, float]
):
    said = an_answer(
        0, "x", "email_address", kind="person", type="email", fine_type="email_address"
    )
    column = apply_review(said, a_review(label, kind=kind, said="email_address"))
    assert (column.label, column.kind) == (label, kind)
    assert (column.type, column.fine_type, column.confidence) == expected
    assert (column.reviewed.said, column.reviewed.said_confidence) == ("email_address", 0.6)
    assert column.reasons[1] == "email_address (0.60) would have been answered"


def test_personal_data_follows_from_the_label_unless_the_reviewer_says():
    private = {"personal": True, "personal_level": "direct"}
    said = an_answer(0, "x", "full_name", type="Person/name", fine_type="full_name", **private)
    cleared = apply_review(said, a_review("product_name", kind="name"))
    assert (cleared.personal, cleared.personal_level) == (False, None)
    for label in (None, "Ward/bed"):  # says nothing about persons
        assert apply_review(said, a_review(label)).personal
    stated = apply_review(said, a_review("full_name", said="full_name", personal=False))
    assert (stated.personal, stated.reviewed.verdict) == (False, "accepted")
    found = apply_review(an_answer(0, "x", "text"), a_review("email_address", kind="person"))
    assert (found.personal, found.personal_level) == (True, "direct")
