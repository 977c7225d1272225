"""Columns as models read them: clean cells, and a few of many."""

from aegir.tables.table import Column, clean_cell


def test_a_cell_is_cut_then_decoded_then_stripped() -> None:
    assert clean_cell(" caf&eacute; &amp; bar ") == "café & bar"
    assert clean_cell("&nbsp;a&nbsp;") == "a"
    assert clean_cell("a &amp; b", 7) == "a &"


def test_cells_are_spread_evenly_and_missing_ones_do_not_count() -> None:
    column = Column("n", ("", *"0123456789", " "))
    assert column.spread(20) == tuple("0123456789")
    # Indices 0, 10 // 4, 20 // 4, 30 // 4.
    assert column.spread(4) == ("0", "2", "5", "7")
