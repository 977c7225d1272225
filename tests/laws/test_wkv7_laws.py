"""What holds for the RWKV-7 recurrence whatever the inputs: implementations agree, and rows and steps keep their places."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from aegir.nets.wkv7 import wkv7

HEAD = 16
Inputs = tuple[list[torch.Tensor], torch.Tensor]


@st.composite
def sequences(draw: st.DrawFn) -> Inputs:
    """Six inputs with a state in float32, and a mask with any holes."""
    rows, length, heads = draw(st.tuples(*(st.integers(1, top) for top in (3, 40, 2))))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random)

    shape, scale = (rows, length, heads, HEAD), draw(st.sampled_from([0.1, 1, 3]))
    kappa, rate = functional.normalize(normal(*shape), dim=-1), normal(*shape).sigmoid()
    log_w = -0.6065 * (5 * normal(*shape)).sigmoid()
    r, k, v = (scale * normal(*shape) for _ in range(3))
    mask = torch.rand(rows, length, generator=random) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    return [r, log_w, k, v, -kappa, kappa * rate, normal(rows, heads, HEAD, HEAD)], mask


def near(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Within 1e-5 of the largest value: twenty times what float32 needs for 40 steps."""
    return float((found - wanted).abs().max()) <= 1e-5 * max(1.0, float(wanted.abs().max()))


@settings(max_examples=25, deadline=None)
@given(sequences(), st.sampled_from(["numba", "chunked"]))
def test_every_implementation_agrees_with_the_reference(
    sequence: Inputs, implementation: str
) -> None:
    inputs, mask = sequence
    wanted = wkv7(*(one.double() for one in inputs), mask, implementation="reference")
    found = wkv7(*inputs, mask, implementation=implementation)
    assert all(near(one.double(), other) for one, other in zip(found, wanted, strict=True))


@settings(max_examples=25, deadline=None)
@given(sequences(), st.data())
def test_a_step_is_seen_by_no_earlier_output_and_by_no_other_row(
    sequence: Inputs, data: st.DataObject
) -> None:
    inputs, mask = sequence
    rows, length = mask.shape
    row, step = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, length - 1))
    changed = [one.clone() for one in inputs]
    for one in changed[:6]:
        one[row, step] += 0.5
    y, last = wkv7(*inputs, mask, implementation="numba")
    other_y, other_last = wkv7(*changed, mask, implementation="numba")
    others = torch.arange(rows) != row
    assert torch.equal(y[:, :step], other_y[:, :step])
    assert torch.equal(y[others], other_y[others])
    assert torch.equal(last[others], other_last[others])


@settings(max_examples=25, deadline=None)
@given(sequences(), st.data())
def test_cutting_anywhere_and_carrying_the_state_changes_nothing(
    sequence: Inputs, data: st.DataObject
) -> None:
    (*inputs, state), mask = sequence
    cut = data.draw(st.integers(0, mask.shape[1]))
    y, last = wkv7(*inputs, state, mask, implementation="numba")
    left, carried = wkv7(*(one[:, :cut] for one in inputs), state, mask[:, :cut])
    right, end = wkv7(*(one[:, cut:] for one in inputs), carried, mask[:, cut:])
    assert near(torch.cat([left, right], dim=1), y)
    assert near(end, last)
