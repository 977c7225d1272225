"""Activations are read once, and what is wrong with them is said."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.routing import group_rows, read_routing


def test_rows_of_one_decision_each_are_episodes():
    routing = read_routing([[1, 0], [0, 1], [0, 0]])
    assert routing.activations.shape == (3, 1, 2)
    assert routing.patterns.tolist() == [[True, False], [False, True], [False, False]]


def test_a_decision_with_nan_is_left_out_and_counted():
    routing = read_routing([[[1, 0], [np.nan, 1], [0, 1]]])
    assert routing.decided.tolist() == [[True, False, True]]
    assert routing.left_out == 1
    assert not routing.activations[0, 1].any()


def test_padding_is_not_counted_as_left_out():
    routing = read_routing([[[1, 0], [np.nan, np.nan]]], [[True, False]])
    assert (routing.left_out, int(routing.decided.sum())) == (0, 1)


def test_masked_values_are_missing():
    masked = np.ma.array([[[1, 0], [0, 1]]], mask=[[[0, 0], [1, 0]]])
    assert read_routing(masked).left_out == 1


def test_rows_of_one_decision_take_one_flag_each():
    assert read_routing([[1, 0], [0, 1]], [True, False]).decided.tolist() == [[True], [False]]


def test_flat_decisions_become_padded_episodes():
    padded, decided = group_rows([[1, 0], [0, 1], [1, 1]], [7, 3, 7])
    assert decided.tolist() == [[True, False], [True, True]]
    assert padded[0, 0].tolist() == [0, 1]
    assert padded[1].tolist() == [[1, 0], [1, 1]]
    assert np.isnan(padded[0, 1]).all()


def test_no_rows_make_no_episodes():
    padded, decided = group_rows(np.zeros((0, 2)), [])
    assert padded.shape == (0, 0, 2)
    assert decided.shape == (0, 0)


@pytest.mark.parametrize(
    ("activations", "decided", "sentence"),
    [
        ([1, 0], None, r"activations have shape \(2,\)"),
        (np.zeros((2, 3, 0)), None, "at least one specialist"),
        ([[[0.5, 1]]], None, r"episode 0, decision 0 are \[0.5, 1.0\]; expected 0 or 1"),
        ([[[np.inf, 1]]], None, "expected 0 or 1"),
        ([[1, 0], [1]], None, "rows of unequal length"),
        ([["on", "off"]], None, "cannot be read as one array of numbers"),
        ([[[1, 0]]], [[1.0]], "expected true or false of shape"),
        ([[[1, 0], [0, 1]]], [True], r"bool of shape \(1,\)"),
    ],
)
def test_what_is_no_routing_is_refused_in_a_sentence(activations, decided, sentence):
    with pytest.raises(UsageError, match=sentence):
        read_routing(activations, decided)


@pytest.mark.parametrize(
    ("rows", "episode", "sentence"),
    [
        ([[1, 0], [0, 1]], [1], "expected one name for each of 2 rows"),
        ([1, 0], [None, "a"], "episode mixes names that cannot be compared"),
        ([1, 0], [[1], [1, 2]], "episode cannot be read as one array: rows of unequal"),
        (3, 3, "rows are the single number 3.0"),
    ],
)
def test_rows_that_cannot_be_grouped_are_refused(rows, episode, sentence):
    with pytest.raises(UsageError, match=sentence):
        group_rows(rows, episode)
