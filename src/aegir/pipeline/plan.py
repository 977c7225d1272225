"""Who is called next about which columns: the plans of the pipeline.

    for calls in plan.rounds(batch):        # a round is a list of calls; the pipeline makes them before it asks for the next round
        …

    TablePlan(table)            a routing table: the first rule that holds names a reader, and fallbacks if that fails or is unsure
    PolicyPlan(table, policy)   a learnt policy where it is sure enough, else the table
    Explore(plan, exploration)  sometimes another reader than the chosen one, with a known probability
    EffortPlan(plan, search)    after the first round, columns that stay ambiguous are searched
    Within(plan, seconds)       within.py: calls that would not end in time are left out, the least sure columns come first

`dispatch` and `combined` are two routing tables; an effort below normal makes columns look surer to any of them.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from aegir.pipeline.batch import PipelineBatch
from aegir.pipeline.settings import EFFORTS, NORMAL
from aegir.readers.mixing import with_none
from aegir.readers.scores import Probabilities
from aegir.routing.decisions import EFFORT, FREE, Choices, RoutingStep
from aegir.routing.features import CONFIDENCE, FEATURES
from aegir_rl.base.arrays import Bools
from aegir_rl.offline.routing_table import FeatureComparison, Role, RoutingRule, RoutingTable

if TYPE_CHECKING:
    from aegir.pipeline.within import TableClock
    from aegir.routing.exploration import Exploration
    from aegir.routing.learnt_policy import LearntPolicy

COMBINED, BYTE_MODEL = "combined", "byte_model"
READERS = (BYTE_MODEL, COMBINED, FREE)
"""Readers that every pipeline has."""
SEARCHED_BELOW = 0.9
"""Confidence below which a column is ambiguous: an effort above normal searches it."""
SEARCHES = {f"search@{name}": effort for name, effort in EFFORTS.items()}
"""The searches that a routing table may name, with their effort."""
MOST_READINGS = 3
"""Further readings of a column; a fourth one gained nothing on held-out tables."""
SPECIALISTS_FROM = 0.9
"""Effort from which the user's specialists are called."""
WHOLE_TABLES = RoutingTable(
    rules=(RoutingRule((FeatureComparison("unsure", ">", 0.0),), COMBINED), RoutingRule((), FREE)),
    roles={COMBINED: Role(COMBINED), FREE: Role(FREE)},
    features=FEATURES,
)
"""The routing table of `combined`: the byte network reads every column of a table that has an unsure one."""


@dataclass(frozen=True, slots=True)
class SearchDepth:
    """How far an effort searches; effort only adds: whoever is called at some effort is called at every higher one."""

    readings: int
    """Further readings of a column."""
    calls_specialists: bool
    """Whether specialists of the user's pool are called."""

    @classmethod
    def of(cls, effort: float) -> Self:
        """Return the depth of an effort from 0 to 1."""
        more = max(effort - NORMAL, 0.0) / (1 - NORMAL)
        return cls(math.ceil(more * MOST_READINGS - 1e-9), effort >= SPECIALISTS_FROM)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One reader called about some columns of a batch."""

    reader: str
    columns: Bools
    """(B,)"""
    context: int | None = None
    """Columns of a table read beside them; None for all."""
    by_effort: bool = False
    """Whether an effort, not a routing table, asks for it: then a failure is raised, because there is no fallback."""


class Plan(Protocol):
    """Says who is called next."""

    @property
    def clock(self) -> "TableClock | None":
        """Measures the time of each table; None without a limit."""
        ...

    @property
    def table(self) -> RoutingTable:
        """What readers cost, and who is called first."""
        ...

    @property
    def policy(self) -> "LearntPolicy | None": ...
    @property
    def workers(self) -> tuple[str, ...]:
        """The readers that the table or the policy may choose, sorted."""
        ...

    def choose(self, batch: PipelineBatch) -> Choices:
        """Return the first choice for every column."""
        ...

    def rounds(self, batch: PipelineBatch) -> Iterator[Sequence[Call]]:
        """Yield calls until nobody is to be called any more."""
        ...


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A routing table decides."""

    table: RoutingTable
    workers: tuple[str, ...] = READERS
    """The readers that may be called, sorted."""
    sureness: float = 1.0
    """Confidences are divided by this before the table sees them: 0 makes every column look sure."""
    policy: "LearntPolicy | None" = field(default=None, init=False)
    clock: "TableClock | None" = field(default=None, init=False)

    def choose(self, batch: PipelineBatch) -> Choices:
        """Return what the table's rules say."""
        features = batch.features.copy()
        features[~batch.has_values, CONFIDENCE] = math.inf  # there is nothing more to be read
        if self.sureness < 1:
            sure = features[:, CONFIDENCE]
            features[:, CONFIDENCE] = sure / self.sureness if self.sureness else math.inf
        return Choices.by_table(self.table, self.workers, features)

    def rounds(self, batch: PipelineBatch) -> Iterator[Sequence[Call]]:
        """Yield the chosen readers, then their fallbacks."""
        return follow_chains(self, batch)


class PlanAround:
    """A plan around another one, which it asks for everything that it does not change."""

    plan: Plan
    clock: "TableClock | None" = None

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @property
    def table(self) -> RoutingTable:
        """The table of the plan."""
        return self.plan.table

    @property
    def policy(self) -> "LearntPolicy | None":
        """The policy of the plan."""
        return self.plan.policy

    @property
    def workers(self) -> tuple[str, ...]:
        """The readers that may be chosen."""
        return self.plan.workers

    def choose(self, batch: PipelineBatch) -> Choices:
        """Return the plan's first choice."""
        return self.plan.choose(batch)

    def rounds(self, batch: PipelineBatch) -> Iterator[Sequence[Call]]:
        """Yield the chosen readers, then their fallbacks."""
        return follow_chains(self, batch)


class PolicyPlan(PlanAround):
    """A learnt policy decides where it is as sure as its floor; else the plan."""

    def __init__(self, plan: Plan, policy: "LearntPolicy") -> None:
        super().__init__(plan)
        self._policy = policy

    @property
    def policy(self) -> "LearntPolicy":
        """The policy, which may be unusable."""
        return self._policy

    def choose(self, batch: PipelineBatch) -> Choices:
        """Return what the policy says, and the plan's choice where the policy is not sure or cannot be used."""
        return self.plan.choose(batch).with_policy(self._policy)


class Explore(PlanAround):
    """Another reader than the chosen one is sometimes called, with a known probability."""

    def __init__(self, plan: Plan, exploration: "Exploration") -> None:
        super().__init__(plan)
        self.exploration = exploration

    def choose(self, batch: PipelineBatch) -> Choices:
        """Return readers that were drawn around the plan's choice."""
        return self.plan.choose(batch).explored_by(self.exploration, batch.tables)


class EffortPlan(PlanAround):
    """What stays ambiguous after the first round is searched; the plan's fallbacks come after that."""

    def __init__(self, plan: Plan, search: str) -> None:
        """`search` is the name of the reader that searches."""
        super().__init__(plan)
        self.search = search

    def rounds(self, batch: PipelineBatch) -> Iterator[Sequence[Call]]:
        """Yield the plan's first round, the search, and the plan's other rounds."""
        rounds = self.plan.rounds(batch)
        yield next(rounds, [])
        columns = [is_ambiguous(scores.types, SEARCHED_BELOW) for scores in batch.scores]
        yield [Call(self.search, np.concatenate([np.zeros(0, bool), *columns]), by_effort=True)]
        yield from rounds


def is_ambiguous(types: Probabilities, below: float) -> Bools:
    """(columns,) which columns have values and no type (columns, 82), nor none, that is as sure as this."""
    sure = with_none(types).max(axis=1, initial=0.0)
    return np.asarray((sure < below) & types.any(axis=1), bool)


def follow_chains(plan: Plan, batch: PipelineBatch) -> Iterator[Sequence[Call]]:
    """Yield calls of the chosen readers, then of the fallbacks of their roles, within the budget of the routing table."""
    table = plan.table
    choices = plan.choose(batch).within_budget(table, batch.tables, batch.features)
    batch.choices = choices
    roles = [_role(table, choices, column) for column in range(len(choices.asked))]
    pending = {column: choices.workers[worker] for column, worker in enumerate(choices.asked)}
    while pending:
        yield [
            Call(
                reader,
                np.array([pending.get(column) == reader for column in range(len(roles))], bool),
                table.context,
            )
            for reader in sorted(set(pending.values()))
        ]
        pending = _fallbacks(table, batch, roles, set(pending))


def _role(table: RoutingTable, choices: Choices, column: int) -> Role:
    worker = choices.workers[choices.asked[column]]
    role = table.role(int(choices.rule[column]))
    return role if role.primary == worker else table.role_of(worker)


def _fallbacks(
    table: RoutingTable, batch: PipelineBatch, roles: Sequence[Role], last: set[int]
) -> dict[int, str]:
    """Return the columns, of those called about last, that are handed on, each with the reader that is next."""
    pending: dict[int, str] = {}
    confidence = batch.confidence()
    late = time.perf_counter() - batch.started > table.most_seconds
    for span in batch.spans:
        of_table = [step for steps in batch.steps[span] for step in steps]
        spent = sum(table.cost(step.worker) for step in of_table)
        for column in sorted(last.intersection(range(span.start, span.stop))):
            role = roles[column]
            chain: list[RoutingStep] = [s for s in batch.steps[column] if s.decided_by != EFFORT]
            unsure = confidence[column] < role.confidence
            if not 0 < len(chain) < len(role.chain) or not (chain[-1].failed or unsure):
                continue
            reader = role.chain[len(chain)]
            spent += table.cost(reader)
            if reader == FREE or not (late or spent > table.most_cost):
                pending[column] = reader
    return pending
