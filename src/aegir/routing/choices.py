"""Who is asked first about every column, who decided that, and why.

static table --.
                floor, failures --> chosen --exploration, budget--> asked, with its propensity
learnt policy -'
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.readers.scores import table_spans
from aegir.routing.exploration import Exploration
from aegir.routing.features import CONFIDENCE
from aegir.routing.learnt_policy import LearntPolicy
from aegir.tables.table import Table
from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.offline.routing_table import RoutingTable

FREE = "ngrams"
"""The worker whose answer is there before anything is decided."""


@dataclass(slots=True, eq=False)
class Choices:
    """The first choice for each of the B columns of a batch."""

    workers: tuple[str, ...]
    rule: Ints
    """(B,) the static table's rule that holds."""
    static: Ints
    """(B,) the worker it leads to."""
    asked: Ints
    """(B,) the worker that is asked."""
    by_policy: Bools
    """(B,) whether the learnt policy chose."""
    explored: Bools
    """(B,) whether exploration drew another worker than the chosen one."""
    over_budget: Bools
    """(B,) whether the budget allows no other worker than `FREE`."""
    propensity: Floats
    """(B,) the probability of `asked`; nan where a budget makes it unknown."""
    shares: Floats | None
    """(B, workers) what the policy proposed; None without a proposal."""
    problem: str
    """Why the policy proposed nothing."""

    def decided_by(self, column: int) -> str:
        """Who decided: policy, static table, exploration or budget."""
        if self.over_budget[column]:
            return "budget"
        if self.explored[column]:
            return "exploration"
        return "policy" if self.by_policy[column] else "static table"

    def reason(self, column: int, table: RoutingTable, policy: LearntPolicy | None) -> str:
        """Return why, in one line: the rule that held, and what the policy said about it."""
        rule = str(table.rules[self.rule[column]])
        if policy is None:
            return rule
        if self.shares is None:
            return f"{rule} (no policy: {self.problem})"
        sure = f"{self.shares[column].max():.2f}"
        worker = self.workers[int(self.shares[column].argmax())]
        if self.by_policy[column]:
            return f"{sure} for {worker} (static table: {rule})"
        return f"{rule} (the policy's {sure} for {worker} is below its floor, {policy.floor:g})"


def choose_workers(
    tables: Sequence[Table],
    features: Floats,
    workers: tuple[str, ...],
    table: RoutingTable,
    policy: LearntPolicy | None = None,
    exploration: Exploration | None = None,
) -> Choices:
    """Choose a worker for every column of all tables, given their features (B, FEATURES)."""
    rule = table.choose(features)
    of_rule = np.array([workers.index(table.role(n).primary) for n in range(len(table.rules))])
    static = of_rule[rule]
    shares, problem, by_policy = None, "", np.zeros(len(rule), bool)
    chosen = static
    if policy is not None:
        proposal = policy.propose(features, workers)
        shares, problem = proposal.probabilities, proposal.problem
    if shares is not None and policy is not None:
        by_policy = shares.max(axis=1, initial=0.0) >= policy.floor
        chosen = np.where(by_policy, shares.argmax(axis=1), static)
    asked, propensity = chosen, np.ones(len(chosen))
    if exploration is not None:
        known = None if shares is None else np.where(by_policy[:, None], shares, np.nan)
        probabilities = exploration.probabilities(chosen, known, len(workers))
        asked = exploration.draw(probabilities, tables)
        propensity = probabilities[np.arange(len(asked)), asked]
    over = _over_budget(tables, features, asked, workers, table)
    if over.any():
        asked = np.where(over, workers.index(FREE), asked)
        propensity = np.where(over & (exploration is not None), np.nan, propensity)
    return Choices(
        workers,
        rule,
        static,
        asked,
        by_policy,
        (asked != chosen) & ~over,
        over,
        propensity,
        shares,
        problem,
    )


def _over_budget(
    tables: Sequence[Table],
    features: Floats,
    asked: Ints,
    workers: tuple[str, ...],
    table: RoutingTable,
) -> Bools:
    """Return (B,) the columns for which the budget of their table is used up; the least sure ones are served first."""
    over = np.zeros(len(asked), bool)
    if np.isinf(table.most_cost):
        return over
    costs = np.array([0.0 if name == FREE else table.cost(name) for name in workers])[asked]
    for span in table_spans(tables):
        order = np.argsort(features[span, CONFIDENCE], kind="stable")
        spent = np.cumsum(costs[span][order])
        over[span.start + order] = (spent > table.most_cost) & (costs[span][order] > 0)
    return over
