"""Arrays from whatever a caller passes: lists, masked arrays, torch tensors."""

import numpy as np
import pytest

from aegir_rl.base.arrays import read_array, read_floats, standardise_groups
from aegir_rl.base.errors import UsageError
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.rewards.running_normalizer import RunningNormalizer
from aegir_rl.rl.curriculum import Curriculum


def test_none_and_masked_values_are_nan():
    assert np.array_equal(read_floats([1, None], "x"), [1.0, np.nan], equal_nan=True)
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    assert np.array_equal(read_floats(masked, "x"), [1.0, np.nan], equal_nan=True)


@pytest.mark.parametrize("values", [[[1], [1, 2]], ["high"], {"a": 1}])
def test_what_is_not_one_array_of_numbers_is_refused_by_its_name(values):
    with pytest.raises(UsageError, match="rewards cannot be read as one array of numbers"):
        read_floats(values, "rewards")


def test_rows_of_unequal_length_are_refused():
    with pytest.raises(UsageError, match="labels cannot be read as one array: rows of unequal"):
        read_array([[1], [1, 2]], "labels")


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not here (train extra)")


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int64", "bool"])
def test_tensors_of_every_type_are_read(torch, name):
    tensor = torch.tensor([0, 1, 1]).to(getattr(torch, name))
    assert read_floats(tensor, "x").tolist() == [0.0, 1.0, 1.0]
    assert read_array(tensor, "x").tolist() == [0, 1, 1]


def test_tensors_with_a_gradient_are_read_without_it(torch):
    tensor = torch.tensor([2.0, 4.0], requires_grad=True)
    assert read_floats(tensor, "x").tolist() == [2.0, 4.0]
    assert read_floats(tensor, "x").dtype == np.float64
    assert tensor.grad_fn is None
    assert read_floats([tensor[0], tensor[1]], "x").tolist() == [2.0, 4.0]


def test_tensors_without_values_are_refused_in_one_sentence(torch):
    for tensor in (torch.ones(2).to_sparse(), torch.ones(2, device="meta")):
        with pytest.raises(UsageError, match="rewards cannot be read") as caught:
            read_floats(tensor, "rewards")
        assert "\n" not in str(caught.value)


def test_the_reward_library_takes_tensors(torch):
    rewards = torch.tensor([1.0, 3.0, 10.0, 30.0], dtype=torch.bfloat16, requires_grad=True)
    groups = torch.tensor([0, 0, 1, 1])
    assert standardise_groups(rewards, groups).tolist() == [-1, 1, -1, 1]
    normalizer = RunningNormalizer(warm_up=2)
    assert normalizer.update_and_normalize(rewards).shape == (4,)
    ensemble = RewardEnsemble({"a": lambda items: rewards, "b": lambda items: rewards})
    assert ensemble.score("abcd").scores.tolist() == [1, 3, 10, 30]
    assert ensemble.combine(torch.stack([rewards, rewards])).scores.tolist() == [1, 3, 10, 30]
    curriculum = Curriculum(4)
    curriculum.update(groups, rewards / 30)
    assert curriculum.metrics()["curriculum/tried_share"] == 0.5
