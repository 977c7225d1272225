"""Where the deep layers take over from the first: states, vectors and answers from its reading of a column.

    reading (B, FIRST_WIDTH) --> hidden (B, R) --> a matrix state per RWKV block, what is added to the vector, gated answers

States and what is added begin at zero and the gates of answers at one: an untrained layer adds the first layer's answers to those
of the network (a product of experts), and learns from there. The same in numpy, and what a reading is:
readers/bytes/first_layer.py.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.first_layer import FIRST_WIDTH, SCALE
from aegir.readers.bytes.heads import ANSWER_WIDTH


class FirstReading(NamedTuple):
    """What the deep layers begin with."""

    hidden: Tensor
    """(B, R)"""
    states: list[Tensor]
    """(B, H, K, V) for every RWKV block."""
    vectors: Tensor
    """(B, D) added to the columns' vectors."""
    answers: Tensor
    """(B, ANSWER_WIDTH) added to what the heads say."""


class FirstLayer(nn.Module):  # type: ignore[misc]
    """Reads what the first layer says."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        width, self.shapes = architecture.first, architecture.state_shapes
        self.hidden = nn.Linear(FIRST_WIDTH - 1, width)
        self.states = nn.ParameterList(
            torch.zeros(heads * keys * values, width) for heads, keys, values in self.shapes
        )
        self.vector = nn.Parameter(torch.zeros(architecture.column_width, width))
        self.gates = nn.Parameter(torch.ones(ANSWER_WIDTH))

    def forward(self, readings: Tensor, heard: Tensor | None = None) -> FirstReading:
        """Read (B, FIRST_WIDTH); `heard` (B,) is 0 where the answers are to be left out."""
        answers, known = readings[:, :ANSWER_WIDTH], readings[:, -1:]
        inputs = torch.cat([answers * float(SCALE), readings[:, ANSWER_WIDTH:-1]], dim=1)
        hidden = functional.relu(self.hidden(inputs)) * known
        counted = known if heard is None else known * heard[:, None]
        return FirstReading(
            hidden,
            [
                (hidden @ weight.T).unflatten(1, shape)
                for weight, shape in zip(self.states, self.shapes, strict=True)
            ],
            hidden @ self.vector.T,
            answers * self.gates * counted,
        )
