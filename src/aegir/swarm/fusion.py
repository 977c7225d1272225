"""Fusing the matrix states of several agents into one state of the same shape.

    states: A tensors (B, H, K, V), strengths (B, A) --> (B, H, K, V)

      weighted_sum     sum_a w_a S_a,  w_a = s_a exp(<query, S_a> / sqrt(KV)) / sum_b s_b exp(<query, S_b> / sqrt(KV))
      gated            sum_a s_a sigmoid(gate_a) S_a
      concat_project   sum_a s_a projection_a S_a         the product of one wide matrix with the states, concatenated

<., .> is the inner product of one head's query and state, so every head has its own weights over agents. In a swarm,
agent 0 is the primary: the state from which it would read without specialists, always of strength 1.

Promises
  - an agent of strength 0 is absent: no bit of the result and no gradient depends on its state, even if that is nan;
  - in `weighted_sum` the weights of a head sum to 1; the only agent that is on has weight 1 and its state is returned;
  - gradients to states, strengths and weights.

Terms are added agent by agent, so that leaving one out changes no rounding. The same in numpy: readers/swarm/state_fusion.py.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from aegir.readers.bytes.architecture import StateShape
from aegir.readers.swarm.state_fusion import MODES, WEIGHT_NAMES
from aegir_rl.base.errors import UsageError


class RWKVStateFusion(nn.Module):  # type: ignore[misc]
    """Fuses the states of `num_agents` agents, the primary among them."""

    def __init__(
        self, num_heads: int, head_size: int, num_agents: int, mode: str = "weighted_sum"
    ) -> None:
        super().__init__()
        if mode not in MODES:
            raise UsageError(f"fusion mode is {mode!r}; expected {', '.join(MODES)}")
        sizes = {"num_heads": num_heads, "head_size": head_size, "num_agents": num_agents}
        for name, size in sizes.items():
            if size < 1:
                raise UsageError(f"{name} is {size}; expected at least 1")
        self.num_heads, self.head_size, self.num_agents = num_heads, head_size, num_agents
        self.mode = mode
        begin = {
            "weighted_sum": lambda: torch.zeros(num_heads, head_size, head_size),
            "gated": lambda: torch.zeros(num_agents),
            "concat_project": lambda: (
                torch.eye(head_size).repeat(num_agents, num_heads, 1, 1) / num_agents
            ),
        }
        setattr(self, WEIGHT_NAMES[mode], nn.Parameter(begin[mode]()))

    @property
    def state_shape(self) -> StateShape:
        """(H, K, V) of the states that it fuses."""
        return self.num_heads, self.head_size, self.head_size

    def forward(self, states: Sequence[Tensor], strengths: Tensor | None = None) -> Tensor:
        """Return one state (B, H, K, V); strengths (B, A) are 1 for all agents if they are None."""
        self._check(states, strengths)
        if strengths is None:
            strengths = states[0].new_ones(len(states[0]), self.num_agents)
        on = strengths > 0
        states = [
            state.masked_fill(~on[:, agent, None, None, None], 0)
            for agent, state in enumerate(states)
        ]
        fused = torch.zeros_like(states[0])
        for agent, share in enumerate(self._shares(states, strengths, on)):  # (B, H) or (B, 1)
            state = states[agent]
            if self.mode == "concat_project":
                state = self.projection[agent] @ state
            fused = fused + share[:, :, None, None] * state
        return fused

    def weights(self, states: Sequence[Tensor], strengths: Tensor) -> Tensor:
        """Return what each agent's state is multiplied by, (B, A, H) or (B, A, 1)."""
        return torch.stack(self._shares(states, strengths, strengths > 0), dim=1)

    def _shares(self, states: Sequence[Tensor], strengths: Tensor, on: Tensor) -> list[Tensor]:
        columns = [strengths[:, agent, None] for agent in range(self.num_agents)]
        if self.mode == "concat_project":
            return columns
        if self.mode == "gated":
            gates = torch.sigmoid(self.gates)
            return [column * gate for column, gate in zip(columns, gates, strict=True)]
        scale = self.head_size**-1.0
        logits = [
            ((state * self.query).sum(dim=(-2, -1)) * scale).masked_fill(
                ~on[:, agent, None], -torch.inf
            )
            for agent, state in enumerate(states)
        ]
        peak = torch.stack(logits).detach().amax(dim=0)
        peak = torch.where(peak.isfinite(), peak, 0)
        shares = [
            column * (logit - peak).exp() for column, logit in zip(columns, logits, strict=True)
        ]
        total = torch.zeros_like(peak)
        for share in shares:
            total = total + share
        total = torch.where(total > 0, total, 1)
        return [share / total for share in shares]

    def _check(self, states: Sequence[Tensor], strengths: Tensor | None) -> None:
        if len(states) != self.num_agents:
            raise UsageError(f"{len(states)} states came for {self.num_agents} agents")
        for agent, state in enumerate(states):
            if tuple(state.shape[1:]) != self.state_shape:
                raise UsageError(
                    f"the state of agent {agent} has shape {tuple(state.shape)}; expected "
                    f"(B, {self.num_heads}, {self.head_size}, {self.head_size}); align it first"
                )
        if strengths is not None and strengths.shape != (len(states[0]), self.num_agents):
            raise UsageError(
                f"strengths have shape {tuple(strengths.shape)}; "
                f"expected ({len(states[0])}, {self.num_agents})"
            )


def build_fusions(
    state_shapes: Sequence[StateShape], num_specialists: int, mode: str = "weighted_sum"
) -> list[RWKVStateFusion]:
    """Return one fusion per layer of a primary, for its own state and those of its specialists."""
    return [
        RWKVStateFusion(heads, keys, num_specialists + 1, mode) for heads, keys, _ in state_shapes
    ]


def fusion_per_layer(
    fusion: RWKVStateFusion | Sequence[RWKVStateFusion],
    shapes: Sequence[StateShape],
    agents: int,
) -> list[RWKVStateFusion]:
    """Return one fusion per layer of the primary; raise if they do not fit."""
    fusions = [fusion] * len(shapes) if isinstance(fusion, RWKVStateFusion) else list(fusion)
    fused = [each.state_shape for each in fusions]
    if fused != list(shapes):
        raise UsageError(
            f"fusion has states of shapes {fused} but the primary's layers {list(shapes)}; "
            "build_fusions makes one fusion per layer"
        )
    for each in fusions:
        if each.num_agents != agents:
            raise UsageError(
                f"fusion is for {each.num_agents} agents; expected {agents}, the primary and its specialists"
            )
    return fusions
