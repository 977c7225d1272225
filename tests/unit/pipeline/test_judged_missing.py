"""An answer that states that values are missing is judged by that, not by what its header says."""

from dataclasses import replace

from aegir.pipeline.judged_columns import JudgedColumn
from aegir.pipeline.run import annotate
from aegir.tables.labelled import ColumnLabels


def test_the_fact_that_all_is_missing_is_right_where_the_label_says_so():
    (answer,) = annotate({"email": ["", ""]}, memory=False)[0].columns
    labels = ColumnLabels(types=(), fine=("all_missing",))
    assert (answer.label, answer.all_missing) == ("email_address", True)
    judged = JudgedColumn(labels, answer)
    assert (judged.label_right, judged.type_right, judged.fine_right) == (True, True, True)
    other = JudgedColumn(labels, replace(answer, all_missing=False))
    assert (other.label_right, other.type_right, other.fine_right) == (False, False, False)
