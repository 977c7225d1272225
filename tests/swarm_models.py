"""Small swarms: byte networks with random weights, and models of other families."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import PAD, SYMBOLS
from aegir.swarm.column_model import ByteColumnModel, ModelOutput
from aegir.swarm.fusion import build_fusions
from aegir.swarm.orchestrator import SwarmOrchestrator
from aegir.swarm.specialist import FrozenSpecialist
from byte_models import random_checkpoint, text_columns
from swarm_folders import LAYOUT, OTHER_LAYOUT

LENGTHS = [30, 7, 18, 25]


class BytesSeen(nn.Module):
    """A specialist that is not recurrent: its vector counts bytes in 12 buckets."""

    symbols, state_shapes = SYMBOLS, ()
    vector_width: int | None = 12

    def forward(
        self, input_ids: Tensor, mask: Tensor, initial: Sequence[Tensor] | None = None
    ) -> ModelOutput:
        one_hot = nn.functional.one_hot(input_ids % 12, 12) * mask[..., None]
        return ModelOutput(one_hot.sum(dim=1).float())


class Altered(nn.Module):
    """A model whose output is changed by a function of the symbols and the output."""

    def __init__(
        self, model: ByteColumnModel, change: Callable[[Tensor, ModelOutput], ModelOutput]
    ) -> None:
        super().__init__()
        self.model, self.change = model, change
        self.symbols, self.state_shapes = model.symbols, model.state_shapes
        self.vector_width = model.vector_width

    def forward(
        self, input_ids: Tensor, mask: Tensor, initial: Sequence[Tensor] | None = None
    ) -> ModelOutput:
        return self.change(input_ids, self.model(input_ids, mask, initial))


def byte_model(seed: int = 0, layout: Architecture = LAYOUT) -> ByteColumnModel:
    return ByteColumnModel.of(random_checkpoint(layout, seed))


def three_specialists() -> list[FrozenSpecialist]:
    """One of the primary's layout, one of another, one of another family."""
    return [
        FrozenSpecialist("same", byte_model(1)),
        FrozenSpecialist("other", byte_model(2, OTHER_LAYOUT)),
        FrozenSpecialist("counts", BytesSeen()),
    ]


def swarm(
    specialists: Sequence[FrozenSpecialist],
    mode: str = "weighted_sum",
    gates: float = 0.0,
    observation: bool = True,
    seed: int = 0,
    answers: bool = False,
) -> SwarmOrchestrator:
    """A swarm; with `gates`, its weights are drawn at random and its gates are open by that much."""
    primary = byte_model(seed)
    fusions = build_fusions(primary.state_shapes, len(specialists), mode)
    made = SwarmOrchestrator(
        primary,
        specialists,
        fusions,
        primary.d_model,
        observation=observation,
        answers=answers,
    )
    if gates:
        perturb(made, gates)
    return made


def perturb(orchestrator: SwarmOrchestrator, gates: float = 0.5, seed: int = 0) -> None:
    """Draw the swarm's own weights at random; open the gates."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in orchestrator.named_parameters():
            if name.startswith("primary_model."):
                continue
            noise = torch.randn(parameter.shape, generator=generator)
            if "gates" in name and not name.endswith(".gates"):
                parameter.copy_(gates + 0.1 * noise)
            else:
                parameter.add_(0.3 * noise)


def columns(lengths: Sequence[int] = LENGTHS, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Symbols (B, T) and their mask."""
    symbols = torch.tensor(text_columns(list(lengths), seed)).long()
    return symbols, symbols != PAD


def pattern(rows: int, number: int) -> Tensor:
    """An activation (rows, number) in which every specialist has some rows, and some rows have none."""
    return (torch.arange(rows)[:, None] + torch.arange(number)) % 3 == 0
