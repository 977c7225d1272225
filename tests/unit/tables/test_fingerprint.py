"""Fingerprints: what of a column is kept, and how alike two columns are."""

import json

import pytest

from aegir.tables.fingerprint import (
    Fingerprint,
    compute_overlap,
    compute_similarity,
    fingerprint_column,
    fingerprint_table,
    spelling_of,
)
from aegir.tables.table import Column
from reviewed_tables import made_up_table


def of(*values: str) -> Fingerprint:
    return fingerprint_column(Column("x", values))


def test_a_fingerprint_holds_shapes_and_figures_but_no_value():
    column = of("Ann-12", "Bob-99", "bob-7", "")
    assert column.shapes == (("Aa-00", 0.667), ("a-0", 0.333))
    assert (column.cells, column.distinct, column.datatype) == (3, 3, "string")
    written = json.dumps(column.as_dict())
    assert "Ann" not in written
    assert Fingerprint.from_dict(json.loads(written)) == column
    assert set(column.without_values().values) == {"0"}


def test_the_overlap_of_values_is_estimated_from_sketches():
    values = [f"item {number}" for number in range(60)]
    assert compute_overlap(of(*values), of(*values)) == 1
    assert compute_overlap(of(*values[:30]), of(*values)) > 0.6  # 30 of 30 in fact
    assert compute_overlap(of(*values[:30]), of(*values[30:])) < 0.2  # none in fact
    assert compute_overlap(of("yes", "no"), of("no", "yes", "no")) == 1


def test_a_column_that_grows_stays_alike_and_others_do_not():
    small, large = (fingerprint_table(made_up_table(rows)) for rows in (30, 200))
    for before, after in zip(small, large, strict=True):
        assert compute_similarity(before, after) > 0.8
    code, mail, amount, state = large
    for one, other in ((code, mail), (mail, state), (code, state), (amount, code)):
        assert compute_similarity(one, other) < 0.5


def test_a_growing_key_stays_alike_and_numbers_of_another_size_do_not():
    key, grown = of(*map(str, range(1, 101))), of(*map(str, range(1, 1001, 5)))
    assert compute_similarity(key, grown) == 1
    assert compute_similarity(of("15", "20", "20", "25"), of("1500", "2000", "2000", "2500")) < 0.1


def test_headers_are_compared_without_case_blanks_and_punctuation():
    assert spelling_of("E-Mail Address") == spelling_of("emailAddress") == "emailaddress"
    assert spelling_of("--") == "--"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("values", "0" * 63),
        ("texture", "zz"),
        ("cells", -1),
        ("lengths", [1.0]),
        ("numbers", [float("nan")] * 7),
        ("name", 3),
        ("surplus", 1),
    ],
)
def test_what_is_no_fingerprint_is_refused(key: str, value: object):
    with pytest.raises((ValueError, TypeError)):
        Fingerprint.from_dict({**of("a", "b").as_dict(), key: value})
