"""A swarm in numpy: a primary that reads every column, and specialists that read the columns routed to them.

    routing hidden --router--> scores, activation                                   (B, N)
    activated specialists read their rows, in threads                               matrix states, vectors
    F_l = fuse([align(unit(T_1)), ..., align(unit(T_N))], strengths, own=0)          for each RWKV layer l of the primary
    tanh(gate_l) F_l --> the primary reads the column from this state
    its vector + sum_i strength_i observation_gate_i align(unit(v_i)) --> vectors   (B, D), ready for `ByteModel.mix_tables`
    behind it sum_i strength_i answer_gate_i answer_i, if the swarm uses answers    (B, ANSWER_WIDTH), added by the heads

`aegir.swarm` is the same in torch, for training; tests hold the two equal. Parts: state_fusion.py, specialists.py; files:
weights_file.py.

Promises
  - a column's result depends on that column alone, bit for bit;
  - a column whose specialists are all off gets the primary's vector, bit for bit;
  - numbers of a specialist that are not finite are left out and counted; memory does not grow with the batch.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aegir.readers.bytes.byte_encoding import PAD, Symbols
from aegir.readers.bytes.checkpoint import load_checkpoint
from aegir.readers.bytes.heads import ANSWER_WIDTH, HEAD_SIZES
from aegir.readers.bytes.hierarchy import ReaderState
from aegir.readers.bytes.network import ByteModel
from aegir.readers.bytes.ragged import Flags
from aegir.readers.ngrams.specialist import NGRAMS, NgramSpecialist
from aegir.readers.swarm.specialists import (
    ByteSpecialist,
    Contribution,
    FamilyModel,
    SpecialistModel,
)
from aegir.readers.swarm.state_fusion import (
    Alignment,
    SpecialistRouter,
    StateFusion,
    contributed_shape,
    match_layer,
    unit_rms,
)
from aegir.readers.swarm.times import Lap, LapClock, SwarmTimes
from aegir.readers.swarm.weights_file import (
    SwarmWeights,
    check_tensors,
    load_specialist,
    load_swarm,
    weights_sha256,
)
from aegir_rl.base.arrays import F32, I64
from aegir_rl.base.errors import UsageError

ROWS_AT_ONCE = 256
"""Columns read together: their states take 40 KB each and agent in the layout of `bytes.safetensors`."""
SWARM_NAME, PRIMARY_NAME, ENDING = "swarm.safetensors", "primary.safetensors", ".safetensors"
Find = Callable[[str, Path], FamilyModel]
"""Family and file to the model; raises UsageError for an unknown family. The file may be missing where weights ship."""


def find_specialist(family: str, path: Path) -> FamilyModel:
    """Return the specialist of a family in a file, or the one that ships if there is no file."""
    if family != NGRAMS:
        raise UsageError(
            f"{path.stem!r} is a specialist of the unknown family {family!r}; expected {NGRAMS}"
        )
    return NgramSpecialist.load(path if path.exists() else None)


@dataclass(frozen=True, slots=True)
class SwarmReading:
    """The result for a batch of columns."""

    vectors: F32
    """(B, D), or (B, D + ANSWER_WIDTH) with the answers of specialists behind them."""
    activation_mask: Flags
    """(B, N)"""
    scores: F32
    """(B, N)"""
    dropped: Flags
    """(B, N) true where a specialist gave a number that is not finite."""
    times: SwarmTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialistOutput(Contribution):
    """What a specialist gave for its rows, without those that are not finite."""

    rows: I64
    time: Lap


class SwarmModel:
    """A primary with its specialists."""

    def __init__(
        self,
        primary: ByteModel,
        specialists: Sequence[SpecialistModel],
        weights: SwarmWeights,
        workers: int | None = None,
    ) -> None:
        """Join them; `specialists` are in the order of the settings, at most `workers` run at a time, one per core if None."""
        self.settings, tensors = weights.settings, weights.tensors
        if len(specialists) != len(self.settings.specialists):
            raise UsageError(
                f"{len(specialists)} specialists came for a swarm of {len(self.settings.specialists)}"
            )
        check_tensors(weights, primary.architecture, specialists)
        self.primary, self.specialists = primary, tuple(specialists)
        self.names = tuple(self.settings.specialists)
        self._workers = max(1, min(len(specialists), workers or os.cpu_count() or 1))
        self._router = SpecialistRouter(tensors["router.weight"])
        layers = list(enumerate(primary.architecture.state_shapes if self.settings.mode else ()))
        mode = self.settings.mode or ""
        self._fusions = [StateFusion.of(tensors, f"fusions.{layer}", mode) for layer, _ in layers]
        self._gates = [np.tanh(tensors[f"entry_gates.{layer}"]) for layer, _ in layers]
        self._alignments = [
            [
                Alignment.of(
                    tensors,
                    f"alignments.{number}.{layer}",
                    contributed_shape(each, layer, len(layers)),
                    shape,
                )
                for layer, shape in layers
            ]
            for number, each in enumerate(specialists)
        ]
        sizes = list(HEAD_SIZES.values())
        self._answer_gates = (
            tensors["head_gates"].repeat(sizes, axis=1) + tensors["output_gates"]
            if self.settings.answers
            else None
        )
        self.vector_width = primary.architecture.column_width
        if self.settings.answers:
            self.vector_width += ANSWER_WIDTH
        self._observation_gates = tensors["observation_gates"]
        target = (primary.architecture.column_width,)
        self._observations = [
            Alignment.of(tensors, f"observations.{number}", (each.vector_width,), target)
            if self.settings.observation and each.vector_width is not None
            else None
            for number, each in enumerate(specialists)
        ]

    @classmethod
    def load(
        cls, folder: Path, workers: int | None = None, find: Find = find_specialist
    ) -> "SwarmModel":
        """Read swarm.safetensors, primary.safetensors and NAME.safetensors per specialist; `find` reads other families."""
        weights = load_swarm(folder / SWARM_NAME)
        checkpoint = load_checkpoint(folder / PRIMARY_NAME)
        primary_sha256 = weights_sha256(checkpoint.architecture, checkpoint.tensors)
        _check_hash(folder / PRIMARY_NAME, primary_sha256, weights.settings.primary_sha256)
        specialists: list[SpecialistModel] = []
        for name, sha256 in weights.settings.specialists.items():
            path = folder / f"{name}{ENDING}"
            if (family := weights.settings.families.get(name)) is not None:
                other = find(family, path)
                _check_hash(f"{name!r} of family {family}", other.fingerprint(), sha256)
                specialists.append(other)
                continue
            loaded = load_specialist(path)
            _check_hash(path, loaded.manifest.weights_sha256, sha256)
            specialists.append(ByteSpecialist(ByteModel(loaded.checkpoint)))
        return cls(ByteModel(checkpoint), specialists, weights, workers)

    def score(self, symbols: Symbols) -> F32:
        """Return the router's scores (B, N) of columns (B, T)."""
        first = symbols[:, : self.settings.routing_symbols]
        parts = [self.primary.routing_hidden(first[part]) for part in _parts(len(symbols))]
        return self._router(np.concatenate(parts))

    def activate(self, scores: F32) -> Flags:
        """Return (B, N) which specialists the router's scores (B, N) switch on."""
        active: Flags = scores > np.float32(self.settings.threshold)
        return active

    def read(
        self, symbols: Symbols, activation: Flags | None = None, scores: F32 | None = None
    ) -> SwarmReading:
        """Read columns (B, T); `activation` (B, N) replaces the router's threshold, `scores` (B, N) are those of `score`."""
        clock = LapClock()
        scores = self.score(symbols) if scores is None else scores
        active = self.activate(scores) if activation is None else activation
        if active.shape != scores.shape:
            raise UsageError(f"activation has shape {active.shape}; expected {scores.shape}")
        dropped, lap = np.zeros_like(active), clock.lap()
        times = SwarmTimes(lap.wall, np.zeros(len(self.specialists)), 0.0, lap.wall, lap.cpu)
        vectors = np.empty((len(symbols), self.vector_width), np.float32)
        with ThreadPoolExecutor(self._workers, thread_name_prefix="aegir-specialist") as pool:
            for part in _parts(len(symbols)):
                outputs, used = self._call_specialists(pool, symbols[part], active[part])
                clock.lap()
                strengths = np.where(used, scores[part], np.float32(0))
                vectors[part] = self._read(symbols[part], outputs, strengths)
                dropped[part] = active[part] & ~used
                times += self._times(outputs, clock.lap())
        return SwarmReading(vectors, active, scores, dropped, times)

    def _call_specialists(
        self, pool: Executor, symbols: Symbols, active: Flags
    ) -> tuple[dict[int, SpecialistOutput], Flags]:
        """Return what activated specialists (B, N) give for their columns, and `active` without what is not finite."""
        used = active.copy()

        def run(number: int) -> SpecialistOutput:
            clock, rows = LapClock(), np.flatnonzero(active[:, number])
            longest = max(int((symbols[rows] != PAD).sum(axis=1).max()), 1)
            output = self.specialists[number].contribute(symbols[rows, :longest])
            finite = _finite(output)
            used[rows, number] = finite
            states = tuple(state[finite] for state in output.states)
            parts = (None if x is None else x[finite] for x in (output.vectors, output.answers))
            return SpecialistOutput(states, *parts, rows=rows[finite], time=clock.lap())

        numbers = np.flatnonzero(active.any(axis=0)).tolist()
        return dict(zip(numbers, pool.map(run, numbers), strict=True)), used

    def _times(self, outputs: Mapping[int, SpecialistOutput], primary: Lap) -> SwarmTimes:
        """Return the times of one part: specialists at once, then the primary."""
        specialists = np.zeros(len(self.specialists))
        for number, routed in outputs.items():
            specialists[number] = routed.time.wall
        longest = float(specialists.max(initial=0.0))
        cost = primary.cpu + sum(routed.time.cpu for routed in outputs.values())
        return SwarmTimes(0.0, specialists, primary.wall, longest + primary.wall, cost)

    def _read(
        self, symbols: Symbols, outputs: Mapping[int, SpecialistOutput], strengths: F32
    ) -> F32:
        """Return the primary's vectors, read from the fused states, with the specialists' added and answers behind."""
        start = self.primary.start(len(symbols))
        if outputs and self._fusions:
            states = self._fused(outputs, strengths)
            start = ReaderState(start.grams, start.stage.with_matrices(states))
        vectors = self.primary.vectors(self.primary.read(symbols, start))
        for number, routed in outputs.items():
            align = self._observations[number]
            if align is not None and routed.vectors is not None:
                seen = align(unit_rms(routed.vectors))
                strength = strengths[routed.rows, number, None]
                vectors[routed.rows] += strength * self._observation_gates[number] * seen
        if self._answer_gates is None:
            return vectors
        answers = np.zeros((len(symbols), ANSWER_WIDTH), np.float32)
        for number, routed in outputs.items():
            if routed.answers is not None:
                strength = strengths[routed.rows, number, None]
                answers[routed.rows] += strength * self._answer_gates[number] * routed.answers
        return np.hstack([vectors, answers])

    def _fused(self, outputs: Mapping[int, SpecialistOutput], strengths: F32) -> list[F32]:
        """Return the states from which the primary reads, one per layer."""
        anyone = np.any(strengths > 0, axis=1)[:, None, None, None]
        states = []
        for layer, shape in enumerate(self.primary.architecture.state_shapes):
            own = np.zeros((len(strengths), *shape), np.float32)
            others = [own] * len(self.specialists)
            for number, routed in outputs.items():
                others[number] = own.copy()
                others[number][routed.rows] = self._aligned(number, layer, routed)
            fused = self._fusions[layer](others, strengths, own)
            states.append(np.where(anyone, self._gates[layer][:, None, None] * fused, own))
        return states

    def _aligned(self, number: int, layer: int, routed: SpecialistOutput) -> F32:
        align = self._alignments[number][layer]
        if routed.states:
            source = routed.states[match_layer(layer, len(self._fusions), len(routed.states))]
            return align(unit_rms(source, axes=2))
        assert routed.vectors is not None, "a specialist has states or vectors"
        return align(unit_rms(routed.vectors))


def _check_hash(path: Path | str, digest: str, expected: str) -> None:
    if digest != expected:
        raise UsageError(
            f"{path} has weights with SHA-256 {digest[:12]} but the swarm was trained with "
            f"{expected[:12]}; use the weights that it was trained with"
        )


def _finite(output: Contribution) -> Flags:
    """Return (R,) whether all numbers of a row are finite."""
    arrays = [*output.states, *(x for x in (output.vectors, output.answers) if x is not None)]
    checks = [np.isfinite(array).reshape(len(array), -1).all(axis=1) for array in arrays]
    finite: Flags = np.logical_and.reduce(checks)
    return finite


def _parts(rows: int) -> list[slice]:
    """Return slices of at most ROWS_AT_ONCE rows; one, if there are none."""
    return [slice(at, min(at + ROWS_AT_ONCE, rows)) for at in range(0, max(rows, 1), ROWS_AT_ONCE)]
