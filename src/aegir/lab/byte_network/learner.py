"""Training steps of the byte network, in one process or several.

    learner = Learner(net, phase, processes)
    learnt = learner.learn(batch, step)              # every process its part of the step

Several processes learn what one would, within float rounding: each divides by totals of the whole step, so the gradients
only have to be added up.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.distributed as distributed
from torch import Tensor

from aegir.lab.byte_network.batches import ColumnBatch
from aegir.lab.byte_network.config import Phase
from aegir.lab.byte_network.losses import compute_loss
from aegir.lab.nets.annotator import ByteNetwork
from aegir.lab.torch_training import complete_gradients, decays, learning_rate, take_step


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among those that train together."""

    rank: int = 0
    count: int = 1

    @classmethod
    def from_environment(cls) -> "Processes":
        """Return the rank of this process among those of `torchrun`, or a single process."""
        count = int(os.environ.get("WORLD_SIZE", "1"))
        if count == 1:
            return cls()
        if not distributed.is_initialized():
            distributed.init_process_group("gloo")
        return cls(distributed.get_rank(), count)

    def add_up(self, part: Tensor) -> Tensor:
        """Return the sum over processes; no gradient flows through it."""
        if self.count > 1:
            part = part.detach().clone()
            distributed.all_reduce(part)
        return part

    def interleave(self, own: Tensor, total: int) -> Tensor:
        """Join the values of all processes, of which process r has those at r, r + count, r + 2 count, …"""
        joined = torch.zeros(total, dtype=torch.float64)
        joined[self.rank :: self.count] = own.to(joined)
        return self.add_up(joined)

    def wait(self) -> None:
        """Wait until every process reaches this point."""
        if self.count > 1:
            distributed.barrier()


@dataclass(frozen=True, slots=True)
class LearntStep:
    """What one step gave."""

    metrics: dict[str, float]
    """Of the whole step, over all processes."""
    success: Tensor
    """(tables of this process,) share of the labelled columns answered right; NaN where there are none."""


class Learner:
    """Takes training steps."""

    def __init__(self, net: ByteNetwork, phase: Phase, processes: Processes) -> None:
        self.net, self.phase, self.processes = net, phase, processes
        self.parameters = dict(net.named_parameters())
        decayed = [p for name, p in self.parameters.items() if decays(name, p)]
        plain = [p for name, p in self.parameters.items() if not decays(name, p)]
        groups = [
            {"params": decayed, "weight_decay": phase.weight_decay},
            {"params": plain, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, phase.learning_rate, (0.9, 0.98), fused=True)

    def learn(self, batch: ColumnBatch, step: int) -> LearntStep:
        """Take one step."""
        self.net.train()
        phase = self.phase
        loss = compute_loss(self.net, batch, phase.loss, add_up=self.processes.add_up)
        self.optimizer.zero_grad(set_to_none=False)
        loss.total.backward()
        complete_gradients(self.parameters, self.net)
        self._add_up_gradients()
        rate = learning_rate(phase.learning_rate, phase.warm_up, step, phase.steps)
        norm = take_step(self.optimizer, self.parameters, rate, phase.clip, f"step {step}")
        summed = self.processes.add_up(
            torch.stack([loss.total.detach(), torch.tensor(float(batch.symbols))])
        )
        metrics = {
            **without_idle_heads(self._total(loss.metrics)),
            "loss": float(summed[0]),
            "symbols": float(summed[1]),
            "gradient": norm,
        }
        return LearntStep(metrics, loss.success)

    def _total(self, metrics: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Add up counts over processes; shares are already of the whole step."""
        counted = ("/loss", "/right", "/count")
        return {
            name: self.processes.add_up(value) if name.endswith(counted) else value
            for name, value in metrics.items()
        }

    def _add_up_gradients(self) -> None:
        """Replace the gradients by their sums over processes."""
        if self.processes.count > 1:
            flat = torch.cat([parameter.grad.flatten() for parameter in self.parameters.values()])
            distributed.all_reduce(flat)
            parts = flat.split([parameter.numel() for parameter in self.parameters.values()])
            for parameter, part in zip(self.parameters.values(), parts, strict=True):
                parameter.grad.copy_(part.view_as(parameter))


def without_idle_heads(metrics: Mapping[str, Tensor]) -> dict[str, float]:
    """Return metrics as numbers, without those of heads for which no column of the step had a label."""
    idle = tuple(
        name.removesuffix("count")
        for name, value in metrics.items()
        if name.endswith("/count") and not value
    )
    return {name: float(value) for name, value in metrics.items() if not name.startswith(idle)}
