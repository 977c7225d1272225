"""The n-gram networks as a frozen specialist in training: a model of another family, which gives a vector alone.

    FrozenSpecialist("ngrams", NgramColumnModel.load(parts / networks_file(fold)))

`aegir train ngrams` leaves the networks of every fold in its folder (lab/ngrams.py), so that the specialist of a
fold has not seen the fold's tables. Without a file these are the networks that ship, which have seen all of them.

Limit: it runs in Python and numpy, which hold the lock: beside other specialists in threads it gains little.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from aegir.readers.bytes.architecture import StateShape
from aegir.readers.bytes.byte_encoding import PAD, SYMBOLS
from aegir.readers.ngrams.network import network_tensors
from aegir.readers.ngrams.specialist import NGRAMS, NgramSpecialist
from aegir.swarm.column_model import ModelOutput
from aegir_rl.base.safetensors_file import Arrays


class NgramColumnModel:
    """A `ColumnModel` around n-gram networks; it is not recurrent and has no parameters of torch."""

    family = NGRAMS
    symbols: int = SYMBOLS
    state_shapes: tuple[StateShape, ...] = ()

    def __init__(self, specialist: NgramSpecialist) -> None:
        self.specialist = specialist
        self.vector_width: int | None = specialist.vector_width

    @classmethod
    def load(cls, path: Path | None = None) -> "NgramColumnModel":
        """Return the networks of a file that a swarm or `aegir train ngrams` has, or those that ship."""
        return cls(NgramSpecialist.load(path))

    def __call__(
        self,
        input_ids: Tensor,
        mask: Tensor,
        initial: Sequence[Tensor] | None = None,  # noqa: ARG002 (it has no state to begin with)
    ) -> ModelOutput:
        """Read columns (B, T)."""
        symbols = input_ids.masked_fill(~mask, PAD).cpu().numpy().astype(np.int16)
        answers = torch.from_numpy(self.specialist.vectors(symbols)).to(input_ids.device)
        return ModelOutput(answers, answers=answers)

    def tensors(self) -> Arrays:
        """Return what the file of a swarm has of it."""
        return network_tensors(self.specialist.networks)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the networks' weights."""
        return self.specialist.fingerprint()
