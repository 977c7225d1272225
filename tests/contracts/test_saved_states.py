"""Everything that remembers: what it saves restores it, and a damaged state gets one sentence."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aegir_rl.base.errors import UsageError
from aegir_rl.health.monitor import HealthMonitor
from aegir_rl.observe.drift_watch import DriftWatch
from aegir_rl.observe.latency_sketch import LatencySketch
from aegir_rl.observe.performance_tracker import APIPerformanceTracker
from aegir_rl.plugins.atropos import AtroposReward
from aegir_rl.raters.agreement_stream import AgreementStream
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.rewards.combined import CombinedReward
from aegir_rl.rewards.running_normalizer import RunningNormalizer
from aegir_rl.rl.curriculum import Curriculum


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


def fed_stream(metric):
    stream = AgreementStream(metric)
    stream.update([[1, 2, 3], [1, 2, 4]])
    return stream


def fed_curriculum(strategy="competence"):
    curriculum = Curriculum(5, strategy, difficulty=range(5))
    curriculum.update(curriculum.draw(3), [1, 0, np.nan])
    return curriculum


def fed_monitor():
    monitor = HealthMonitor(settle=0)
    for step in range(12):
        figures = {
            "kl": 0.1 + step,
            "reward/mean": step / 12,
            "reward/saturated": 0.5,
            "entropy": 1.0,
        }
        monitor.observe(step, figures)
    return monitor


def fed_drift(drift):
    for value in (1.0, 2.0, 1.5):
        drift.update(value)
    return drift


JSON_READY = {
    "tracker": measured_tracker,
    "sketch": fed_sketch,
    "normaliser": fed_normalizer,
    "combined reward": CombinedReward,
    "drift watch": DriftWatch,
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
        (
            {"relative_error": 0.01, "meters": [{}]},
            "entry 0 of 'meters' of the saved tracker has no 'node'",
        ),
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
    with pytest.raises(UsageError, match=r"key None in entry 0 .* normaliser has no 'seen'"):
        RunningNormalizer().load_state_dict(state)


@pytest.mark.parametrize(
    ("make", "key", "value", "sentence"),
    [
        (
            CombinedReward,
            "episodes",
            -3,
            "'episodes' of the saved combined reward is -3; expected a",
        ),
        (fed_normalizer, "moments", 7, "'moments' of the saved normaliser is 7; expected a list"),
        (fed_sketch, "buckets", [9**9], "expected a bucket of the sketch for each count"),
        (fed_curriculum, "known", np.zeros((5, 4)), "expected won and lost from 1 on"),
        (fed_curriculum, "random", None, "'random' of the saved curriculum is of type NoneType"),
        (fed_ensemble, "window", "x", "'window' of the saved ensemble is 'x'; expected numbers of"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(make, key, value, sentence):
    keeper = make()
    with pytest.raises(UsageError, match=sentence):
        keeper.load_state_dict({**keeper.state_dict(), key: value})


FED = {
    "tracker": measured_tracker,
    "sketch": fed_sketch,
    "normaliser": fed_normalizer,
    "combined reward": CombinedReward,
    "drift watch": lambda: fed_drift(DriftWatch()),
    "monitor": fed_monitor,
    "reward adapter": lambda: AtroposReward(lambda texts: [1.0] * len(texts), name="one"),
    "ensemble": fed_ensemble,
    "curriculum": fed_curriculum,
    "easy-first curriculum": lambda: fed_curriculum("easy-first"),
    "nominal stream": lambda: fed_stream("nominal"),
    "ordinal stream": lambda: fed_stream("ordinal"),
    "interval stream": lambda: fed_stream("interval"),
    "ratio stream": lambda: fed_stream("ratio"),
}
USES = {
    APIPerformanceTracker: lambda it: (it.record("judge", "score", 0.02), it.figures()),
    LatencySketch: lambda it: it.add([0.5, 2.0]),
    RunningNormalizer: lambda it: it.update_and_normalize([1.0, 5.0, np.nan]),
    CombinedReward: lambda it: it.combine([0.5], [0.5], [np.nan]),
    DriftWatch: lambda it: [it.update(value) for value in (3.0, -3.0)],
    HealthMonitor: lambda it: it.observe(9, {"kl": 3.0, "reward/mean": 0.5, "entropy": 0.0}),
    AtroposReward: lambda it: it.compute(["x"]),
    RewardEnsemble: lambda it: (it.combine([[1, 5], [2, np.nan]]), it.report().sentences),
    Curriculum: lambda it: it.update(it.draw(4, distinct=True), [1, 0, 0.5, 1]),
    AgreementStream: lambda it: (it.update([[1, 2], [3, 2]]), it.merged(it).agreement()),
}
JUNK = [
    *(None, True, 0, -1, 3, 2**63, 10**400, 1.5, -0.0, 1e-320, 1e308, np.nan, np.inf, -np.inf),
    *("", "x", b"x", [], {}, [1], [[1], [1, 2]], {"a": 1}, (None, None), object()),
    *(np.zeros(0), np.zeros(5), np.full(5, np.nan), np.zeros((5, 4)), np.array("x"), np.float32(2)),
]


def places(value, path=()):
    """The path of every value inside a state."""
    entries = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim):
        entries = list(enumerate(value))
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def damage(state, data):
    """The state with one value replaced by junk, taken out or doubled."""
    damaged = copy.deepcopy(state)
    *path, last = data.draw(st.sampled_from(sorted(places(state), key=repr)))
    holder = damaged
    for key in path:
        holder = holder[key]
    kind = data.draw(st.sampled_from(["junk", "gone", "again"]))
    if isinstance(holder, np.ndarray):
        holder[last] = data.draw(st.sampled_from([-1, 0, 1 << 40]))
        if holder.dtype.kind == "f":
            holder[last] = data.draw(st.sampled_from([np.nan, np.inf, -1.0, 1e308, 1e-320]))
    elif kind == "gone":
        del holder[last]
    elif kind == "again" and isinstance(holder, list):
        holder.append(holder[last])
    else:
        holder[last] = data.draw(st.sampled_from(JUNK))
    return damaged


@pytest.mark.parametrize("name", FED)
@settings(max_examples=50)
@given(data=st.data())
def test_a_damaged_state_is_refused_in_a_sentence_or_gives_something_that_works(name, data):
    keeper = FED[name]()
    before = keeper.state_dict()
    refusal = None
    try:
        keeper.load_state_dict(damage(before, data))
    except UsageError as error:
        refusal = str(error)
    if refusal is not None:
        assert "\n" not in refusal
        assert repr(keeper.state_dict()) == repr(before)
    else:
        USES[type(keeper)](keeper)
        keeper.metrics()
        keeper.load_state_dict(keeper.state_dict())
