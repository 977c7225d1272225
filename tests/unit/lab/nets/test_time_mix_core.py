"""What time mixing computes between its projections: worked numbers, and the compiled pass against plain torch.

Tolerance: relative to the largest value of a tensor, the compiled float32 pass is within 1e-6 of torch in float64,
as far as torch's own float32 is (both: up to 1e-6, most at 2e-7); 5e-6 leaves room and would not hide a wrong term.
"""

import math
import threading
from collections.abc import Iterator

import pytest
import torch

from aegir.lab.nets.time_mix_core import time_mix_core, time_mix_core_reference
from aegir.lab.nets.wkv7 import wkv7_reference

TOLERANCE = 5e-6
WIDTH = 32
"""Head size of the networks we train; each size is compiled once more."""
NAMES = ["r", "k", "v", "w_raw", "a_raw", "g", "k_k", "k_a", "r_k", "ln_weight", "ln_bias", "state"]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Products this small lose more to waiting threads than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def draw(rows: int, length: int, heads: int, size: int = WIDTH) -> list[torch.Tensor]:
    """Inputs in the order of NAMES, in float64."""
    random = torch.Generator().manual_seed(3)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    steps = [normal(rows, length, heads, size) for _ in range(6)]
    parameters = [centre + 0.3 * normal(heads, size) for centre in (0.85, 1, 0, 1, 0)]
    return [*steps, *parameters, normal(rows, heads, size, size)]


def outputs_and_gradients(
    inputs: list[torch.Tensor], mask: torch.Tensor | None = None
) -> dict[str, torch.Tensor]:
    """y, the last state, and the gradients of a sum that weighs every number in them differently.

    float32 runs the compiled pass, float64 plain torch around the recurrence's reference loop.
    """
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    if inputs[0].dtype == torch.float32:
        y, last = time_mix_core(*leaves, mask=mask)
    else:
        y, last = time_mix_core_reference(*leaves, mask=mask, recurrence=wkv7_reference)
    weights = [
        torch.arange(out.numel(), dtype=out.dtype).cos().view(out.shape) for out in (y, last)
    ]
    ((y * weights[0]).sum() + (last * weights[1]).sum()).backward()
    gradients = {f"to {name}": leaf.grad for name, leaf in zip(NAMES, leaves, strict=True)}
    return {"y": y.detach(), "last": last.detach(), **gradients}


def single(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [tensor.float() for tensor in inputs]


def differences(
    found: dict[str, torch.Tensor], wanted: dict[str, torch.Tensor]
) -> dict[str, float]:
    """Those above the tolerance, relative to the largest value of each tensor."""
    relative = {
        name: float((found[name].double() - one).abs().max() / one.abs().max().clamp(min=1e-3))
        for name, one in wanted.items()
    }
    return {name: value for name, value in relative.items() if not value < TOLERANCE}


@pytest.mark.parametrize("length", [1, 2, 16, 17, 50])
@pytest.mark.parametrize("masked", [False, True])
def test_compiled_equals_torch_in_outputs_and_all_gradients(length: int, masked: bool) -> None:
    inputs, mask = draw(3, length, 2), None
    if masked:
        mask = torch.rand(3, length, generator=torch.Generator().manual_seed(4)) < 0.7
        mask[0] = False
    found = outputs_and_gradients(single(inputs), mask)
    assert differences(found, outputs_and_gradients(inputs, mask)) == {}


@pytest.mark.slow
def test_a_head_size_that_is_no_multiple_of_4_gives_the_same() -> None:
    inputs = draw(2, 19, 3, size=6)
    assert differences(outputs_and_gradients(single(inputs)), outputs_and_gradients(inputs)) == {}


def test_a_key_of_zeros_has_no_direction_and_no_nan() -> None:
    inputs = draw(2, 5, 1)
    inputs[1][0, 2] = 0
    found, wanted = outputs_and_gradients(single(inputs)), outputs_and_gradients(inputs)
    # At a key of exactly 0 the gradient of its direction is 1 / 1e-12: huge, and of no consequence elsewhere.
    assert torch.isfinite(found["to k"]).all()
    for results in (found, wanted):
        results["to k"][0, 2] = 0
        del results["to k_k"]
    assert differences(found, wanted) == {}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["compiled", "torch"])
def test_the_first_step_gives_the_number_worked_out_by_hand(dtype: torch.dtype) -> None:
    # From a state of zeros, S = key v' and o = (r . key) v. With r = 1, k = 2, w_raw = a_raw = 0 (a = 1/2), k_a = 1:
    # key = 2 (1 - 1/2) = 1, r . key = 32, o = 32 v. v is +-1 in equal parts: mean 0, variance 1024, so
    # norm(o) = v * 32 / sqrt(1024 + 64e-5). Bonus: sum r key r_k = 32 / 8 = 4. y = 3 (norm(o) + 4 v), v = 1 first.
    v = torch.tensor([1.0, -1.0] * 16, dtype=dtype).view(1, 1, 1, 32)
    ones, zeros, head = torch.ones_like(v), torch.zeros_like(v), torch.ones(1, 32, dtype=dtype)
    steps = (ones, 2 * ones, v, zeros, zeros, 3 * ones)
    parameters = (head, head, head / 8, head, 0 * head)
    y, state = time_mix_core(*steps, *parameters, torch.zeros(1, 1, 32, 32, dtype=dtype))
    assert y[0, 0, 0, 0].item() == pytest.approx(3 * (32 / math.sqrt(1024 + 64e-5) + 4), rel=1e-6)
    assert torch.allclose(state[0, 0], v.view(1, 32).expand(32, 32), rtol=1e-6)


@pytest.mark.parametrize("cut", [1, 16, 19])
def test_cutting_and_carrying_the_state_changes_nothing(cut: int) -> None:
    inputs = single(draw(2, 37, 2))
    steps, parameters, state = inputs[:6], inputs[6:11], inputs[11]
    mask = torch.rand(2, 37, generator=torch.Generator().manual_seed(4)) < 0.7
    y, last = time_mix_core(*inputs, mask=mask)
    outputs = []
    for part in (slice(0, cut), slice(cut, 37)):
        cut_steps = [tensor[:, part] for tensor in steps]
        out, state = time_mix_core(*cut_steps, *parameters, state, mask=mask[:, part])
        outputs.append(out)
    found = {"y": torch.cat(outputs, dim=1), "last": state}
    assert differences(found, {"y": y, "last": last}) == {}


def test_masked_steps_change_nothing_whatever_they_hold() -> None:
    inputs = single(draw(2, 20, 2))
    mask = torch.ones(2, 20, dtype=torch.bool)
    mask[:, 7:12] = False
    spoilt = [torch.where(mask[..., None, None], tensor, 1e6) for tensor in inputs[:6]]
    y, last = time_mix_core(*spoilt, *inputs[6:], mask=mask)
    kept = [torch.cat([tensor[:, :7], tensor[:, 12:]], dim=1) for tensor in inputs[:6]]
    wanted, end = time_mix_core(*kept, *inputs[6:])
    assert not y[:, 7:12].any()
    assert torch.equal(y[:, mask[0]], wanted)
    assert torch.equal(last, end)


def test_no_steps_at_all_return_the_state() -> None:
    inputs = single(draw(2, 0, 2))
    y, last = time_mix_core(*inputs)
    assert y.shape == (2, 0, 2, WIDTH)
    assert torch.equal(last, inputs[-1])


def test_strided_inputs_give_what_contiguous_ones_give() -> None:
    inputs = single(draw(2, 9, 2))
    strided = [tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in inputs[:6]]
    assert torch.equal(time_mix_core(*strided, *inputs[6:])[0], time_mix_core(*inputs)[0])


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    inputs = single(draw(5, 20, 3))
    alone = outputs_and_gradients(inputs)
    torch.set_num_threads(4)
    together = outputs_and_gradients(inputs)
    assert all(torch.equal(tensor, together[name]) for name, tensor in alone.items())


def test_two_python_threads_at_once_get_what_each_gets_alone() -> None:
    batches = [single(draw(4, length, 2)) for length in (50, 60)]
    wanted = [outputs_and_gradients(batch) for batch in batches]
    agreed = []

    def work(number: int) -> None:
        for _ in range(10):
            found = outputs_and_gradients(batches[number])
            agreed.append(
                all(torch.equal(found[name], one) for name, one in wanted[number].items())
            )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agreed == [True] * 20


def test_without_gradients_the_outputs_are_the_same() -> None:
    inputs = [tensor.requires_grad_() for tensor in single(draw(2, 20, 2))]
    wanted = time_mix_core(*inputs)
    with torch.no_grad():
        found = time_mix_core(*inputs)
    assert all(torch.equal(one, other) for one, other in zip(found, wanted, strict=True))
