"""Every projection's view of two steps: worked numbers, and the compiled loop against the readable line.

Tolerance: sums of at most 7 x 63 products in float32; 2e-6 of the largest value leaves a factor of five.
"""

from collections.abc import Callable

import pytest
import torch

from aegir.lab.nets.token_mix import token_mix, token_mix_reference

TOLERANCE = 2e-6


def outputs_and_gradients(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The output and the gradients of a weighted sum of it; float64 runs the reference."""
    leaves = [one.clone().requires_grad_() for one in inputs]
    out = token_mix(*leaves)
    (out * torch.arange(out.numel(), dtype=out.dtype).cos().view(out.shape)).sum().backward()
    return [out.detach(), *(leaf.grad for leaf in leaves)]


@pytest.mark.parametrize("mixing", [token_mix, token_mix_reference])
def test_three_steps_give_the_numbers_worked_out_by_hand(
    mixing: Callable[..., torch.Tensor],
) -> None:
    # mix 0 keeps the step itself, mix 1 takes the one before, 0.25 goes a quarter of the way: 4 + (2 - 4) / 4 = 3.5
    x = torch.tensor([[[4.0], [8.0], [-2.0]]])
    mixed = mixing(x, torch.tensor([[2.0]]), torch.tensor([[0.0], [1.0], [0.25]]))
    assert mixed[:, 0, :, 0].tolist() == [[4, 8, -2], [2, 4, 8], [3.5, 7, 0.5]]


@pytest.mark.parametrize("length", [1, 7, 63])
@pytest.mark.parametrize("views", [1, 7])
def test_compiled_equals_reference_in_outputs_and_gradients(length: int, views: int) -> None:
    random = torch.Generator().manual_seed(length)
    shapes = [(3, length, 40), (3, 40), (views, 40)]
    inputs = [torch.randn(*shape, generator=random, dtype=torch.float64) for shape in shapes]
    found = outputs_and_gradients([one.float() for one in inputs])
    wanted = outputs_and_gradients(inputs)
    for one, other in zip(found, wanted, strict=True):
        assert float((one.double() - other).abs().max() / other.abs().max()) < TOLERANCE


def test_a_cut_sequence_goes_on_from_its_last_step() -> None:
    x, mix = torch.randn(2, 9, 32), torch.rand(3, 32)
    whole = token_mix(x, torch.zeros(2, 32), mix)
    left = token_mix(x[:, :4], torch.zeros(2, 32), mix)
    right = token_mix(x[:, 4:], x[:, 3], mix)
    assert torch.equal(torch.cat([left, right], dim=2), whole)
