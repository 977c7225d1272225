"""The RWKV-7 recurrence: worked numbers, and every implementation against the reference loop in float64.

Tolerance: relative to the largest value of a tensor, float32 implementations are found within 5e-7 of the float64
reference (about eight units of the last place) for every length here; 3e-6 leaves room for other machines' order
of summation and would not hide a wrong term. Chunked divides by decays of up to e^-9.7, so it is held to the same
bound in float32 and to 1e-12 in float64.
"""

import math
import threading
from collections.abc import Iterator

import pytest
import torch
from torch.nn import functional

from aegir.errors import UsageError
from aegir.nets.wkv7 import wkv7

TOLERANCE = 3e-6
LENGTHS = (1, 2, 15, 16, 17, 33, 100)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Products this small lose more to waiting threads than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def draw(
    rows: int, length: int, heads: int, keys: int, values: int, seed: int = 0
) -> list[torch.Tensor]:
    """Inputs as RWKV-7 makes them, and an initial state, in float64."""
    random = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    shape = (rows, length, heads, keys)
    kappa, rate = functional.normalize(normal(*shape), dim=-1), normal(*shape).sigmoid()
    log_w = -0.6065 * normal(*shape).sigmoid()
    v, state = normal(rows, length, heads, values), normal(rows, heads, keys, values)
    return [normal(*shape), log_w, normal(*shape), v, -kappa, kappa * rate, state]


def outputs_and_gradients(
    inputs: list[torch.Tensor], mask: torch.Tensor | None, implementation: str
) -> list[torch.Tensor]:
    """y, the last state, and the gradients of a sum that weighs every number in them differently."""
    leaves = [one.clone().requires_grad_() for one in inputs]
    outputs = wkv7(*leaves, mask, implementation=implementation)
    weights = [torch.arange(one.numel(), dtype=one.dtype).cos().view(one.shape) for one in outputs]
    sum((one * weight).sum() for one, weight in zip(outputs, weights, strict=True)).backward()
    return [*(one.detach() for one in outputs), *(leaf.grad for leaf in leaves)]


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


@pytest.mark.parametrize("implementation", ["reference", "chunked", "numba"])
def test_two_steps_give_the_numbers_worked_out_by_hand(implementation: str) -> None:
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
        implementation=implementation,
    )
    assert y[0, :, 0, 0].tolist() == pytest.approx([6, 4.75], rel=1e-6)
    assert last[0, 0, 0, 0].item() == pytest.approx(-4.75, rel=1e-6)
    assert y.count_nonzero() == 2
    assert last.count_nonzero() == 1


@pytest.mark.parametrize("implementation", ["chunked", "numba"])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("masked", [False, True])
def test_outputs_state_and_gradients_are_the_reference_s(
    implementation: str, length: int, masked: bool
) -> None:
    inputs = draw(3, length, 2, 32, 32)
    mask = ragged(3, length) if masked else None
    found = outputs_and_gradients([one.float() for one in inputs], mask, implementation)
    assert largest_difference(found, outputs_and_gradients(inputs, mask, "reference")) < TOLERANCE


@pytest.mark.parametrize("implementation", ["chunked", "numba"])
@pytest.mark.parametrize(("keys", "values"), [(16, 16), (64, 64), (6, 13)])
def test_head_sizes_need_not_be_32_nor_equal(implementation: str, keys: int, values: int) -> None:
    inputs, mask = draw(2, 19, 3, keys, values), ragged(2, 19)
    found = outputs_and_gradients([one.float() for one in inputs], mask, implementation)
    assert largest_difference(found, outputs_and_gradients(inputs, mask, "reference")) < TOLERANCE


def test_chunked_is_exact_to_twelve_digits_in_double_precision() -> None:
    inputs, mask = draw(2, 50, 2, 16, 16), ragged(2, 50)
    found = outputs_and_gradients(inputs, mask, "chunked")
    assert largest_difference(found, outputs_and_gradients(inputs, mask, "reference")) < 1e-12


@pytest.mark.parametrize("implementation", ["reference", "chunked", "numba"])
@pytest.mark.parametrize("cut", [1, 16, 21])
def test_cutting_and_carrying_the_state_changes_nothing(implementation: str, cut: int) -> None:
    *inputs, state = (one.float() for one in draw(2, 37, 2, 32, 32))
    mask = ragged(2, 37)
    y, last = wkv7(*inputs, state, mask, implementation=implementation)
    left, carried = wkv7(
        *(one[:, :cut] for one in inputs), state, mask[:, :cut], implementation=implementation
    )
    right, end = wkv7(
        *(one[:, cut:] for one in inputs), carried, mask[:, cut:], implementation=implementation
    )
    assert largest_difference([torch.cat([left, right], 1), end], [y, last]) < TOLERANCE


@pytest.mark.parametrize("implementation", ["reference", "chunked", "numba"])
def test_steps_left_out_change_nothing_whatever_they_hold(implementation: str) -> None:
    *inputs, state = (one.float() for one in draw(2, 20, 2, 32, 32))
    mask = torch.ones(2, 20, dtype=torch.bool)
    mask[:, 7:12] = False
    spoilt = [torch.where(mask[..., None, None], one, 1e6) for one in inputs]
    y, last = wkv7(*spoilt, state, mask, implementation=implementation)
    kept = [torch.cat([one[:, :7], one[:, 12:]], dim=1) for one in inputs]
    wanted, end = wkv7(*kept, state, implementation=implementation)
    assert not y[:, 7:12].any()
    assert largest_difference([y[:, mask[0]], last], [wanted, end]) < TOLERANCE


@pytest.mark.parametrize("implementation", ["reference", "chunked", "numba"])
def test_no_steps_at_all_return_the_state(implementation: str) -> None:
    *inputs, state = (one.float() for one in draw(2, 0, 2, 32, 32))
    y, last = wkv7(*inputs, state, implementation=implementation)
    assert y.shape == (2, 0, 2, 32)
    assert torch.equal(last, state)


def test_a_missing_state_is_zeros_and_strided_inputs_are_fine() -> None:
    *inputs, state = (one.float() for one in draw(2, 9, 2, 32, 32))
    y, last = wkv7(*inputs, torch.zeros_like(state))
    strided = [one.transpose(1, 2).contiguous().transpose(1, 2) for one in inputs]
    again, end = wkv7(*strided)
    assert torch.equal(again, y)
    assert torch.equal(end, last)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    inputs, mask = [one.float() for one in draw(3, 40, 3, 32, 32)], ragged(3, 40)
    alone = outputs_and_gradients(inputs, mask, "numba")
    torch.set_num_threads(4)
    together = outputs_and_gradients(inputs, mask, "numba")
    assert all(torch.equal(one, other) for one, other in zip(alone, together, strict=True))


def test_two_python_threads_at_once_get_what_each_gets_alone() -> None:
    batches = [[one.float() for one in draw(4, 60, 2, 32, 32, seed)] for seed in range(2)]
    wanted = [outputs_and_gradients(batch, None, "numba") for batch in batches]
    agreed = []

    def work(place: int) -> None:
        for _ in range(10):
            found = outputs_and_gradients(batches[place], None, "numba")
            agreed.append(all(map(torch.equal, found, wanted[place])))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agreed == [True] * 20


def test_an_implementation_that_cannot_run_is_refused_in_one_sentence() -> None:
    inputs = draw(1, 2, 1, 16, 16)
    with pytest.raises(UsageError, match=r"unknown implementation 'cpp'.*auto, fla, numba"):
        wkv7(*inputs, implementation="cpp")
    with pytest.raises(UsageError, match=r"as 'fla': the inputs are on cpu and it takes cuda"):
        wkv7(*inputs, implementation="fla")
    with pytest.raises(UsageError, match=r"torch.float64 and it takes torch.float32"):
        wkv7(*inputs, implementation="numba")
