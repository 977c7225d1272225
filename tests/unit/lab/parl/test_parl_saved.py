"""Nested state as JSON and arrays, and back."""

import json
from typing import Any

import numpy as np

from aegir_rl.base.saved_state_parts import join_state, split_state


def test_arrays_come_back_to_their_place_and_the_rest_is_json():
    state: dict[str, Any] = {
        "rewards": {"window": np.arange(6.0).reshape(2, 3), "counts": [1, 2]},
        "curricula": {"rl": {"known": np.ones(3), "journal": None}},
        "monitor": {"reward/mean": {"seen": 3}},
    }
    facts, arrays = split_state(state)
    assert sorted(arrays) == ["state/curricula/rl/known", "state/rewards/window"]
    joined = join_state(json.loads(json.dumps(facts)), arrays | {"net.weight": np.zeros(2)})
    assert joined["monitor"] == state["monitor"]
    assert joined["rewards"]["counts"] == [1, 2]
    assert joined["curricula"]["rl"]["journal"] is None
    for found, given in (
        (joined["rewards"]["window"], state["rewards"]["window"]),
        (joined["curricula"]["rl"]["known"], state["curricula"]["rl"]["known"]),
    ):
        assert np.array_equal(found, given)


def test_joining_changes_nothing_that_was_given():
    facts = {"a": {"b": 1}}
    join_state(facts, {"state/a/c": np.zeros(1)})
    assert facts == {"a": {"b": 1}}
