"""Ranks become normal numbers and bets on them are fair, whatever the stream is made of."""

import json

import numpy as np
import pytest

from aegir.errors import UsageError
from aegir.observe.rank_bets import RankedStream, compute_payoffs


def stream_of(values, seed=0):
    ranks = RankedStream(np.random.default_rng(seed))
    return ranks, [ranks.take(value) for value in values]


def test_the_worked_bet_of_the_docstring():
    # exp(1.96 - 0.5) = 4.306, exp(-1.96 - 0.5) = 0.0854, and a bet on no shift keeps its unit.
    pays = compute_payoffs(np.array([1.0, -1.0, 0.0]), 1.96)
    assert pays == pytest.approx([4.306, 0.0854, 1.0], abs=0.001)


def test_a_value_above_97_of_98_elders_scores_about_two():
    ranks, _ = stream_of([0.0] * 97 + [2.0])
    assert 1.96 < ranks.take(1.0) < 2.33  # its rank is drawn between 97/99 and 98/99


@pytest.mark.parametrize("name", ["normal", "cauchy", "coin"])
def test_scores_are_standard_normal_whatever_the_distribution(name):
    random = np.random.default_rng(1)
    draws = {
        "normal": random.standard_normal(4000),
        "cauchy": random.standard_cauchy(4000),
        "coin": (random.random(4000) < 0.1).astype(float),
    }
    _, scores = stream_of(draws[name].tolist())
    # Standard errors of 4,000 scores: mean 0.016, deviation 0.011.
    assert np.mean(scores) == pytest.approx(0, abs=0.06)
    assert np.std(scores) == pytest.approx(1, abs=0.05)
    assert abs(np.corrcoef(scores[1:], scores[:-1])[0, 1]) < 0.06


def test_values_are_kept_in_the_order_they_came_until_it_starts_anew():
    ranks, _ = stream_of([3.0, 1.0, 2.0])
    assert ranks.values == [3.0, 1.0, 2.0]
    ranks.start_anew()
    assert len(ranks) == 0


def test_saved_and_restored_it_breaks_ties_the_same():
    first, _ = stream_of([1.0, 1.0, 2.0])
    second, _ = stream_of([5.0], seed=9)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert [first.take(1.0) for _ in range(20)] == [second.take(1.0) for _ in range(20)]


def test_a_state_without_values_gets_a_sentence():
    with pytest.raises(UsageError, match="has no 'values'; expected what its state_dict gives"):
        stream_of([])[0].load_state_dict({"random": {}})
