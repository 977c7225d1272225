"""Whatever a column holds, its statistics are as many as ever and within their bounds."""

import math

from hypothesis import given
from hypothesis import strategies as st

from aegir.readers.ngrams.column_inputs import LIMIT, STATISTICS, statistics_of
from aegir.tables.table import Column

NUMBERS = st.one_of(
    st.floats().map(str),
    st.integers(-(10**400), 10**400).map(str),
    st.integers().map(lambda number: f"{number:,}"),
    st.floats(allow_nan=False, allow_infinity=False).map(
        lambda number: f"{number:.3f}".replace(".", ",")
    ),
    st.sampled_from(
        ["nan", "NaN", "-inf", "1e308", "1e-400", "0" * 500, "&nbsp;", "%", "$", "١٢", "1e999"]
    ),
)
CELLS = st.one_of(
    NUMBERS, st.text(max_size=12), st.sampled_from(["", " ", "n/a", "x" * 100_000, "\ud800", "\0"])
)


@given(
    st.one_of(st.lists(NUMBERS, max_size=30), st.lists(CELLS, max_size=30)),
    st.integers(0, 40),
    st.integers(0, 40),
)
def test_statistics_of_any_column_are_finite_and_bounded(cells, place, others):
    found = statistics_of(Column(None, tuple(cells)), place, place + others + 1)
    assert len(found) == STATISTICS
    assert all(math.isfinite(statistic) and abs(statistic) <= LIMIT for statistic in found)


@given(st.lists(st.floats(allow_nan=False).map(str), min_size=1, max_size=20))
def test_figures_do_not_depend_on_spaces_around_cells(cells):
    spaced = tuple(f"  {cell}\t" for cell in cells)
    assert statistics_of(Column(None, tuple(cells)), 0, 1) == statistics_of(
        Column(None, spaced), 0, 1
    )
