"""Weighted sums of embedding rows, and the optimiser of those rows: only rows that a step reads are touched.

    y_i = sum over n-grams j of column i of s_ij W_j         sum_rows, with dL/dW_j = sum_i s_ij dL/dy_i
    Adam on the rows j that have a gradient; the moments of all others wait                   RowAdam

`torch.nn.EmbeddingBag` with `torch.optim.SparseAdam` learns the same. It keeps a row of gradient per n-gram *read*, over a
hundred thousand in a step, and sorts them in the optimiser; here one sparse product adds them up per *distinct* n-gram.
"""

import math
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from aegir.lab.nets.kernels.compiled import compiled, run_kernel


def sum_rows(weight: Tensor, features: Tensor, offsets: Tensor, shares: Tensor) -> Tensor:
    """Return (columns, D): the rows of `weight` (rows, D) that each column's features name, weighed and added up."""
    summed: Tensor = _SumRows.apply(weight, features, offsets, shares)
    return summed


class _SumRows(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, features: Tensor, offsets: Tensor, shares: Tensor
    ) -> Tensor:
        ctx.save_for_backward(features, offsets, shares)
        ctx.shape = weight.shape
        found: Tensor = functional.embedding_bag(
            features, weight, offsets, mode="sum", per_sample_weights=shares
        )
        return found

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        features, offsets, shares = (each.numpy() for each in ctx.saved_tensors)
        bags = csr_matrix(
            (shares, features, np.append(offsets, len(features))),
            shape=(len(offsets), ctx.shape[0]),
        )
        rows = bags.T @ np.ascontiguousarray(gradient.numpy())
        return torch.from_numpy(rows), None, None, None


class RowAdam(torch.optim.Optimizer):  # type: ignore[misc]
    """Adam (Kingma and Ba 2015) on the rows whose gradient is not zero, as `torch.optim.SparseAdam` has it."""

    def __init__(
        self,
        parameters: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self) -> None:
        """Update the rows that have a gradient."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._update(weight, group)

    def _update(self, weight: Tensor, group: dict[str, Any]) -> None:
        state, (slow, slower) = self.state[weight], group["betas"]
        if not state:
            state |= {
                "step": 0,
                "mean": torch.zeros_like(weight),
                "square": torch.zeros_like(weight),
            }
        state["step"] += 1
        bias, bias_of_square = (1 - beta ** state["step"] for beta in (slow, slower))
        run_kernel(
            _update_rows,
            len(weight),
            weight,
            weight.grad,
            state["mean"],
            state["square"],
            np.float32(slow),
            np.float32(slower),
            np.float32(group["lr"] * math.sqrt(bias_of_square) / bias),
            np.float32(group["eps"]),
        )


@compiled
def _update_rows(first: Any, last: Any, *arguments: Any) -> None:
    weight, gradient, mean, square, slow, slower, rate, eps = arguments
    for row in range(first, last):
        g, w, m, v = gradient[row], weight[row], mean[row], square[row]
        if not g.any():
            continue
        for d in range(len(g)):
            m[d] += (np.float32(1) - slow) * (g[d] - m[d])
            v[d] += (np.float32(1) - slower) * (g[d] * g[d] - v[d])
            w[d] -= rate * m[d] / (np.sqrt(v[d]) + eps)
