"""What a primary or a specialist of a swarm must offer, and the byte network behind that interface.

    input_ids (B, T), mask (B, T), initial matrix states --> one vector per column, matrix states after the last symbol

A row is a column. `ColumnModel` is the whole interface: any module that has it can be the primary or, inside a
`FrozenSpecialist`, a specialist. A model that is not recurrent has no `state_shapes` and gives vectors alone.
A bare module, whose forward(input_ids, mask) returns tensors, is wrapped by `BareColumnModel`. A mask is true, or 1, for the
symbols of a column: bool, int and float are the same.

`ByteColumnModel` is the byte network (`aegir.lab.nets`): it computes the rows of its own hashed n-grams from `input_ids`, so
primary and specialists may keep different n-grams. Its `routing_hidden` runs the first RWKV block over the first
symbols of each column: mean over positions, shifted and scaled to mean 0 and variance 1.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from aegir.lab.nets.annotator import ByteNetwork, TableBatch
from aegir.readers.bytes.architecture import StateShape
from aegir.readers.bytes.byte_encoding import PAD, SYMBOLS
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import HEAD_SIZES, join_answer
from aegir.readers.bytes.table_mixer import UNKNOWN
from aegir.readers.swarm.weights_file import ROUTING_SYMBOLS, weights_sha256
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import Arrays

PROBED = 8
"""Symbols of the column that a bare module is tried with."""


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """What a model gives for a batch of columns."""

    vectors: Tensor | None
    """(B, D) one vector per column; None if the model has states alone."""
    states: tuple[Tensor, ...] = ()
    """(B, H, K, V) for each RWKV layer, after the last symbol."""
    answers: Tensor | None = None
    """(B, ANSWER_WIDTH) what it answers itself (readers/bytes/heads.py); None if it has no heads for that."""
    detail: Any = None
    """The model's own output, such as the boundaries that a loss needs; not used here."""


class ColumnModel(Protocol):
    """A model that reads columns.

    Optional: `fingerprint() -> str`, a hash of its weights.
    """

    symbols: int
    """Size of the vocabulary of `input_ids`."""
    state_shapes: tuple[StateShape, ...]
    """(H, K, V) of every RWKV layer, first layer first; empty if it is not recurrent."""
    vector_width: int | None

    def __call__(
        self, input_ids: Tensor, mask: Tensor, initial: Sequence[Tensor] | None = None
    ) -> ModelOutput:
        """Read columns; `initial` has the matrix states to begin with, zeros if it is None."""
        ...


@runtime_checkable
class FamilyColumnModel(ColumnModel, Protocol):
    """A model that is no byte network but can be saved in a swarm: `aegir.readers.swarm.specialists.FamilyModel` in numpy."""

    family: str
    """Under this name whoever loads the swarm finds its twin in numpy."""

    def tensors(self) -> Arrays:
        """Return its weights, for its file in the swarm's folder."""
        ...

    def fingerprint(self) -> str:
        """Return the SHA-256 of its weights, which that of the model in numpy must equal."""
        ...


class ByteColumnModel(nn.Module):  # type: ignore[misc]
    """The byte network as the primary or a specialist of a swarm."""

    symbols = SYMBOLS

    def __init__(
        self, network: ByteNetwork, index: GramIndex, routing_symbols: int = ROUTING_SYMBOLS
    ) -> None:
        """Wrap a network; `index` has the rows of its n-grams."""
        super().__init__()
        if index.missing != network.architecture.gram_rows:
            raise UsageError(
                f"the index has {index.missing} n-grams but the network {network.architecture.gram_rows} rows; "
                "expected the n-grams that the network was built with"
            )
        self.network, self.index = network, index
        self.routing_symbols = routing_symbols
        self.state_shapes = network.architecture.state_shapes
        self.vector_width: int | None = network.architecture.column_width
        self.d_model = network.architecture.widths[0]

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> "ByteColumnModel":
        """Make the network of a checkpoint."""
        sizes = {head: len(checkpoint.tensors[f"heads.{head}.weight"]) for head in checkpoint.heads}
        network = ByteNetwork(checkpoint.architecture, sizes)
        tensors = {name: torch.tensor(each) for name, each in checkpoint.tensors.items()}
        del tensors[GRAM_HASHES]
        network.load_state_dict(tensors)
        return cls(network, GramIndex.of(checkpoint.tensors[GRAM_HASHES]))

    def forward(
        self, input_ids: Tensor, mask: Tensor, initial: Sequence[Tensor] | None = None
    ) -> ModelOutput:
        """Read symbols (B, T); the detail is the `StageOutput` of the hierarchy."""
        reader = self.network.reader
        symbols = input_ids.masked_fill(~read_mask(mask), PAD)
        state = None
        if initial is not None:
            state = reader.stage.start(len(symbols)).with_matrices(initial)
        output = reader(symbols, self._grams(symbols), state)
        states = tuple(block.matrix for block in output.state.blocks())
        vectors = reader.vectors(output)
        return ModelOutput(vectors, states, self._answers(vectors), output)

    def routing_hidden(self, input_ids: Tensor, mask: Tensor) -> Tensor:
        """Return what the router reads (B, d_model): the first block over the first `routing_symbols` symbols."""
        mask = read_mask(mask)[:, : self.routing_symbols]
        symbols = input_ids[:, : self.routing_symbols].masked_fill(~mask, PAD)
        x = self.network.reader.embedding(symbols, self._grams(symbols))
        for block in self.network.reader.stage.encoder[:1]:
            x = block(x, block.start(len(x)), mask, None)[0]
        present = mask[..., None]
        mean = (x * present).sum(dim=1) / present.sum(dim=1).clamp(min=1)
        return functional.layer_norm(mean, mean.shape[-1:])

    def tensors(self) -> Arrays:
        """Return the weights by their names in a checkpoint."""
        arrays = {
            name: tensor.detach().cpu().numpy()
            for name, tensor in self.network.state_dict().items()
        }
        return {**arrays, GRAM_HASHES: self.index.kept}

    def fingerprint(self) -> str:
        """Return the SHA-256 that the manifest of a specialist with these weights has."""
        return weights_sha256(self.network.architecture, self.tensors())

    def _answers(self, vectors: Tensor) -> Tensor | None:
        """Return the answer to each column as a table of its own; None while training, when nobody reads it."""
        if vectors.requires_grad:
            return None
        one = torch.ones(len(vectors), 1, dtype=torch.long, device=vectors.device)
        alone = TableBatch(one.cumsum(dim=0) - 1, one > 0, one * UNKNOWN)
        embedded = self.network.mixer(vectors, alone)
        heads = self.network.heads
        known = [
            head
            for head, size in HEAD_SIZES.items()
            if head in heads and heads[head].out_features == size
        ]
        logits = {head: heads[head](embedded).cpu().numpy() for head in known}
        return torch.from_numpy(join_answer(logits, len(vectors))).to(vectors.device)

    def _grams(self, symbols: Tensor) -> Tensor:
        """Return rows (B, T, G) of the n-grams."""
        rows = self.index.rows(symbols.cpu().numpy().astype(np.int16))
        return torch.from_numpy(rows).long().to(symbols.device)


class BareColumnModel(nn.Module):  # type: ignore[misc]
    """A module without the interface; what it gives for a column of its first symbol says which shapes it has.

    Its forward(input_ids, mask) may return, alone or in tuples, lists and mappings: a tensor (B, D), or (B, T, D), whose mean
    over the symbols is taken, as the vector, further ones being left out; and tensors (B, H, K, V) as the states of its
    layers. A primary whose states are fused takes them as a third argument.
    """

    def __init__(self, module: Any, what: str = "the model", symbols: int = SYMBOLS) -> None:
        """Try the module; `what` is what sentences call it."""
        super().__init__()
        self.module, self.what, self.symbols = module, what, symbols
        self.state_shapes: tuple[StateShape, ...] = ()
        self.vector_width: int | None = None
        output = self._probe()
        self.state_shapes = tuple(tuple(state.shape[1:]) for state in output.states)
        self.vector_width = None if output.vectors is None else output.vectors.shape[1]

    @property
    def takes_states(self) -> bool:
        """Whether its forward has a place for initial states."""
        called = self.module.forward if isinstance(self.module, nn.Module) else self.module
        try:
            inspect.signature(called).bind(0, 0, 0)
        except TypeError:
            return False
        return True

    def forward(
        self, input_ids: Tensor, mask: Tensor, initial: Sequence[Tensor] | None = None
    ) -> ModelOutput:
        """Read columns (B, T)."""
        mask = read_mask(mask)
        arguments = (input_ids, mask) if initial is None else (input_ids, mask, initial)
        given = self.module(*arguments)
        if isinstance(given, ModelOutput):
            return given
        vectors, states = None, []
        for part in self._tensors(given):
            if part.ndim == 4:
                states.append(part.float())
            elif vectors is None:
                vectors = self._vectors(part, mask)
        return ModelOutput(vectors, tuple(states))

    def _vectors(self, part: Tensor, mask: Tensor) -> Tensor:
        if part.ndim == 2 and len(part) == len(mask):
            return part.float()
        if part.ndim != 3 or part.shape[:2] != mask.shape:
            raise UsageError(
                f"{self.what} gave a tensor of shape {tuple(part.shape)} for input_ids of {tuple(mask.shape)}; "
                "expected (B, D), (B, T, D) or states (B, H, K, V)"
            )
        present = mask[..., None]
        total = part.float().masked_fill(~present, 0).sum(dim=1)
        return total / present.sum(dim=1).clamp(min=1)

    def _tensors(self, given: object) -> Iterator[Tensor]:
        """Yield the tensors of what a module returned, in their order."""
        if isinstance(given, Tensor) and given.is_floating_point():
            yield given
        elif isinstance(given, Mapping | tuple | list):
            for part in given.values() if isinstance(given, Mapping) else given:
                yield from self._tensors(part)
        elif given is not None:
            kind = (
                f"a tensor of {given.dtype}" if isinstance(given, Tensor) else type(given).__name__
            )
            raise UsageError(f"{self.what} gave {kind}; expected tensors of floating point numbers")

    def _probe(self) -> ModelOutput:
        """Read one column in evaluation mode, without gradient; leave the module as it was."""
        modules = list(self.module.modules()) if isinstance(self.module, nn.Module) else []
        modes = [each.training for each in modules]
        place = next((each.device for each in self.parameters()), None)
        symbols = torch.zeros(1, PROBED, dtype=torch.long, device=place)
        try:
            for each in modules:
                each.training = False
            with torch.no_grad():
                output: ModelOutput = self(symbols, torch.ones_like(symbols, dtype=torch.bool))
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise UsageError(
                f"{self.what} cannot be called as forward(input_ids, mask) with one column "
                f"({str(error).splitlines()[0] if str(error) else type(error).__name__})"
            ) from error
        finally:
            for each, mode in zip(modules, modes, strict=True):
                each.training = mode
        return output


def as_column_model(model: Any, what: str, symbols: int = SYMBOLS) -> ColumnModel:
    """Return a model with the interface as it is, and any other that can be called wrapped; raise if it cannot."""
    if not callable(model) or isinstance(model, type):
        raise UsageError(
            f"{what} is {getattr(model, '__name__', None) or type(model).__name__}; expected a model that is called "
            "with input_ids and mask"
        )
    if all(hasattr(model, name) for name in ("symbols", "state_shapes", "vector_width")):
        whole: ColumnModel = model
        return whole
    return BareColumnModel(model, what, symbols)


def read_mask(mask: Tensor, name: str = "mask") -> Tensor:
    """Return a mask of true and false, or of 0 and 1 of any type, as bool."""
    if mask.dtype == torch.bool:
        return mask
    on = mask == 1
    odd = mask[~on & (mask != 0)]
    if len(odd):
        raise UsageError(f"{name} has {odd[0].item():g}; expected 0 and 1, or true and false")
    return on
