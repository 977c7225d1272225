"""What stands between time mixing's projections: worked numbers, and the compiled pass against plain torch.

Tolerance: relative to the largest value of a tensor, the compiled float32 pass is found within 1e-6 of torch in float64,
as far as torch's own float32 is (both: up to 1e-6, most at 2e-7); 5e-6 leaves room and would not hide a wrong term.
"""

import math
from collections.abc import Iterator

import pytest
import torch

from aegir.nets.time_mix_core import time_mix_core

TOLERANCE = 5e-6
NAMES = ["r", "k", "v", "w_raw", "a_raw", "g", "k_k", "k_a", "r_k", "ln_weight", "ln_bias", "state"]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Products this small lose more to waiting threads than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def draw(rows: int, length: int, heads: int, size: int) -> list[torch.Tensor]:
    """Inputs in the order of NAMES, in float64."""
    random = torch.Generator().manual_seed(3)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    steps = [normal(rows, length, heads, size) for _ in range(6)]
    parameters = [centre + 0.3 * normal(heads, size) for centre in (0.85, 1, 0, 1, 0)]
    return [*steps, *parameters, normal(rows, heads, size, size)]


def outputs_and_gradients(
    inputs: list[torch.Tensor], mask: torch.Tensor | None, implementation: str
) -> dict[str, torch.Tensor]:
    """y, the last state, and the gradients of a sum that weighs every number in them differently."""
    leaves = [one.clone().requires_grad_() for one in inputs]
    y, last = time_mix_core(*leaves, mask, implementation=implementation)
    weights = [
        torch.arange(one.numel(), dtype=one.dtype).cos().view(one.shape) for one in (y, last)
    ]
    ((y * weights[0]).sum() + (last * weights[1]).sum()).backward()
    gradients = {f"to {name}": leaf.grad for name, leaf in zip(NAMES, leaves, strict=True)}
    return {"y": y.detach(), "last": last.detach(), **gradients}


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
@pytest.mark.parametrize("size", [16, 32])
def test_compiled_equals_torch_in_outputs_and_all_gradients(
    length: int, masked: bool, size: int
) -> None:
    inputs, mask = draw(3, length, 2, size), None
    if masked:
        mask = torch.rand(3, length, generator=torch.Generator().manual_seed(4)) < 0.7
        mask[0] = False
    found = outputs_and_gradients([one.float() for one in inputs], mask, "numba")
    assert differences(found, outputs_and_gradients(inputs, mask, "reference")) == {}


def test_a_key_of_zeros_has_no_direction_and_no_nan() -> None:
    inputs = draw(2, 5, 1, 16)
    inputs[1][0, 2] = 0
    found = outputs_and_gradients([one.float() for one in inputs], None, "numba")
    wanted = outputs_and_gradients(inputs, None, "reference")
    # At a key of exactly 0 the gradient of its direction is 1 / 1e-12: huge, and of no consequence elsewhere.
    assert torch.isfinite(found["to k"]).all()
    for results in (found, wanted):
        results["to k"][0, 2] = 0
        del results["to k_k"]
    assert differences(found, wanted) == {}


@pytest.mark.parametrize("implementation", ["reference", "numba"])
def test_the_first_step_gives_the_number_worked_out_by_hand(implementation: str) -> None:
    # From a state of zeros, S = key v' and o = (r . key) v. With r = 1, k = 2, w_raw = a_raw = 0 (a = 1/2), k_a = 1:
    # key = 2 (1 - 1/2) = 1, r . key = 16, o = 16 v. v is +-1 in equal parts: mean 0, variance 256, so
    # norm(o) = v * 16 / sqrt(256 + 64e-5). Bonus: sum r key r_k = 16 * 0.25 = 4. y = 3 (norm(o) + 4 v), v = 1 first.
    v = torch.tensor([1.0, -1.0] * 8).view(1, 1, 1, 16)
    ones, zeros, head = torch.ones_like(v), torch.zeros_like(v), torch.ones(1, 16)
    y, state = time_mix_core(
        ones,
        2 * ones,
        v,
        zeros,
        zeros,
        3 * ones,
        head,
        head,
        head / 4,
        head,
        0 * head,
        implementation=implementation,
    )
    assert y[0, 0, 0, 0].item() == pytest.approx(3 * (16 / math.sqrt(256 + 64e-5) + 4), rel=1e-6)
    assert torch.allclose(state[0, 0], v.view(1, 16).expand(16, 16), rtol=1e-6)


@pytest.mark.parametrize("implementation", ["reference", "numba"])
def test_cutting_and_carrying_the_state_changes_nothing(implementation: str) -> None:
    inputs = [one.float() for one in draw(2, 37, 2, 16)]
    steps, parameters, state = inputs[:6], inputs[6:11], inputs[11]
    mask = torch.rand(2, 37, generator=torch.Generator().manual_seed(4)) < 0.7
    y, last = time_mix_core(*steps, *parameters, state, mask, implementation=implementation)
    parts = []
    for part in (slice(0, 19), slice(19, 37)):
        cut = [one[:, part] for one in steps]
        out, state = time_mix_core(
            *cut, *parameters, state, mask[:, part], implementation=implementation
        )
        parts.append(out)
    found = {"y": torch.cat(parts, dim=1), "last": state}
    assert differences(found, {"y": y, "last": last}) == {}


def test_parameter_gradients_do_not_depend_on_the_number_of_threads() -> None:
    inputs = [one.float() for one in draw(5, 20, 3, 16)]
    alone = outputs_and_gradients(inputs, None, "numba")
    torch.set_num_threads(4)
    together = outputs_and_gradients(inputs, None, "numba")
    assert all(torch.equal(one, together[name]) for name, one in alone.items())
