"""The `dispatch` annotator: every column gets as much effort as it needs.

    tables --rules, n-grams--> features --static table or policy--> worker per column --> scores --rules--> scores
                                                                       ^     |
                                                                       '-----'  failed, or less sure than its role wants:
                                                                                the next fallback, within the budget

    workers    ngrams       what the n-grams say, computed before anything is decided
               combined     n-grams mixed with the byte network, which reads the column and a few others of its table
               byte_model   the byte network alone
               swarm@high   a search with high effort (aegir.pipeline), if the routing table names it; also @low and @normal
               …            any annotator given by name, such as `llm`

Promises
  - the scores of a table depend on that table alone, unless its budget is one of seconds;
  - a policy or a worker that fails costs no answer: the static table decides, the fallback answers, at last the n-grams;
  - every decision can be asked for: who decided, why, with which propensity, from which features, at which cost.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aegir.pipeline.combined import CombinedAnnotator
from aegir.pipeline.effort import EFFORTS, Plan
from aegir.pipeline.part_of_table import Part
from aegir.pipeline.search import SearchAnnotator, load_added, load_whole_swarm
from aegir.readers.bytes.annotator import load_byte_model
from aegir.readers.ngrams.annotator import load_ngrams
from aegir.readers.scores import Annotator, TableScores, table_spans
from aegir.routing.choices import FREE, Choices, choose_workers
from aegir.routing.exploration import Exploration
from aegir.routing.features import CONFIDENCE, column_features, confidence_of
from aegir.routing.learnt_policy import LearntPolicy
from aegir.routing.routed_table import RoutedTable, Step
from aegir.routing.tables import load_routing
from aegir.tables.table import Table
from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.errors import AegirError
from aegir_rl.offline.routing_table import Role, RoutingTable

if TYPE_CHECKING:
    from aegir.pipeline.added_specialists import AddedSpecialists

COMBINED, BYTE_MODEL = "combined", "byte_model"
OWN_WORKERS = (BYTE_MODEL, COMBINED, FREE)
SEARCHES = {f"swarm@{name}": effort for name, effort in EFFORTS.items()}
"""Worker to its effort."""


class SearchWorker:
    """A search as a worker: its answers before rules and pairs, which the dispatcher applies to all workers' answers."""

    def __init__(
        self,
        name: str,
        combined: CombinedAnnotator,
        swarm: Callable[[], Annotator] | None = load_whole_swarm,
        added: "AddedSpecialists | None" = None,
    ) -> None:
        self.name = name
        self._search = SearchAnnotator(combined, Plan.of(SEARCHES[name]), swarm=swarm, added=added)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        return self._search.score_uncorrected(tables)


@dataclass(slots=True, eq=False)
class _Batch:
    """Tables on their way through the workers."""

    tables: Sequence[Table]
    cheap: list[TableScores]
    scores: list[TableScores]
    spans: list[slice] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.spans = table_spans(self.tables)

    def confidence(self) -> Floats:
        return np.concatenate([np.zeros(0), *(confidence_of(each.types) for each in self.scores)])


class DispatchAnnotator:
    """Routes every column to a worker."""

    name = "dispatch"

    def __init__(
        self,
        combined: CombinedAnnotator,
        routing: RoutingTable | None = None,
        *,
        policy: LearntPolicy | None = None,
        exploration: Exploration | None = None,
        others: Mapping[str, Annotator] | None = None,
    ) -> None:
        self.combined, self.policy, self.exploration = combined, policy, exploration
        self.others = dict(others or {})
        self.routing = routing or load_routing(None, self.workers)
        self.operating_points = combined.operating_points
        self.listener: Callable[[RoutedTable], None] | None = None
        """Called with every table that was routed, in order."""

    @cached_property
    def workers(self) -> tuple[str, ...]:
        """The workers that can be asked, sorted."""
        return tuple(sorted((*OWN_WORKERS, *self.others)))

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        routed = self.route(tables)
        if self.listener is not None:
            for each in routed:
                self.listener(each)
        return [each.scores for each in routed]

    def route(self, tables: Sequence[Table]) -> list[RoutedTable]:
        """Return the same with the decisions that led to it."""
        started = time.perf_counter()
        verdicts, cheap = self.combined.read_cheaply(tables)
        features = column_features(tables, verdicts, cheap)
        choices = choose_workers(
            tables, features, self.workers, self.routing, self.policy, self.exploration
        )
        batch = _Batch(tables, cheap, list(cheap))
        steps = self._run_chains(batch, choices, features, started)
        corrected = self.combined.correct(tables, batch.scores, verdicts)
        return [
            RoutedTable(
                table,
                scores,
                tuple(map(tuple, steps[span])),
                features[span],
                span.start,
                choices,
                self.routing,
                self.policy,
            )
            for table, scores, span in zip(tables, corrected, batch.spans, strict=True)
        ]

    def answers_of(self, worker: str, tables: Sequence[Table]) -> list[TableScores]:
        """Return what a worker would answer if it were asked about every column."""
        verdicts, cheap = self.combined.read_cheaply(tables)
        batch = _Batch(tables, cheap, list(cheap))
        columns = sum(len(table.columns) for table in tables)
        self._ask(worker, batch, np.ones(columns, bool))
        return self.combined.correct(tables, batch.scores, verdicts)

    def _run_chains(
        self, batch: _Batch, choices: Choices, features: Floats, started: float
    ) -> list[list[Step]]:
        """Ask the chosen workers, then their fallbacks; return the steps of every column."""
        roles = [self._role(choices, column) for column in range(len(features))]
        steps: list[list[Step]] = [[] for _ in roles]
        pending = {column: self.workers[worker] for column, worker in enumerate(choices.asked)}
        confidence = features[:, CONFIDENCE]
        while pending:
            for worker in sorted(set(pending.values())):
                columns = [column for column, asked in pending.items() if asked == worker]
                asked = np.zeros(len(roles), bool)
                asked[columns] = True
                before = time.perf_counter()
                failed = self._ask(worker, batch, asked)
                seconds = (time.perf_counter() - before) / len(columns)
                for column in columns:
                    known = float(confidence[column])
                    done = steps[column]
                    done.append(Step(worker, len(done), known, bool(failed[column]), seconds))
            confidence = batch.confidence()
            pending = self._next(batch, roles, steps, confidence, started, set(pending))
        return steps

    def _role(self, choices: Choices, column: int) -> Role:
        worker = choices.workers[choices.asked[column]]
        role = self.routing.role(int(choices.rule[column]))
        return role if role.primary == worker else self.routing.role_of(worker)

    def _next(
        self,
        batch: _Batch,
        roles: Sequence[Role],
        steps: Sequence[Sequence[Step]],
        confidence: Floats,
        started: float,
        last: set[int],
    ) -> dict[int, str]:
        """Return the columns, of those asked about last, that are handed on, with the worker that is next."""
        pending: dict[int, str] = {}
        late = time.perf_counter() - started > self.routing.most_seconds
        for span in batch.spans:
            of_table = [step for column in range(span.start, span.stop) for step in steps[column]]
            spent = sum(self.routing.cost(step.worker) for step in of_table)
            for column in sorted(last.intersection(range(span.start, span.stop))):
                role, done = roles[column], steps[column]
                unsure = confidence[column] < role.confidence
                if len(done) >= len(role.chain) or not (done[-1].failed or unsure):
                    continue
                worker = role.chain[len(done)]
                spent += self.routing.cost(worker)
                if worker == FREE or not (late or spent > self.routing.most_cost):
                    pending[column] = worker
        return pending

    def _ask(self, worker: str, batch: _Batch, asked: Bools) -> Bools:
        """Put a worker's answers about some columns into the scores; return the columns (B,) on which it failed."""
        woken = [asked[span] for span in batch.spans]
        failed = np.zeros(len(asked), bool)
        found: list[TableScores | None] = []
        if worker in self.others:
            # One table at a time: a failure must not cost the others their answer.
            for table, cheap, awake, span in zip(
                batch.tables, batch.cheap, woken, batch.spans, strict=True
            ):
                try:
                    found += self._answers(worker, [table], [cheap], [awake])
                except AegirError:
                    found.append(None)
                    failed[span] = awake
        else:
            found += self._answers(worker, batch.tables, batch.cheap, woken)
        for place, scores in enumerate(found):
            if scores is None or not woken[place].any():
                continue
            if (
                batch.scores[place] is batch.cheap[place]
            ):  # nobody was asked about this table before
                batch.scores[place] = scores
            else:
                whole = Part.of(batch.tables[place], scores, woken[place], None)
                batch.scores[place] = whole.put(scores, into=batch.scores[place])
        return failed

    def _answers(
        self,
        worker: str,
        tables: Sequence[Table],
        cheap: Sequence[TableScores],
        woken: Sequence[Bools],
    ) -> list[TableScores]:
        """Return the scores of whole tables, in which the rows of the woken columns are the worker's."""
        if worker == FREE:
            return list(cheap)
        context = self.routing.context
        if worker == COMBINED:
            return self.combined.wake(tables, cheap, woken, context)
        annotator = self.combined.byte_model if worker == BYTE_MODEL else self.others[worker]
        result = list(cheap)
        parts = [Part.of(*each, context) for each in zip(tables, cheap, woken, strict=True)]
        asked = [place for place, part in enumerate(parts) if part.columns]
        answers = annotator.score([parts[place].table for place in asked])
        for place, scores in zip(asked, answers, strict=True):
            result[place] = parts[place].put(scores, into=cheap[place])
        return result


def load_dispatcher(
    model: Path | None = None,
    routing: Path | None = None,
    policy: LearntPolicy | None = None,
    others: Mapping[str, Annotator] | None = None,
    say: Callable[[str], None] = warnings.warn,
) -> DispatchAnnotator:
    """Return the dispatcher over the shipped models, with this routing table or the one that ships.

    `say` is called with a sentence for each file of the user's pool that a search would use and cannot.
    """
    combined = CombinedAnnotator(load_ngrams(model), load_byte_model())
    table = load_routing(routing, (*OWN_WORKERS, *SEARCHES, *(others or {})))
    searches = {
        name: SearchWorker(name, combined, added=load_added(Plan.of(SEARCHES[name]), say=say))
        for name in named_searches(table, policy)
    }
    return DispatchAnnotator(combined, table, policy=policy, others={**searches, **(others or {})})


def named_searches(table: RoutingTable, policy: LearntPolicy | None) -> list[str]:
    """Return the searches that a routing table or a policy may send columns to."""
    named = {worker for rule in table.rules for worker in table.roles[rule.role].chain}
    if policy is not None and policy.policy is not None:
        named.update(policy.policy.actions)
    return [name for name in SEARCHES if name in named]
