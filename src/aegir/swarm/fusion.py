"""Fusing the matrix states of several agents into one state of the same shape.

    states of N specialists (B, H, K, V), strengths (B, N), the primary's own state --> (B, H, K, V)

      weighted_sum     sum_a w_a S_a,  w_a = s_a exp(<query, S_a> / sqrt(KV)) / sum_b s_b exp(<query, S_b> / sqrt(KV))
      gated            sum_a s_a sigmoid(gate_a) S_a
      concat_project   sum_a s_a projection_a S_a         the product of one wide matrix with the states, concatenated

<., .> is the inner product of one head's query and state, so every head has its own weights over agents. `num_agents` counts
specialists: the primary is implied, as agent 0 with weights of its own. In a swarm its state is the one from which it would
read without specialists, always of strength 1; without `own`, the states of the specialists are fused alone.

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
    """Fuses the states of `num_agents` specialists, and of the primary."""

    def __init__(
        self, num_heads: int, head_size: int, num_agents: int, mode: str = "weighted_sum"
    ) -> None:
        super().__init__()
        if mode not in MODES:
            raise UsageError(f"fusion mode is {mode!r}; expected {', '.join(MODES)}")
        sizes = {"num_heads": (num_heads, 1), "head_size": (head_size, 1)}
        for name, (size, least) in (sizes | {"num_agents": (num_agents, 0)}).items():
            if size < least:
                raise UsageError(f"{name} is {size}; expected at least {least}")
        self.num_heads, self.head_size, self.num_agents = num_heads, head_size, num_agents
        self.mode = mode
        everyone = num_agents + 1
        begin = {
            "weighted_sum": lambda: torch.zeros(num_heads, head_size, head_size),
            "gated": lambda: torch.zeros(everyone),
            "concat_project": lambda: (
                torch.eye(head_size).repeat(everyone, num_heads, 1, 1) / everyone
            ),
        }
        setattr(self, WEIGHT_NAMES[mode], nn.Parameter(begin[mode]()))

    @property
    def state_shape(self) -> StateShape:
        """(H, K, V) of the states that it fuses."""
        return self.num_heads, self.head_size, self.head_size

    def forward(
        self,
        states: Sequence[Tensor],
        strengths: Tensor | None = None,
        own: Tensor | None = None,
    ) -> Tensor:
        """Return one state (B, H, K, V) of N specialists' states and the primary's `own`, if it is given.

        Strengths (B, N) are those of the specialists, 1 if they are None; the primary has 1.
        """
        agents, strengths = self._everyone(states, strengths, own)
        fused = torch.zeros_like(agents[0])
        for agent, share in enumerate(self._shares(agents, strengths)):  # (B, H) or (B, 1)
            state = agents[agent]
            if self.mode == "concat_project":
                state = self.projection[agent] @ state
            fused = fused + share[:, :, None, None] * state
        return fused

    def weights(
        self,
        states: Sequence[Tensor],
        strengths: Tensor | None = None,
        own: Tensor | None = None,
    ) -> Tensor:
        """Return what each state is multiplied by, (B, 1 + N, H) or (B, 1 + N, 1), the primary's first."""
        return torch.stack(self._shares(*self._everyone(states, strengths, own)), dim=1)

    def _everyone(
        self, states: Sequence[Tensor], strengths: Tensor | None, own: Tensor | None
    ) -> tuple[list[Tensor], Tensor]:
        """Return the states of primary and specialists, zeros where one is off, and their strengths (B, 1 + N)."""
        self._check(states, strengths, own)
        like = states[0] if own is None else own
        if strengths is None:
            strengths = like.new_ones(len(like), self.num_agents)
        first = strengths.new_full((len(like), 1), float(own is not None))
        strengths = torch.cat([first, strengths], dim=1)
        on = strengths > 0
        agents = [torch.zeros_like(like) if own is None else own, *states]
        agents = [
            state.masked_fill(~on[:, agent, None, None, None], 0)
            for agent, state in enumerate(agents)
        ]
        return agents, strengths

    def _shares(self, states: Sequence[Tensor], strengths: Tensor) -> list[Tensor]:
        on = strengths > 0
        columns = [strengths[:, agent, None] for agent in range(len(states))]
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

    def _check(
        self, states: Sequence[Tensor], strengths: Tensor | None, own: Tensor | None
    ) -> None:
        if len(states) != self.num_agents:
            raise UsageError(
                f"{len(states)} states came for {self.num_agents} specialists; "
                "expected one each, and the primary's as `own`"
            )
        if not states and own is None:
            raise UsageError("no state came; expected the primary's as `own`, without specialists")
        whose = [("primary", own), *((f"specialist {n}", state) for n, state in enumerate(states))]
        given = [(name, tuple(state.shape)) for name, state in whose if state is not None]
        expected = (given[0][1][0], *self.state_shape)
        for name, shape in given:
            if shape != expected:
                raise UsageError(
                    f"the state of {name} has shape {shape}; expected {expected}; align it first"
                )
        rows = (expected[0], self.num_agents)
        if strengths is not None and strengths.shape != rows:
            raise UsageError(f"strengths have shape {tuple(strengths.shape)}; expected {rows}")


def build_fusions(
    state_shapes: Sequence[StateShape], num_specialists: int, mode: str = "weighted_sum"
) -> list[RWKVStateFusion]:
    """Return one fusion per layer of a primary, for its own state and those of its specialists."""
    return [RWKVStateFusion(heads, keys, num_specialists, mode) for heads, keys, _ in state_shapes]


def fusion_per_layer(
    fusion: RWKVStateFusion | Sequence[RWKVStateFusion],
    shapes: Sequence[StateShape],
    specialists: int,
) -> list[RWKVStateFusion]:
    """Return one fusion per layer of the primary; raise if they do not fit."""
    if isinstance(fusion, RWKVStateFusion) and not shapes:
        raise UsageError("the primary has no matrix states to fuse; give fusion=None")
    fusions = [fusion] * len(shapes) if isinstance(fusion, RWKVStateFusion) else list(fusion)
    fused = [each.state_shape for each in fusions]
    if fused != list(shapes):
        raise UsageError(
            f"fusion has states of shapes {fused} but the primary's layers {list(shapes)}; "
            "build_fusions makes one fusion per layer"
        )
    for each in fusions:
        if each.num_agents != specialists:
            raise UsageError(
                f"fusion is for {each.num_agents} specialists, but {specialists} came; "
                "num_agents counts specialists, the primary is implied"
            )
    return fusions
