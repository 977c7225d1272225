"""Dynamic chunking: where boundaries stand, what the ratio loss asks for, and how gradients find the router."""

import pytest
import torch

from aegir.lab.nets.chunking import Boundaries, BoundaryRouter, chunk, dechunk

LENGTHS = [9, 4, 1, 0]


def ragged(width: int = 8, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(len(LENGTHS), 9, width, generator=torch.Generator().manual_seed(seed))
    return x, torch.arange(9) < torch.tensor(LENGTHS)[:, None]


def fresh(rows: int, width: int = 8) -> tuple[torch.Tensor, torch.Tensor]:
    """The key and the flag of sequences of which nothing was read."""
    return torch.zeros(rows, width), torch.zeros(rows, dtype=torch.bool)


def cut_at(places: list[list[int]], length: int) -> Boundaries:
    at = torch.zeros(len(places), length, dtype=torch.bool)
    for row, some in zip(at, places, strict=True):
        row[some] = True
    return Boundaries(torch.where(at, 0.9, 0.2), at, torch.ones_like(at))


def test_the_first_position_is_a_boundary_and_padding_never_is() -> None:
    x, mask = ragged()
    found, _ = BoundaryRouter(8)(x, mask, *fresh(4))
    assert found.is_boundary[:3, 0].all()
    assert found.p[:3, 0].tolist() == [1, 1, 1]
    assert not found.is_boundary[~mask].any()


def test_a_sequence_that_goes_on_needs_no_boundary_at_the_cut() -> None:
    router = BoundaryRouter(8)
    x = torch.ones(1, 3, 8)  # each position is like the one before: no boundary
    _, key = router(x, torch.ones(1, 3, dtype=torch.bool), *fresh(1))
    again, _ = router(x, torch.ones(1, 3, dtype=torch.bool), key, torch.tensor([True]))
    assert not again.is_boundary.any()


def test_opposite_neighbours_are_cut_and_equal_ones_are_not() -> None:
    # cos = -1 gives p = 1, cos = 1 gives p = 0, cos = 0 gives p = 1/2, which is a boundary
    x = torch.tensor([[[1.0, 0], [-1, 0], [-1, 0], [0, 1]]])
    found, _ = BoundaryRouter(2)(x, torch.ones(1, 4, dtype=torch.bool), *fresh(1, 2))
    assert found.p[0].tolist() == pytest.approx([1, 1, 0, 0.5])
    assert found.is_boundary[0].tolist() == [True, True, False, True]


def test_chunks_are_what_stands_at_boundaries_with_a_mask_for_short_rows() -> None:
    x = torch.arange(10.0).view(2, 5, 1)
    kept, mask, p = chunk(x, cut_at([[0, 2, 4], [0]], 5))
    assert kept.shape == (2, 3, 1)
    assert mask.tolist() == [[True, True, True], [True, False, False]]
    assert kept[mask].flatten().tolist() == [0, 2, 4, 5]
    assert p[mask].tolist() == pytest.approx([0.9] * 4)


def test_spreading_gives_every_position_the_average_of_its_chunk() -> None:
    # 0.9 * 10 + 0.1 * 0 = 9;   0.9 * 20 + 0.1 * 9 = 18.9
    boundaries = cut_at([[0, 3]], 5)
    z = torch.tensor([[[10.0], [20.0]]])
    mask, p = torch.ones(1, 2, dtype=torch.bool), torch.tensor([[0.9, 0.9]])
    spread, last = dechunk(z, mask, p, boundaries, torch.zeros(1, 1))
    assert spread.flatten().tolist() == pytest.approx([9, 9, 9, 18.9, 18.9])
    assert last.item() == pytest.approx(18.9)


def test_before_the_first_boundary_of_a_piece_the_earlier_average_holds() -> None:
    z, p = torch.tensor([[[10.0]]]), torch.tensor([[0.9]])
    mask = torch.ones(1, 1, dtype=torch.bool)
    spread, _ = dechunk(z, mask, p, cut_at([[2]], 3), torch.tensor([[5.0]]))
    assert spread.flatten().tolist() == pytest.approx([5, 5, 9.5])


def test_when_every_position_is_a_sure_boundary_chunking_and_spreading_is_the_identity() -> None:
    x = torch.randn(3, 7, 4, generator=torch.Generator().manual_seed(0))
    everywhere = torch.ones(3, 7, dtype=torch.bool)
    boundaries = Boundaries(torch.ones(3, 7), everywhere, everywhere)
    kept, mask, p = chunk(x, boundaries)
    spread, _ = dechunk(kept, mask, p, boundaries, torch.zeros(3, 4))
    assert torch.allclose(spread, x, atol=5e-4)  # p is kept 1e-4 from 1


def test_the_answer_does_not_depend_on_confidence_but_its_gradient_reaches_the_router() -> None:
    router = BoundaryRouter(8)
    x, mask = ragged(seed=1)
    boundaries, _ = router(x[:1], mask[:1], *fresh(1))
    kept, chunk_mask, p = chunk(x[:1], boundaries)
    out, _ = dechunk(kept.detach(), chunk_mask, p.detach(), boundaries, torch.zeros(1, 8))
    plain = Boundaries(torch.where(boundaries.is_boundary, 0.7, 0.3), *[boundaries.is_boundary] * 2)
    same, _ = dechunk(kept, chunk_mask, p, plain, torch.zeros(1, 8))
    assert torch.allclose(out, same)
    out.square().sum().backward()
    assert float(router.query.grad.abs().max()) > 1e-3
    assert float(router.key.grad.abs().max()) > 1e-3
