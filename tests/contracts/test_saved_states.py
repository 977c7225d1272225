"""Everything that remembers: what it saves restores it, and a state that lacks something gets one sentence."""

import json

import numpy as np
import pytest

from aegir.errors import UsageError
from aegir.health.monitor import HealthMonitor
from aegir.observe.drift_verdict import DriftVerdict
from aegir.observe.drift_watch import DriftWatch
from aegir.observe.latency_sketch import LatencySketch
from aegir.observe.performance_tracker import APIPerformanceTracker
from aegir.plugins.adapters import AtroposReward
from aegir.raters.agreement_stream import AgreementStream
from aegir.raters.ensemble import RewardEnsemble
from aegir.rewards.combined import CombinedReward
from aegir.rewards.running_normalizer import RunningNormalizer
from aegir.rl.curriculum import Curriculum


def measured_tracker():
    tracker = APIPerformanceTracker()
    tracker.record("judge", "score", 0.01)
    return tracker


def fed_sketch():
    sketch = LatencySketch()
    sketch.add([0.01, 0.02])
    return sketch


def fed_normalizer():
    normalizer = RunningNormalizer()
    normalizer.update([1.0, 2.0, 4.0])
    return normalizer


def fed_ensemble():
    ensemble = RewardEnsemble(["a", "b"])
    ensemble.combine([[1, 2, 3], [1, 2, 4]])
    return ensemble


JSON_READY = {
    "tracker": measured_tracker,
    "sketch": fed_sketch,
    "normaliser": fed_normalizer,
    "combined reward": CombinedReward,
    "drift watch": DriftWatch,
    "drift verdict": DriftVerdict,
    "monitor": HealthMonitor,
    "reward adapter": lambda: AtroposReward(len, name="length"),
}
WITH_ARRAYS = {
    "ensemble": fed_ensemble,
    "curriculum": lambda: Curriculum(5),
    "agreement stream": lambda: AgreementStream("nominal"),
}
MAKERS = {**JSON_READY, **WITH_ARRAYS}
KEYS = [(name, key) for name, make in MAKERS.items() for key in make().state_dict()]


@pytest.mark.parametrize(("name", "key"), KEYS)
def test_a_state_that_lacks_a_key_is_refused_by_its_name_and_changes_nothing(name, key):
    keeper = MAKERS[name]()
    before = repr(keeper.state_dict())
    state = {other: value for other, value in keeper.state_dict().items() if other != key}
    with pytest.raises(UsageError, match=f"'{key}'") as caught:
        keeper.load_state_dict(state)
    assert "\n" not in str(caught.value)
    assert repr(keeper.state_dict()) == before


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("state", [{}, None, []], ids=["empty", "none", "list"])
def test_what_is_no_state_gets_a_sentence(name, state):
    with pytest.raises(UsageError, match=r"\w+"):
        MAKERS[name]().load_state_dict(state)


@pytest.mark.parametrize("name", JSON_READY)
def test_what_is_called_json_ready_goes_through_json(name):
    keeper, again = MAKERS[name](), MAKERS[name]()
    again.load_state_dict(json.loads(json.dumps(keeper.state_dict(), allow_nan=False)))
    # The tracker lays its spans on the wall clock, whose floats are 2e-7 s apart.
    assert again.metrics() == pytest.approx(keeper.metrics(), rel=1e-4)


@pytest.mark.parametrize("name", WITH_ARRAYS)
def test_what_holds_arrays_says_so(name):
    keeper = MAKERS[name]()
    arrays = [key for key, value in keeper.state_dict().items() if isinstance(value, np.ndarray)]
    assert arrays
    assert all(f"`{key}`" in keeper.state_dict.__doc__ for key in arrays)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({}, "the saved tracker has no 'relative_error' and no 'meters'; expected what its"),
        ({"relative_error": 0.01, "meters": [{}]}, "a meter of the saved tracker has no 'node'"),
    ],
)
def test_a_tracker_merges_no_broken_state(state, sentence):
    tracker = measured_tracker()
    with pytest.raises(UsageError, match=sentence):
        tracker.merge(state)
    assert [one.calls for one in tracker.figures()] == [1]


def test_moments_that_were_cut_off_are_named_by_their_key():
    state = fed_normalizer().state_dict()
    del state["moments"][0][1]["seen"]
    with pytest.raises(UsageError, match="key None of the saved normaliser has no 'seen'"):
        RunningNormalizer().load_state_dict(state)
