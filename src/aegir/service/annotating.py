"""Annotate the tables of requests, in a worker process: the functions of `aegir annotate`, its answers and its sentences.

    Annotating(annotator, limits, stores).run(jobs)      jobs that differ in nothing but their tables and formats

Not here: reading what a request brought (reading.py), and its reply (answering.py).
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.answers.annotation import TableAnnotation
from aegir.answers.writers import check_format
from aegir.memory.location import load_memory
from aegir.memory.recall import ReviewMemory
from aegir.pipeline.custom_types.recognising import with_custom_types
from aegir.pipeline.custom_types.store import type_files, types_folder
from aegir.pipeline.run import Failure, Prepared, annotate_sources, choose_thresholds
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.scores import Annotator
from aegir.routing.corrections import record_review
from aegir.service.answering import Answer, reply_to
from aegir.service.fork_server import Job
from aegir.service.limits import Limits, Refused
from aegir.service.options import REPORT, AnnotateOptions
from aegir.service.reading import read_upload
from aegir.service.responses import Reply, error_reply
from aegir.tables.table import Table
from aegir_rl.base.errors import AegirError
from aegir_rl.offline.store import DecisionStore


@dataclass(frozen=True, slots=True)
class Stores:
    """Where the service keeps what it learns."""

    decisions: str | None = None
    """Routing decisions; None: not logged."""
    reviews: str | None = None
    """What people said about columns; None: nowhere."""


class Annotating:
    """Annotates with one annotator; types that are taught and reviews that are made meanwhile are noticed."""

    def __init__(self, annotator: Annotator, limits: Limits, stores: Stores) -> None:
        self._plain, self._limits, self._stores = annotator, limits, stores
        self._with_types: tuple[object, Annotator] | None = None
        self._reviews: tuple[object, ReviewMemory | None] | None = None
        self._store: DecisionStore | None = None

    def run(self, jobs: Sequence[tuple[int, Job]]) -> Iterator[tuple[int, Reply]]:
        """Yield a reply for every job, given with its place."""
        started = time.perf_counter()
        answers: list[Answer] = []
        sources: list[tuple[Answer, Table | Failure]] = []
        for place, job in jobs:
            answer = Answer(place, job)
            try:
                sources += [(answer, each) for each in self._read(job)]
                answers.append(answer)
            except AegirError as error:
                yield place, error_reply(error)
        if not answers:
            return
        try:
            self._annotate(sources, AnnotateOptions(**answers[0].job["options"]))
        except AegirError as error:
            yield from ((answer.place, error_reply(error)) for answer in answers)
            return
        seconds = (time.perf_counter() - started) / len(answers)
        for answer in answers:
            try:
                self._log(answer)
            except AegirError as error:  # the store, which is not the sender's fault
                yield answer.place, error_reply(Refused(503, str(error)))
                continue
            yield answer.place, reply_to(answer, seconds)

    def _read(self, job: Job) -> list[Table | Failure]:
        """Read the tables of a job; raise if they are too many or too large."""
        options = AnnotateOptions(**job["options"])
        if options.format != REPORT:
            check_format(options.format)
        choose_thresholds(self._plain, options.settings)
        outcomes = read_upload(job, self._limits, options.rows, options.seed)
        columns = sum(len(each.columns) for each in outcomes if isinstance(each, Table))
        if columns > self._limits.columns:
            raise Refused(
                413,
                f"the tables have {columns:,} columns; the service takes {self._limits.columns:,} at once; send less, or run "
                "aegir annotate on them",
            )
        return outcomes

    def _annotate(
        self, sources: Sequence[tuple[Answer, Table | Failure]], options: AnnotateOptions
    ) -> None:
        """Score all tables together, and give every job its own."""
        annotator = self._annotator(options.custom)
        thresholds = choose_thresholds(annotator, options.settings)
        memory = self._memory() if options.memory else None
        prepared = Prepared(options.settings, annotator, thresholds, memory)
        for each in annotate_sources([each for _, each in sources], prepared):
            answer, outcome = sources[each.source][0], each.answer
            if isinstance(outcome, Failure):
                answer.failures.append(outcome)
                continue
            if each.routed is not None:
                labels = [
                    column.reviewed.said if column.reviewed else column.label
                    for column in outcome.columns
                ]
                run = f"{answer.run}/{len(answer.tables)}"
                answer.episodes.append(each.routed.episodes(labels, run=run))
            answer.tables.append(outcome)

    def answer(self, tables: Sequence[Table]) -> list[TableAnnotation]:
        """Return the answers to tables as `aegir annotate` gives them, reviewed columns included."""
        annotator = self._annotator(custom=True)
        settings = AnnotationSettings()
        prepared = Prepared(
            settings, annotator, choose_thresholds(annotator, settings), self._memory()
        )
        answers = [each.answer for each in annotate_sources(tables, prepared)]
        return [answer for answer in answers if isinstance(answer, TableAnnotation)]

    def _memory(self) -> ReviewMemory | None:
        """Return what is remembered by now; a file is read again when it has changed, a database every time."""
        location = self._stores.reviews
        if location is None:
            return None
        files = [Path(location), Path(f"{location}-wal")]
        seen = [(path.stat().st_mtime_ns, path.stat().st_size) for path in files if path.exists()]
        if self._reviews is None or "://" in location or self._reviews[0] != seen:
            try:
                self._reviews = seen, load_memory(location, advice="memory=false leaves it out")
            except AegirError as error:  # not the sender's fault
                raise Refused(503, str(error)) from None
        return self._reviews[1]

    def _annotator(self, custom: bool) -> Annotator:
        """Return the annotator, with the types that are taught by now."""
        if not custom:
            return self._plain
        files = type_files(types_folder())
        seen = [(path, path.stat().st_mtime_ns) for path in files if path.exists()]
        if self._with_types is None or self._with_types[0] != seen:
            self._with_types = seen, with_custom_types(self._plain, say=lambda _: None)
        return self._with_types[1]

    def _log(self, answer: Answer) -> None:
        """Store the decisions that were made, if the service logs them."""
        if self._stores.decisions is None or not answer.episodes:
            return
        if self._store is None:
            self._store = DecisionStore.open(self._stores.decisions)
        self._store.append(episode for each in answer.episodes for episode in each)
        for table, episodes in zip(answer.tables, answer.episodes, strict=True):
            for column, episode in zip(table.columns, episodes, strict=True):
                record_review(self._store, episode.id, column)
