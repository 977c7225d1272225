"""What counts as a feature of a cell, and what does not."""

import numpy as np

from aegir.readers.ngrams.features import BUCKETS, JointIndex, hashed_features, views_of
from aegir.tables.table import Column


def buckets(*cells: str) -> set[int]:
    return set(hashed_features([cells]).features.tolist())


def test_entities_are_unescaped_before_hashing():
    assert buckets("R&amp;D &lt;b&gt;") == buckets("R&D <b>")


def test_markers_inside_a_cell_read_as_spaces():
    assert buckets("one\x02two\x03three") == buckets("one two three")


def test_space_around_a_cell_does_not_count():
    assert buckets("  Oslo\t") == buckets("Oslo")


def test_what_stands_beyond_160_bytes_is_not_seen():
    assert buckets("a" * 160 + "b") == buckets("a" * 160)


def test_a_feature_counts_once_per_cell_however_often_it_occurs():
    rows = hashed_features([("aaaa", "99")])
    assert set(rows.shares.tolist()) == {0.5, 1.0}
    assert (rows.shares == 1).sum() == 4  # only the two markers are shared, as bytes and as shapes
    assert hashed_features([("ab", "ab")]).shares.tolist() == [1.0] * len(buckets("ab"))


def test_neighbouring_cells_share_no_run_of_bytes():
    assert buckets("ab", "cd") == buckets("ab") | buckets("cd")


def test_an_empty_view_has_no_features():
    rows = hashed_features([(), ("Oslo",), ()])
    assert rows.starts[:2].tolist() == [0, 0]
    assert rows.starts[2] == rows.starts[3] == len(buckets("Oslo"))


def test_an_index_renumbers_kept_buckets_and_leaves_out_the_others():
    first, second = sorted(buckets("Oslo"))[:2]
    index = np.full(BUCKETS, -1, np.int32)
    index[second], index[first] = 0, 7
    rows = hashed_features([("Oslo",)], index)
    assert rows.features.tolist() == [0, 7]
    assert rows.shares.tolist() == [1.0, 1.0]


def test_rows_by_a_joint_index_are_those_of_each_model():
    views = [("Oslo", "Bergen"), (), ("12.5",), ("Oslo 1",)]
    known = sorted(set().union(*(buckets(*view) for view in views if view)))
    indices = []
    for places in (known[::2], known[1::3]):
        index = np.full(BUCKETS, -1, np.int32)
        index[places] = np.arange(len(places), dtype=np.int32)
        indices.append(index)
    joint = JointIndex.of(indices)
    together = hashed_features(views, joint.index)
    chosen = np.array([3, 1, 0])
    for index, numbers in zip(indices, joint.own, strict=True):
        expected = hashed_features([views[place] for place in chosen], index)
        found = together.at(chosen).renumbered(numbers)
        assert len(found.features) > 5
        np.testing.assert_array_equal(found.starts, expected.starts)
        np.testing.assert_array_equal(found.features, expected.features)
        np.testing.assert_array_equal(found.shares, expected.shares)


def test_a_long_column_is_seen_as_six_views_spread_over_it():
    views = views_of(Column("n", tuple(str(number) for number in range(3000))))
    assert [len(view) for view in views] == [5] * 6
    assert views[0] == ("0", "600", "1200", "1800", "2400")
    assert views[5][-1] == "2900"


def test_an_empty_column_has_no_views():
    assert views_of(Column("n", ("", "  "))) == []
