"""What holds for time mixing whatever the inputs: the compiled pass agrees with torch, rows and steps keep apart."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.lab.nets.time_mix_core import time_mix_core, time_mix_core_reference

HEAD = 32
Inputs = tuple[list[torch.Tensor], torch.Tensor]


@st.composite
def sequences(draw: st.DrawFn) -> Inputs:
    """The twelve inputs in float32, and a mask with any holes."""
    rows, length, heads = draw(st.tuples(*(st.integers(1, top) for top in (3, 40, 2))))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([0.1, 1, 3]))

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random)

    steps = [scale * normal(rows, length, heads, HEAD) for _ in range(6)]
    parameters = [centre + 0.3 * normal(heads, HEAD) for centre in (0.85, 1, 0, 1, 0)]
    mask = torch.rand(rows, length, generator=random) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    return [*steps, *parameters, normal(rows, heads, HEAD, HEAD)], mask


def near(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Within 1e-5 of the largest value: twenty times what float32 needs for 40 steps."""
    return float((found - wanted).abs().max()) <= 1e-5 * max(1.0, float(wanted.abs().max()))


@settings(max_examples=25)
@given(sequences())
def test_the_compiled_pass_agrees_with_torch(sequence: Inputs) -> None:
    inputs, mask = sequence
    wanted = time_mix_core_reference(*(tensor.double() for tensor in inputs), mask=mask)
    found = time_mix_core(*inputs, mask=mask)
    assert all(near(one.double(), other) for one, other in zip(found, wanted, strict=True))


@settings(max_examples=25)
@given(sequences(), st.data())
def test_a_step_is_seen_by_no_earlier_output_and_by_no_other_row(
    sequence: Inputs, data: st.DataObject
) -> None:
    inputs, mask = sequence
    rows, length = mask.shape
    row, step = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, length - 1))
    changed = [tensor.clone() for tensor in inputs]
    for tensor in changed[:6]:
        tensor[row, step] += 0.5
    y, last = time_mix_core(*inputs, mask=mask)
    other_y, other_last = time_mix_core(*changed, mask=mask)
    others = torch.arange(rows) != row
    assert torch.equal(y[:, :step], other_y[:, :step])
    assert torch.equal(y[others], other_y[others])
    assert torch.equal(last[others], other_last[others])


@settings(max_examples=25)
@given(sequences(), st.data())
def test_cutting_anywhere_and_carrying_the_state_changes_nothing(
    sequence: Inputs, data: st.DataObject
) -> None:
    inputs, mask = sequence
    steps, parameters, state = inputs[:6], inputs[6:11], inputs[11]
    cut = data.draw(st.integers(0, mask.shape[1]))
    y, last = time_mix_core(*inputs, mask=mask)
    left, carried = time_mix_core(
        *(tensor[:, :cut] for tensor in steps), *parameters, state, mask=mask[:, :cut]
    )
    right, end = time_mix_core(
        *(tensor[:, cut:] for tensor in steps), *parameters, carried, mask=mask[:, cut:]
    )
    assert near(torch.cat([left, right], dim=1), y)
    assert near(end, last)
