"""Differences between answers: what counts as added, removed, renamed, changed, personal, less sure; how they are written."""

import json
from dataclasses import replace

import pytest

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.difference_report import render_differences
from aegir.answers.differences import ComparedAnswer, compare, count_changes
from aegir.tables.fingerprint import fingerprint_table
from aegir_rl.base.errors import UsageError
from reviewed_tables import an_answer, answer_for, made_up_table

LABELS = ("code", "email_address", "item_price", "status")


def a_table(
    *columns: ColumnAnnotation, name: str = "t.csv", source: str | None = None
) -> TableAnnotation:
    placed = tuple(replace(column, index=place) for place, column in enumerate(columns))
    return TableAnnotation(name, source, None, placed, "rules")


def column(name: str | None, label: str | None = "status", **fields: object) -> ColumnAnnotation:
    return an_answer(0, name, label, **fields)


def changes(old: TableAnnotation, new: TableAnnotation) -> list[tuple[str, str, str, str]]:
    return [
        (each.change, each.column, each.before, each.after)
        for difference in compare([ComparedAnswer(old)], [ComparedAnswer(new)])
        for each in difference.changes
    ]


def test_every_change_of_a_column_is_named():
    old = a_table(
        column("a"), column("b"), column("c"), column("d", "email", personal=True), column("gone")
    )
    new = a_table(
        column("a", "category", type="category"),
        column("b", personal=True, personal_level="direct"),
        column("c", confidence=0.5),
        column("d", "email"),
        column("e", "iso_date", personal=True, personal_level="about"),
    )
    assert changes(old, new) == [
        ("type", "a", "status", "category"),
        ("personal", "b", "not personal", "direct"),
        ("confidence", "c", "0.60", "0.50"),
        ("not-personal", "d", "yes", "not personal"),
        ("added", "e", "", "iso_date"),
        ("personal", "e", "", "about"),
        ("removed", "gone", "status", ""),
    ]


def test_a_nearer_level_is_newly_personal_and_a_small_drop_of_confidence_is_nothing():
    about, direct = ({"personal": True, "personal_level": level} for level in ("about", "direct"))
    assert changes(a_table(column("a", **about)), a_table(column("a", **direct))) == [
        ("personal", "a", "about", "direct")
    ]
    assert changes(a_table(column("a")), a_table(column("a", confidence=0.51))) == []


def test_in_answers_a_column_is_renamed_if_it_stands_alone_between_the_same_two_with_the_same_answer():
    old = a_table(column("a"), column("x", "email"), column("b"))
    assert changes(old, a_table(column("new"), column("a"), column("y", "email"), column("b"))) == [
        ("added", "new", "", "status"),
        ("renamed", "y", "x", "y"),
    ]
    elsewhere = a_table(column("a"), column("b"), column("y", "email"))
    other_answer = a_table(column("a"), column("y", "iso_date"), column("b"))
    unknown = a_table(column("a"), column("y", None), column("b"))
    two = a_table(column("a"), column("y", "email"), column("z", "email"), column("b"))
    for new in (elsewhere, other_answer, unknown, two):
        assert {change for change, *_ in changes(old, new)} == {"added", "removed"}


def test_in_tables_a_column_is_renamed_wherever_its_content_went():
    old_table = made_up_table(40)
    moved = replace(
        old_table,
        columns=(
            replace(old_table.columns[1], name="contact"),
            *old_table.columns[2:],
            old_table.columns[0],
        ),
    )
    new_table = replace(moved, columns=tuple(replace(each) for each in moved.columns))
    old, new = (
        ComparedAnswer(answer_for(table, labels), fingerprint_table(table))
        for table, labels in ((old_table, LABELS), (new_table, (*LABELS[1:], LABELS[0])))
    )
    (difference,) = compare([old], [new])
    assert [(each.change, each.before, each.after) for each in difference.changes] == [
        ("renamed", "mail", "contact")
    ]
    other = replace(new_table.columns[0], values=tuple(f"{n} Long Street" for n in range(40)))
    replaced = replace(new_table, columns=(other, *new_table.columns[1:]))
    (difference,) = compare([old], [ComparedAnswer(new.annotation, fingerprint_table(replaced))])
    assert {each.change for each in difference.changes} == {"added", "removed"}


def test_columns_without_headers_are_paired_by_place_and_repeated_headers_in_order():
    assert changes(
        a_table(column(None), column(None)), a_table(column(None), column(None, "email"))
    ) == [("type", "column_2", "status", "email")]
    twice = a_table(column("a"), column("a", "email"))
    assert changes(twice, a_table(column("a"), column("a", "email"), column("a"))) == [
        ("added", "a", "", "status")
    ]


def test_tables_are_paired_by_the_ends_of_their_paths_and_one_table_each_always_is():
    def lake(root: str, *labels: str) -> list[ComparedAnswer]:
        return [
            ComparedAnswer(
                a_table(column("x", label), name="t.csv", source=f"{root}/{folder}/t.csv")
            )
            for folder, label in zip("ab", labels, strict=False)
        ]

    assert compare(lake("old", "status", "email"), lake("new", "status", "email")) == ()
    (difference,) = compare(lake("old", "status", "email"), lake("new", "status"))
    assert (difference.table, difference.new) == ("t.csv", None)
    assert count_changes([difference])["removed"] == 1
    assert (
        changes(a_table(column("a"), name="may.csv"), a_table(column("a"), name="june.csv")) == []
    )


def test_differences_are_written_for_people_pull_requests_and_programs():
    old, new = (
        a_table(column("a|b"), name="x_1.csv"),
        a_table(column("a|b", "email"), name="x_1.csv"),
    )
    differences = compare([ComparedAnswer(old)], [ComparedAnswer(new)])
    assert render_differences(differences, "text") == (
        "x_1.csv\n  another type  a|b: status -> email\n1 change: 1 another type\n"
    )
    assert "| x\\_1.csv | a\\|b | another type | status | email |" in render_differences(
        differences, "markdown"
    )
    document = json.loads(render_differences(differences, "json"))
    assert document["counts"]["type"] == 1
    assert document["tables"][0]["changes"][0]["new"]["label"] == "email"
    (line,) = render_differences(differences, "jsonl").splitlines()
    assert json.loads(line)["change"] == "type"
    assert render_differences((), "text") == "no changes\n"
    with pytest.raises(UsageError, match="unknown format 'xml'"):
        render_differences((), "xml")


def test_tables_of_two_databases_are_paired_by_their_own_names():
    def database(file: str, *tables: str) -> list[ComparedAnswer]:
        return [
            ComparedAnswer(a_table(column(name), name=f"{file}#{name}", source=file))
            for name in tables
        ]

    assert compare(database("monday.db", "a", "b"), database("tuesday.db", "b", "a")) == ()
    (gone,) = compare(database("monday.db", "a", "b"), database("tuesday.db", "b"))
    assert count_changes([gone])["removed"] == 1


def named(label: str, type_name: str | None = None, kind: str | None = None, **fields: object):
    return column("c", label, type=type_name, kind=kind, **{"confidence": 0.9, **fields})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (named("Number", "Number", "number"), named("count", "Number", "number")),
        (named("name", "Organization", "name"), named("Organization", "Organization", "name")),
        (named("city", None, "place"), named("region", runners_up=(Guess("city", 0.2),))),
        (named("city", None, "place", runners_up=(Guess("region", 0.3),)), named("region")),
        (named("city"), named("status", confidence=0.55)),
        (named("status"), named("all_missing", datatype="empty")),
    ],
)
def test_a_type_stays_while_only_its_wording_changes(old: ColumnAnnotation, new: ColumnAnnotation):
    for before, after in ((old, new), (new, old)):
        kinds = [change[0] for change in changes(a_table(before), a_table(after))]
        assert "type" not in kinds


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (named("city", None, "place"), named("status", runners_up=(Guess("city", 0.1),))),
        (
            named("IdentifierAT", "IdentifierAT", "identifier", datatype="string"),
            named("IdentifierAT", "IdentifierAT", "identifier", datatype="number"),
        ),
        (named("note", None, "text"), named("iso_date", "Date", "time", datatype="date")),
    ],
)
def test_another_answer_or_another_sort_of_values_is_a_change(
    old: ColumnAnnotation, new: ColumnAnnotation
):
    assert [change[0] for change in changes(a_table(old), a_table(new))] == ["type"]


@pytest.mark.parametrize(
    ("before", "after", "fires"), [(0.45, 0.55, False), (0.05, 0.9, True), (0.2, 0.8, False)]
)
def test_a_column_becomes_personal_only_across_a_margin(before: float, after: float, fires: bool):
    old = named("note", personal_confidence=before)
    new = named("note", personal_confidence=after, personal=True, personal_level="about")
    assert bool(changes(a_table(old), a_table(new))) is fires
    assert bool(changes(a_table(new), a_table(old))) is fires


def test_the_same_content_has_not_changed_its_type():
    table = made_up_table(40)
    prints = fingerprint_table(table)
    names = [each.name for each in table.columns]
    old = a_table(*(column(name, "city", confidence=0.9) for name in names))
    new = a_table(*(column(name, "status", confidence=0.9) for name in names))
    assert "type" in [change[0] for change in changes(old, new)]
    compared = compare([ComparedAnswer(old, prints)], [ComparedAnswer(new, prints)])
    assert compared == ()
