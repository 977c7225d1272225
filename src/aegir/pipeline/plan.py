"""Who is called next about which columns: the plans of the pipeline.

    for calls in plan.rounds(batch):        # a round is a list of calls; the pipeline makes them before it asks for the next round
        …

    TablePlan(table)            a routing table: the first rule that holds names a reader, and fallbacks if that fails or is unsure
    PolicyPlan(table, policy)   a learnt policy where it is sure enough, else the table
    Explore(plan, exploration)  sometimes another reader than the chosen one, with a known probability
    EffortPlan(plan, search)    after the first round, columns that stay ambiguous are searched
    Within(plan, seconds)       calls that would not end in time are left out, the least sure columns come first

`dispatch` and `combined` are two routing tables; an effort below normal makes columns look surer to any of them.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from aegir.pipeline.batch import Batch
from aegir.pipeline.clock import Clock
from aegir.readers.mixing import with_none
from aegir.readers.scores import Probabilities
from aegir.routing.choices import FREE, Choices
from aegir.routing.exploration import Exploration
from aegir.routing.features import CONFIDENCE, FEATURES
from aegir.routing.learnt_policy import LearntPolicy
from aegir.routing.routed_table import EFFORT, Step
from aegir_rl.base.arrays import Bools
from aegir_rl.base.wording import amount
from aegir_rl.offline.routing_table import FeatureComparison, Role, RoutingRule, RoutingTable

COMBINED, BYTE_MODEL = "combined", "byte_model"
READERS = (BYTE_MODEL, COMBINED, FREE)
"""Readers that every pipeline has."""
SEARCHED_BELOW = 0.9
"""Confidence below which a column is ambiguous: an effort above normal searches it."""
WHOLE_TABLES = RoutingTable(
    rules=(RoutingRule((FeatureComparison("unsure", ">", 0.0),), COMBINED), RoutingRule((), FREE)),
    roles={COMBINED: Role(COMBINED), FREE: Role(FREE)},
    features=FEATURES,
)
"""The routing table of `combined`: the byte network reads every column of a table that has an unsure one."""


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
    def clock(self) -> Clock | None:
        """Measures the time of each table; None without a limit."""
        ...

    @property
    def table(self) -> RoutingTable:
        """What readers cost, and who is called first."""
        ...

    @property
    def policy(self) -> LearntPolicy | None: ...
    @property
    def workers(self) -> tuple[str, ...]:
        """The readers that the table or the policy may choose, sorted."""
        ...

    def choose(self, batch: Batch) -> Choices:
        """Return the first choice for every column."""
        ...

    def rounds(self, batch: Batch) -> Iterator[Sequence[Call]]:
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
    policy: LearntPolicy | None = field(default=None, init=False)
    clock: Clock | None = field(default=None, init=False)

    def choose(self, batch: Batch) -> Choices:
        """Return what the table's rules say."""
        features = batch.features
        if self.sureness < 1:
            features = features.copy()
            sure = features[:, CONFIDENCE]
            features[:, CONFIDENCE] = sure / self.sureness if self.sureness else math.inf
        return Choices.by_table(self.table, self.workers, features)

    def rounds(self, batch: Batch) -> Iterator[Sequence[Call]]:
        """Yield the chosen readers, then their fallbacks."""
        return follow_chains(self, batch)


class _Around:
    """A plan around another one, which it asks for everything that it does not change."""

    plan: Plan
    clock: Clock | None = None

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @property
    def table(self) -> RoutingTable:
        """The table of the plan."""
        return self.plan.table

    @property
    def policy(self) -> LearntPolicy | None:
        """The policy of the plan."""
        return self.plan.policy

    @property
    def workers(self) -> tuple[str, ...]:
        """The readers that may be chosen."""
        return self.plan.workers

    def choose(self, batch: Batch) -> Choices:
        """Return the plan's first choice."""
        return self.plan.choose(batch)

    def rounds(self, batch: Batch) -> Iterator[Sequence[Call]]:
        """Yield the chosen readers, then their fallbacks."""
        return follow_chains(self, batch)


class PolicyPlan(_Around):
    """A learnt policy decides where it is as sure as its floor; else the plan."""

    def __init__(self, plan: Plan, policy: LearntPolicy) -> None:
        super().__init__(plan)
        self._policy = policy

    @property
    def policy(self) -> LearntPolicy:
        """The policy, which may be unusable."""
        return self._policy

    def choose(self, batch: Batch) -> Choices:
        """Return what the policy says, and the plan's choice where the policy is not sure or cannot be used."""
        return self.plan.choose(batch).with_policy(self._policy)


class Explore(_Around):
    """Another reader than the chosen one is sometimes called, with a known probability."""

    def __init__(self, plan: Plan, exploration: Exploration) -> None:
        super().__init__(plan)
        self.exploration = exploration

    def choose(self, batch: Batch) -> Choices:
        """Return readers that were drawn around the plan's choice."""
        return self.plan.choose(batch).explored_by(self.exploration, batch.tables)


class EffortPlan(_Around):
    """What stays ambiguous after the first round is searched; the plan's fallbacks come after that."""

    def __init__(self, plan: Plan, search: str) -> None:
        """`search` is the name of the reader that searches."""
        super().__init__(plan)
        self.search = search

    def rounds(self, batch: Batch) -> Iterator[Sequence[Call]]:
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


def follow_chains(plan: Plan, batch: Batch) -> Iterator[Sequence[Call]]:
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
    table: RoutingTable, batch: Batch, roles: Sequence[Role], last: set[int]
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
            chain: list[Step] = [s for s in batch.steps[column] if s.decided_by != EFFORT]
            unsure = confidence[column] < role.confidence
            if not 0 < len(chain) < len(role.chain) or not (chain[-1].failed or unsure):
                continue
            reader = role.chain[len(chain)]
            spent += table.cost(reader)
            if reader == FREE or not (late or spent > table.most_cost):
                pending[column] = reader
    return pending


class Within(_Around):
    """A plan under a time limit for each table; the pipeline then reads one table at a time."""

    clock: Clock

    def __init__(
        self, plan: Plan, seconds: float, now: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(plan)
        self.clock = Clock(seconds, now)

    def rounds(self, batch: Batch) -> Iterator[Sequence[Call]]:
        """Yield the plan's calls as far as there is time for them, and note what was left out."""
        left_out = 0
        for calls in self.plan.rounds(batch):
            fitting = []
            for call in calls:
                fits = self._fit(call, batch)
                left_out += int(call.columns.sum()) - int(fits.columns.sum())
                fitting.append(fits)
            yield fitting
            self.clock.stop()
        limit = f"the time limit of {1000 * self.clock.within:g} ms"
        if left_out:
            columns = amount(left_out, "unsure column")
            note = f"{limit} ended the search; the first pass's answer stands for {columns}"
        elif self.clock.cut:
            note = f"{limit} ended the search before its next step ({self.clock.cut})"
        else:
            return
        for notes in batch.notes:
            notes.append(note)

    def _fit(self, call: Call, batch: Batch) -> Call:
        """Return the call about as many columns as there is time for, the least sure first."""
        if call.reader == FREE or call.by_effort:  # a search measures its own steps
            return call
        step = "byte network" if call.reader in (BYTE_MODEL, COMBINED) else call.reader
        beside, wanted = call.context or 0, int(call.columns.sum())
        fits = max(int(min(self.clock.columns_in_time(step) - beside, wanted)), 0)
        columns = call.columns
        if fits < wanted:
            order = np.flatnonzero(columns)
            sure = batch.confidence()[order]
            columns = np.zeros_like(columns)
            columns[order[np.argsort(sure, kind="stable")[:fits]]] = True
        if fits and not self.clock.may_go_on(step, fits + beside):
            columns = np.zeros_like(columns)
        return replace(call, columns=columns)
