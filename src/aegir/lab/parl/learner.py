"""The trained parts and their optimiser: supervised steps, and the token-level clipped update.

    learner = SwarmLearner(policy, config)
    metrics = learner.warm_start(batch, activation, cached, step)
    update = learner.update(tables, rollouts, advantages, cached, step)

Tokens of a column are its routing decisions, one per specialist, and its label. For each of them

    L_t = min(ratio_t A, clip(ratio_t, 1 - eps, 1 + eps) A),   ratio_t = new probability / probability when it was drawn

weighted by how critical the token is (aegir_rl/rl/token_weights.py: routing is decided where a column begins; labels that say much
weigh more), eps annealed. Beside it: entropy of router and label, KL to the policy after the warm start, and the supervised
loss of the same forward pass, each with its weight. A step takes several optimiser steps, each from its share of the rollouts:
in the first one every ratio is 1, from the second on the policy has moved and clipping can act (`update/2/clip_fraction`). Learnt routing has tokens; "always" and "random" have labels alone.

The objectives of aegir_rl.rl are numpy: each returns its value and its gradient with respect to the log probabilities or
logits, and `hand_over` gives that gradient to torch, which carries it on to the weights.

Primary, router, fusion, alignment and gates are trained; specialists are no parameters here.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from aegir.lab.byte_network.batches import ColumnBatch
from aegir.lab.byte_network.learner import without_idle_heads
from aegir.lab.byte_network.losses import StepLoss, compute_loss
from aegir.lab.parl.config import LEARNT, ParlTraining, RlSettings, WarmStartSettings
from aegir.lab.parl.policy import SwarmPolicy
from aegir.lab.parl.reading import CachedOutputs, RolloutReading, read_columns
from aegir.lab.parl.rollouts import Rollout, as_tensors
from aegir.lab.parl.step_tables import StepTables
from aegir.lab.torch_training import complete_gradients, decays, learning_rate, take_step
from aegir.readers.bytes.heads import TYPES_HEAD
from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.rl.clipped_objective import PolicyLoss, PpoForm, compute_policy_loss
from aegir_rl.rl.entropy import compute_entropy
from aegir_rl.rl.kl_control import AdaptiveKlControl, FixedKlControl, compute_reference_kl
from aegir_rl.rl.schedules import LinearSchedule
from aegir_rl.rl.token_weights import TokenWeights, compute_information, compute_token_weights

PER_UPDATE = ("clip_fraction", "ratio/mean", "kl")
"""Figures that are also given for each optimiser step of a step, as `update/1/…`, `update/2/…`."""
PRIMARY = "swarm.primary_model."
TRUST = ("swarm.head_gates", "swarm.router.")
"""The few numbers that say whom to activate and how far to trust the answers; they have a learning rate of their own."""


@dataclass(frozen=True, slots=True)
class Update:
    """What one step of reinforcement learning did."""

    metrics: dict[str, float]
    loss: PolicyLoss
    """Of all tokens of the step, each with its probability when it was updated."""
    weights: TokenWeights


class SwarmLearner:
    """Takes training steps."""

    def __init__(self, policy: SwarmPolicy, config: ParlTraining) -> None:
        self.policy, self.config = policy, config
        self.parameters = dict(policy.named_parameters())
        learning = config.learning
        groups: dict[str, dict[str, Any]] = {
            "own": {"weight_decay": 0.0, "share": 1.0},
            "trust": {"weight_decay": 0.0, "share": learning.trust_rate},
            "decayed": {"weight_decay": learning.weight_decay, "share": learning.primary_rate},
            "plain": {"weight_decay": 0.0, "share": learning.primary_rate},
        }
        for name, parameter in self.parameters.items():
            groups[_group_of(name, parameter)].setdefault("params", []).append(parameter)
        filled = [group for group in groups.values() if "params" in group]
        self.optimizer = torch.optim.AdamW(filled, 1e-3, (0.9, 0.98), fused=True)
        rl = config.rl
        self.reference: SwarmPolicy | None = None
        """The policy after the warm start, while KL to it counts."""
        self.kl_control = (
            AdaptiveKlControl(rl.kl_target, rl.kl)
            if rl.kl and rl.kl_target
            else FixedKlControl(rl.kl)
        )

    def warm_start(
        self, batch: ColumnBatch, activation: Tensor | None, cached: CachedOutputs | None, step: int
    ) -> dict[str, float]:
        """Take one supervised step with these specialists; return its metrics."""
        loss = self._supervised(batch, read_columns(self.policy, batch, None, activation, cached))
        self.optimizer.zero_grad(set_to_none=False)
        loss.total.backward()
        norm = self._step(self.config.warm_start, step, "warm_start")
        return self._metrics(loss, batch) | {"gradient_norm": norm}

    def set_reference(self) -> None:
        """Copy the policy as it is now; specialists are shared, not copied."""
        shared = self.policy.swarm.specialists
        if self.config.rl.kl:
            self.reference = copy.deepcopy(self.policy, {id(shared): shared}).requires_grad_(False)

    def update(
        self,
        tables: StepTables,
        rollouts: Sequence[Rollout],
        advantages: Floats,
        cached: CachedOutputs | None,
        step: int,
    ) -> Update:
        """Take the optimiser steps of one step of reinforcement learning; advantages are (rollouts, columns, tokens)."""
        rl, progress = self.config.rl, step / self.config.rl.steps
        form = PpoForm(LinearSchedule(rl.clip_start, rl.clip_end)(progress))
        mask = self._mask(tables.batch, rollouts[0])
        weights = [self._weights(rollout, mask) for rollout in rollouts]
        now = dict[int, Floats]()
        norms, values, by_update = [], dict[str, list[float]](), dict[str, float]()

        def measured(numbers: Sequence[int]) -> PolicyLoss:
            """The loss of these rollouts, each with its probabilities when it was updated."""
            given = np.concatenate([advantages[number] for number in numbers])
            return compute_policy_loss(
                np.concatenate([now[number] for number in numbers]),
                np.concatenate([rollouts[number].log_probabilities for number in numbers]),
                given,
                form,
                mask=np.tile(mask, (len(numbers), 1)),
                weights=np.concatenate([weights[number].weights for number in numbers]),
                missing=~np.isfinite(given),
            )

        for order, share in enumerate(share_rollouts(len(rollouts), rl.updates), 1):
            self.optimizer.zero_grad(set_to_none=False)
            for number in share:
                tokens, total, metrics = self._loss(
                    tables.batch,
                    rollouts[number],
                    advantages[number],
                    cached,
                    form,
                    mask,
                    weights[number],
                )
                (total / len(share)).backward()
                now[number] = tokens
                for name, value in metrics.items():
                    values.setdefault(name, []).append(value)
            norms.append(self._step(rl, step, "rl"))
            figures = measured(share).figures
            by_update |= {f"update/{order}/{n}": figures[n] for n in PER_UPDATE if n in figures}
        loss = measured(range(len(rollouts)))
        means = {name: float(np.mean(several)) for name, several in values.items()}
        if self.reference is not None:
            self.kl_control.update(means.get("reference_kl", math.nan))
        return Update(
            means | by_update | {"gradient_norm": float(np.mean(norms)), "clip_range": form.clip},
            loss,
            weights[0],
        )

    def _loss(
        self,
        batch: ColumnBatch,
        rollout: Rollout,
        advantages: Floats,
        cached: CachedOutputs | None,
        form: PpoForm,
        mask: Bools,
        weights: TokenWeights,
    ) -> tuple[Floats, Tensor, dict[str, float]]:
        """Return the new log probabilities (columns, factors), what to minimise, and metrics."""
        rl = self.config.rl
        drawn, executed = as_tensors(rollout.activations)
        reading = read_columns(self.policy, batch, drawn, executed, cached)
        tokens, logits = self._tokens(self.policy, batch, reading, rollout)
        policy_loss = compute_policy_loss(
            tokens,
            rollout.log_probabilities,
            advantages,
            form,
            mask=mask,
            weights=weights.weights,
            missing=~np.isfinite(advantages),
        )
        gradient, metrics = rl.policy * policy_loss.gradient, dict[str, float]()
        if self.reference is not None:
            kl = compute_reference_kl(
                tokens, self._reference_tokens(batch, rollout, cached), mask=mask
            )
            gradient = gradient + self.kl_control.coefficient * kl.gradient
            metrics |= kl.figures
        total = hand_over(tokens, gradient)
        labels = compute_entropy(logits, "categorical", mask=mask[:, -1])
        total = total - rl.label_entropy * hand_over(logits, labels.gradient)
        metrics |= {f"label/{name}": value for name, value in labels.figures.items()}
        if self._learns_routing:
            router = compute_entropy(reading.routing_logits, "bernoulli")
            total = total - rl.router_entropy * hand_over(reading.routing_logits, router.gradient)
            metrics |= {f"router/{name}": value for name, value in router.figures.items()}
        supervised = self._supervised(batch, reading)
        total = total + rl.supervised * supervised.total
        metrics |= self._metrics(supervised, batch)
        return tokens.detach().double().numpy(), total, metrics

    @property
    def _learns_routing(self) -> bool:
        return self.config.routing.kind == LEARNT and bool(self.policy.swarm.specialists)

    def _tokens(
        self, policy: SwarmPolicy, batch: ColumnBatch, reading: RolloutReading, rollout: Rollout
    ) -> tuple[Tensor, Tensor]:
        """Return log probabilities (columns, factors) of what was drawn, and the logits of labels."""
        embedded = policy.primary.network.mixer(reading.vectors, batch.tables)
        logits = policy.label_logits(embedded)
        chosen = logits.log_softmax(dim=1).gather(1, torch.from_numpy(rollout.labels)[:, None])
        if rollout.activations is None:
            return chosen, logits
        return torch.cat([reading.log_probabilities, chosen], dim=1), logits

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _reference_tokens(
        self, batch: ColumnBatch, rollout: Rollout, cached: CachedOutputs | None
    ) -> Tensor:
        assert self.reference is not None
        reading = read_columns(self.reference, batch, *as_tensors(rollout.activations), cached)
        return self._tokens(self.reference, batch, reading, rollout)[0]

    def _mask(self, batch: ColumnBatch, rollout: Rollout) -> Bools:
        """(columns, factors) tokens that count: learnt routing, and labels of columns with a known type."""
        mask = np.full(rollout.log_probabilities.shape, self._learns_routing)
        mask[:, -1] = batch.labelled[TYPES_HEAD].numpy()
        return mask

    def _weights(self, rollout: Rollout, mask: Bools) -> TokenWeights:
        """Routing stands where a column begins; information is that of the label before it was drawn."""
        shape = rollout.log_probabilities.shape
        information = compute_information(rollout.label_probabilities[None])[0]
        begins = np.ones(shape)
        begins[:, -1] = 0
        return compute_token_weights(
            np.repeat(information[:, None], shape[1], axis=1),
            begins,
            mask=mask,
            information_strength=self.config.rl.information,
            boundary_strength=self.config.rl.boundary,
        )

    def _supervised(self, batch: ColumnBatch, reading: RolloutReading) -> StepLoss:
        read = (reading.vectors, reading.outputs)
        return compute_loss(self.policy.primary.network, batch, self.config.learning.loss, read)

    def _metrics(self, loss: StepLoss, batch: ColumnBatch) -> dict[str, float]:
        supervised = {"supervised/loss": float(loss.total.detach()), "symbols": batch.symbols}
        return {**without_idle_heads(loss.metrics), **supervised}

    def _step(self, stage: WarmStartSettings | RlSettings, step: int, name: str) -> float:
        """Take an optimiser step of a stage and return the norm of the gradient."""
        learning = self.config.learning
        complete_gradients(self.parameters, self.policy.primary.network)
        rate = learning_rate(stage.learning_rate, learning.warm_up, step, stage.steps)
        where = f"step {step} of {name}"
        return take_step(self.optimizer, self.parameters, rate, learning.clip, where)


def share_rollouts(rollouts: int, updates: int) -> list[list[int]]:
    """Return the rollouts of each update: all of them once, or, where there are more updates, one at a time, again and again."""
    if updates > rollouts:
        return [[update % rollouts] for update in range(updates)]
    return [share.tolist() for share in np.array_split(np.arange(rollouts), updates)]


def _group_of(name: str, parameter: Tensor) -> str:
    """Return which group of the optimiser a parameter is in."""
    if name.startswith(TRUST):
        return "trust"
    if not name.startswith(PRIMARY):
        return "own"
    return "decayed" if decays(name, parameter) else "plain"


def hand_over(x: Tensor, gradient: Floats) -> Tensor:
    """Return sum(x * gradient): a scalar whose gradient with respect to `x` is `gradient`; its value means nothing."""
    return (x * torch.from_numpy(gradient).to(x)).sum()
