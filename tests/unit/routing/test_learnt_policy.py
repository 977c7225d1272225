"""A learnt policy proposes, or says why it cannot."""

from pathlib import Path

import numpy as np
import pytest

from aegir.routing.features import FEATURES
from aegir.routing.learnt_policy import LearntPolicy
from aegir_rl.offline.policy import RoutingPolicy
from routing_policies import Always, NaNs, OneRow, Raises, Sleeps

WORKERS = ("byte_model", "combined", "llm", "ngrams")
ROWS = np.zeros((3, len(FEATURES)))


def save_policy(path: Path, features: tuple[str, ...] = ("confidence",)) -> Path:
    """A policy of one layer: logits 4 - 8 x for combined and 0 for ngrams."""
    RoutingPolicy(
        kind="cloning",
        features=features,
        actions=("combined", "ngrams"),
        weights=(np.array([[-8.0, 0.0]], np.float32),),
        biases=(np.array([4.0, 0.0], np.float32),),
        mean=np.zeros(1, np.float32),
        scale=np.ones(1, np.float32),
    ).save(path)
    return path


def test_a_policy_from_a_file_proposes_for_all_workers(tmp_path: Path):
    policy = LearntPolicy.load(save_policy(tmp_path / "p.safetensors"))
    rows = ROWS.copy()
    rows[:, FEATURES.index("confidence")] = [0.0, 0.5, 1.0]
    shares = policy.propose(rows, WORKERS).probabilities
    # softmax(4, 0), softmax(0, 0), softmax(-4, 0): 0.982, 0.5, 0.018 for combined
    assert shares is not None
    assert np.allclose(shares[:, 1], [0.98201, 0.5, 0.01799], atol=1e-4)
    assert (shares[:, [0, 2]] == 0).all()
    assert np.allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (Raises("ngrams"), "it failed (RuntimeError: the disk is on fire)"),
        (NaNs("ngrams"), "it answered numbers that are no probabilities"),
        (OneRow("ngrams"), "it answered an array of (1, 3), not (3, 3)"),
        (
            Always("ngrams", actions=("ngrams", "swarm")),
            "it knows the worker 'swarm', which is not",
        ),
        (Always("ngrams", features=("colour",)), "it was trained on the feature 'colour'"),
    ],
)
def test_a_policy_that_cannot_decide_says_why(policy: Always, problem: str):
    proposal = LearntPolicy(policy).propose(ROWS, WORKERS)
    assert proposal.probabilities is None
    assert proposal.problem.startswith(problem)


def test_a_policy_that_runs_out_of_time_is_not_asked_again():
    policy = LearntPolicy(Sleeps("ngrams"), seconds=0.05)
    for _ in range(2):
        assert policy.propose(ROWS, WORKERS).problem == "it took longer than 0.05 seconds"
    assert policy.policy is None


@pytest.mark.parametrize("content", [None, b"", b"no policy"])
def test_a_file_that_is_no_policy_is_a_problem_and_no_error(tmp_path: Path, content: bytes | None):
    path = tmp_path / "p.safetensors"
    if content is not None:
        path.write_bytes(content)
    policy = LearntPolicy.load(path)
    assert policy.policy is None
    assert "p.safetensors" in policy.problem
    assert policy.propose(ROWS, WORKERS).problem == policy.problem


def test_a_policy_trained_on_other_features_is_a_problem(tmp_path: Path):
    policy = LearntPolicy.load(save_policy(tmp_path / "p.safetensors", ("colour",)))
    assert "'colour'" in policy.problem


def test_without_a_file_there_is_a_reason():
    assert LearntPolicy.load(None).problem == "no file of a policy is named"
