"""The pipeline: from tables to scores, whoever is called on the way.

    tables --rules, n-grams--> first scores --plan: (reader, columns)--> scores --rules, pairs--> scores
                                                ^                  |
                                                '----- rounds -----'

    pipeline = load_pipeline(AnnotationSettings(effort="high"))
    pipeline.score(tables)          one `TableScores` per table; `routed` says who was called about every column, by whose decision

Plans (plan.py) say who is called next about which columns; readers (batch.py, search.py) give the scores; rules and pairs
correct them (correct.py). Other readers can be passed in, which is how held-out tables are annotated in training.

Promises
  - the scores of a table depend on that table and the user's pool alone, bit for bit, unless a plan has a limit of time;
  - a policy or a reader that fails costs no answer: the static table decides, the fallback answers, at last the n-grams.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from aegir.pipeline.batch import (
    AnnotatorReader,
    CalledColumns,
    CalledReader,
    FirstReading,
    MixedReader,
    PipelineBatch,
)
from aegir.pipeline.correct import Corrections
from aegir.pipeline.plan import (
    BYTE_MODEL,
    COMBINED,
    READERS,
    SEARCHES,
    WHOLE_TABLES,
    Call,
    EffortPlan,
    Plan,
    PolicyPlan,
    SearchDepth,
    TablePlan,
)
from aegir.pipeline.settings import NORMAL, AnnotationSettings, parse_effort
from aegir.readers.bytes.annotator import ByteModelAnnotator, load_byte_model
from aegir.readers.calibration import OperatingPoints
from aegir.readers.ngrams.annotator import load_ngrams
from aegir.readers.rules.judge import RuleVerdict, judge_columns
from aegir.readers.scores import Annotator, Explanation, TableScores
from aegir.routing.decisions import EFFORT, FALLBACK, FREE, RoutedTable, RoutingStep, load_routing
from aegir.tables.table import Table
from aegir_rl.base.arrays import F32, Bools
from aegir_rl.base.errors import AegirError
from aegir_rl.offline.routing_table import RoutingTable

if TYPE_CHECKING:
    from aegir.pipeline.search import Search
    from aegir.readers.reranking import Reranking
    from aegir.routing.learnt_policy import LearntPolicy

DISPATCH, SEARCH = "dispatch", "search"
PIPELINES = (DISPATCH, COMBINED, SEARCH)
"""Annotators that are plans over the pipeline."""


class _FittedNgrams(Protocol):
    """What the pipeline uses of the n-gram model beside its answers."""

    @property
    def compatibility(self) -> F32: ...
    @property
    def types_of_fine(self) -> F32: ...


class Ngrams(Protocol):
    """Whoever reads every column first; `NgramsAnnotator` does."""

    @property
    def model(self) -> _FittedNgrams: ...
    def score_judged(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict]
    ) -> list[TableScores]: ...


class Pipeline:
    """Reads every column first with rules and n-grams, then calls readers as a plan says."""

    def __init__(
        self,
        ngrams: Ngrams,
        byte_model: ByteModelAnnotator,
        plan: Plan,
        *,
        name: str = DISPATCH,
        readers: Mapping[str, CalledReader] | None = None,
        reranking: Callable[[], "Reranking"] | None = None,
    ) -> None:
        """`readers` are those that the plan may call beside n-grams and byte network, by name; `reranking` gives its weights."""
        mixed = MixedReader(byte_model, ngrams.model.types_of_fine)
        self.name, self.plan = name, plan
        self.ngrams, self.byte_model = ngrams, byte_model
        self.others = dict(readers or {})
        self.operating_points = OperatingPoints.from_facts(byte_model.facts, COMBINED)
        self.reranking = reranking
        self.corrections = Corrections(mixed.mixture, ngrams.model.compatibility, reranking)
        self.readers: dict[str, CalledReader] = {
            FREE: FirstReading(),
            COMBINED: mixed,
            BYTE_MODEL: AnnotatorReader(byte_model),
            **self.others,
        }

    def with_plan(self, plan: Plan) -> "Pipeline":
        """Return a pipeline with the same readers and another plan."""
        return self._changed(plan, self.others)

    def with_readers(self, readers: Mapping[str, CalledReader]) -> "Pipeline":
        """Return a pipeline with the same plan, these readers being added or replaced."""
        return self._changed(self.plan, {**self.others, **readers})

    def _changed(self, plan: Plan, readers: Mapping[str, CalledReader]) -> "Pipeline":
        return Pipeline(
            self.ngrams,
            self.byte_model,
            plan,
            name=self.name,
            readers=readers,
            reranking=self.reranking,
        )

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        return [scores for group in self._groups(tables) for scores in self._score(group)]

    def score_uncorrected(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return the same before rules and pairs correct them."""
        return [scores for group in self._groups(tables) for scores in self._run(group).scores]

    def answers_of(self, reader: str, tables: Sequence[Table]) -> list[TableScores]:
        """Return the scores if one reader were called about every column."""
        batch = self.read_first(tables)
        context = self.plan.table.context
        self._call(batch, Call(reader, np.ones(len(batch.verdicts), bool), context))
        return self._corrected(batch)

    def read_first(self, tables: Sequence[Table]) -> PipelineBatch:
        """Return the tables with what rules and n-grams say of every column."""
        verdicts = judge_columns([column for table in tables for column in table.columns])
        return PipelineBatch(tables, verdicts, self.ngrams.score_judged(tables, verdicts))

    def _groups(self, tables: Sequence[Table]) -> list[Sequence[Table]]:
        """Return the tables that are read at a time: all of them, or under a time limit each by itself."""
        if self.plan.clock is None:
            return [tables]
        for reader in self.others.values():
            reader.load()  # before the clock runs
        return [[table] for table in tables]

    def _run(self, tables: Sequence[Table]) -> PipelineBatch:
        if self.plan.clock is not None:
            self.plan.clock.start()
        batch = self.read_first(tables)
        batch.clock = self.plan.clock
        for calls in self.plan.rounds(batch):
            for call in calls:
                self._call(batch, call)
        return batch

    def _score(self, tables: Sequence[Table]) -> list[TableScores]:
        batch = self._run(tables)
        choices = batch.choices
        result = []
        for index, scores in enumerate(self._corrected(batch)):
            span = batch.spans[index]
            routed = (
                None
                if choices is None
                else RoutedTable(
                    table=tables[index],
                    steps=tuple(map(tuple, batch.steps[span])),
                    features=batch.features[span],
                    first=span.start,
                    choices=choices,
                    routing=self.plan.table,
                    policy=self.plan.policy,
                )
            )
            result.append(
                replace(
                    scores,
                    explanations=_with_paths(scores, batch, span),
                    notes=(*scores.notes, *batch.notes[index]),
                    routed=routed,
                )
            )
        return result

    def _corrected(self, batch: PipelineBatch) -> list[TableScores]:
        return [
            self.corrections.apply(table, scores, batch.verdicts[span])
            for table, scores, span in zip(batch.tables, batch.scores, batch.spans, strict=True)
        ]

    def _call(self, batch: PipelineBatch, call: Call) -> None:
        """Put a reader's answers about some columns into the scores, and record who was called."""
        columns = np.flatnonzero(call.columns).tolist()
        if not columns:
            return
        confidence = batch.confidence()
        started = time.perf_counter()
        failed = self._read(batch, call)
        seconds = (time.perf_counter() - started) / len(columns)
        for column in columns:
            batch.steps[column].append(
                RoutingStep(
                    worker=call.reader,
                    tries=len(batch.steps[column]),
                    confidence=float(confidence[column]),
                    failed=bool(failed[column]),
                    seconds=seconds,
                    decided_by=EFFORT if call.by_effort else FALLBACK,
                )
            )

    def _read(self, batch: PipelineBatch, call: Call) -> Bools:
        """Call the reader; return (B,) the columns on which it failed."""
        reader = self.readers[call.reader]
        failed = np.zeros(len(call.columns), bool)
        called = [(call.columns & batch.has_values)[span] for span in batch.spans]
        tables = [index for index, columns in enumerate(called) if columns.any()]
        if not tables:
            return failed
        # Other people's readers are called for one table at a time: a failure must not cost the others their answer.
        alone = call.reader in self.others and not call.by_effort
        for group in [[index] for index in tables] if alone else [tables]:
            try:
                columns = [called[index] for index in group]
                answers = reader.read(batch, CalledColumns(group, columns, call.context))
            except AegirError:
                if not alone:
                    raise
                failed[batch.spans[group[0]]] = called[group[0]]
                continue
            for index, scores in zip(group, answers, strict=True):
                batch.put(index, scores, called[index])
        return failed


def _with_paths(scores: TableScores, batch: PipelineBatch, span: slice) -> tuple[Explanation, ...]:
    """Return the explanations, those of searched columns with the path through the type tree."""
    if not batch.searched:
        return scores.explanations
    from aegir.pipeline.search import describe_path

    return tuple(
        replace(
            explanation,
            evidence=(
                *explanation.evidence,
                f"searched with {batch.searched[span.start + row]}: {describe_path(scores, row)}",
            ),
        )
        if span.start + row in batch.searched
        else explanation
        for row, explanation in enumerate(scores.explanations)
    )


OpenSearch = Callable[[SearchDepth, CalledReader | None], "Search"]
"""Makes a search of some depth; the reader is called first about columns that nobody but the n-grams has read."""


def load_pipeline(
    settings: AnnotationSettings,
    *,
    readers: Mapping[str, Annotator] | None = None,
    pool: Path | None = None,
    say: Callable[[str], None] = warnings.warn,
) -> Pipeline:
    """Return the pipeline that the settings describe, over the models that ship or those in `settings.model`.

    `readers` are further annotators that a routing table may call, such as a language model. A search calls the specialists in the
    user's pool, or in the folder `pool`; `say` is called with a sentence for each file there that cannot be used.
    """
    name, _, own_effort = settings.annotator.partition("@")
    effort = settings.effort
    if effort is None:
        effort = own_effort or ("high" if name == SEARCH else "normal")
    others = {each: AnnotatorReader(reader) for each, reader in (readers or {}).items()}
    if name == COMBINED:
        table = WHOLE_TABLES
    else:
        table = load_routing(settings.routing, (*READERS, *SEARCHES, *others))
    policy = None
    if settings.policy is not None:
        from aegir.routing.learnt_policy import LearntPolicy

        policy = LearntPolicy.load(settings.policy)
        if policy.policy is None:
            say(f"the routing table decides, without a policy: {policy.problem}")
    ngrams, byte_model = load_ngrams(settings.model), load_byte_model()

    def open_search(depth: SearchDepth, first: CalledReader | None) -> "Search":
        from aegir.pipeline.search import Search

        return Search.open(ngrams, depth, first, pool=pool, say=say)

    changed = settings.effort is not None or settings.within is not None
    return build_pipeline(
        ngrams,
        byte_model,
        table,
        open_search,
        effort=parse_effort(effort),
        policy=policy,
        within=settings.within,
        readers=others,
        name=SEARCH if changed else name,
        reranking=_shipped_reranking,
    )


def _shipped_reranking() -> "Reranking":
    from aegir.readers.reranking import load_reranking

    return load_reranking()


def build_pipeline(
    ngrams: Ngrams,
    byte_model: ByteModelAnnotator,
    table: RoutingTable,
    open_search: OpenSearch,
    *,
    effort: float = NORMAL,
    policy: "LearntPolicy | None" = None,
    within: float | None = None,
    readers: Mapping[str, CalledReader] | None = None,
    name: str = DISPATCH,
    reranking: Callable[[], "Reranking"] | None = None,
) -> Pipeline:
    """Return a pipeline over these models: a routing table or a policy decides, as far as the effort goes, within the seconds given."""
    called = dict(readers or {})
    mixed = MixedReader(byte_model, ngrams.model.types_of_fine)
    for search in named_searches(table, policy):
        called[search] = open_search(SearchDepth.of(SEARCHES[search]), mixed)
    plan: Plan = TablePlan(table, tuple(sorted((*READERS, *called))), min(effort / NORMAL, 1.0))
    if policy is not None:
        plan = PolicyPlan(plan, policy)
    if effort > NORMAL:
        search = f"search@{effort:g}"
        called[search] = open_search(SearchDepth.of(effort), None)
        plan = EffortPlan(plan, search)
    if within is not None:
        from aegir.pipeline.within import Within

        plan = Within(plan, within)
    return Pipeline(ngrams, byte_model, plan, name=name, readers=called, reranking=reranking)


def named_searches(table: RoutingTable, policy: "LearntPolicy | None") -> list[str]:
    """Return the searches that a routing table or a policy may send columns to."""
    named = {worker for rule in table.rules for worker in table.roles[rule.role].chain}
    if policy is not None and policy.policy is not None:
        named.update(policy.policy.actions)
    return [name for name in SEARCHES if name in named]
