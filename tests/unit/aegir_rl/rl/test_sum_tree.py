"""Drawing by weight: the worked picture, the edges, and the two forms against each other."""

import numpy as np
import pytest

from aegir_rl.rl.sum_tree import SumTree


def test_the_picture_in_the_docstring():
    tree = SumTree(np.array([1.0, 2.0, 3.0, 4.0]))
    assert tree.total == 10
    assert tree.find(0.35) == 2
    assert [tree.find(share) for share in (0, 0.0999, 0.1, 0.2999, 0.3, 0.6, 0.9999)] == [
        *(0, 0, 1, 1, 2, 3, 3)
    ]


@pytest.mark.parametrize("items", [1, 2, 3, 5, 8, 1000])
def test_one_by_one_and_all_at_once_find_the_same(items):
    random = np.random.default_rng(items)
    tree = SumTree(random.random(items) * (random.random(items) > 0.3) + 1e-9)
    shares = random.random(200)
    assert tree.find_many(shares).tolist() == [tree.find(share) for share in shares]


def test_items_of_weight_0_are_never_drawn_even_at_the_very_end():
    tree = SumTree(np.array([0.0, 0.1, 0.2, 0.0, 0.7, 0.0, 0.0]))
    shares = np.append(np.random.default_rng(0).random(5000), [0.0, np.nextafter(1, 0)])
    assert set(tree.find_many(shares).tolist()) == {1, 2, 4}


def test_draws_follow_the_weights():
    weights = np.arange(1.0, 11)
    drawn = SumTree(weights).find_many(np.random.default_rng(1).random(100_000))
    assert np.bincount(drawn) / 1e5 == pytest.approx(weights / 55, abs=0.005)


def test_sums_do_not_drift_over_a_million_changes():
    random = np.random.default_rng(2)
    tree = SumTree(np.ones(1000))
    for _ in range(1000):
        tree.set_many(
            random.integers(0, 1000, 1000), random.random(1000) * 10.0 ** random.integers(-9, 9)
        )
    tree.set_many(np.arange(1000), np.full(1000, 0.5))
    assert tree.total == 500.0
