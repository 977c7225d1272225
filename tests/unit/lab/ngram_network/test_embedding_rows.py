"""Sums of embedding rows and their optimiser learn what torch's EmbeddingBag and SparseAdam learn."""

import numpy as np
import torch
from torch import Tensor, nn

from aegir.lab.ngram_network.embedding_rows import RowAdam, sum_rows

ROWS, WIDTH = 40, 5


def _bag(seed: int, columns: int) -> tuple[Tensor, Tensor, Tensor]:
    """Some columns of zero to eleven n-grams, several of them equal; the last column is empty."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 12, columns)
    counts[-1] = 0
    features = torch.from_numpy(random.integers(0, ROWS // 2, counts.sum()))
    offsets = torch.from_numpy(np.append(0, np.cumsum(counts)[:-1]))
    return features, offsets, torch.from_numpy(random.random(counts.sum()).astype(np.float32))


def test_a_worked_sum_and_its_gradient() -> None:
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    # column 0 reads rows 0 and 2 with 0.5 and 2, column 1 reads row 2 with 3
    features, offsets = torch.tensor([0, 2, 2]), torch.tensor([0, 2])
    summed = sum_rows(weight, features, offsets, torch.tensor([0.5, 2.0, 3.0]))
    assert summed.tolist() == [[10.5, 13.0], [15.0, 18.0]]
    (summed * torch.tensor([[1.0, 0.0], [0.0, 10.0]])).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [[0.5, 0.0], [0.0, 0.0], [2.0, 30.0]]


def test_training_equals_torch_with_sparse_adam() -> None:
    torch.manual_seed(0)
    theirs = nn.EmbeddingBag(ROWS, WIDTH, mode="sum", sparse=True)
    ours = nn.Parameter(theirs.weight.detach().clone())
    optimisers = torch.optim.SparseAdam(list(theirs.parameters()), lr=0.1), RowAdam([ours], lr=0.1)
    for step in range(12):
        features, offsets, shares = _bag(step, columns=7)
        aim = torch.randn(7, WIDTH)
        outputs = (
            theirs(features, offsets, per_sample_weights=shares),
            sum_rows(ours, features, offsets, shares),
        )
        for output, optimiser in zip(outputs, optimisers, strict=True):
            optimiser.zero_grad()
            (output - aim).square().sum().backward()
            optimiser.step()
        torch.testing.assert_close(ours, theirs.weight, rtol=1e-4, atol=1e-5)


def test_rows_that_were_not_read_stay_bit_equal() -> None:
    weight = nn.Parameter(torch.randn(ROWS, WIDTH))
    before = weight.detach().clone()
    optimiser = RowAdam([weight], lr=0.1)
    features, offsets, shares = _bag(0, columns=7)
    sum_rows(weight, features, offsets, shares).square().sum().backward()
    optimiser.step()
    unread = np.setdiff1d(np.arange(ROWS), features.numpy())
    assert torch.equal(weight.detach()[unread], before[unread])
    assert not torch.equal(weight.detach()[features], before[features])
