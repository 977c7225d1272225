"""Alignment: the state or vector of a specialist in the shape that the primary has.

    matrix to matrix    align(S)_g = keys_g (sum_h heads_gh S_h) values_g'     other head counts and head sizes
    vector to vector    weight v                                              other widths
    vector to matrix    align(v)_g = sum_r keys_gr (values_gr v)'              a specialist without matrix states:
                                                                              learnt keys hold parts of its vector

If source and target have the same shape the projection is the identity and has no parameters. Otherwise it begins as
cropping or zero-filling (heads: the nearest) and is trained end to end. It is linear without a constant: nothing stays nothing.
The same in numpy: `Alignment` of readers/swarm/state_fusion.py.
"""

import torch
from torch import Tensor, nn

from aegir.readers.swarm.state_fusion import Shape, alignment_shapes
from aegir_rl.base.errors import UsageError


class AlignmentProjection(nn.Module):  # type: ignore[misc]
    """Maps (B, *source) to (B, *target); a shape is (H, K, V) of a matrix state or (D,) of a vector."""

    def __init__(self, source: Shape, target: Shape) -> None:
        super().__init__()
        if len(source) == 3 and len(target) == 1:
            raise UsageError(
                f"a matrix state {source} cannot be aligned to a vector {target}; give the specialist's vector"
            )
        self.source, self.target = source, target
        for name, shape in alignment_shapes(source, target).items():
            setattr(self, name, nn.Parameter(_begin(name, shape, source)))

    @property
    def is_identity(self) -> bool:
        """Whether source and target agree, so that there is nothing to learn."""
        return self.source == self.target

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, *target) for x (B, *source)."""
        if tuple(x.shape[1:]) != self.source:
            raise UsageError(f"alignment got shape {tuple(x.shape)}; expected (B, *{self.source})")
        if self.is_identity:
            return x
        if len(self.target) == 1:
            return x @ self.weight.T
        if len(self.source) == 1:
            held = torch.einsum("grvd,bd->bgrv", self.values, x)
            return self.keys.mT @ held  # (B, G, K, V)
        mixed = torch.einsum("gh,bhkv->bgkv", self.heads, x)
        return self.keys @ mixed @ self.values.mT


def _begin(name: str, shape: tuple[int, ...], source: Shape) -> Tensor:
    """Return the weights to begin with: what fits is passed on as it is."""
    if name == "weight":
        return torch.eye(*shape)
    if name == "heads":
        heads, source_heads = shape
        return torch.eye(source_heads)[torch.arange(heads) * source_heads // heads]
    if len(source) == 3:
        return torch.eye(*shape[1:]).repeat(shape[0], 1, 1)
    if name == "keys":
        return torch.eye(*shape[1:]).repeat(shape[0], 1, 1)
    heads, rank, values, width = shape
    indices = torch.arange(heads * rank * values) % width  # the vector in parts, over and over
    return torch.eye(width)[indices].reshape(shape)
