"""The policy: which specialists read each column, and what each column is.

    draw_activations(scores, tables, settings, cap, random) -> Activations      one Bernoulli per column and specialist
    SwarmPolicy.label_logits(embedded)                                          types, and an abstention
    draw_labels(log_probabilities, random)

A score is how strongly a specialist counts, and it is activated above one half. Activations are drawn with the probability
sigmoid(logit(score) / temperature): with a temperature below 1 closer to what the threshold decides, so that heads learn
from what users will get, and a specialist of score 0.6 is not left out in two columns of five. Their log probabilities are
those of the orchestrator, which has the same temperature.

A cap is applied to what was drawn, table by table: the highest scores stay. Log probabilities are of what was drawn; the
propensity is the probability of what was executed. With p the probabilities of a table, and S the executed set,

    |S| < cap    nothing was cut: product of p over S, times that of 1 - p over the rest
    |S| = cap    whatever ranks below the last of S may have been drawn or not: its factor is 1

Worked number: probabilities 0.8, 0.6, 0.5, cap 1. Executed {0.6}: 0.8 was not drawn, 0.5 is free: 0.2 * 0.6 = 0.12; executed
{0.8}: 0.8; {0.5}: 0.2 * 0.4 * 0.5 = 0.04; nothing: 0.2 * 0.4 * 0.5 = 0.04; together 1.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from aegir.lab.nets.annotator import OutputHead, TableBatch
from aegir.lab.parl.config import ALWAYS, LEARNT, RANDOM, RoutingSettings
from aegir.readers.bytes.heads import TYPES_HEAD
from aegir.swarm.column_model import ByteColumnModel
from aegir.swarm.orchestrator import SwarmOrchestrator
from aegir.swarm.router import limit_activations
from aegir_rl.base.arrays import I64, Bools, Floats

TINY, FARTHEST = 1e-300, 700.0
"""Least score whose logarithm is taken, and farthest log odds: numbers stay finite at any temperature."""
FIRST_ABSTENTION = -3.0
"""Logit of an abstention at the beginning, beside those of the types."""


class SwarmPolicy(nn.Module):  # type: ignore[misc]
    """The swarm, and a head for abstaining that only training uses."""

    def __init__(self, swarm: SwarmOrchestrator) -> None:
        super().__init__()
        self.swarm = swarm
        primary: ByteColumnModel = swarm.primary_model
        self.abstain = OutputHead(primary.network.architecture.column_width, 1)
        nn.init.zeros_(self.abstain.weight)
        nn.init.constant_(self.abstain.bias, FIRST_ABSTENTION)

    @property
    def primary(self) -> ByteColumnModel:
        """The byte network that is trained."""
        model: ByteColumnModel = self.swarm.primary_model
        return model

    def label_logits(self, embedded: Tensor) -> Tensor:
        """Return logits (columns, types + 2) of embedded columns: types, none of them, and an abstention."""
        types = self.primary.network.heads[TYPES_HEAD](embedded)
        return torch.cat([types, self.abstain(embedded)], dim=1)


@dataclass(frozen=True, slots=True)
class Activations:
    """The routing decisions of one rollout, (columns, N) each."""

    drawn: Bools
    executed: Bools
    """What is left under the cap."""
    propensity: Floats
    """Factors whose product over a table is the probability of what was executed."""


def draw_activations(
    scores: Floats,
    tables: TableBatch,
    routing: RoutingSettings,
    cap: int | None,
    random: np.random.Generator,
) -> Activations:
    """Draw who reads what; `scores` (columns, N) are the router's, which only "learnt" follows."""
    chances = activation_chances(scores, routing)
    drawn = random.random(chances.shape) < chances
    if routing.kind != LEARNT or cap is None:
        return Activations(drawn, drawn, np.where(drawn, chances, 1 - chances))
    executed, propensity = drawn.copy(), np.ones(chances.shape)
    for row, mask in zip(tables.columns.numpy(), tables.mask.numpy(), strict=True):
        rows = row[mask]
        executed[rows] = _limit(drawn[rows], chances[rows], cap)
        propensity[rows] = compute_propensity(chances[rows], executed[rows], cap)
    return Activations(drawn, executed, propensity)


def activation_chances(scores: Floats, routing: RoutingSettings) -> Floats:
    """Return the probability (columns, N) of each activation before a cap."""
    fixed = {ALWAYS: 1.0, RANDOM: routing.rate}
    if routing.kind == LEARNT and routing.temperature == 1:
        return scores
    if routing.kind == LEARNT:
        odds = np.log(np.maximum(scores, TINY)) - np.log(np.maximum(1 - scores, TINY))
        return np.asarray(
            1 / (1 + np.exp(-np.clip(odds / routing.temperature, -FARTHEST, FARTHEST)))
        )
    return np.full(scores.shape, fixed.get(routing.kind, 0.0))


def compute_propensity(chances: Floats, executed: Bools, cap: int) -> Floats:
    """Return the factors (columns, N) of one table's propensity under a cap."""
    factors = np.where(executed, chances, 1 - chances)
    if executed.sum() >= cap:
        ranked = np.argsort(-chances.ravel(), kind="stable")
        last = np.flatnonzero(executed.ravel()[ranked]).max()
        factors.ravel()[ranked[last + 1 :]] = 1.0
    return factors


def draw_labels(log_probabilities: Floats, random: np.random.Generator) -> I64:
    """Draw one output (columns,) of each distribution (columns, outputs)."""
    noise = random.gumbel(size=log_probabilities.shape)
    return np.asarray(np.argmax(log_probabilities + noise, axis=1), np.int64)


def _limit(drawn: Bools, chances: Floats, cap: int) -> Bools:
    limited = limit_activations(torch.from_numpy(drawn), torch.from_numpy(chances), cap)
    executed: Bools = limited.numpy()
    return executed
