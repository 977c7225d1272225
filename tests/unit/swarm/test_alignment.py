"""Alignment: identity where shapes agree, numbers by hand where they do not."""

import pytest
import torch

from aegir.readers.swarm.state_fusion import match_layer
from aegir.swarm.alignment import AlignmentProjection
from aegir_rl.base.errors import UsageError


@pytest.mark.parametrize("shape", [(2, 4, 4), (12,)])
def test_equal_shapes_need_no_parameters(shape):
    align = AlignmentProjection(shape, shape)
    x = torch.randn(3, *shape)
    assert align.is_identity
    assert not list(align.parameters())
    assert align(x) is x


def test_a_matrix_gets_other_heads_and_sizes():
    # source head 0 is [[1]], head 1 is [[10]]; heads mix as 2 a + 1 b = 12; keys [3, 4], values [1, -1]
    align = AlignmentProjection((2, 1, 1), (1, 2, 2))
    with torch.no_grad():
        align.heads.copy_(torch.tensor([[2.0, 1.0]]))
        align.keys.copy_(torch.tensor([3.0, 4.0]).reshape(1, 2, 1))
        align.values.copy_(torch.tensor([1.0, -1.0]).reshape(1, 2, 1))
    found = align(torch.tensor([1.0, 10.0]).reshape(1, 2, 1, 1))
    assert found.tolist() == [[[[36.0, -36.0], [48.0, -48.0]]]]


def test_a_vector_gets_another_width():
    align = AlignmentProjection((2,), (3,))
    with torch.no_grad():
        align.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    assert align(torch.tensor([[5.0, 7.0]])).tolist() == [[5.0, 14.0, 12.0]]


def test_a_vector_becomes_a_state_that_holds_it_at_learnt_keys():
    # four keys e_0..e_3 (as it begins) of size 4 hold parts of size 4: of a vector of 16 numbers, row r is part r
    align = AlignmentProjection((16,), (1, 4, 4))
    vector = torch.arange(16.0)
    assert torch.equal(align(vector[None])[0, 0], vector.reshape(4, 4))


def test_it_begins_as_cropping_and_zero_filling():
    state = torch.arange(1.0, 9.0).reshape(1, 2, 2, 2)
    grown = AlignmentProjection((2, 2, 2), (2, 3, 3))(state)
    assert torch.equal(grown[:, :, :2, :2], state)
    assert float(grown.detach().sum()) == float(state.sum())
    assert torch.equal(AlignmentProjection((2, 3, 3), (2, 2, 2))(grown), state)
    four = AlignmentProjection((2, 2, 2), (4, 2, 2))(state)  # heads 0 0 1 1
    assert torch.equal(four, state[:, [0, 0, 1, 1]])


@pytest.mark.parametrize(
    ("source", "target"), [((3, 4, 4), (2, 8, 8)), ((6,), (9,)), ((6,), (2, 4, 4))]
)
def test_gradients_reach_every_weight(source, target):
    align = AlignmentProjection(source, target)
    generator = torch.Generator().manual_seed(0)
    align(torch.randn(5, *source, generator=generator)).square().sum().backward()
    assert all(float(weight.grad.abs().max()) > 0 for weight in align.parameters())


def test_a_matrix_is_no_vector_and_another_shape_is_refused():
    with pytest.raises(UsageError, match="cannot be aligned to a vector"):
        AlignmentProjection((2, 4, 4), (8,))
    with pytest.raises(UsageError, match=r"alignment got shape \(3, 5\)"):
        AlignmentProjection((4,), (8,))(torch.zeros(3, 5))


def test_layers_are_matched_by_relative_depth():
    assert [match_layer(layer, 3, 3) for layer in range(3)] == [0, 1, 2]
    assert [match_layer(layer, 3, 5) for layer in range(3)] == [0, 2, 4]
    assert [match_layer(layer, 4, 2) for layer in range(4)] == [0, 0, 1, 1]
    assert [match_layer(layer, 3, 1) for layer in range(3)] == [0, 0, 0]
    assert match_layer(0, 1, 3) == 2  # the last layer has read the most
