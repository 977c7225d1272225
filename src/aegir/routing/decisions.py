"""Who is called about every column, who decided that, and why.

load_routing(path, workers)                      the routing table of a user, or the one that ships
Choices.by_table(table, workers, features)       the first choice by its rules
       .with_policy(policy)                      a learnt policy, where it is as sure as its floor
       .explored_by(exploration, tables)         drawn around that, with known propensities
       .within_budget(table, tables, features)   the least sure columns are served first
RoutedTable                                      what became of the columns of a table; `episodes` gives decisions to log
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from aegir.readers.scores import table_spans
from aegir.routing.features import CONFIDENCE, FEATURES
from aegir.tables.table import Table
from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.offline.routing_table import Role, RoutingTable, load_table, parse_table

if TYPE_CHECKING:
    from aegir.routing.exploration import Exploration
    from aegir.routing.learnt_policy import LearntPolicy
    from aegir_rl.episode import Episode, Source

FREE = "ngrams"
"""The worker whose answer is there before anything is decided."""
EFFORT, FALLBACK = "effort", "fallback"
SHIPPED = "routing.yaml"
LLM, LLM_BELOW, LLM_COST = "llm", 0.5, 5.0
"""The language model reads columns that stay below this confidence; it takes none of our CPU, and money."""


def load_routing(path: Path | None, workers: Collection[str]) -> RoutingTable:
    """Read a routing table, or the one that ships for these workers; raise for what names other features or workers."""
    if path is not None:
        return load_table(path, FEATURES, workers)
    text = Path(__file__).with_name(SHIPPED).read_text("utf-8")
    table = parse_table(text, SHIPPED, FEATURES, workers)
    return _with_llm(table) if LLM in workers else table


def _with_llm(table: RoutingTable) -> RoutingTable:
    """Return the table in which a language model follows every reader that is called for unsure columns."""
    named = {rule.role for rule in table.rules}
    roles = {
        name: Role(role.primary, (LLM,), LLM_BELOW)
        if name in named and role.primary != FREE
        else role
        for name, role in table.roles.items()
    }
    return replace(table, roles=roles, costs={**(table.costs or {}), LLM: LLM_COST})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choices:
    """The first choice for each of the B columns of a batch."""

    workers: tuple[str, ...]
    features: Floats
    """(B, FEATURES) as whoever decided saw them."""
    rule: Ints
    """(B,) the static table's rule that holds."""
    static: Ints
    """(B,) the worker it leads to."""
    asked: Ints
    """(B,) the worker that is called."""
    by_policy: Bools
    """(B,) whether the learnt policy chose."""
    explored: Bools
    """(B,) whether exploration drew another worker than the chosen one."""
    over_budget: Bools
    """(B,) whether the budget allows no other worker than `FREE`."""
    propensity: Floats
    """(B,) the probability of `asked`; nan where a budget makes it unknown."""
    shares: Floats | None = None
    """(B, workers) what the policy proposed; None without a proposal."""
    problem: str = ""
    """Why the policy proposed nothing."""

    @classmethod
    def by_table(cls, table: RoutingTable, workers: tuple[str, ...], features: Floats) -> Self:
        """Choose a worker for every column by the rules of a routing table."""
        rule = table.choose(features)
        of_rule = np.array([workers.index(table.role(n).primary) for n in range(len(table.rules))])
        static = of_rule[rule]
        nowhere = np.zeros(len(rule), bool)
        return cls(
            workers=workers,
            features=features,
            rule=rule,
            static=static,
            asked=static,
            by_policy=nowhere,
            explored=nowhere,
            over_budget=nowhere,
            propensity=np.ones(len(rule)),
        )

    def with_policy(self, policy: "LearntPolicy") -> Self:
        """Return the policy's choices where it is as sure as its floor, these elsewhere."""
        proposal = policy.propose(self.features, self.workers)
        shares = proposal.probabilities
        if shares is None:
            return replace(self, problem=proposal.problem)
        by_policy = shares.max(axis=1, initial=0.0) >= policy.floor
        asked = np.where(by_policy, shares.argmax(axis=1), self.asked)
        return replace(self, asked=asked, by_policy=by_policy, shares=shares)

    def explored_by(self, exploration: "Exploration", tables: Sequence[Table]) -> Self:
        """Return workers drawn around these choices."""
        shares = self.shares
        known = None if shares is None else np.where(self.by_policy[:, None], shares, np.nan)
        probabilities = exploration.probabilities(self.asked, known, len(self.workers))
        asked = exploration.draw(probabilities, tables)
        propensity = probabilities[np.arange(len(asked)), asked]
        return replace(self, asked=asked, explored=asked != self.asked, propensity=propensity)

    def within_budget(self, table: RoutingTable, tables: Sequence[Table], features: Floats) -> Self:
        """Return `FREE` for the columns for which the budget of their table is used up; the least sure ones are served first."""
        if np.isinf(table.most_cost):
            return self
        over = np.zeros(len(self.asked), bool)
        costs = np.array([0.0 if name == FREE else table.cost(name) for name in self.workers])
        costs = costs[self.asked]
        for span in table_spans(tables):
            order = np.argsort(features[span, CONFIDENCE], kind="stable")
            spent = np.cumsum(costs[span][order])
            over[span.start + order] = (spent > table.most_cost) & (costs[span][order] > 0)
        drawn = over & (self.propensity < 1)
        return replace(
            self,
            asked=np.where(over, self.workers.index(FREE), self.asked),
            explored=self.explored & ~over,
            over_budget=over,
            propensity=np.where(drawn, np.nan, self.propensity),
        )

    def decided_by(self, column: int) -> str:
        """Who decided: policy, static table, exploration or budget."""
        if self.over_budget[column]:
            return "budget"
        if self.explored[column]:
            return "exploration"
        return "policy" if self.by_policy[column] else "static table"

    def reason(self, column: int, table: RoutingTable, policy: "LearntPolicy | None") -> str:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingStep:
    """One worker called about one column."""

    worker: str
    tries: int
    confidence: float
    """Before this worker was called."""
    failed: bool = False
    seconds: float = 0.0
    decided_by: str = FALLBACK
    """Who asked for a step after the first one."""


@dataclass(frozen=True, slots=True, eq=False)
class RoutedTable:
    """A table, and how every column was routed."""

    table: Table
    steps: tuple[tuple[RoutingStep, ...], ...]
    """Per column the workers that were called, in order."""
    features: Floats
    """(columns, FEATURES)"""
    first: int
    """Where its columns begin among those of the batch that `choices` is about."""
    choices: Choices
    routing: RoutingTable
    policy: "LearntPolicy | None"

    def episodes(
        self, labels: Sequence[str | None] | None = None, source: "Source" = "real", run: str = ""
    ) -> "tuple[Episode, ...]":
        """Return one episode per column; its id is RUN/TABLE/INDEX, and `labels` are the answers that were given."""
        from aegir.routing.episodes import episodes_of  # most runs log nothing

        return episodes_of(self, labels, source, run)
