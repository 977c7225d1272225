"""Stages within stages, with no, one and two levels of chunking: a sequence may be cut, stepped through or padded.

Weights are random everywhere (fresh ones have zeros that would hide a mistake); float32 agrees within 1e-4 of values
up to about 10. A boundary probability within 1e-4 of 1/2 could fall either way, so none may be that near.
"""

import pytest
import torch

from aegir.lab.nets.annotator import ByteNetwork
from aegir.lab.nets.hierarchy import StageNet, StageOutput, StageState
from aegir.readers.bytes.heads import HEAD_SIZES
from byte_models import LAYOUTS, random_checkpoint

LEVELS = {"no chunking": 0, "one level": 1, "two levels": 2}
LENGTHS = [23, 9, 14, 1]
CLOSE = {"rtol": 0, "atol": 1e-4}


@pytest.fixture(params=LEVELS, scope="module")
def stage(request: pytest.FixtureRequest) -> StageNet:
    checkpoint = random_checkpoint(LAYOUTS[request.param], seed=5)
    net = ByteNetwork(checkpoint.architecture, HEAD_SIZES).requires_grad_(False)
    weights = {name: torch.tensor(one) for name, one in checkpoint.tensors.items()}
    net.load_state_dict({name: weights[name] for name in net.state_dict()})
    assert len(list(checkpoint.architecture.stage.levels())) == LEVELS[request.param] + 1
    return net.reader.stage


def inputs(stage: StageNet, lengths: list[int] = LENGTHS) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(4)
    x = torch.randn(len(lengths), max(lengths), stage.width, generator=random)
    return x, torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def read(stage: StageNet, x: torch.Tensor, mask: torch.Tensor) -> StageOutput:
    output = stage(x, mask, stage.start(len(x)))
    for cut in output.boundaries:
        assert float((cut.p[cut.mask] - 0.5).abs().min()) > 1e-4
    return output


def assert_same_state(one: StageState, other: StageState) -> None:
    for a, b in zip(one.blocks(), other.blocks(), strict=True):
        torch.testing.assert_close(a.time_shift, b.time_shift, **CLOSE)
        torch.testing.assert_close(a.matrix, b.matrix, **CLOSE)
        torch.testing.assert_close(a.channel_shift, b.channel_shift, **CLOSE)
    assert torch.equal(one.started, other.started)
    torch.testing.assert_close(one.router_key, other.router_key, **CLOSE)
    torch.testing.assert_close(one.average, other.average, **CLOSE)
    if one.inner is not None and other.inner is not None:
        assert_same_state(one.inner, other.inner)


def test_stepping_through_a_ragged_batch_gives_what_reading_it_gives(stage: StageNet) -> None:
    x, mask = inputs(stage)
    whole = read(stage, x, mask)
    state, steps = stage.start(len(x)), []
    for t in range(x.shape[1]):
        output = stage.step(x[:, t], mask[:, t], state)
        state = output.state
        steps.append(output.x[:, 0])
    torch.testing.assert_close(torch.stack(steps, dim=1)[mask], whole.x[mask], **CLOSE)
    assert_same_state(state, whole.state)


@pytest.mark.parametrize("cut", [1, 2, 11, 22])
def test_a_state_carried_across_a_cut_changes_nothing(stage: StageNet, cut: int) -> None:
    x, mask = inputs(stage)
    whole = read(stage, x, mask)
    left = stage(x[:, :cut], mask[:, :cut], stage.start(len(x)))
    right = stage(x[:, cut:], mask[:, cut:], left.state)
    joined = torch.cat([left.x, right.x], dim=1)
    torch.testing.assert_close(joined[mask], whole.x[mask], **CLOSE)
    assert_same_state(right.state, whole.state)


def test_padding_and_company_change_no_answer(stage: StageNet) -> None:
    x, mask = inputs(stage)
    together = read(stage, x, mask)
    for row, length in enumerate(LENGTHS):
        alone = read(stage, x[row : row + 1, :length], mask[row : row + 1, :length])
        torch.testing.assert_close(together.x[row, :length], alone.x[0], **CLOSE)
    noise = torch.where(mask[..., None], x, 100.0)
    torch.testing.assert_close(read(stage, noise, mask).x[mask], together.x[mask], **CLOSE)


def test_changing_a_symbol_leaves_what_stands_before_it_alone(stage: StageNet) -> None:
    x, mask = inputs(stage, [23, 23])
    before = read(stage, x, mask)
    x[0, 12] *= -1
    after = stage(x, mask, stage.start(2))
    torch.testing.assert_close(after.x[0, :12], before.x[0, :12], **CLOSE)
    torch.testing.assert_close(after.x[1], before.x[1], **CLOSE)
    assert float((after.x[0, 12:] - before.x[0, 12:]).abs().max()) > 0.01


def test_every_level_has_boundaries_and_fewer_positions_than_the_one_outside(
    stage: StageNet,
) -> None:
    output = read(stage, *inputs(stage))
    counts = [int(mask.sum()) for _, mask in output.levels]
    assert counts == sorted(counts, reverse=True)
    assert len(output.boundaries) == len(counts) - 1
    for cut, inside in zip(output.boundaries, counts[1:], strict=True):
        assert int(cut.is_boundary.sum()) == inside
        assert cut.is_boundary[:, 0].all()
