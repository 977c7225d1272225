"""The swarm: a primary that reads every column, and frozen specialists that read the columns routed to them.

    routing hidden --router--> scores, activation                                   (B, N)
    activated specialists read their rows, in parallel, without gradient            matrix states, vectors
    F_l = fuse([align(unit(T_1)), ..., align(unit(T_N))], strengths, own=S_l)       for each RWKV layer l of the primary
    S_l + tanh(gate_l) (F_l - S_l) --> the primary reads the column from this state
    its vector + sum_i strength_i observation_gate_i align(unit(v_i)) --> output    (B, D), ready for the table stage
    behind it sum_i strength_i answer_gate_i answer_i, with `answers`               (B, ANSWER_WIDTH), added by the heads

S_l is the primary's own state (agent 0, strength 1): zeros, or what `initial` gives. T_i and v_i are the final state and
the vector of specialist i, unit() divides by the root mean square (of a head, of a vector), and the strength of specialist i
is its score where it is on, else 0, so that gradients reach the router through the contribution.
A specialist with other layers contributes its layer of equal relative depth; one without matrix states
contributes its vector to the states too. answer_i is what specialist i says itself (readers/bytes/heads.py); its gate is one number
per head and one per output. lambda_parallel and lambda_finish weigh the rewards beside r_perf while a swarm is trained
(lab/parl): they are kept here, and change nothing that is read.

Promises
  - `routing_hidden=None` is the primary alone, bit for bit; so is a row whose specialists are all off;
  - all gates begin at zero, so an untrained swarm of any activation gives the primary's output, while the gates
    have gradients; once they have moved, so have fusion, alignment, router and primary;
  - numbers of a specialist that are not finite are left out row by row, counted (`dropped`) and reported;
  - specialists are not parameters of this module: no optimiser, checkpoint or `train()` of it touches them.

Limits: the result of a row may differ in its last bits with the batch around it, as everywhere in torch (the twin in
numpy, readers/swarm/network.py, does not); pieces of a column are not continued from each other.
"""

import time
from collections.abc import Sequence
from typing import Any, TypedDict

import torch
from torch import Tensor, nn

from aegir.readers.bytes.heads import ANSWER_WIDTH, HEAD_SIZES
from aegir.readers.swarm.state_fusion import RMS_FLOOR, contributed_shape, match_layer
from aegir.swarm.alignment import AlignmentProjection
from aegir.swarm.column_model import (
    BareColumnModel,
    ColumnModel,
    ModelOutput,
    as_column_model,
    read_mask,
)
from aegir.swarm.fusion import RWKVStateFusion, fusion_per_layer
from aegir.swarm.router import (
    SpecialistRouter,
    bernoulli_log_probabilities,
    limit_activations,
)
from aegir.swarm.specialist import (
    FrozenSpecialist,
    SpecialistOutput,
    check_specialists,
    freeze_models,
    run_specialists,
)
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import Arrays
from aegir_rl.episode import TimedStep
from aegir_rl.rewards.combined import read_lambdas

PRIMARY = "primary_model."
"""Prefix of the primary's parameters; all others are the swarm's own."""


class SwarmOutput(TypedDict):
    """What a swarm gives for a batch of columns."""

    output: Tensor
    """(B, D) one vector per column, for the table stage; answers of specialists behind it if the swarm uses them."""
    specialist_outputs: list[SpecialistOutput]
    """Of the activated specialists, in their order, each with its name and rows."""
    activation_mask: Tensor
    """(B, N) which specialists have read which row."""
    scores: Tensor
    """(B, N) of the router; zeros if it was skipped."""
    routing_logits: Tensor
    """(B, N) of the policy's decisions, the router's over its temperature; zeros if it was skipped."""
    log_probabilities: Tensor
    """(B, N) of each decision as it was drawn before a cap; zeros if the router was skipped."""
    dropped: Tensor
    """(B, N) true where a specialist gave a number that is not finite, so that nothing of it was used."""
    reports: list[str]
    """A sentence for each specialist of which something was dropped."""
    steps: tuple[TimedStep, ...]
    """What was done here, in seconds, for aegir_rl.rl.critical_path; the routing hidden was computed before."""
    reading: ModelOutput
    """The primary's own output."""


class SwarmOrchestrator(nn.Module):  # type: ignore[misc]
    """A primary with frozen specialists."""

    def __init__(
        self,
        primary_model: ColumnModel | nn.Module,
        specialists: Sequence[FrozenSpecialist | ColumnModel | nn.Module],
        fusion: RWKVStateFusion | Sequence[RWKVStateFusion] | None,
        d_model: int,
        activation_threshold: float = 0.5,
        lambda_parallel: float = 0.3,
        lambda_finish: float = 0.1,
        *,
        observation: bool = True,
        answers: bool = False,
        workers: int | None = None,
        temperature: float = 1.0,
    ) -> None:
        """Join them; `d_model` is the width of the routing hidden.

        Bare models among the specialists are frozen here (`freeze_models`). `fusion` is one fusion per RWKV layer of the
        primary (`build_fusions`), one for all layers if they have the same shape, or None for no states. The lambdas are
        those of the first stage of training. `observation` adds the specialists' vectors to the primary's, `answers` their
        answers to those of its heads. `workers` is the most specialists that run at a time, one per core if None.
        `temperature` is that of the decisions whose log probabilities are returned (router.py).
        """
        super().__init__()
        primary = as_column_model(primary_model, "the primary")
        frozen = freeze_models(specialists, primary.symbols)
        check_specialists(primary, frozen)
        shapes = tuple(primary.state_shapes)
        self.primary_model: Any = primary  # with whatever else its class offers
        self.specialists = frozen  # a tuple, which does not register them as modules
        self.workers, self.d_model = workers, d_model
        self.lambda_parallel, self.lambda_finish = read_lambdas((lambda_parallel, lambda_finish))
        self.router = SpecialistRouter(d_model, len(frozen), activation_threshold, temperature)
        fusions = [] if fusion is None else fusion_per_layer(fusion, shapes, len(frozen))
        if fusions and isinstance(primary, BareColumnModel) and not primary.takes_states:
            raise UsageError(
                "the primary takes no states; expected forward(input_ids, mask, initial), or fusion=None"
            )
        self.fusions = nn.ModuleList(fusions)
        self.entry_gates = nn.ParameterList(torch.zeros(each.num_heads) for each in fusions)
        self.alignments = nn.ModuleList(
            nn.ModuleList(
                AlignmentProjection(contributed_shape(each, layer, len(shapes)), shape)
                for layer, shape in enumerate(shapes[: len(fusions)])
            )
            for each in frozen
        )
        self.observation = observation
        width = primary.vector_width or 0
        self.observations = nn.ModuleList(
            AlignmentProjection((each.vector_width,), (width,))
            if observation and each.vector_width is not None
            else nn.Identity()
            for each in frozen
        )
        self.observation_gates = nn.Parameter(torch.zeros(len(frozen) if observation else 0, width))
        self.answers = answers
        rows = len(frozen) if answers else 0
        self.head_gates = nn.Parameter(torch.zeros(rows, len(HEAD_SIZES)))
        self.output_gates = nn.Parameter(torch.zeros(rows, ANSWER_WIDTH))

    def forward(
        self,
        input_ids: Tensor,
        mask: Tensor,
        routing_hidden: Tensor | None = None,
        *,
        activation: Tensor | None = None,
        drawn: Tensor | None = None,
        cap: int | None = None,
        initial: Sequence[Tensor] | None = None,
        cached: Sequence[SpecialistOutput | None] | None = None,
    ) -> SwarmOutput:
        """Read columns (B, T); None as `routing_hidden` (B, d_model) reads them with the primary alone.

        `mask` (B, T) is true, or 1, for symbols of a column; it, `activation` and `drawn` may be bool, int or float.
        `activation` (B, N) replaces the threshold, for instance by what `router.sample` drew. `cap` is the most
        activations in this batch: the highest scores stay. `drawn` (B, N) are the decisions whose log probabilities are
        wanted, where the caller has cut them down to `activation`. `initial` are the primary's own states, zeros if None.
        `cached` is what specialists gave for these rows before (`specialist_outputs`), at least for those that are routed
        to them now: nothing is read again.
        """
        begin = time.perf_counter()
        mask, activation, drawn = self._check_inputs(
            input_ids, mask, routing_hidden, activation, drawn
        )
        scores = logits = log_probabilities = self.router.weight.new_zeros(
            len(input_ids), len(self.specialists)
        )
        active = scores > 0
        if routing_hidden is not None:
            scores = self.router(routing_hidden)
            active = self.router.activate(scores) if activation is None else activation
            logits = self.router.decision_logits(routing_hidden)
            log_probabilities = bernoulli_log_probabilities(
                logits, active if drawn is None else drawn
            )
        active = limit_activations(active, scores, cap)
        routed = time.perf_counter() - begin
        outputs = self._specialists(input_ids, mask, active, cached)
        begin = time.perf_counter()
        dropped = torch.zeros_like(active)
        for number, each in enumerate(outputs):
            if each is not None:
                dropped[each.rows, number] = ~each.finite
        strengths = torch.where(active & ~dropped, scores, 0)
        if any(each is not None for each in outputs):
            initial = self._fused(initial, outputs, strengths)
        reading: ModelOutput = self.primary_model(input_ids, mask, initial)
        assert reading.vectors is not None, "a primary gives vectors"
        output = self._observed(reading.vectors, outputs, strengths)
        if self.answers and routing_hidden is not None:
            output = torch.cat([output, self._answered(outputs, strengths)], dim=1)
        return SwarmOutput(
            output=output,
            specialist_outputs=[each for each in outputs if each is not None],
            activation_mask=active,
            scores=scores,
            routing_logits=logits,
            log_probabilities=log_probabilities,
            dropped=dropped,
            reports=self._reports(dropped),
            steps=self._steps(routed, outputs, time.perf_counter() - begin),
            reading=reading,
        )

    def swarm_tensors(self) -> Arrays:
        """Return the weights of router, fusion, alignment and gates, without the primary's, by name."""
        return {
            name: tensor.detach().cpu().numpy()
            for name, tensor in self.state_dict().items()
            if not name.startswith(PRIMARY)
        }

    def check_unchanged(self) -> None:
        """Raise if the weights of a specialist are no longer those that were frozen."""
        for specialist in self.specialists:
            specialist.check_unchanged()

    def _specialists(
        self,
        input_ids: Tensor,
        mask: Tensor,
        active: Tensor,
        cached: Sequence[SpecialistOutput | None] | None,
    ) -> list[SpecialistOutput | None]:
        if cached is None:
            return run_specialists(self.specialists, input_ids, mask, active, self.workers)
        known = {output.name: output for output in cached if output is not None}
        if strange := sorted(known.keys() - {each.name for each in self.specialists}):
            raise UsageError(
                f"a cached output is that of {strange[0]!r}, which is none of the specialists"
            )
        outputs = []
        for number, specialist in enumerate(self.specialists):
            output, routed = known.get(specialist.name), active[:, number]
            if output is None and routed.any():
                raise UsageError(
                    f"specialist {specialist.name!r} has read nothing, but rows are routed to it"
                )
            outputs.append(None if output is None else output.among(routed))
        return outputs

    def _fused(
        self,
        initial: Sequence[Tensor] | None,
        outputs: Sequence[SpecialistOutput | None],
        strengths: Tensor,
    ) -> Sequence[Tensor] | None:
        """Return the states from which the primary reads."""
        if not len(self.fusions):
            return initial
        states = []
        anyone = (strengths > 0).any(dim=1)[:, None, None, None]
        for layer, (fusion, gate) in enumerate(zip(self.fusions, self.entry_gates, strict=True)):
            like = strengths.new_zeros(len(strengths), *fusion.state_shape)
            own = like if initial is None else initial[layer]
            aligned = [
                self._aligned(number, layer, outputs[number], like)
                for number in range(len(outputs))
            ]
            fused = fusion(aligned, strengths, own)
            entering = own + torch.tanh(gate)[:, None, None] * (fused - own)
            states.append(torch.where(anyone, entering, own))
        return states

    def _aligned(
        self, number: int, layer: int, output: SpecialistOutput | None, like: Tensor
    ) -> Tensor:
        """Return what a specialist contributes to a layer, (B, H, K, V); zeros in rows that it did not read."""
        if output is None:
            return like
        if output.states:
            source = output.states[match_layer(layer, len(self.fusions), len(output.states))]
        else:
            assert output.vectors is not None
            source = output.vectors
        axes = (-2, -1) if output.states else (-1,)
        aligned = self.alignments[number][layer](_unit_rms(source[output.finite], axes))
        return like.index_copy(0, output.rows[output.finite], aligned)

    def _observed(
        self, vectors: Tensor, outputs: Sequence[SpecialistOutput | None], strengths: Tensor
    ) -> Tensor:
        """Return the primary's vectors (B, D) with those of the specialists added."""
        if not self.observation:
            return vectors
        for number, output in enumerate(outputs):
            if output is not None and output.vectors is not None:
                rows = output.rows[output.finite]
                seen = self.observations[number](_unit_rms(output.vectors[output.finite], (-1,)))
                seen = strengths[rows, number, None] * self.observation_gates[number] * seen
                vectors = vectors.index_add(0, rows, seen)
        return vectors

    def _answered(self, outputs: Sequence[SpecialistOutput | None], strengths: Tensor) -> Tensor:
        """Return the answers (B, ANSWER_WIDTH) of all specialists together; 0 where there is none."""
        sizes = torch.tensor(list(HEAD_SIZES.values()), device=strengths.device)
        gates = self.head_gates.repeat_interleave(sizes, dim=1) + self.output_gates
        total = strengths.new_zeros(len(strengths), ANSWER_WIDTH)
        for number, output in enumerate(outputs):
            if output is not None and output.answers is not None:
                rows = output.rows[output.finite]
                said = strengths[rows, number, None] * gates[number] * output.answers[output.finite]
                total = total.index_add(0, rows, said)
        return total

    def _reports(self, dropped: Tensor) -> list[str]:
        return [
            f"specialist {specialist.name!r} gave numbers that are not finite on {len(rows)} of {len(dropped)} "
            f"columns (first: {int(rows[0])}); left out"
            for number, specialist in enumerate(self.specialists)
            if len(rows := dropped[:, number].nonzero()[:, 0])
        ]

    def _steps(
        self, routed: float, outputs: Sequence[SpecialistOutput | None], read: float
    ) -> tuple[TimedStep, ...]:
        """Router, then specialists at once, then fusion and primary, which wait for all of them."""
        ran = tuple(
            TimedStep(f"specialist {specialist.name}", output.seconds, ("router",))
            for specialist, output in zip(self.specialists, outputs, strict=True)
            if output is not None
        )
        before = tuple(step.name for step in ran) or ("router",)
        return (TimedStep("router", routed), *ran, TimedStep("primary", read, before))

    def _check_inputs(
        self,
        input_ids: Tensor,
        mask: Tensor,
        hidden: Tensor | None,
        activation: Tensor | None,
        drawn: Tensor | None,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Return mask and decisions as bool; raise for inputs of other shapes and values."""
        if input_ids.ndim != 2 or mask.shape != input_ids.shape:
            raise UsageError(
                f"input_ids have shape {tuple(input_ids.shape)} and mask {tuple(mask.shape)}; "
                "expected (B, T) for both"
            )
        if input_ids.is_floating_point() or input_ids.dtype == torch.bool:
            raise UsageError(f"input_ids are {input_ids.dtype}; expected whole numbers")
        rows, mask, most = len(input_ids), read_mask(mask), self.primary_model.symbols - 1
        odd = input_ids[mask & ((input_ids < 0) | (input_ids > most))]
        if len(odd) and not isinstance(self.primary_model, BareColumnModel):
            raise UsageError(f"input_ids have {int(odd[0])}; expected symbols from 0 to {most}")
        if hidden is not None and hidden.shape != (rows, self.d_model):
            raise UsageError(
                f"routing_hidden has shape {tuple(hidden.shape)}; expected ({rows}, {self.d_model})"
            )
        if hidden is not None and not hidden.isfinite().all():
            raise UsageError("routing_hidden has numbers that are not finite; the primary diverged")
        expected = (rows, len(self.specialists))
        for name, each in (("activation", activation), ("drawn", drawn)):
            if each is not None and hidden is None:
                raise UsageError(f"{name} came without routing_hidden; expected both or neither")
            if each is not None and each.shape != expected:
                raise UsageError(f"{name} has shape {tuple(each.shape)}; expected {expected}")
        return (
            mask,
            None if activation is None else read_mask(activation, "activation"),
            None if drawn is None else read_mask(drawn, "drawn"),
        )


def _unit_rms(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    return x / x.square().mean(dim=axes, keepdim=True).sqrt().clamp(min=RMS_FLOOR)
