"""Fusion of states: numbers worked out by hand for each mode, what is off, what is refused."""

import math

import pytest
import torch
from torch import Tensor

from aegir.readers.swarm.state_fusion import MODES
from aegir.swarm.fusion import RWKVStateFusion, build_fusions
from aegir_rl.base.errors import UsageError


def state(*values: float) -> Tensor:
    """(B, 1, 1, 1): one number per row."""
    return torch.tensor(values).reshape(-1, 1, 1, 1)


def one_number(mode: str, weight: Tensor) -> RWKVStateFusion:
    """A primary and one specialist, of one number each."""
    fusion = RWKVStateFusion(1, 1, 1, mode)
    with torch.no_grad():
        for parameter in fusion.parameters():
            parameter.copy_(weight.reshape(parameter.shape))
    return fusion


def test_a_weighted_sum_weighs_by_strength_and_by_the_query():
    # query ln 2, states 1 and 2: exp gives 2 and 4; strengths 1 and 0.5 make both 2, so the weights are 1/2 each
    fusion = one_number("weighted_sum", torch.tensor([math.log(2)]))
    strengths, own, other = torch.tensor([[0.5]]), state(1.0), [state(2.0)]
    torch.testing.assert_close(
        fusion.weights(other, strengths, own).flatten(), torch.tensor([0.5, 0.5])
    )
    torch.testing.assert_close(fusion(other, strengths, own), state(1.5))


def test_every_head_has_weights_of_its_own():
    # head 0 has query 0, so weights 1/2 and the mean 2; head 1 has query 30 on states 1 and 3: weight 1 on the second
    fusion = RWKVStateFusion(2, 1, 2)
    with torch.no_grad():
        fusion.query.copy_(torch.tensor([0.0, 30.0]).reshape(2, 1, 1))
    states = [torch.full((1, 2, 1, 1), value) for value in (1.0, 3.0)]
    torch.testing.assert_close(fusion(states).flatten(), torch.tensor([2.0, 3.0]))


def test_agents_are_specialists_and_the_primary_is_implied():
    # three specialists and the primary, gates 0: half of each, 1/2 * (1 + 2 + 3) alone and 1/2 * 10 more with the primary
    fusion = RWKVStateFusion(num_heads=1, head_size=1, num_agents=3, mode="gated")
    states = [state(1.0), state(2.0), state(3.0)]
    torch.testing.assert_close(fusion(states), state(3.0))
    torch.testing.assert_close(fusion(states, own=state(10.0)), state(8.0))
    assert fusion.gates.shape == (4,)


def test_without_specialists_the_primarys_state_is_fused_alone():
    for mode in MODES:
        fusion = RWKVStateFusion(2, 4, 0, mode)
        own = torch.randn(3, 2, 4, 4, generator=torch.Generator().manual_seed(0))
        expected = 0.5 * own if mode == "gated" else own
        torch.testing.assert_close(fusion([], own=own), expected)
        with pytest.raises(UsageError, match="no state came; expected the primary's"):
            fusion([])


def test_gates_scale_each_agent():
    # gates ln 3 and 0 are 3/4 and 1/2; strengths 1 and 0.5: 3/4 * 4 + 1/2 * 0.5 * 8 = 5
    fusion = one_number("gated", torch.tensor([math.log(3), 0.0]))
    torch.testing.assert_close(fusion([state(8.0)], torch.tensor([[0.5]]), state(4.0)), state(5.0))


def test_a_projection_of_the_concatenation_is_the_sum_of_projections():
    # the primary swaps the keys of [[1, 2], [3, 4]], the specialist doubles [[1, 0], [0, 1]]: [[3, 4], [1, 2]] + [[2, 0], [0, 2]]
    fusion = RWKVStateFusion(1, 2, 1, "concat_project")
    swap, double = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 2 * torch.eye(2)
    with torch.no_grad():
        fusion.projection.copy_(torch.stack([swap, double])[:, None])
    states = [torch.tensor([[1.0, 2.0], [3.0, 4.0]])[None, None], torch.eye(2)[None, None]]
    expected = torch.tensor([[5.0, 4.0], [1.0, 4.0]])
    torch.testing.assert_close(fusion(states[1:], own=states[0])[0, 0], expected)
    wide = torch.cat([swap, double], dim=1) @ torch.cat([each[0, 0] for each in states])
    torch.testing.assert_close(wide, expected)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_off_may_hold_anything(mode: str):
    fusion = RWKVStateFusion(2, 4, 3, mode)
    own, other = torch.randn(2, 3, 2, 4, 4, generator=torch.Generator().manual_seed(1))
    wrong = torch.full_like(own, math.nan).requires_grad_()
    strengths = torch.tensor([[1.0, 0.5, 0.0]]).repeat(3, 1).requires_grad_()
    fused = fusion([own, other, wrong], strengths)
    assert torch.equal(fused, fusion([own, other, torch.zeros_like(own)], strengths))
    fused.sum().backward()
    for tensor in (strengths, *fusion.parameters()):
        assert tensor.grad.isfinite().all()
    assert not wrong.grad.any()


@pytest.mark.parametrize("mode", MODES)
def test_nothing_on_gives_zeros(mode: str):
    fusion = RWKVStateFusion(2, 4, 2, mode)
    states = [torch.ones(3, 2, 4, 4)] * 2
    assert torch.equal(fusion(states, torch.zeros(3, 2)), torch.zeros(3, 2, 4, 4))


@pytest.mark.parametrize("mode", MODES)
def test_gradients_reach_states_strengths_and_weights(mode: str):
    generator = torch.Generator().manual_seed(2)
    fusion = RWKVStateFusion(2, 4, 2, mode)
    states = [torch.randn(3, 2, 4, 4, generator=generator, requires_grad=True) for _ in range(2)]
    strengths = torch.full((3, 2), 0.5, requires_grad=True)
    own = torch.randn(3, 2, 4, 4, generator=generator, requires_grad=True)
    fusion(states, strengths, own).square().sum().backward()
    for tensor in (*states, own, strengths, *fusion.parameters()):
        assert float(tensor.grad.abs().min()) > 0


def test_sizes_that_do_not_fit_are_refused():
    fusion = RWKVStateFusion(2, 4, 2)
    good = torch.zeros(3, 2, 4, 4)
    with pytest.raises(UsageError, match="1 states came for 2 specialists"):
        fusion([good])
    with pytest.raises(UsageError, match=r"state of specialist 1 has shape \(3, 2, 8, 8\)"):
        fusion([good, torch.zeros(3, 2, 8, 8)])
    with pytest.raises(
        UsageError, match=r"state of specialist 0 has shape \(3, 2, 4, 4\); expected \(5, "
    ):
        fusion([good, good], own=torch.zeros(5, 2, 4, 4))
    with pytest.raises(UsageError, match=r"strengths have shape \(3, 1\); expected \(3, 2\)"):
        fusion([good, good], torch.zeros(3, 1))
    with pytest.raises(UsageError, match="expected weighted_sum, gated, concat_project"):
        RWKVStateFusion(2, 4, 2, "mean")
    with pytest.raises(UsageError, match="num_agents is -1; expected at least 0"):
        RWKVStateFusion(2, 4, -1)


def test_one_fusion_per_layer_is_built():
    first, second = build_fusions([(1, 16, 16), (2, 32, 32)], 3, "gated")
    assert (first.state_shape, second.state_shape) == ((1, 16, 16), (2, 32, 32))
    assert first.num_agents == second.num_agents == 3
    assert first.gates.shape == (4,)  # the primary has one too
