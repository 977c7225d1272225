"""What recipes in torch share: an optimiser step, the learning rate, and checkpoints of network and optimiser.

    norm = take_step(learner.optimizer, learner.parameters, rate, clip, "step 7")
    save_learner(path, learner, step, facts, arrays)        safetensors, written beside and moved into place
    saved = read_learner(path)
    restore(learner, saved.tensors, path)                   go on with the same run
    load_weights(net, heads, saved)                         begin another run with these weights

Optimiser state is in the file and every random choice is derived from its step, so a run that was killed and resumed
equals one that was not, bit for bit (same machine and number of threads).
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt
import torch
from torch import Tensor

from aegir.lab.byte_network.examples import Heads
from aegir.lab.nets.annotator import ByteNetwork
from aegir.readers.bytes.heads import ALONE
from aegir_rl.base.arrays import I32
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.files import replace_file
from aegir_rl.base.text import parse_json

FINAL_SHARE = 0.02
"""The learning rate at the last step, as a share of its peak."""
FORMAT = "aegir-learner-1"
GRAMS = "grams.hashes"
MOST_STEPS = 10**12
"""The array with the n-grams that a byte network embeds."""


class Resumable(Protocol):
    """What a checkpoint holds: parameters by name, and their optimiser."""

    parameters: dict[str, Any]
    optimizer: Any


class TrainingCheckpoint(NamedTuple):
    """What `save_learner` wrote."""

    tensors: dict[str, Tensor]
    step: int
    facts: dict[str, Any]

    @property
    def grams(self) -> I32:
        """The n-grams that the byte network embeds."""
        if GRAMS not in self.tensors:
            raise UsageError(f"a training checkpoint has no tensor {GRAMS}; train again")
        hashes: I32 = self.tensors[GRAMS].numpy()
        return hashes


def decays(name: str, parameter: Tensor) -> bool:
    """Return whether weight decay applies: to matrices, not to n-gram embeddings, mixes, norms and biases."""
    return parameter.ndim > 1 and not name.endswith((".grams", ".mix", ".roles"))


def learning_rate(peak: float, warm_up: float, step: int, steps: int) -> float:
    """Return the learning rate of a step: a linear warm-up over a share of the steps, then half a cosine."""
    grown = min(1.0, (step + 1) / max(1.0, warm_up * steps))
    fallen = 0.5 + 0.5 * math.cos(math.pi * step / steps)
    return peak * grown * (FINAL_SHARE + (1 - FINAL_SHARE) * fallen)


def complete_gradients(parameters: Mapping[str, Any], net: ByteNetwork) -> None:
    """Set missing gradients to zero, and that of the embedding of n-grams that are not kept."""
    for parameter in parameters.values():
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    net.reader.embedding.grams.grad[-1] = 0


def take_step(
    optimizer: torch.optim.Optimizer,
    parameters: Mapping[str, Any],
    rate: float,
    clip: float,
    name: str,
) -> float:
    """Clip the gradient, take an optimiser step and return the gradient's norm; raise if that is not finite.

    A parameter group with a `share` learns with that share of the rate.
    """
    norm = float(torch.nn.utils.clip_grad_norm_(parameters.values(), clip))
    if not math.isfinite(norm):
        raise UsageError(
            f"the gradient of {name} is not finite; lower learning_rate or raise warm_up"
        )
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("share", 1.0)
    optimizer.step()
    return norm


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


def read_learner(path: Path) -> TrainingCheckpoint:
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
    try:
        step, facts = int(metadata["step"]), parse_json(metadata["facts"])
        if not 0 <= step <= MOST_STEPS or not isinstance(facts, dict):
            raise ValueError("its step or facts are not those of a run")
        _check_heads(facts.get("heads", {}))
    except (KeyError, ValueError) as error:
        raise UsageError(f"{path} is a damaged training checkpoint ({reason_of(error)})") from None
    return TrainingCheckpoint(tensors, step, facts)


def _check_heads(heads: Any) -> None:
    known = isinstance(heads, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names)
        for names in heads.values()
    )
    if not known:
        raise ValueError("its heads are not lists of names")


def check_same_run(saved: TrainingCheckpoint, facts: Mapping[str, Any], folder: Path) -> None:
    """Raise if the checkpoint is of another phase or of other tables."""
    phase = saved.facts.get("phase")
    if phase != facts["phase"]:
        raise UsageError(f"{folder} is a {phase} run; resume it with: aegir train {phase}")
    if saved.facts.get("tables", facts["tables"]) != facts["tables"]:
        raise UsageError(
            f"the tables are not those {folder} began with; resume it with the same data"
        )


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


class TrainedWeights(NamedTuple):
    """How many tensors of a network begin with saved weights."""

    whole: int
    partly: int
    """Heads of which only the rows of outputs that both networks have were loaded."""
    new: int

    def __str__(self) -> str:
        partly = f"{self.partly} in part, " if self.partly else ""
        return f"{self.whole} tensors taken over, {partly}{self.new} begin anew"


def load_weights(net: ByteNetwork, heads: Heads, saved: TrainingCheckpoint) -> TrainedWeights:
    """Copy every saved parameter that fits; of a head, the rows of outputs that both networks have."""
    counts = dict.fromkeys(TrainedWeights._fields, 0)
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
    return TrainedWeights(**counts)


def _shared_outputs(
    name: str, heads: Heads, saved: TrainingCheckpoint
) -> tuple[list[int], list[int]] | None:
    """Return the rows of a head's parameter that both networks have, here and there; None if it is no head's."""
    part, _, rest = name.partition(".")
    if part != "heads":
        return None
    head = rest.partition(".")[0].removesuffix(ALONE)
    row_there = {output: row for row, output in enumerate(saved.facts["heads"].get(head, ()))}
    shared = [(row, row_there[o]) for row, o in enumerate(heads[head]) if o in row_there]
    return [here for here, _ in shared], [there for _, there in shared]
