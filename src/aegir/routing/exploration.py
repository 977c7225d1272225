"""Explicit exploration: sometimes another worker than the chosen one is asked, with a known probability.

    epsilon    P(worker) = (1 - epsilon) [worker is chosen] + epsilon / number of workers
    softmax    P(worker) ~ exp([worker is chosen] / temperature), or ~ P(worker)^(1 / temperature) where a policy gives P

Which worker is drawn depends on the seed, the table's name and the column's place, not on the tables beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from aegir.tables.table import Table
from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds

Kind = Literal["epsilon", "softmax"]


@dataclass(frozen=True, slots=True)
class Exploration:
    """How often, and how, something else is tried."""

    kind: Kind
    amount: float
    """Epsilon, or the temperature."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("epsilon", "softmax"):
            raise UsageError(f"exploration is {self.kind!r}; expected epsilon or softmax")
        most = 1.0 if self.kind == "epsilon" else np.inf
        if not 0 < self.amount <= most:
            expected = "above 0, at most 1" if self.kind == "epsilon" else "above 0"
            raise UsageError(f"the amount of exploration is {self.amount}; expected {expected}")

    def probabilities(self, chosen: Ints, by_policy: Floats | None, workers: int) -> Floats:
        """(B,) choices, and (B, workers) of a policy with nan where it did not decide -> (B, workers)."""
        is_chosen = np.arange(workers) == chosen[:, None]
        if self.kind == "epsilon":
            return np.asarray((1 - self.amount) * is_chosen + self.amount / workers)
        weights = np.exp((is_chosen - 1.0) / self.amount)
        if by_policy is not None:
            known = ~np.isnan(by_policy).any(axis=1)
            best = by_policy[known].max(axis=1, keepdims=True)
            weights[known] = (by_policy[known] / best) ** (1 / self.amount)
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def draw(self, probabilities: Floats, tables: Sequence[Table]) -> Ints:
        """(columns of all tables, workers) -> (columns,) the workers that are asked."""
        numbers = [np.zeros(0)]
        for table in tables:
            random = Seeds(self.seed).generator("exploration", table.name)
            numbers.append(random.random(len(table.columns)))
        drawn = np.concatenate(numbers)[:, None]
        below = (np.cumsum(probabilities, axis=1) < drawn).sum(axis=1)
        return np.asarray(np.minimum(below, probabilities.shape[1] - 1), np.int64)
