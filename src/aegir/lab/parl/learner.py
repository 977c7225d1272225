"""The trained parts and their optimiser: supervised steps, and the token-level clipped update.

    learner = SwarmLearner(policy, config)
    figures = learner.warm_start(batch, activation, known, step)
    update = learner.update(tables, rollouts, advantages, known, step)

Tokens of a column are its routing decisions, one per specialist, and its label. For each of them

    L_t = min(ratio_t A, clip(ratio_t, 1 - eps, 1 + eps) A),   ratio_t = new probability / probability when it was drawn

weighted by how critical the token is (aegir_rl/rl/token_weights.py: routing is decided where a column begins; labels that say much
weigh more), eps annealed. Beside it: entropy of router and label, KL to the policy after the warm start, and the supervised
loss of the same forward pass, each with its weight. Learnt routing has tokens; "always" and "random" have labels alone.

Primary, router, fusion, alignment and gates are trained; specialists are no parameters here.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from aegir.lab.byte_network.batches import Batch
from aegir.lab.byte_network.learner import decays, learning_rate, without_idle_heads
from aegir.lab.byte_network.losses import StepLoss, loss_of
from aegir.lab.parl.config import LEARNT, ParlTraining
from aegir.lab.parl.episodes import Tables
from aegir.lab.parl.policy import Policy
from aegir.lab.parl.reading import Known, Reading, read_columns
from aegir.lab.parl.rollouts import Rollout, as_tensors
from aegir.readers.bytes.heads import TYPES_HEAD
from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.rl.clipped_objective import PolicyLoss, PpoForm, compute_policy_loss
from aegir_rl.rl.entropy import compute_entropy
from aegir_rl.rl.kl_control import AdaptiveKlControl, FixedKlControl, compute_reference_kl
from aegir_rl.rl.schedules import LinearSchedule
from aegir_rl.rl.token_weights import TokenWeights, compute_information, compute_token_weights

PRIMARY = "swarm.primary_model."
TRUST = ("swarm.head_gates", "swarm.router.")
"""The few numbers that say whom to ask and how far to trust the answers; they have a learning rate of their own."""


@dataclass(frozen=True, slots=True)
class Update:
    """What one step of reinforcement learning did."""

    figures: dict[str, float]
    loss: PolicyLoss
    """Of all tokens of the step, each with its probability when it was updated."""
    weights: TokenWeights


class SwarmLearner:
    """Takes training steps."""

    def __init__(self, policy: Policy, config: ParlTraining) -> None:
        self.policy, self.config = policy, config
        self.parameters = dict(policy.named_parameters())
        own: list[Tensor] = []
        trust: list[Tensor] = []
        decayed: list[Tensor] = []
        plain: list[Tensor] = []
        for name, parameter in self.parameters.items():
            if name.startswith(TRUST):
                trust.append(parameter)
            elif not name.startswith(PRIMARY):
                own.append(parameter)
            else:
                (decayed if decays(name, parameter) else plain).append(parameter)
        decay = config.learning.weight_decay
        self.optimizer = torch.optim.AdamW(
            [
                {"params": own, "weight_decay": 0.0, "share": 1.0},
                {"params": trust, "weight_decay": 0.0, "share": config.learning.trust_rate},
                {"params": decayed, "weight_decay": decay, "share": config.learning.primary_rate},
                {"params": plain, "weight_decay": 0.0, "share": config.learning.primary_rate},
            ],
            1e-3,
            (0.9, 0.98),
            fused=True,
        )
        rl = config.rl
        self.reference: Policy | None = None
        """The policy after the warm start, while KL to it counts."""
        self.kl_control = (
            AdaptiveKlControl(rl.kl_target, rl.kl)
            if rl.kl and rl.kl_target
            else FixedKlControl(rl.kl)
        )

    def warm_start(
        self, batch: Batch, activation: Tensor | None, known: Known | None, step: int
    ) -> dict[str, float]:
        """Take one supervised step with these specialists; return its figures."""
        loss = self._supervised(batch, read_columns(self.policy, batch, None, activation, known))
        self.optimizer.zero_grad(set_to_none=False)
        loss.total.backward()
        norm = self._step("warm_start", step)
        return self._figures(loss, batch) | {"gradient_norm": norm}

    def keep_reference(self) -> None:
        """Remember the policy as it is now; specialists are shared, not copied."""
        shared = self.policy.swarm.specialists
        if self.config.rl.kl:
            self.reference = copy.deepcopy(self.policy, {id(shared): shared}).requires_grad_(False)

    def update(
        self,
        tables: Tables,
        rollouts: Sequence[Rollout],
        advantages: Floats,
        known: Known | None,
        step: int,
    ) -> Update:
        """Take the optimiser steps of one step of reinforcement learning; advantages are (rollouts, columns, tokens)."""
        rl, progress = self.config.rl, step / self.config.rl.steps
        form = PpoForm(LinearSchedule(rl.clip_start, rl.clip_end)(progress))
        mask = self._mask(tables.batch, rollouts[0])
        weights = [self._weights(rollout, mask) for rollout in rollouts]
        now: list[Floats] = []
        norms, sums = [], dict[str, list[float]]()
        for share in np.array_split(np.arange(len(rollouts)), rl.updates):
            self.optimizer.zero_grad(set_to_none=False)
            for number in share:
                tokens, total, figures = self._loss(
                    tables.batch,
                    rollouts[number],
                    advantages[number],
                    known,
                    form,
                    mask,
                    weights[number],
                )
                (total / len(share)).backward()
                now.append(tokens)
                for name, value in figures.items():
                    sums.setdefault(name, []).append(value)
            norms.append(self._step("rl", step))
        loss = compute_policy_loss(
            np.concatenate(now),
            np.concatenate([rollout.log_probabilities for rollout in rollouts]),
            np.concatenate(advantages),
            form,
            mask=np.tile(mask, (len(rollouts), 1)),
            weights=np.concatenate([each.weights for each in weights]),
            missing=~np.isfinite(np.concatenate(advantages)),
        )
        figures = {name: float(np.mean(values)) for name, values in sums.items()}
        if self.reference is not None:
            self.kl_control.update(figures.get("reference_kl", math.nan))
        return Update(
            figures | {"gradient_norm": float(np.mean(norms)), "clip_range": form.clip},
            loss,
            weights[0],
        )

    def _loss(
        self,
        batch: Batch,
        rollout: Rollout,
        advantages: Floats,
        known: Known | None,
        form: PpoForm,
        mask: Bools,
        weights: TokenWeights,
    ) -> tuple[Floats, Tensor, dict[str, float]]:
        """Return the new log probabilities (columns, factors), what to minimise, and figures."""
        rl = self.config.rl
        drawn, executed = as_tensors(rollout.activations)
        reading = read_columns(self.policy, batch, drawn, executed, known)
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
        slope, figures = rl.policy * policy_loss.gradient, dict[str, float]()
        if self.reference is not None:
            kl = compute_reference_kl(
                tokens, self._reference_tokens(batch, rollout, known), mask=mask
            )
            slope = slope + self.kl_control.coefficient * kl.gradient
            figures |= kl.figures
        total = (tokens * torch.from_numpy(slope).to(tokens)).sum()
        labels = compute_entropy(logits, "categorical", mask=mask[:, -1])
        total = total - rl.label_entropy * _along(logits, labels.gradient)
        figures |= {f"label/{name}": value for name, value in labels.figures.items()}
        if self._learns_routing:
            router = compute_entropy(reading.routing_logits, "bernoulli")
            total = total - rl.router_entropy * _along(reading.routing_logits, router.gradient)
            figures |= {f"router/{name}": value for name, value in router.figures.items()}
        supervised = self._supervised(batch, reading)
        total = total + rl.supervised * supervised.total
        figures |= self._figures(supervised, batch)
        return tokens.detach().double().numpy(), total, figures

    @property
    def _learns_routing(self) -> bool:
        return self.config.routing.kind == LEARNT and bool(self.policy.swarm.specialists)

    def _tokens(
        self, policy: Policy, batch: Batch, reading: Reading, rollout: Rollout
    ) -> tuple[Tensor, Tensor]:
        """Return log probabilities (columns, factors) of what was drawn, and the logits of labels."""
        embedded = policy.primary.network.mixer(reading.vectors, batch.tables)
        logits = policy.label_logits(embedded)
        chosen = logits.log_softmax(dim=1).gather(1, torch.from_numpy(rollout.labels)[:, None])
        if rollout.activations is None:
            return chosen, logits
        return torch.cat([reading.log_probabilities, chosen], dim=1), logits

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _reference_tokens(self, batch: Batch, rollout: Rollout, known: Known | None) -> Tensor:
        assert self.reference is not None
        reading = read_columns(self.reference, batch, *as_tensors(rollout.activations), known)
        return self._tokens(self.reference, batch, reading, rollout)[0]

    def _mask(self, batch: Batch, rollout: Rollout) -> Bools:
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

    def _supervised(self, batch: Batch, reading: Reading) -> StepLoss:
        net = self.policy.primary.network
        read = (reading.vectors, reading.outputs)
        return loss_of(net, batch, self.config.learning.loss, lambda part: part, lambda _: read)

    def _figures(self, loss: StepLoss, batch: Batch) -> dict[str, float]:
        supervised = {"supervised/loss": float(loss.total.detach()), "symbols": batch.symbols}
        return {**without_idle_heads(loss.figures), **supervised}

    def _step(self, stage: str, step: int) -> float:
        """Take an optimiser step and return the norm of the gradient."""
        for parameter in self.parameters.values():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        # The row of n-grams that are not kept stays zero.
        self.policy.primary.network.reader.embedding.grams.grad[-1] = 0
        norm = float(
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.learning.clip)
        )
        if not math.isfinite(norm):
            raise UsageError(
                f"the gradient of step {step} of {stage} is not finite; lower learning_rate or raise warm_up"
            )
        rate = learning_rate(self.config.stage(stage), step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["share"]
        self.optimizer.step()
        return norm


def _along(logits: Tensor, gradient: Floats) -> Tensor:
    """Return a number whose gradient with respect to the logits is this one."""
    return (logits * torch.from_numpy(gradient).to(logits)).sum()
