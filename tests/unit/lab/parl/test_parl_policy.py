"""Routing decisions: what is drawn, what a cap leaves of it, and how likely that was."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from aegir.lab.nets.annotator import TableBatch
from aegir.lab.parl.config import RoutingSettings
from aegir.lab.parl.policy import (
    activation_chances,
    compute_propensity,
    draw_activations,
    draw_labels,
)
from aegir_rl.base.errors import UsageError

LEARNT = RoutingSettings()


def tables(*sizes: int) -> TableBatch:
    """StepTables of so many columns, numbered one after the other."""
    mask = torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]
    columns = torch.zeros(mask.shape, dtype=torch.long)
    columns[mask] = torch.arange(sum(sizes))
    return TableBatch(columns, mask, torch.zeros_like(columns))


def executed(drawn: np.ndarray, chances: np.ndarray, cap: int) -> np.ndarray:
    """The cap written to be read: the highest chances stay, of equal ones the first."""
    order = [place for place in np.argsort(-chances, kind="stable") if drawn[place]]
    kept = np.zeros(len(drawn), bool)
    kept[order[:cap]] = True
    return kept


def test_the_propensity_is_that_of_the_worked_number():
    chances = np.array([[0.8, 0.6, 0.5]])
    for on, expected in (((0, 1, 0), 0.12), ((1, 0, 0), 0.8), ((0, 0, 1), 0.04), ((0, 0, 0), 0.04)):
        found = compute_propensity(chances, np.array([on], bool), 1).prod()
        assert found == pytest.approx(expected)


@given(
    st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.5, 0.9]), min_size=1, max_size=6),
    st.integers(1, 4),
)
def test_the_propensity_is_the_chance_of_everything_that_the_cap_turns_into_it(
    chances: list[float], cap: int
):
    p = np.array(chances)
    expected: dict[tuple[bool, ...], float] = {}
    for drawn in itertools.product([False, True], repeat=len(p)):
        key = tuple(executed(np.array(drawn), p, cap).tolist())
        chance = math.prod(q if on else 1 - q for on, q in zip(drawn, chances, strict=True))
        expected[key] = expected.get(key, 0.0) + chance
    for key, chance in expected.items():
        found = compute_propensity(p[:, None], np.array(key)[:, None], cap).prod()
        assert found == pytest.approx(chance)


def test_a_cap_holds_for_every_table_and_keeps_the_highest_scores():
    scores = np.tile([[0.9, 0.7], [0.8, 0.6]], (3, 1))
    drawn = draw_activations(scores, tables(2, 4), LEARNT, 1, np.random.default_rng(0))
    for rows in (slice(0, 2), slice(2, 6)):
        kept = drawn.executed[rows]
        assert kept.sum() == min(1, drawn.drawn[rows].sum())
        best = np.where(drawn.drawn[rows], scores[rows], 0).max()
        assert scores[rows][kept] == best
    assert (drawn.executed <= drawn.drawn).all()


def test_without_a_cap_everything_drawn_is_executed():
    scores = np.full((6, 2), 0.5)
    drawn = draw_activations(scores, tables(6), LEARNT, None, np.random.default_rng(0))
    assert (drawn.executed == drawn.drawn).all()
    assert drawn.propensity.prod() == pytest.approx(0.5**12)


def test_a_cap_of_0_is_refused():
    with pytest.raises(UsageError, match="cap is 0; expected at least 1"):
        draw_activations(np.full((2, 1), 0.5), tables(2), LEARNT, 0, np.random.default_rng(0))


@pytest.mark.parametrize(("kind", "chance"), [("always", 1.0), ("random", 0.25), ("off", 0.0)])
def test_only_learnt_routing_follows_the_scores(kind: str, chance: float):
    scores = np.array([[0.1, 0.9]])
    assert (activation_chances(scores, RoutingSettings(kind, 0.25)) == chance).all()
    assert activation_chances(scores, LEARNT) is scores


def test_a_temperature_draws_closer_to_what_the_threshold_decides():
    # odds 1, 3 and 1/9 to the power of 2: 1, 9 and 1/81
    chances = activation_chances(np.array([[0.5, 0.75, 0.1]]), RoutingSettings(temperature=0.5))
    assert chances[0] == pytest.approx([0.5, 0.9, 1 / 82])


def test_labels_are_drawn_with_their_probability():
    logs = np.log(np.tile([0.7, 0.2, 0.1], (4000, 1)))
    drawn = np.bincount(draw_labels(logs, np.random.default_rng(0)), minlength=3) / 4000
    assert np.abs(drawn - [0.7, 0.2, 0.1]).max() < 0.03  # 4 standard errors of 0.0072
