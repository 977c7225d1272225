"""The policy object and its file: bit-equal, and refused with one sentence when it does not fit."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from aegir_rl.offline.policy import METADATA_KEY, RoutingPolicy
from hostile_metadata import REFUSED, USED, hostile_weights, use_or_refusal

ONE = np.ones(2, np.float32)
POLICY = RoutingPolicy(
    kind="values",
    features=("digits", "length"),
    actions=("llm", "rules"),
    weights=(np.eye(2, dtype=np.float32),),
    biases=(np.zeros(2, np.float32),),
    mean=0 * ONE,
    scale=2 * ONE,
    temperature=0.5,
    floor=0.6,
    training={"data_sha256": "0", "propensity_floor": 0.02},
)


def test_probabilities_are_worked_out_from_standardised_features():
    x = np.array([[2.0, 0.0], [np.nan, 2.0]])
    # Halved: Q = (1, 0) and, the missing feature at its mean, (0, 1). softmax((1, 0) / 0.5) = e² / (e² + 1) = 0.8808.
    assert POLICY.values(x) == pytest.approx(np.array([[1, 0], [0, 1]]))
    assert POLICY.probabilities(x) == pytest.approx(
        np.array([[0.8808, 0.1192], [0.1192, 0.8808]]), abs=1e-4
    )


def test_below_the_floor_the_static_table_decides():
    x = np.array([[2.0, 0.0], [0.0, 0.0]])  # confidence 0.88 and 0.5
    actions, own, confidence = POLICY.choose(x, np.array([1, 1]))
    assert actions.tolist() == [0, 1]
    assert own.tolist() == [True, False]
    assert confidence == pytest.approx([0.8808, 0.5], abs=1e-4)


def test_a_saved_policy_is_bit_equal(tmp_path: Path):
    POLICY.save(tmp_path / "p.safetensors")
    again = RoutingPolicy.load(tmp_path / "p.safetensors", features=("length", "digits", "more"))
    x = np.random.default_rng(0).normal(size=(50, 2))
    assert (again.probabilities(x) == POLICY.probabilities(x)).all()
    assert again.version == POLICY.version
    assert (again.floor, again.training) == (0.6, POLICY.training)


def test_a_rows_probabilities_do_not_depend_on_the_others():
    x = np.random.default_rng(0).normal(size=(100, 2))
    assert (POLICY.probabilities(x)[7:8] == POLICY.probabilities(x[7:8])).all()


def test_a_policy_of_other_features_is_refused(tmp_path: Path):
    POLICY.save(tmp_path / "p.safetensors")
    with pytest.raises(
        UsageError, match=r"trained on features that this program does not have: length"
    ):
        RoutingPolicy.load(tmp_path / "p.safetensors", features=("digits",))
    with pytest.raises(UsageError, match=r"features have shape \(3, 1\); this policy expects"):
        POLICY.probabilities(np.zeros((3, 1)))
    with pytest.raises(UsageError, match="has the worker 'owl', which the policy does not know"):
        POLICY.require_actions(["owl", "llm"], "the log")
    with pytest.raises(UsageError, match="'cloning' has no values"):
        replace(POLICY, kind="cloning").values(np.zeros((1, 2)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 2}, "its format is 2"),
        ({"kind": "oracle"}, "its kind is 'oracle'"),
        ({"features": ["digits"]}, "the shapes of its layers"),
        ({"temperature": 0}, "temperature, floor or scale is out of range"),
        ({"floor": 0.1}, "its content is not that of version"),
        ({"layers": 2}, "it has no 'layer.1.weight'"),
        ({"training": None}, "is no routing policy"),
    ],
)
def test_a_file_that_is_no_policy_is_one_sentence(tmp_path: Path, change: dict, sentence: str):
    path = tmp_path / "p.safetensors"
    POLICY.save(path)
    tensors, metadata = read_safetensors(path)
    record = {**json.loads(metadata[METADATA_KEY]), **change}
    path.write_bytes(safetensors_bytes(tensors, {METADATA_KEY: json.dumps(record)}))
    with pytest.raises(UsageError, match=sentence):
        RoutingPolicy.load(path)


def test_other_files_are_no_policy(tmp_path: Path):
    path = tmp_path / "p.safetensors"
    path.write_bytes(safetensors_bytes({"mean": ONE}, {}))
    with pytest.raises(UsageError, match="is no routing policy: it has no 'aegir_policy'"):
        RoutingPolicy.load(path)
    path.write_text("text")
    with pytest.raises(UsageError, match="cannot be read as a model"):
        RoutingPolicy.load(path)


def test_a_policy_with_any_metadata_decides_or_is_refused(tmp_path: Path):
    path = tmp_path / "p.safetensors"
    POLICY.save(path)
    seen = np.zeros((2, len(POLICY.features)), np.float32)
    outcomes = []
    for change, content in hostile_weights(path, METADATA_KEY):
        path.write_bytes(content)
        outcomes.append(
            use_or_refusal(change, lambda: RoutingPolicy.load(path).probabilities(seen))
        )
    assert {*outcomes} <= {USED, REFUSED}
    assert REFUSED in outcomes
