"""The byte network and its optimiser: training steps and checkpoints, in one process or several.

    learner = Learner(net, phase, processes)
    learnt = learner.learn(batch, step)              # every process its part of the step
    save_learner(path, learner, step, facts, arrays) # safetensors, written beside and moved into place
    restore(learner, read_learner(path).tensors, path)

Promises
  - a run that was killed and resumed from its last file equals one that was not, bit for bit (same machine and
    number of threads): optimiser state is in the file, and every random choice is derived from its step;
  - several processes learn what one would, within float rounding: each divides by totals of the whole step, so the
    gradients only have to be added up.
"""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt
import torch
import torch.distributed as distributed
from torch import Tensor

from aegir.lab.byte_network.batches import Batch
from aegir.lab.byte_network.config import Phase
from aegir.lab.byte_network.examples import Heads
from aegir.lab.byte_network.losses import loss_of
from aegir.lab.nets.annotator import ByteNetwork
from aegir.readers.bytes.heads import ALONE
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.files import replace_file

FINAL_SHARE = 0.02
"""The learning rate at the last step, as a share of its peak."""
FORMAT = "aegir-learner-1"


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among those that train together."""

    rank: int = 0
    count: int = 1

    @classmethod
    def found(cls) -> "Processes":
        """Return the place of this process among those of `torchrun`, or alone."""
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

    figures: dict[str, float]
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

    def learn(self, batch: Batch, step: int) -> "LearntStep":
        """Take one step."""
        self.net.train()
        loss = loss_of(self.net, batch, self.phase.loss, self.processes.add_up)
        self.optimizer.zero_grad(set_to_none=False)
        loss.total.backward()
        self._add_up_gradients()
        length = torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.phase.clip)
        if not math.isfinite(float(length)):
            raise UsageError(
                f"the gradient of step {step} is not finite; lower learning_rate or raise warm_up"
            )
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.phase, step)
        self.optimizer.step()
        summed = self.processes.add_up(
            torch.stack([loss.total.detach(), torch.tensor(float(batch.symbols))])
        )
        figures = {
            **without_idle_heads(self._total(loss.figures)),
            "loss": float(summed[0]),
            "symbols": float(summed[1]),
            "gradient": float(length),
        }
        return LearntStep(figures, loss.success)

    def _total(self, figures: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Add up counts over processes; shares are already of the whole step."""
        counted = ("/loss", "/right", "/count")
        return {
            name: self.processes.add_up(value) if name.endswith(counted) else value
            for name, value in figures.items()
        }

    def _add_up_gradients(self) -> None:
        kept = self.net.reader.embedding.grams
        for parameter in self.parameters.values():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        kept.grad[-1] = 0  # the row of n-grams that are not kept stays zero
        if self.processes.count > 1:
            flat = torch.cat([parameter.grad.flatten() for parameter in self.parameters.values()])
            distributed.all_reduce(flat)
            parts = flat.split([parameter.numel() for parameter in self.parameters.values()])
            for parameter, part in zip(self.parameters.values(), parts, strict=True):
                parameter.grad.copy_(part.view_as(parameter))


def without_idle_heads(figures: Mapping[str, Tensor]) -> dict[str, float]:
    """Return figures as numbers, without those of heads for which no column of the step had a label."""
    idle = tuple(
        name.removesuffix("count")
        for name, value in figures.items()
        if name.endswith("/count") and not value
    )
    return {name: float(value) for name, value in figures.items() if not name.startswith(idle)}


def decays(name: str, parameter: Tensor) -> bool:
    """Return whether weight decay applies: to matrices, not to n-gram embeddings, mixes, norms and biases."""
    return parameter.ndim > 1 and not name.endswith((".grams", ".mix", ".roles"))


def learning_rate(phase: Phase, step: int) -> float:
    """Return the learning rate of a step: a linear warm-up, then half a cosine."""
    grown = min(1.0, (step + 1) / max(1.0, phase.warm_up * phase.steps))
    fallen = 0.5 + 0.5 * math.cos(math.pi * step / phase.steps)
    return phase.learning_rate * grown * (FINAL_SHARE + (1 - FINAL_SHARE) * fallen)


class Resumable(Protocol):
    """What a checkpoint holds: parameters by name, and their optimiser."""

    parameters: dict[str, Any]
    optimizer: Any


def save_learner(
    path: Path,
    learner: Resumable,
    step: int,
    facts: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
) -> None:
    """Write network and optimiser after `step` steps; an existing file is replaced only when the new one is whole."""
    from safetensors.torch import save

    tensors = {f"net.{name}": p.detach().contiguous() for name, p in learner.parameters.items()}
    for name, parameter in learner.parameters.items():
        for key, value in learner.optimizer.state[parameter].items():
            tensors[f"optimizer.{key}.{name}"] = value.detach().contiguous()
    tensors |= {name: torch.from_numpy(array) for name, array in arrays.items()}
    metadata = {"format": FORMAT, "step": str(step), "facts": json.dumps(facts, sort_keys=True)}
    replace_file(path, save(tensors, metadata=metadata))


class Checkpoint(NamedTuple):
    """What `save_learner` wrote."""

    tensors: dict[str, Tensor]
    step: int
    facts: dict[str, Any]


def read_learner(path: Path) -> Checkpoint:
    """Read a file written by `save_learner`."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise UsageError(
            f"{path} cannot be read as a training checkpoint ({reason_of(error)})"
        ) from None
    if metadata.get("format") != FORMAT:
        raise UsageError(
            f"{path} is no training checkpoint (format {metadata.get('format')!r}, expected "
            f"{FORMAT!r}); give the checkpoint.safetensors of a run folder"
        )
    return Checkpoint(tensors, int(metadata["step"]), json.loads(metadata["facts"]))


def restore(learner: Resumable, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Set network and optimiser to what was saved."""
    for name, parameter in learner.parameters.items():
        saved = tensors.get(f"net.{name}")
        if saved is None or saved.shape != parameter.shape:
            came = "is missing" if saved is None else f"has shape {tuple(saved.shape)}"
            raise UsageError(
                f"{path} does not fit this configuration: {name} {came}, expected "
                f"{tuple(parameter.shape)}; resume with the configuration it was made with"
            )
        parameter.data.copy_(saved)
        state = {
            key: tensors[f"optimizer.{key}.{name}"].clone()
            for key in ("step", "exp_avg", "exp_avg_sq")
            if f"optimizer.{key}.{name}" in tensors
        }
        if state:
            learner.optimizer.state[parameter] = state


class TakenOver(NamedTuple):
    """How many tensors of a network begin with saved weights."""

    whole: int
    partly: int
    """Heads of which only the rows of outputs that both have are taken over."""
    new: int

    def __str__(self) -> str:
        partly = f"{self.partly} in part, " if self.partly else ""
        return f"{self.whole} tensors taken over, {partly}{self.new} begin anew"


def start_from(net: ByteNetwork, heads: Heads, saved: Checkpoint) -> TakenOver:
    """Copy every saved parameter that fits; of a head, the rows of outputs that both networks have."""
    counts = dict.fromkeys(TakenOver._fields, 0)
    for name, parameter in net.named_parameters():
        tensor = saved.tensors.get(f"net.{name}")
        if tensor is None or tensor.shape[1:] != parameter.shape[1:]:
            counts["new"] += 1
        elif (pairs := _shared_outputs(name, heads, saved)) is not None:
            here, there = pairs
            parameter.data[here] = tensor[there]
            counts["whole" if len(here) == len(parameter) else "partly" if here else "new"] += 1
        elif tensor.shape == parameter.shape:
            parameter.data.copy_(tensor)
            counts["whole"] += 1
        else:
            counts["new"] += 1
    return TakenOver(**counts)


def _shared_outputs(
    name: str, heads: Heads, saved: Checkpoint
) -> tuple[list[int], list[int]] | None:
    """Return the rows of a head's parameter that both networks have, here and there; None if it is no head's."""
    part, _, rest = name.partition(".")
    if part != "heads":
        return None
    head = rest.partition(".")[0].removesuffix(ALONE)
    row_there = {output: row for row, output in enumerate(saved.facts["heads"].get(head, ()))}
    shared = [(row, row_there[o]) for row, o in enumerate(heads[head]) if o in row_there]
    return [here for here, _ in shared], [there for _, there in shared]
