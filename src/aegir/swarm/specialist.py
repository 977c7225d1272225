"""Frozen specialists: models that never change and are read without gradient, several at once.

    FrozenSpecialist(name, model)      a frozen copy of a model, with the SHA-256 of its weights
    freeze_models(models)              the same for bare models, which get names
    run_specialists(...)               each specialist reads the rows routed to it, and no others, in threads

Promises
  - no parameter of a specialist has a gradient, is trained, dropped out or changed: `check_unchanged` compares
    the SHA-256 of the weights with that of the beginning, which is the one in the manifest (readers/swarm/weights_file.py);
  - a specialist is a copy, so training the module that it was made from changes nothing;
  - only routed rows are computed, cut to the longest of them; a specialist without rows is not called at all;
  - times are measured with a monotonic clock around each specialist's own work.

Threads run at the same time because torch and the compiled kernels (`nogil`) release Python's lock. Limit: each of them
may use torch's own threads too; set those to 1 (`torch.set_num_threads`) when there are as many specialists as cores.
"""

import copy
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn

from aegir.readers.bytes.byte_encoding import SYMBOLS
from aegir.readers.swarm.weights_file import (
    SpecialistManifest,
    check_name,
    load_specialist,
    tensors_sha256,
)
from aegir.swarm.column_model import (
    ByteColumnModel,
    ColumnModel,
    ModelOutput,
    as_column_model,
    read_mask,
)
from aegir_rl.base.errors import AegirError, UsageError


@dataclass(frozen=True, slots=True)
class SpecialistOutput:
    """What a specialist gave for the rows that were routed to it."""

    name: str
    """Of the specialist."""
    rows: Tensor
    """(R,) rows of the batch, ascending."""
    states: tuple[Tensor, ...]
    """(R, H, K, V) for each of its RWKV layers."""
    vectors: Tensor | None
    """(R, D)"""
    answers: Tensor | None
    """(R, ANSWER_WIDTH) its own answers."""
    finite: Tensor
    """(R,) false where it gave a number that is not finite: nothing of such a row is used."""
    seconds: float

    def among(self, active: Tensor) -> "SpecialistOutput | None":
        """Return what it gave for the rows where `active` (B,) is true, in no time; None if there are none."""
        if not active.any():
            return None
        missing = active.clone()
        missing[self.rows] = False
        if missing.any():
            raise UsageError(
                f"specialist {self.name!r} has not read row {int(missing.nonzero()[0, 0])}, "
                "which is routed to it"
            )
        routed = active[self.rows]
        return SpecialistOutput(
            self.name,
            self.rows[routed],
            tuple(state[routed] for state in self.states),
            None if self.vectors is None else self.vectors[routed],
            None if self.answers is None else self.answers[routed],
            self.finite[routed],
            0.0,
        )


class FrozenSpecialist(nn.Module):  # type: ignore[misc]
    """A model that is read and never changed."""

    def __init__(
        self,
        name: str,
        model: ColumnModel | nn.Module,
        manifest: SpecialistManifest | None = None,
        *,
        symbols: int = SYMBOLS,
    ) -> None:
        """Freeze a copy of `model`; raise if its weights are not those of the manifest.

        A module without the interface of a `ColumnModel` is wrapped; `symbols` is then the size of its vocabulary.
        """
        super().__init__()
        self.name, self.manifest = check_name(name), manifest
        frozen = as_column_model(copy.deepcopy(model), f"specialist {name!r}", symbols)
        if not frozen.state_shapes and frozen.vector_width is None:
            raise UsageError(
                f"specialist {name!r} has neither matrix states nor a vector to contribute"
            )
        self.model = frozen
        if isinstance(self.model, nn.Module):
            self.model.requires_grad_(False)
        self.symbols, self.vector_width = frozen.symbols, frozen.vector_width
        self.state_shapes = tuple(frozen.state_shapes)
        self.train(False)
        self.sha256 = self.fingerprint()
        """SHA-256 of its weights when it was frozen."""
        if manifest is not None and manifest.weights_sha256 != self.sha256:
            raise UsageError(
                f"specialist {name!r} has weights with SHA-256 {self.sha256[:12]} but its manifest says "
                f"{manifest.weights_sha256[:12]}; load the file that the manifest came with"
            )

    @classmethod
    def load(cls, path: Path) -> "FrozenSpecialist":
        """Read a file that `save_specialist` wrote; raise UsageError if it is missing or altered."""
        file = load_specialist(path)
        return cls(file.manifest.name, ByteColumnModel.of(file.checkpoint), file.manifest)

    def train(self, mode: bool = True) -> "FrozenSpecialist":  # noqa: ARG002
        """Stay in evaluation mode, whatever the module around it does."""
        super().train(False)
        return self

    def forward(self, input_ids: Tensor, mask: Tensor) -> ModelOutput:
        """Return vectors and final matrix states of columns (B, T), without gradient."""
        with torch.no_grad():
            return self.model(input_ids, read_mask(mask))

    def fingerprint(self) -> str:
        """Return the SHA-256 of its weights as they are now."""
        own = getattr(self.model, "fingerprint", None)
        if callable(own):
            return str(own())
        weights = self.state_dict()
        return tensors_sha256({name: _as_array(weights[name]) for name in weights})

    def check_unchanged(self) -> None:
        """Raise if its weights are no longer those that were frozen."""
        if (now := self.fingerprint()) != self.sha256:
            raise AegirError(
                f"the weights of specialist {self.name!r} have changed (SHA-256 {now[:12]}, frozen with "
                f"{self.sha256[:12]}); specialists must not be trained"
            )


def freeze_models(
    models: Sequence[FrozenSpecialist | ColumnModel | nn.Module], symbols: int = SYMBOLS
) -> tuple[FrozenSpecialist, ...]:
    """Return specialists as they are, and a frozen copy of every bare model, called by its `name` or its place from 1."""
    return tuple(
        model
        if isinstance(model, FrozenSpecialist)
        else FrozenSpecialist(
            getattr(model, "name", None) or f"specialist-{number}", model, symbols=symbols
        )
        for number, model in enumerate(models, start=1)
    )


def check_specialists(primary: ColumnModel, specialists: Sequence[FrozenSpecialist]) -> None:
    """Raise UsageError if these cannot be the specialists of a primary."""
    names = [specialist.name for specialist in specialists]
    for specialist in specialists:
        if names.count(specialist.name) > 1:
            raise UsageError(
                f"two specialists are called {specialist.name!r}; give each a name of its own"
            )
        if specialist.symbols != primary.symbols:
            raise UsageError(
                f"specialist {specialist.name!r} reads a vocabulary of {specialist.symbols} symbols, "
                f"the primary one of {primary.symbols}; expected the same vocabulary"
            )
    if primary.vector_width is None:
        raise UsageError("the primary gives no vectors; expected one per column")


def run_specialists(
    specialists: Sequence[FrozenSpecialist],
    input_ids: Tensor,
    mask: Tensor,
    activation: Tensor,
    workers: int | None = None,
) -> list[SpecialistOutput | None]:
    """Return each specialist's output for its rows of (B, T), None where it has none.

    `activation` (B, N) says which rows; `workers` is the most that run at a time, one per core if None.
    """
    mask = read_mask(mask)
    jobs = [
        (number, rows)
        for number in range(len(specialists))
        if len(rows := activation[:, number].nonzero()[:, 0])
    ]
    outputs: list[SpecialistOutput | None] = [None] * len(specialists)

    def run(job: tuple[int, Tensor]) -> SpecialistOutput:
        number, rows = job
        return _run(specialists[number], input_ids, mask, rows)

    most = min(len(jobs), workers or os.cpu_count() or 1)
    if most <= 1:
        done = [run(job) for job in jobs]
    else:
        with ThreadPoolExecutor(most, thread_name_prefix="aegir-specialist") as pool:
            done = list(pool.map(run, jobs))
    for (number, _), output in zip(jobs, done, strict=True):
        outputs[number] = output
    return outputs


def _run(
    specialist: FrozenSpecialist, input_ids: Tensor, mask: Tensor, rows: Tensor
) -> SpecialistOutput:
    start = time.perf_counter()
    part = mask[rows]
    used = part.any(dim=0).nonzero()  # a mask need not end with the column
    longest = int(used[-1, 0]) + 1 if len(used) else 1
    output = specialist(input_ids[rows, :longest], part[:, :longest])
    _check_shapes(specialist, output, len(rows))
    finite = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    for tensor in (*output.states, *(x for x in (output.vectors, output.answers) if x is not None)):
        finite &= tensor.isfinite().flatten(1).all(dim=1)
    seconds = time.perf_counter() - start
    return SpecialistOutput(
        specialist.name,
        rows,
        tuple(output.states),
        output.vectors,
        output.answers,
        finite,
        seconds,
    )


def _as_array(tensor: Tensor) -> npt.NDArray[Any]:
    """Return the weights as numpy has them; bfloat16, which it has not, as the float32 of the same value."""
    whole = tensor.cpu()
    array: npt.NDArray[Any] = (whole.float() if whole.dtype == torch.bfloat16 else whole).numpy()
    return array


def _check_shapes(specialist: FrozenSpecialist, output: ModelOutput, rows: int) -> None:
    shapes = [tuple(state.shape) for state in output.states]
    expected = [(rows, *shape) for shape in specialist.state_shapes]
    if shapes != expected:
        raise UsageError(
            f"specialist {specialist.name!r} gave states of shapes {shapes}; expected {expected}"
        )
    vector = None if output.vectors is None else tuple(output.vectors.shape)
    wanted = None if specialist.vector_width is None else (rows, specialist.vector_width)
    if vector != wanted:
        raise UsageError(
            f"specialist {specialist.name!r} gave vectors of shape {vector}; expected {wanted}"
        )
