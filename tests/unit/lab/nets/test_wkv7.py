"""The RWKV-7 recurrence in torch: worked numbers, and the chunked form against the reference loop in float64.

Tolerance: relative to the largest value of a tensor, the chunked form in float32 is within 5e-7 of the float64
reference (about eight units of the last place) for every length here; 3e-6 leaves room for other machines' order
of summation and would not hide a wrong term. It divides by decays of up to e^-9.7, so it is also held to 1e-12 in float64.
"""

import math
from collections.abc import Iterator

import pytest
import torch
from torch.nn import functional

from aegir.lab.nets.time_mix_core import Recurrence
from aegir.lab.nets.wkv7 import wkv7_chunked, wkv7_reference

TOLERANCE = 3e-6
LENGTHS = (1, 2, 15, 16, 17, 33, 100)
FORMS = pytest.mark.parametrize("wkv7", [wkv7_reference, wkv7_chunked])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Products this small lose more to waiting threads than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def draw(rows: int, length: int, heads: int, keys: int, values: int) -> list[torch.Tensor]:
    """Inputs as RWKV-7 makes them, and an initial state, in float64."""
    random = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    shape = (rows, length, heads, keys)
    kappa, rate = functional.normalize(normal(*shape), dim=-1), normal(*shape).sigmoid()
    log_w = -0.6065 * normal(*shape).sigmoid()
    v, state = normal(rows, length, heads, values), normal(rows, heads, keys, values)
    return [normal(*shape), log_w, normal(*shape), v, -kappa, kappa * rate, state]


def outputs_and_gradients(
    wkv7: Recurrence, inputs: list[torch.Tensor], mask: torch.Tensor | None
) -> list[torch.Tensor]:
    """y, the last state, and the gradients of a sum that weighs every number in them differently."""
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    outputs = wkv7(*leaves, mask)
    weights = [torch.arange(out.numel(), dtype=out.dtype).cos().view(out.shape) for out in outputs]
    sum((out * weight).sum() for out, weight in zip(outputs, weights, strict=True)).backward()
    return [*(out.detach() for out in outputs), *(leaf.grad for leaf in leaves)]


def largest_difference(found: list[torch.Tensor], wanted: list[torch.Tensor]) -> float:
    """The largest difference in any of them, relative to the largest value in it."""
    return max(
        float((one.double() - other).abs().max() / other.abs().max().clamp(min=1e-3))
        for one, other in zip(found, wanted, strict=True)
    )


def ragged(rows: int, length: int) -> torch.Tensor:
    """Row 0 whole, row 1 padded at the end, the others with holes."""
    mask = torch.rand(rows, length, generator=torch.Generator().manual_seed(5)) < 0.7
    mask[0], mask[1] = True, torch.arange(length) < (length + 1) // 2
    return mask


@FORMS
def test_two_steps_give_the_numbers_worked_out_by_hand(wkv7: Recurrence) -> None:
    # Of 32 channels only the first is used. State 2: 0.5 * 2 + 0.5 * (-1 * 2) + 3 * 1 = 3, read by 2: 6;
    # then 0.25 * 3 + 1 * (-0.5 * 3) + 1 * -4 = -4.75, read by -1: 4.75.
    def steps(first: float, second: float) -> torch.Tensor:
        return functional.pad(torch.tensor([float(first), float(second)]).view(1, 2, 1, 1), (0, 31))

    state = torch.zeros(1, 1, 32, 32)
    state[0, 0, 0, 0] = 2
    y, last = wkv7(
        steps(2, -1),
        steps(math.log(0.5), math.log(0.25)),
        steps(3, 1),
        steps(1, -4),
        steps(-1, -0.5),
        steps(0.5, 1),
        state,
    )
    assert y[0, :, 0, 0].tolist() == pytest.approx([6, 4.75], rel=1e-6)
    assert last[0, 0, 0, 0].item() == pytest.approx(-4.75, rel=1e-6)
    assert y.count_nonzero() == 2
    assert last.count_nonzero() == 1


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("masked", [False, True])
def test_outputs_state_and_gradients_are_those_of_the_reference(length: int, masked: bool) -> None:
    inputs = draw(3, length, 2, 32, 32)
    mask = ragged(3, length) if masked else None
    found = outputs_and_gradients(wkv7_chunked, [tensor.float() for tensor in inputs], mask)
    wanted = outputs_and_gradients(wkv7_reference, inputs, mask)
    assert largest_difference(found, wanted) < TOLERANCE


@pytest.mark.parametrize(("keys", "values"), [(16, 16), (6, 13)])
def test_chunked_is_exact_to_twelve_digits_in_double_precision(keys: int, values: int) -> None:
    inputs, mask = draw(2, 50, 2, keys, values), ragged(2, 50)
    found = outputs_and_gradients(wkv7_chunked, inputs, mask)
    assert largest_difference(found, outputs_and_gradients(wkv7_reference, inputs, mask)) < 1e-12


@FORMS
@pytest.mark.parametrize("cut", [1, 16, 21])
def test_cutting_and_carrying_the_state_changes_nothing(wkv7: Recurrence, cut: int) -> None:
    *inputs, state = (tensor.float() for tensor in draw(2, 37, 2, 32, 32))
    mask = ragged(2, 37)
    y, last = wkv7(*inputs, state, mask)
    left, carried = wkv7(*(tensor[:, :cut] for tensor in inputs), state, mask[:, :cut])
    right, end = wkv7(*(tensor[:, cut:] for tensor in inputs), carried, mask[:, cut:])
    assert largest_difference([torch.cat([left, right], 1), end], [y, last]) < TOLERANCE


@FORMS
def test_masked_steps_change_nothing_whatever_they_hold(wkv7: Recurrence) -> None:
    *inputs, state = (tensor.float() for tensor in draw(2, 20, 2, 32, 32))
    mask = torch.ones(2, 20, dtype=torch.bool)
    mask[:, 7:12] = False
    spoilt = [torch.where(mask[..., None, None], tensor, 1e6) for tensor in inputs]
    y, last = wkv7(*spoilt, state, mask)
    kept = [torch.cat([tensor[:, :7], tensor[:, 12:]], dim=1) for tensor in inputs]
    wanted, end = wkv7(*kept, state)
    assert not y[:, 7:12].any()
    assert largest_difference([y[:, mask[0]], last], [wanted, end]) < TOLERANCE


@FORMS
def test_no_steps_at_all_return_the_state(wkv7: Recurrence) -> None:
    *inputs, state = (tensor.float() for tensor in draw(2, 0, 2, 32, 32))
    y, last = wkv7(*inputs, state)
    assert y.shape == (2, 0, 2, 32)
    assert torch.equal(last, state)
