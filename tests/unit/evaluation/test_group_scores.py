"""Scores of rows, persons, levels and subjects with intervals over groups, worked out by hand on invented tables."""

from dataclasses import replace

import pytest

from aegir.answers.annotation import ColumnAnnotation, RowAnnotation, TableAnnotation
from aegir.evaluation.group_scores import score_share
from aegir.evaluation.open_evaluation import OpenEvaluation, score_answers
from aegir.pipeline.judged_columns import NAMES_OF_THINGS, JudgedColumn, JudgedTable
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table

NOTHING = ColumnAnnotation(0, None, None, 0.0, None, None, 0.0, None, "string", personal=False)
PERSONAL = {
    level: ColumnLabels((), personal=True, personal_level=level, special=level == "about")
    for level in ("direct", "indirect", "about")
}
OTHER = ColumnLabels((), personal=False, special=False)


def said(level: str | None, **more: object) -> ColumnAnnotation:
    return replace(NOTHING, personal=level is not None, personal_level=level, **more)


def row(name: str | None, person: str = "none") -> RowAnnotation:
    return RowAnnotation(name, None, 0.8, person, 0.9)


def table(
    number: int, *labels: ColumnLabels, group: str | None = None, **more: object
) -> LabelledTable:
    """A table of its own group whose cells no other table has."""
    columns = tuple(Column(None, (f"a{number}/{i}", "b")) for i in range(len(labels)))
    named = Table(f"t{number}", columns)
    return LabelledTable(named, labels, {}, group=group or f"owner/{number}", **more)


def scored(
    *pairs: tuple[LabelledTable, list[ColumnAnnotation], RowAnnotation | None],
) -> OpenEvaluation:
    tables = [labelled for labelled, _, _ in pairs]
    answers = [
        TableAnnotation(labelled.table.name, None, None, tuple(columns), "by hand", row=of_row)
        for labelled, columns, of_row in pairs
    ]
    return score_answers(tables, answers)


def test_levels_special_data_rows_and_persons_by_hand():
    labels = (PERSONAL["direct"], PERSONAL["indirect"], PERSONAL["about"], OTHER)
    first = table(0, *labels, row_class="person", person="self")
    second = table(1, *labels, row_class="person", person="self")
    third = table(2, OTHER, row_class="period", person="none")
    result = scored(
        (
            first,
            [said("direct"), said("about"), said("about", special=True), said(None)],
            row("person", "self"),
        ),
        (
            second,
            [said("indirect"), said(None), said("direct"), said("direct", special=True)],
            row("case", "linked"),
        ),
        (third, [said(None)], row(None)),
    )
    assert result.by_group is not None
    shares = {
        f"{part}.{name}": (score.value, score.of)
        for part, scores in result.by_group.scores.items()
        for name, score in scores.items()
    }
    # identifying was said of direct, and in the second table of the first, third and last column: 2 of 4 are
    assert shares["identifying.precision"] == (2 / 4, 4)
    assert shares["identifying.recall"] == (2 / 4, 4)
    assert (shares["direct.precision"], shares["direct.recall"]) == ((1 / 3, 3), (1 / 2, 2))
    assert (shares["personal.precision"], shares["personal.recall"]) == ((5 / 6, 6), (5 / 6, 6))
    assert (shares["special.precision"], shares["special.recall"]) == ((1 / 2, 2), (1 / 2, 2))
    assert (shares["row.right"], shares["row.given"]) == ((1 / 3, 3), (2 / 3, 3))
    assert shares["row.precision"] == (1 / 2, 2)
    assert shares["person.right"] == (2 / 3, 3)
    assert "subject.right" not in shares
    assert result.by_group.levels["direct"] == {"direct": 1, "indirect": 1, "about": 0, "none": 0}
    assert result.by_group.levels["none"]["direct"] == 1
    person, period = result.by_group.row_classes
    assert (person.name, person.tables, person.recall, person.mistaken_for) == (
        *("person", 2, 0.5, "case"),
    )
    assert (period.recall, period.mistaken_for) == (0.0, None)
    assert result.by_group.special_categories == {"unnamed": {"columns": 2, "right": 1}}


def test_files_without_the_labels_have_no_such_scores():
    labels = ColumnLabels(("Date",), fine=(), personal=True)
    result = scored((table(0, labels), [said("direct")], row("person")))
    assert result.by_group is None
    assert "by_group" not in result.as_dict()


def test_rows_alone_can_be_scored():
    labelled = table(0, ColumnLabels(), row_class="person", person="self")
    result = scored((labelled, [NOTHING], row("person", "linked")))
    assert (result.columns, result.type["right"]) == (0, None)
    plain = result.as_dict()["by_group"]
    assert plain["scores"]["row"]["right"]["value"] == 1.0
    assert plain["scores"]["person"]["right"]["value"] == 0.0


def test_an_answer_without_a_row_has_neither_class_nor_person():
    labelled = table(0, OTHER, row_class="person", person="none")
    result = scored((labelled, [NOTHING], None))
    assert result.by_group is not None
    shares = result.by_group.scores
    assert (shares["row"]["right"].value, shares["row"]["given"].value) == (0.0, 0.0)
    assert shares["row"]["precision"].value is None
    assert shares["person"]["right"].value == 0.0


def test_an_unclear_row_is_not_judged():
    labelled = table(0, OTHER, row_class="unclear", person="none")
    result = scored((labelled, [NOTHING], row("person")))
    assert result.by_group is not None
    assert "row" not in result.by_group.scores


@pytest.mark.parametrize(
    ("subjects", "answered", "right"),
    [
        (None, 0, None),
        ((), None, True),
        ((), 0, False),
        ((1, 0), 0, True),
        ((1, 0), 2, False),
        ((1,), None, False),
    ],
)
def test_a_subject_is_right_if_it_is_acceptable(
    subjects: tuple[int, ...] | None, answered: int | None, right: bool | None
):
    labelled = table(0, OTHER, OTHER, OTHER, subjects=subjects)
    answer = TableAnnotation("t", None, answered, (NOTHING,) * 3, "by hand")
    assert JudgedTable(labelled, answer).subject_right is right


def test_a_wrong_label_of_the_right_kind_does_not_mislead():
    labels = ColumnLabels(("MonetaryAmount",), fine=("salary",))
    same_kind = replace(NOTHING, label="price", type="price", kind="money", confidence=0.9)
    other_kind = replace(NOTHING, label="Number", type="Number", kind="number", confidence=0.9)
    unsure = replace(other_kind, confidence=0.4)
    right = replace(NOTHING, label="salary", fine_type="salary", kind="money", confidence=0.9)
    judged = [JudgedColumn(labels, each) for each in (same_kind, other_kind, unsure, right)]
    assert [column.label_right for column in judged] == [False, False, False, True]
    assert [column.wrong_beyond_kind for column in judged] == [False, True, False, False]


def test_names_of_things_are_judged_apart():
    assert {"Organization", "Product/name", "Book/name", "Place/name", "Brand"} <= NAMES_OF_THINGS
    assert NAMES_OF_THINGS.isdisjoint(("Person/name", "Country", "category", "Book/description"))
    labelled = table(0, ColumnLabels(("Brand",)), ColumnLabels(("Date",)), person="none")
    answers = [replace(NOTHING, type="Brand"), NOTHING]
    result = scored((labelled, answers, None))
    assert result.by_group is not None
    assert result.by_group.scores["names"]["right"].value == 1.0
    assert result.by_group.scores["type"]["right"].value == 0.5


def test_columns_of_one_group_are_dependent():
    outcomes = [True] * 20 + [False] * 20
    apart, together = (
        score_share(outcomes, [number // size for number in range(40)]) for size in (1, 4)
    )
    assert (apart.groups, together.groups) == (40, 10)
    assert apart.value == together.value == 0.5
    assert 0 < together.low < apart.low < 0.5 < apart.high < together.high < 1


def test_an_interval_stays_within_0_and_1_and_says_how_little_few_groups_show():
    assert score_share([True, True, False], [1, 2, 3]).high == 1.0
    alone = score_share([True, False], [7, 7])
    assert (alone.value, alone.low, alone.high, alone.groups) == (0.5, None, None, 1)
    # Of five independent groups that are all right: 0.025 ** (1 / 5) = 0.478 by Clopper and Pearson.
    always = score_share([True] * 10, [number // 2 for number in range(10)])
    assert (always.low, always.high) == (pytest.approx(0.4782, abs=1e-4), 1.0)
    never = score_share([False] * 5, range(5))
    assert (never.low, never.high) == (0.0, pytest.approx(1 - 0.4782, abs=1e-4))
    assert score_share([], []).value is None


def test_domains_of_many_columns_have_scores_of_their_own():
    many = [
        (table(i, *[OTHER] * 10, domain="hr", person="none"), [NOTHING] * 10, row(None))
        for i in range(3)
    ]
    few = (table(9, OTHER, domain="sales", person="self"), [NOTHING], row(None))
    result = scored(*many, few)
    assert result.by_group is not None
    (domain,) = result.by_group.domains
    assert (domain.name, domain.tables, domain.columns) == ("hr", 3, 30)
    assert domain.scores["person"]["right"].value == 1.0
    assert result.by_group.scores["person"]["right"].value == 0.75
