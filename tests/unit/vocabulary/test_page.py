"""The page of the vocabulary."""

from aegir.vocabulary.page import page
from aegir.vocabulary.terms import TYPE_NAMES


def test_every_table_row_has_four_cells():
    rows = [line for line in page().splitlines() if line.startswith("|")]
    assert len(rows) > len(TYPE_NAMES)
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}
