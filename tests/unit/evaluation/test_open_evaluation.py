"""Evaluation on the open form, worked out by hand on invented tables and answers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.evaluation.open_evaluation import evaluate_open, score_answers
from aegir.pipeline.judged_columns import JudgedColumn, possible_subjects
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.errors import UsageError

NOTHING = ColumnAnnotation(
    index=0,
    name=None,
    label=None,
    confidence=0.0,
    kind=None,
    type=None,
    type_confidence=0.0,
    fine_type=None,
    datatype="string",
    personal=False,
)
SALARY = ColumnLabels(("MonetaryAmount", "Number"), (), ("salary",), personal=True)
STATUS = ColumnLabels((), (), ("status",), personal=False)
KEY = ColumnLabels(("IdentifierAT",), ("isbn",), ("primary_key",), personal=False)


def answer(label: str | None, confidence: float = 0.0, **more: object) -> ColumnAnnotation:
    return replace(NOTHING, label=label, confidence=confidence, **more)


def judged(labels: ColumnLabels, *given: object, **more: object) -> JudgedColumn:
    return JudgedColumn(labels, answer(*given, **more))


def table(*columns: tuple[ColumnLabels, ColumnAnnotation], **more: object) -> LabelledTable:
    cells = ("a", "b")
    return LabelledTable(
        Table("t", tuple(Column(None, cells) for _ in columns)),
        tuple(labels for labels, _ in columns),
        {},
        **more,
    )


def annotation(columns: Sequence[ColumnAnnotation], subject: int | None = None) -> TableAnnotation:
    return TableAnnotation("t", None, subject, tuple(columns), "by hand")


def test_no_type_is_right_where_none_is_acceptable():
    assert judged(STATUS, None, type_confidence=0.9).type_right is True
    assert judged(STATUS, "category", 0.4, type="category").type_right is False
    assert judged(SALARY, None, type_confidence=0.9).type_right is False
    assert judged(SALARY, "Number", 0.9, type="Number").type_right is True
    assert judged(ColumnLabels(fine=("status",)), None).type_right is None


def test_no_type_is_right_where_it_is_acceptable_beside_others():
    labels = replace(SALARY, none_too=True)
    assert judged(labels, None, type_confidence=0.9).type_right is True
    assert judged(labels, None, type_confidence=0.9).misleading_parts == frozenset()
    assert judged(labels, "Number", 0.9, type="Number").type_right is True
    assert judged(labels, "price", 0.9, type="price").type_right is False


@pytest.mark.parametrize(
    ("labels", "given", "level", "right"),
    [
        (SALARY, {"label": "salary", "fine_type": "salary"}, "fine", True),
        (SALARY, {"label": "price", "type": "price"}, "type", False),
        (SALARY, {"label": "Number", "type": "Number"}, "type", True),
        (SALARY, {"label": "money", "kind": "money"}, "kind", True),
        (SALARY, {"label": "number", "kind": "number"}, "kind", False),
        (STATUS, {"label": "category", "kind": "category"}, "kind", True),
        (STATUS, {"label": "category", "type": "category", "kind": "category"}, "type", False),
        (ColumnLabels(("Date",), fine=()), {"label": "time", "kind": "time"}, "kind", True),
        (ColumnLabels(("Date",)), {"label": "iso_date", "fine_type": "iso_date"}, "fine", None),
        (SALARY, {"label": None}, None, False),
        (ColumnLabels((), fine=()), {"label": None}, None, True),
        (ColumnLabels(()), {"label": None}, None, None),
        (UNLABELLED, {"label": "Number", "type": "Number"}, "type", None),
    ],
)
def test_a_label_is_right_as_fine_name_type_or_kind(
    labels: ColumnLabels, given: dict[str, str | None], level: str | None, right: bool | None
):
    column = JudgedColumn(labels, replace(NOTHING, **given))
    assert (column.label_level, column.label_right) == (level, right)


def test_what_is_wrong_and_said_is_misleading_part_by_part():
    wrong = judged(
        SALARY,
        "price",
        0.5,
        type="price",
        type_confidence=0.4,
        relation=Guess("price", 0.7),
    )
    assert wrong.misleading_parts == {"label", "relation"}
    assert judged(SALARY, "price", 0.49, type="price", type_confidence=0.49).misleading_parts == (
        frozenset()
    )
    assert judged(SALARY, None, 0.8, type_confidence=0.6).misleading_parts == {"type"}
    assert judged(KEY, None, relation=Guess("isbn", 0.9)).misleading_parts == frozenset()


def test_figures_by_hand():
    pairs = [
        (
            SALARY,
            answer(
                "salary",
                0.9,
                fine_type="salary",
                type="MonetaryAmount",
                type_confidence=0.9,
                personal=True,
                relation=Guess("price", 0.6),
            ),
        ),
        (STATUS, answer("Organization", 0.6, type="Organization", type_confidence=0.6)),
        (STATUS, answer("category", 0.3, kind="category", type_confidence=0.8)),
        (KEY, answer(None, 0.2, type_confidence=0.3, personal=True)),
        (UNLABELLED, answer("URL", 0.9, type="URL", type_confidence=0.9)),
    ]
    first, second = table(*pairs[:2], domain="hr"), table(*pairs[2:])
    result = score_answers(
        [first, second], [annotation([a for _, a in part]) for part in (pairs[:2], pairs[2:])]
    )
    assert (result.tables, result.columns, result.annotator) == (2, 4, "by hand")
    assert (result.type["columns"], result.type["right"]) == (4, 2 / 4)
    # none was answered for a status and the key, and two columns have none
    assert (result.type["none_precision"], result.type["none_recall"]) == (1 / 2, 1 / 2)
    # gaps: 0.9 right 0.1, 0.6 wrong 0.6, 0.8 right 0.2, 0.3 wrong 0.3, each in a bin of its own
    assert result.type["confidence"]["ece"] == pytest.approx((0.1 + 0.6 + 0.2 + 0.3) / 4)
    assert (result.fine["given"], result.fine["precision"], result.fine["right"]) == (
        1 / 4,
        1.0,
        1 / 4,
    )
    assert (result.label["given"], result.label["right"]) == (3 / 4, 2 / 4)
    assert (result.label["right_as_fine"], result.label["right_as_type"]) == (1 / 4, 0.0)
    assert result.label["right_as_kind"] == 1 / 4
    # 0.9 right, 0.6 wrong, 0.3 right
    assert result.label["confidence"]["ece"] == pytest.approx((0.1 + 0.6 + 0.7) / 3)
    points = {
        p["threshold"]: (p["coverage"], p["precision"])
        for p in result.label["confidence"]["operating_points"]
    }
    assert points[0.5] == (2 / 4, 1 / 2)
    assert points[0.95] == (0.0, 1.0)
    # the salary's relation; the first status' label and type
    assert (result.misleading["share"], result.misleading["without_relations"]) == (2 / 4, 1 / 4)
    assert (result.misleading["relation"], result.misleading["type"]) == (1 / 4, 1 / 4)
    assert (result.relation["precision"], result.relation["recall"]) == (0.0, 0.0)
    assert result.relation["false_given"] == 1 / 3
    assert (result.personal["precision"], result.personal["recall"]) == (1 / 2, 1.0)
    assert [(part.name, part.columns) for part in result.domains] == [(None, 2), ("hr", 2)]
    kinds = {part.name: part for part in result.kinds}
    assert set(kinds) == {"money", "category", "identifier"}
    assert (kinds["category"].columns, kinds["category"].label_right) == (2, 1 / 2)
    assert kinds["money"].misleading == 1.0


def test_a_relation_counts_from_one_half_on():
    pairs = [(KEY, answer(None, relation=Guess("isbn", sure))) for sure in (0.9, 0.4)]
    found = score_answers([table(*pairs)], [annotation([a for _, a in pairs])]).relation
    assert found == {"columns": 2, "precision": 1.0, "recall": 1 / 2, "false_given": None}


def test_parts_that_nobody_labelled_have_no_figures():
    labels = ColumnLabels(fine=("status",))
    found = score_answers([table((labels, NOTHING))], [annotation([NOTHING])])
    assert (found.type["columns"], found.type["right"]) == (0, None)
    assert found.type["confidence"]["ece"] == 0.0
    assert (found.personal["precision"], found.relation["recall"]) == (None, None)
    assert found.as_dict()["type"]["right"] is None


def column(*values: str) -> Column:
    return Column(None, values)


@pytest.mark.parametrize(
    ("columns", "labels", "possible"),
    [
        ([column("x", "x"), column("a", "b"), column("c", "d")], [UNLABELLED] * 3, [1, 2]),
        ([column("", "a"), column("1.5", "2.5")], [UNLABELLED, SALARY], []),
        ([column("1", "2")], [KEY], [0]),
        ([column("1h", "2h"), column("a", "b")], [ColumnLabels(fine=("duration",)), KEY], [1]),
        ([column("only")], [KEY], []),
    ],
)
def test_a_subject_has_a_value_of_its_own_in_every_row_and_names_it(
    columns: list[Column], labels: list[ColumnLabels], possible: list[int]
):
    labelled = LabelledTable(Table("t", tuple(columns)), tuple(labels), {})
    assert possible_subjects(labelled) == possible
    assert possible_subjects(labelled.with_subject(0)) == [0]


@pytest.mark.parametrize(
    ("subject", "plausible", "first"), [(0, 1.0, 1.0), (1, 1.0, 0.0), (None, 0.0, 0.0)]
)
def test_the_subject_is_judged_by_what_can_name_a_row(
    subject: int | None, plausible: float, first: float
):
    labelled = table((STATUS, NOTHING), (STATUS, NOTHING))
    found = score_answers([labelled], [annotation([NOTHING] * 2, subject)]).subject
    assert found == {"tables": 1, "plausible": plausible, "first": first}


def test_no_subject_is_right_where_no_column_can_be_one():
    labelled = table((SALARY, NOTHING))
    assert score_answers([labelled], [annotation([NOTHING])]).subject["plausible"] == 1.0
    assert score_answers([labelled], [annotation([NOTHING], 0)]).subject["plausible"] == 0.0


class Listener:
    """Remembers the tables and answers nothing."""

    name = "listener"

    def __init__(self) -> None:
        self.tables: list[Table] = []

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        self.tables += tables
        return [
            TableScores(
                np.zeros((len(one.columns), len(TYPE_NAMES)), np.float32),
                np.zeros((len(one.columns), len(RELATION_NAMES)), np.float32),
                None,
                (Explanation(),) * len(one.columns),
            )
            for one in tables
        ]


def test_an_annotator_is_not_told_the_subject():
    listener = Listener()
    result = evaluate_open(listener, [table((STATUS, NOTHING)).with_subject(0)])
    assert {one.subject for one in listener.tables} == {None}
    assert (result.annotator, result.type["right"]) == ("listener", 1.0)
    assert result.columns_per_cpu_second is not None
    assert result.subject["plausible"] == 0.0


def test_names_outside_the_vocabulary_are_left_out_and_listed():
    strange = ColumnLabels(("Wage",), fine=("status", "pay grade"))
    result = score_answers(
        [table((strange, NOTHING), (STATUS, NOTHING))], [annotation([NOTHING] * 2)]
    )
    assert (result.type["columns"], result.fine["columns"]) == (1, 2)
    assert result.unknown_labels == {"Wage": 1, "pay grade": 1}
    assert result.as_dict()["unknown_labels"] == {"Wage": 1, "pay grade": 1}


def test_a_label_set_may_use_old_names():
    pairs = [(ColumnLabels(("Number",), fine=("quantity",)), answer("count", 1, fine_type="count"))]
    result = score_answers([table(*pairs)], [annotation([pairs[0][1]])])
    assert (result.fine["precision"], result.unknown_labels) == (1.0, {})


@pytest.mark.parametrize("labels", [UNLABELLED, ColumnLabels(personal=True)])
def test_nothing_labelled_is_refused(labels: ColumnLabels):
    with pytest.raises(UsageError, match="no column has types or fine names"):
        score_answers([table((labels, NOTHING))], [annotation([NOTHING])])
