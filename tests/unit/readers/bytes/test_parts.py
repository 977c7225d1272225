"""The small parts: products row by row, packed rows, the moving average, siblings in a table."""

import numpy as np
import pytest

from aegir.readers.bytes.chunking import BoundaryRouter, dechunk, moving_average
from aegir.readers.bytes.ragged import Ragged
from aegir.readers.bytes.table_mixer import siblings
from aegir_rl.base.arrays import TILE, LayerNorm, rows_times, sigmoid, standardised, to_length_one


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize(
    "shape", [(64, 64), (160, 480), (480, 160), (128, 48), (16, 160), (768, 384), (192, 1)]
)
def test_a_product_does_not_depend_on_the_rows_beside_or_on_its_place(shape: tuple[int, int]):
    x, weight = draw(5 * TILE + 7, shape[0]), draw(*shape)
    together = rows_times(x, weight)
    np.testing.assert_allclose(together, x @ weight, rtol=0, atol=1e-3)
    for row in (0, 1, TILE - 1, TILE, 3 * TILE + 5, len(x) - 1):
        np.testing.assert_array_equal(rows_times(x[row : row + 1], weight)[0], together[row])
    np.testing.assert_array_equal(rows_times(x[3:], weight), together[3:])


def test_a_product_of_no_rows_has_no_rows():
    assert rows_times(draw(0, 8), draw(8, 5)).shape == (0, 5)


def test_squashing_never_overflows():
    x = np.array([-1e30, -100, 0, 1, 1e30], np.float32)
    np.testing.assert_allclose(sigmoid(x), [0, 0, 0.5, 0.7310586, 1], atol=1e-7)


def test_norms_worked_out_by_hand():
    """1, 3: mean 2, variance 1. Of length 1: 3, 4 becomes .6, .8; nothing stays nothing."""
    pair = np.array([[1, 3]], np.float32)
    np.testing.assert_allclose(standardised(pair.copy(), np.float32(0)), [[-1, 1]])
    norm = LayerNorm(np.array([2, 2], np.float32), np.array([1, 1], np.float32))
    np.testing.assert_allclose(norm(pair), [[-1, 3]], atol=2e-5)
    np.testing.assert_array_equal(pair, [[1, 3]])
    lengths = to_length_one(np.array([[3, 4], [0, 0]], np.float32))
    np.testing.assert_allclose(lengths, [[0.6, 0.8], [0, 0]])


@pytest.fixture
def rows() -> Ragged:
    return Ragged.of(np.array([3, 0, 1, 2]))


def test_packed_rows_know_their_places(rows: Ragged):
    assert rows.row_of.tolist() == [0, 0, 0, 2, 3, 3]
    assert rows.offsets.tolist() == [0, 1, 2, 0, 0, 1]
    assert rows.mirrored.tolist() == [2, 1, 0, 3, 5, 4]


def test_packed_rows_look_back_without_looking_at_each_other(rows: Ragged):
    x = np.arange(1, 7, dtype=np.float32)[:, None]
    before = np.array([[-1], [-2], [-3], [-4]], np.float32)
    assert rows.previous(x, before).ravel().tolist() == [-1, 1, 2, -3, -4, 5]
    assert rows.last(x, before).ravel().tolist() == [3, -2, 4, 6]
    assert rows.sums(x).ravel().tolist() == [6, 0, 4, 11]
    assert rows.most(-x).ravel().tolist() == [-1, 0, -4, -5]
    assert rows.padded(x)[..., 0].tolist() == [[1, 2, 3], [0, 0, 0], [4, 0, 0], [5, 6, 0]]


def test_a_walk_visits_the_rows_that_go_on_longest_first(rows: Ragged):
    walk = rows.walk()
    assert walk.rows.tolist() == [0, 3, 2, 1]
    assert [walk.positions[now].tolist() for now in walk.steps()] == [[0, 4, 3], [1, 5], [2]]


def test_groups_hold_neighbours_and_a_long_row_is_cut_by_its_own_length():
    rows = Ragged.of(np.array([2, 2, 3, 9, 1]))
    groups = rows.groups(4)
    found = [(one.rows, one.positions, one.goes_on) for one in groups]
    assert found == [
        (slice(0, 2), slice(0, 4), False),
        (slice(2, 3), slice(4, 7), False),
        (slice(3, 4), slice(7, 11), False),
        (slice(3, 4), slice(11, 15), True),
        (slice(3, 4), slice(15, 16), True),
        (slice(4, 5), slice(16, 17), False),
    ]
    assert [one.rows for one in Ragged.of(np.zeros(0, np.int64)).groups(4)] == [slice(0, 0)]


def test_the_moving_average_worked_out_by_hand():
    """p = 1/2 of 4 on 0 is 2; p = 3/4 of 8 on 2 is 6.5. The second row starts from 10: 1/2 of 0 is 5."""
    z = np.array([[4], [8], [0]], np.float32)
    p = np.array([0.5, 0.75, 0.5], np.float32)
    before = np.array([[0], [10]], np.float32)
    smooth, last = moving_average(z, p, Ragged.of(np.array([2, 1])), before)
    np.testing.assert_allclose(smooth, [[2], [6.5], [5]])
    np.testing.assert_allclose(last, [[6.5], [5]])


def test_boundaries_stand_where_a_position_does_not_resemble_the_one_before():
    """Row 0 turns round at its third position; row 1 goes on from a key it resembles."""
    unit = np.eye(2, dtype=np.float32)
    x = np.array([[1, 0], [1, 0], [-1, 0], [0, 1]], np.float32)
    rows = Ragged.of(np.array([3, 1]))
    last_key = np.array([[0, 0], [0, 1]], np.float32)
    found, key = BoundaryRouter(unit, unit)(x, rows, last_key, np.array([False, True]))
    assert found.p.tolist() == [1, 0, 1, 0]
    assert found.is_boundary.tolist() == [True, False, True, False]
    assert found.chunks.lengths.tolist() == [2, 0]
    assert key.tolist() == [[-1, 0], [0, 1]]
    average = np.array([[7], [9]], np.float32)
    spread, _ = dechunk(np.array([[1], [2]], np.float32), found, average)
    np.testing.assert_allclose(spread.ravel(), [1, 1, 2, 9], atol=1e-2)


def test_siblings_are_all_columns_but_oneself():
    """Of 1, 5, 3 the others' means are 4, 2, 3 and their maxima 5, 3, 5; equal maxima stay; alone is 0."""
    x = np.array([[1, 2], [5, 2], [3, 0], [8, 8]], np.float32)
    mean, most = siblings(x, Ragged.of(np.array([3, 1])))
    assert mean.tolist() == [[4, 1], [2, 1], [3, 2], [0, 0]]
    assert most.tolist() == [[5, 2], [3, 2], [5, 2], [0, 0]]
