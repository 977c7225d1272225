"""Exploration with known probabilities."""

import math

import numpy as np
import pytest

from aegir.routing.exploration import Exploration
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError


def tables_of(*widths: int) -> list[Table]:
    return [
        Table(f"t{n}", tuple(Column(None, ("1",)) for _ in range(width)))
        for n, width in enumerate(widths)
    ]


def test_epsilon_shares_its_part_among_all_workers():
    found = Exploration("epsilon", 0.3).probabilities(np.array([2, 0]), None, 3)
    # 0.7 + 0.3 / 3 for the chosen one, 0.1 for the others
    assert np.allclose(found, [[0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])


def test_softmax_follows_the_policy_where_it_decided():
    by_policy = np.array([[0.2, 0.8], [np.nan, np.nan]])
    found = Exploration("softmax", 0.5).probabilities(np.array([1, 0]), by_policy, 2)
    # 0.2^2 : 0.8^2 = 1 : 16; and exp(2) : 1
    assert np.allclose(found[0], [1 / 17, 16 / 17])
    assert np.allclose(found[1], [math.exp(2) / (math.exp(2) + 1), 1 / (math.exp(2) + 1)])


def test_workers_are_drawn_as_often_as_their_probability_says():
    probabilities = np.tile([0.1, 0.6, 0.3], (20_000, 1))
    drawn = Exploration("epsilon", 0.5).draw(probabilities, tables_of(20_000))
    shares = np.bincount(drawn, minlength=3) / 20_000
    assert np.allclose(shares, [0.1, 0.6, 0.3], atol=0.015)  # 4 standard errors are 0.014


def test_a_draw_depends_on_the_table_not_on_its_neighbours():
    tables, probabilities = tables_of(5, 7), np.full((12, 3), 1 / 3)
    together = Exploration("epsilon", 0.5, seed=3).draw(probabilities, tables)
    alone = Exploration("epsilon", 0.5, seed=3).draw(probabilities[:7], tables[1:])
    assert together[5:].tolist() == alone.tolist()


@pytest.mark.parametrize(("kind", "amount"), [("epsilon", 0), ("epsilon", 1.5), ("softmax", -1)])
def test_an_amount_that_cannot_be_is_refused(kind: str, amount: float):
    with pytest.raises(UsageError, match="the amount of exploration"):
        Exploration(kind, amount)
