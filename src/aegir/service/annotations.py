"""Annotate the tables of requests, in a worker process: the functions of `aegir annotate`, its answers and its sentences.

    RequestAnnotator(settings, limits, stores).answer_jobs(jobs)      jobs that differ in nothing but their tables and formats

Not here: reading what a request brought (sources.py), and its reply (reports.py).
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.answers.annotation import TableAnnotation
from aegir.answers.tags import load_tags
from aegir.answers.writers import check_format
from aegir.memory.conventions import conventions_file
from aegir.memory.location import load_memory, memory_exists
from aegir.memory.recall import ReviewMemory
from aegir.pipeline.custom_types.recognising import with_custom_types
from aegir.pipeline.custom_types.store import type_files, types_folder
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import Answered, Failure, Prepared, annotate_sources, choose_thresholds
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.scores import Annotator
from aegir.routing.corrections import record_review
from aegir.service.jobs import REPORT, AnnotateJob
from aegir.service.limits import Refused, RequestLimits, store_refusal
from aegir.service.reports import JobAnswers, reply_to
from aegir.service.responses import Reply, error_reply
from aegir.service.sources import read_sent
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

    def check(self) -> None:
        """Raise for what cannot be opened now, not at the first request."""
        if self.decisions is not None:
            DecisionStore.open(self.decisions).close()
        if self.reviews is not None and memory_exists(self.reviews):
            from aegir.memory.store import ReviewStore

            ReviewStore.open(self.reviews).close()


MOST_VARIANTS = 4
"""Annotators that a worker keeps beside the usual one."""


class RequestAnnotator:
    """Annotates as the service was started to; types that are taught and reviews that are made meanwhile are noticed.

    `say` is called with a sentence for each file of the user's pool that cannot be used.
    """

    def __init__(
        self,
        settings: AnnotationSettings,
        limits: RequestLimits,
        stores: Stores,
        say: Callable[[str], None],
    ) -> None:
        self._settings, self._limits, self.stores = settings, limits, stores
        stores.check()
        self._variants: dict[str, Annotator] = {}
        self._with_types: dict[int, tuple[object, Annotator]] = {}
        self._reviews: tuple[object, ReviewMemory | None] | None = None
        self._store: DecisionStore | None = None
        self._tags = load_tags(settings.tags)
        self.annotator = load_annotator(settings, say=say)

    def answer_jobs(self, jobs: Sequence[AnnotateJob]) -> Iterator[tuple[int, Reply]]:
        """Yield a reply for every job, with its index."""
        started = time.perf_counter()
        answers: list[JobAnswers] = []
        sources: list[tuple[JobAnswers, Table | Failure]] = []
        for index, job in enumerate(jobs):
            answer = JobAnswers(index, job)
            try:
                sources += [(answer, each) for each in self._read(job)]
                answers.append(answer)
            except AegirError as error:
                yield index, error_reply(error)
        if not answers:
            return
        try:
            self._annotate(sources, answers[0].job.settings)
        except AegirError as error:
            yield from ((answer.index, error_reply(error)) for answer in answers)
            return
        seconds = (time.perf_counter() - started) / len(answers)
        for answer in answers:
            try:
                self._log(answer)
            except AegirError as error:  # the store, which is not the sender's fault
                yield answer.index, error_reply(store_refusal(error))
                continue
            yield answer.index, reply_to(answer, seconds)

    def answer_tables(self, tables: Sequence[Table]) -> list[TableAnnotation]:
        """Return the answers to tables as `aegir annotate` gives them, reviewed columns included."""
        answers = [each.answer for each in self._answered(tables, AnnotationSettings())]
        return [answer for answer in answers if isinstance(answer, TableAnnotation)]

    def _read(self, job: AnnotateJob) -> list[Table | Failure]:
        """Read the tables of a job; raise if they are too many or too large."""
        if job.format != REPORT:
            check_format(job.format)
        settings = job.settings
        choose_thresholds(self.annotator, settings)
        outcomes = read_sent(job.sent, self._limits, settings)
        columns = sum(len(each.columns) for each in outcomes if isinstance(each, Table))
        if columns > self._limits.columns:
            raise Refused(
                413,
                f"the tables have {columns:,} columns; the service takes {self._limits.columns:,} at once; send less, or run "
                "aegir annotate on them",
            )
        return outcomes

    def _annotate(
        self, sources: Sequence[tuple[JobAnswers, Table | Failure]], settings: AnnotationSettings
    ) -> None:
        """Score all tables together, and give every job its own."""
        for each in self._answered([source for _, source in sources], settings):
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
        for answer in {id(each): each for each, _ in sources}.values():
            if len(answer.tables) > 1:
                from aegir.pipeline.foreign_keys import link_tables

                answer.tables[:] = link_tables(answer.tables)

    def _answered(
        self, tables: Sequence[Table | Failure], settings: AnnotationSettings
    ) -> Iterator[Answered]:
        annotator = self._annotator(settings)
        thresholds = choose_thresholds(annotator, settings)
        memory = self._memory() if settings.memory else None
        prepared = Prepared(settings, annotator, thresholds, memory, tags=self._tags)
        return annotate_sources(tables, prepared)

    def _memory(self) -> ReviewMemory | None:
        """Return what is remembered by now; a file is read again when it has changed, a database every time."""
        location = self.stores.reviews
        if location is None:
            return None
        files = [Path(location), Path(f"{location}-wal"), conventions_file(location)]
        seen = [(path.stat().st_mtime_ns, path.stat().st_size) for path in files if path.exists()]
        if self._reviews is None or "://" in location or self._reviews[0] != seen:
            try:
                self._reviews = seen, load_memory(location, advice="memory=false leaves it out")
            except AegirError as error:  # not the sender's fault
                raise store_refusal(error) from None
        return self._reviews[1]

    def _annotator(self, settings: AnnotationSettings) -> Annotator:
        """Return the annotator that a request chooses, with the types that are taught by now."""
        annotator = self._variant(settings)
        if not settings.custom_types:
            return annotator
        files = type_files(types_folder())
        seen = [(path, path.stat().st_mtime_ns) for path in files if path.exists()]
        taught = self._with_types.get(id(annotator))
        if taught is None or taught[0] != seen:
            taught = seen, with_custom_types(annotator, say=_silent)
            self._with_types[id(annotator)] = taught
        return taught[1]

    def _variant(self, settings: AnnotationSettings) -> Annotator:
        """Return the annotator without taught types: the one of the service, or another that is loaded for the request."""
        chosen = {name: getattr(settings, name) for name in ("effort", "within")}
        changes = {name: value for name, value in chosen.items() if value is not None}
        if not changes:
            return self.annotator
        key = repr(changes)
        if key not in self._variants:
            if len(self._variants) == MOST_VARIANTS:
                oldest = self._variants.pop(next(iter(self._variants)))
                self._with_types.pop(id(oldest), None)
            changed = self._settings.changed(**changes)
            self._variants[key] = load_annotator(changed, say=_silent)
        return self._variants[key]

    def _log(self, answer: JobAnswers) -> None:
        """Store the decisions that were made, if the service logs them."""
        if self.stores.decisions is None or not answer.episodes:
            return
        if self._store is None:
            self._store = DecisionStore.open(self.stores.decisions)
        self._store.append(episode for each in answer.episodes for episode in each)
        for table, episodes in zip(answer.tables, answer.episodes, strict=True):
            for column, episode in zip(table.columns, episodes, strict=True):
                record_review(self._store, episode.id, column)


def _silent(_sentence: str) -> None:
    """What cannot be used was told where the service was started."""
