"""Evaluation worked out by hand, with an annotator that says what it is told to say."""

from collections.abc import Sequence

import numpy as np
import pytest

from aegir.evaluation.evaluation import evaluate
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.errors import UsageError


class Parrot:
    """Reads its answer off the first cell of each column: 'label confidence'."""

    name = "parrot"

    def __init__(self, task: str = "cta") -> None:
        """Of the other task it says nothing, which would move the confidence of this one."""
        self.task = task

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        return [self._score(table) for table in tables]

    def _score(self, table: Table) -> TableScores:
        found = [
            np.zeros((len(table.columns), len(n)), np.float32) for n in (TYPE_NAMES, RELATION_NAMES)
        ]
        for row, column in enumerate(table.columns):
            label, _, confidence = column.values[0].rpartition(" ")
            for scores, names in zip(found, (TYPE_NAMES, RELATION_NAMES), strict=True):
                if label in names:
                    scores[row, names.index(label)] = float(confidence)
        types, relations = (
            scores * (self.task == task) for scores, task in zip(found, ("cta", "cpa"), strict=True)
        )
        return TableScores(types, relations, table.subject, (Explanation(),) * len(table.columns))


def labelled(*columns: tuple[str, tuple[str, ...]], task: str = "cta") -> LabelledTable:
    """Columns of (what the parrot says, accepted labels); headers are null."""
    table = Table("t", tuple(Column(None, (says,)) for says, _ in columns))
    key = "types" if task == "cta" else "relations"
    return LabelledTable(
        table, tuple(ColumnLabels(**{key: names or None}) for _, names in columns), {}
    )


def test_scores_by_hand():
    tables = [
        labelled(("email 0.9", ("email",)), ("email 0.5", ("URL",)), ("URL 0.9", ())),
        labelled(("URL 0.9", ("URL",)), ("URL 0.5", ("email", "URL"))),
    ]
    result = evaluate(Parrot(), tables, "cta")
    assert (result.tables, result.columns, result.annotator) == (2, 4, "parrot")
    assert result.f1.micro_f1 == 3 / 4
    # email: 1 gold, 2 answers, 1 right: 2 / 3; URL: 3 gold, 2 answers, 2 right: 4 / 5
    assert result.f1.macro_f1 == pytest.approx((2 / 3 + 4 / 5) / 2)
    # at 0.9 two right: gap 0.2; at 0.5 one of two right: gap 0; 0.2 / 4 = 0.05
    assert result.ece == pytest.approx(0.05)
    points = {
        point.threshold: (point.coverage, point.precision) for point in result.operating_points
    }
    assert points[0.4] == (1.0, 0.75)
    assert points[0.6] == (0.5, 1.0)
    assert points[0.95] == (0.0, 1.0)


def test_abstentions_count_as_wrong_and_are_reported():
    tables = [labelled(("email 0.9", ("email",)), ("URL 0.5", ("URL",)), ("silence 0", ("URL",)))]
    result = evaluate(Parrot(), tables, "cta", Thresholds(types=0.6))
    assert result.f1.abstained == 2
    assert result.f1.micro_f1 == pytest.approx(1 / 3)
    assert result.ece == pytest.approx(0.1)  # of the one answer given
    coverage = {point.threshold: point.coverage for point in result.operating_points}
    assert coverage[0.3] == pytest.approx(1 / 3)


def test_labels_outside_the_vocabulary_are_reported_and_missed():
    result = evaluate(Parrot(), [labelled(("email 1", ("email",)), ("URL 1", ("Url",)))], "cta")
    assert result.unknown_labels == ("Url",)
    assert result.f1.micro_f1 == 1 / 2


def test_relations_are_to_column_0_unless_the_table_says_otherwise():
    columns = (("email 1", ()), ("telephone 1", ("telephone",)), ("email 1", ("email",)))
    table = labelled(*columns, task="cpa")
    assert evaluate(Parrot("cpa"), [table], "cpa").f1.micro_f1 == 1
    assert evaluate(Parrot("cpa"), [table.with_subject(2)], "cpa").f1.micro_f1 == 1 / 2


def test_relations_of_a_table_without_columns_do_not_trip_it():
    tables = [labelled(task="cpa"), labelled(("email 1", ()), ("email 1", ("email",)), task="cpa")]
    assert evaluate(Parrot("cpa"), tables, "cpa").f1.micro_f1 == 1


def test_nothing_labelled_is_refused():
    with pytest.raises(UsageError, match="no column has a 'cpa' label"):
        evaluate(Parrot("cpa"), [labelled(("email 1", ("email",)))], "cpa")


def test_many_tables_keep_their_order():
    tables = [labelled((f"{name} 1", (name,))) for name in TYPE_NAMES * 4]
    result = evaluate(Parrot(), tables, "cta")
    assert (result.columns, result.f1.micro_f1, result.f1.macro_f1) == (328, 1.0, 1.0)


def test_the_json_object_has_the_promised_keys_and_plain_values():
    shown = evaluate(Parrot(), [labelled(("email 0.9", ("email",)))], "cta").as_dict()
    assert {"task", "columns", "micro_f1", "macro_f1", "ece", "columns_per_cpu_second"} <= set(
        shown
    )
    assert (shown["task"], shown["columns"], shown["micro_f1"]) == ("cta", 1, 1.0)
    assert shown["ece"] == 0.1
