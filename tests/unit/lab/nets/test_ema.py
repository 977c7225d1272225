"""The dechunking average: worked numbers, and the compiled loop against the readable one, gradients included.

Tolerance: both sums have at most D = 40 terms or M = 100 steps of a contraction, so float32 stays within a few
units of its last place (6e-8) times the largest value; 2e-6 of the largest value leaves a factor of five.
"""

from collections.abc import Callable

import pytest
import torch

from aegir.lab.nets.ema import ema, ema_reference

TOLERANCE = 2e-6
Average = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def draw(rows: int, chunks: int, width: int, seed: int = 0) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    z = torch.randn(rows, chunks, width, generator=random, dtype=torch.float64)
    p = torch.rand(rows, chunks, generator=random, dtype=torch.float64)
    initial = torch.randn(rows, width, generator=random, dtype=torch.float64)
    return [z, p, initial]


def outputs_and_gradients(
    inputs: list[torch.Tensor], mask: torch.Tensor | None
) -> list[torch.Tensor]:
    """zbar, last, and the gradients of a sum that weighs every output differently; float64 runs the reference."""
    leaves = [one.clone().requires_grad_() for one in inputs]
    z, p, initial = leaves
    outputs = ema(z, p, initial, mask)
    weights = [torch.arange(one.numel(), dtype=one.dtype).cos().view(one.shape) for one in outputs]
    sum((one * weight).sum() for one, weight in zip(outputs, weights, strict=True)).backward()
    return [*(one.detach() for one in outputs), *(leaf.grad for leaf in leaves)]


def largest_difference(found: list[torch.Tensor], wanted: list[torch.Tensor]) -> float:
    """The largest difference of any output or gradient, relative to the largest value in it."""
    return max(
        float((one.double() - other).abs().max() / other.abs().max().clamp(min=1e-6))
        for one, other in zip(found, wanted, strict=True)
    )


BOTH = pytest.mark.parametrize("average", [ema, ema_reference])


@BOTH
def test_three_chunks_give_the_numbers_worked_out_by_hand(average: Average) -> None:
    # 0.5 * 4 + 0.5 * 2 = 3;   0.25 * 8 + 0.75 * 3 = 4.25;   1 * -1 + 0 * 4.25 = -1
    z = torch.tensor([[[4.0], [8.0], [-1.0]]])
    p = torch.tensor([[0.5, 0.25, 1.0]])
    zbar, last = average(z, p, torch.tensor([[2.0]]))
    assert zbar.flatten().tolist() == [3.0, 4.25, -1.0]
    assert last.item() == -1.0


@pytest.mark.parametrize("chunks", [1, 2, 17, 100])
@pytest.mark.parametrize("masked", [False, True])
def test_compiled_equals_reference_in_outputs_and_gradients(chunks: int, masked: bool) -> None:
    inputs = draw(3, chunks, 40)
    mask = torch.rand(3, chunks, generator=torch.Generator().manual_seed(1)) < 0.6
    chosen = mask if masked else None
    found = outputs_and_gradients([one.float() for one in inputs], chosen)
    wanted = outputs_and_gradients(inputs, chosen)
    assert largest_difference(found, wanted) < TOLERANCE


def test_cutting_and_carrying_the_average_changes_nothing() -> None:
    z, p, initial = (one.float() for one in draw(2, 23, 8))
    whole, last = ema(z, p, initial)
    left, carried = ema(z[:, :9], p[:, :9], initial)
    right, end = ema(z[:, 9:], p[:, 9:], carried)
    assert torch.equal(torch.cat([left, right], dim=1), whole)
    assert torch.equal(end, last)


def test_chunks_that_do_not_count_leave_the_average_alone_and_give_zero() -> None:
    z, p, initial = (one.float() for one in draw(2, 6, 4))
    mask = torch.tensor([[True, False, True, False, False, True], [False] * 6])
    zbar, last = ema(z, p, initial, mask)
    kept, end = ema(z[:1, mask[0]], p[:1, mask[0]], initial[:1])
    assert torch.equal(zbar[0, mask[0]], kept[0])
    assert torch.equal(last, torch.stack([end[0], initial[1]]))
    assert not zbar[~mask].any()


@BOTH
def test_no_chunks_at_all_return_the_initial_average(average: Average) -> None:
    z, p, initial = (one.float() for one in draw(2, 0, 4))
    zbar, last = average(z, p, initial)
    assert zbar.shape == (2, 0, 4)
    assert torch.equal(last, initial)


def test_double_precision_goes_through_the_reference() -> None:
    z, p, initial = draw(1, 5, 3)
    assert torch.equal(ema(z, p, initial)[0], ema_reference(z, p, initial)[0])
