"""Annotate the tables of requests, in a worker process: the functions of `aegir annotate`, its answers and its sentences.

    Annotating(annotator, limits, stores).run(jobs)      jobs that differ in nothing but their tables and formats

A job's files are read with its folder as the current one, so that names in answers and sentences are those of the files.
"""

import json
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aegir.annotators.annotate import (
    MIN_CONFIDENCE,
    Annotations,
    Failure,
    annotate_numbered,
    choose_thresholds,
    read_source,
)
from aegir.annotators.custom_types.recognising import with_custom_types
from aegir.annotators.custom_types.store import type_files, types_folder
from aegir.annotators.scores import Annotator
from aegir.answers.annotation import ColumnAnnotation, TableAnnotation, annotation_as_dict
from aegir.answers.html_page import meanings
from aegir.answers.wording import (
    is_unsure,
    shown_confidence,
    shown_label,
    shown_name,
    shown_offer,
    shown_review,
)
from aegir.answers.writers import check_format
from aegir.dispatch.corrections import record_review
from aegir.dispatch.dispatcher import DispatchAnnotator
from aegir.dispatch.routed_table import RoutedTable
from aegir.episode import Episode
from aegir.errors import AegirError, UsageError
from aegir.memory.location import load_memory
from aegir.memory.recall import ReviewMemory
from aegir.offline.store import DecisionStore, new_id
from aegir.service.fork_server import Job
from aegir.service.limits import Limits, Refused, status_of
from aegir.service.options import REPORT, AnnotateOptions
from aegir.service.responses import Reply, error_reply, json_reply
from aegir.service.unpacking import check_unpacked
from aegir.tables.readers import read_tables
from aegir.tables.table import Table

CONTENT_TYPES = {
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "frictionless": "application/json",
    "csvw": "application/csvm+json",
}
PLAIN = "text/plain; charset=utf-8"
LONGEST_HEADER = 4_000
"""Characters of the header that tells of failures; proxies refuse longer ones."""
JSON_KEYS = ("rows", "columns", "name")


@dataclass(slots=True)
class _Answer:
    """What becomes of one job."""

    place: int
    job: Job
    tables: list[TableAnnotation] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    episodes: list[tuple[Episode, ...]] = field(default_factory=list)
    run: str = field(default_factory=new_id)


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
        self._routed: deque[RoutedTable] = deque()
        if isinstance(annotator, DispatchAnnotator):
            annotator.listener = self._routed.append

    def run(self, jobs: Sequence[tuple[int, Job]]) -> Iterator[tuple[int, Reply]]:
        """Yield a reply for every job, given with its place."""
        started = time.perf_counter()
        answers: list[_Answer] = []
        sources: list[tuple[_Answer, Table | Failure]] = []
        for place, job in jobs:
            answer = _Answer(place, job)
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
            yield answer.place, _reply(answer, seconds)

    def _read(self, job: Job) -> list[Table | Failure]:
        """Read the tables of a job; raise if they are too many or too large."""
        options = AnnotateOptions(**job["options"])
        if options.format != REPORT:
            check_format(options.format)
        choose_thresholds(self._plain, options.min_confidence, options.precision)
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
        self, sources: Sequence[tuple[_Answer, Table | Failure]], options: AnnotateOptions
    ) -> None:
        """Score all tables together, and give every job its own."""
        annotator = self._annotator(options.custom)
        thresholds = choose_thresholds(annotator, options.min_confidence, options.precision)
        self._routed.clear()
        memory = self._memory() if options.memory else None
        tables = [each for _, each in sources]
        for place, outcome in annotate_numbered(tables, annotator, thresholds, memory=memory):
            answer = sources[place][0]
            if isinstance(outcome, Failure):
                answer.failures.append(outcome)
                continue
            if self._routed:
                labels = [
                    column.reviewed.said if column.reviewed else column.label
                    for column in outcome.columns
                ]
                run = f"{answer.run}/{len(answer.tables)}"
                answer.episodes.append(self._routed.popleft().episodes(labels, run=run))
            answer.tables.append(outcome)

    def answer(self, tables: Sequence[Table]) -> list[TableAnnotation]:
        """Return the answers to tables as `aegir annotate` gives them, reviewed columns included."""
        annotator = self._annotator(custom=True)
        thresholds = choose_thresholds(annotator, MIN_CONFIDENCE)
        outcomes = annotate_numbered(tables, annotator, thresholds, memory=self._memory())
        self._routed.clear()
        return [outcome for _, outcome in outcomes if isinstance(outcome, TableAnnotation)]

    def _memory(self) -> ReviewMemory | None:
        """Return what is remembered by now; a file is read again when it has changed, a database every time."""
        location = self._stores.reviews
        if location is None:
            return None
        files = [Path(location), Path(f"{location}-wal")]
        seen = [(path.stat().st_mtime_ns, path.stat().st_size) for path in files if path.exists()]
        if self._reviews is None or "://" in location or self._reviews[0] != seen:
            self._reviews = seen, load_memory(location)
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

    def _log(self, answer: _Answer) -> None:
        """Store the decisions that were made, if the service logs them."""
        if self._stores.decisions is None or not answer.episodes:
            return
        if self._store is None:
            self._store = DecisionStore.open(self._stores.decisions)
        self._store.append(episode for each in answer.episodes for episode in each)
        for table, episodes in zip(answer.tables, answer.episodes, strict=True):
            for column, episode in zip(table.columns, episodes, strict=True):
                record_review(self._store, episode.id, column)


def read_upload(job: Job, limits: Limits, rows: int, seed: int) -> list[Table | Failure]:
    """Read the tables of the files, or of the JSON document, that a request brought."""
    folder = Path(job["folder"])
    os.chdir(folder)
    if job.get("body"):
        source, name = read_document(folder / job["body"])
        return list(read_tables(source, rows=rows, seed=seed, name=name))
    if not job["files"]:
        raise UsageError(
            "the request holds no files; send at least one, as a part with a file name"
        )
    for file in job["files"]:
        check_unpacked(Path(file), limits)
    outcomes = [each for file in job["files"] for each in read_source(Path(file), rows, seed)]
    return [_without_folder(outcome, folder) for outcome in outcomes]


def _without_folder(outcome: Table | Failure, folder: Path) -> Table | Failure:
    """Leave the folder of the upload out of what libraries say about a file."""
    inside = f"{folder}/"
    if isinstance(outcome, Failure):
        return replace(outcome, reason=outcome.reason.replace(inside, ""))
    warnings = tuple(warning.replace(inside, "") for warning in outcome.warnings)
    return replace(outcome, warnings=warnings)


def read_document(path: Path) -> tuple[object, str | None]:
    """Return the rows or columns in a JSON document, and the name of their table."""
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the request is no JSON ({error})") from None
    if not isinstance(document, Mapping):
        raise UsageError(_describe_document(f"is {type(document).__name__}"))
    if unknown := sorted(set(document) - set(JSON_KEYS)):
        raise UsageError(_describe_document(f"has the unknown key {unknown[0]!r}"))
    if ("rows" in document) == ("columns" in document):
        raise UsageError(_describe_document("must have either rows or columns"))
    name = document.get("name")
    if name is not None and (not isinstance(name, str) or not name):
        raise UsageError(f"the name of the table is {name!r}; expected text")
    rows, columns = document.get("rows"), document.get("columns")
    if "rows" in document and not isinstance(rows, list):
        raise UsageError(f"rows is {type(rows).__name__}; expected a list of objects")
    if "columns" in document and not isinstance(columns, Mapping):
        raise UsageError(f"columns is {type(columns).__name__}; expected an object of lists")
    return (rows if "rows" in document else columns), name


def _describe_document(what: str) -> str:
    return (
        f'the JSON document {what}; expected {{"rows": [{{"city": "Oslo"}}]}} or {{"columns": {{"city": ["Oslo"]}}}}, '
        'and perhaps "name"'
    )


def _reply(answer: _Answer, seconds: float) -> Reply:
    name = answer.job["options"]["format"]
    if not answer.tables and name != REPORT:
        return _failed(answer.failures)
    facts = _facts(answer, seconds)
    headers = {"aegir-run": answer.run}
    if answer.failures:
        sentences = json.dumps([failure.reason for failure in answer.failures])
        headers["aegir-failures"] = sentences[:LONGEST_HEADER]
    if name == REPORT:  # tells of failures itself
        return Reply(200, CONTENT_TYPES["json"], json_reply(_report(answer)).body, headers, facts)
    status = 207 if answer.failures else 200
    body = Annotations(tuple(answer.tables)).to(name).encode()
    return Reply(status, CONTENT_TYPES.get(name, PLAIN), body, headers, facts)


def _failed(failures: Sequence[Failure]) -> Reply:
    """Return the reply to a request of which nothing could be read."""
    first = failures[0]
    status = status_of(first.kind(first.reason))
    reasons = [failure.reason for failure in failures]
    return json_reply({"error": "; ".join(reasons), "failures": _as_dicts(failures)}, status)


def _report(answer: _Answer) -> dict[str, Any]:
    tables = []
    for number, table in enumerate(answer.tables):
        shown: dict[str, Any] = {**annotation_as_dict(table), "preview": table.preview}
        for place, column in enumerate(table.columns):
            shown["columns"][place] |= _wording(column)
        if answer.episodes:
            shown["decisions"] = [_decisions(episode) for episode in answer.episodes[number]]
        tables.append(shown)
    return {"run": answer.run, "tables": tables, "failures": _as_dicts(answer.failures)}


def _wording(column: ColumnAnnotation) -> dict[str, Any]:
    """How the answer is put into words for people."""
    return {
        "title": shown_name(column),
        "shown": shown_label(column),
        "sure": shown_confidence(column) != "",
        "unsure": is_unsure(column),
        "meanings": list(meanings(column)),
        "shown_review": shown_review(column),
        "shown_offers": [shown_offer(offer) for offer in column.offers],
    }


def _as_dicts(failures: Sequence[Failure]) -> list[dict[str, str]]:
    return [{"source": failure.source, "reason": failure.reason} for failure in failures]


def _decisions(episode: Episode) -> list[dict[str, Any]]:
    """Who was asked about a column, who decided that, why, and at which cost."""
    return [
        {
            "worker": decision.action["worker"],
            "decided_by": decision.decided_by,
            "reason": decision.reason,
            "propensity": decision.propensity,
            "confidence": decision.features.get("confidence"),
            "cost": decision.cost,
            "seconds": decision.seconds,
        }
        for decision in episode.decisions
    ]


def _facts(answer: _Answer, seconds: float) -> dict[str, Any]:
    """What the service keeps of an answer: counts and decisions, no values."""
    columns = [column for table in answer.tables for column in table.columns]
    woken: dict[str, dict[str, int]] = {}
    for number, table in enumerate(answer.tables):
        for place, column in enumerate(table.columns):
            names = [each.specialist for each in column.routing or () if each.woken]
            if answer.episodes:
                decided = answer.episodes[number][place].decisions
                names.append(str(decided[-1].action["worker"]))
            for name in names:
                kinds = woken.setdefault(name, {})
                kinds[column.kind or "unsure"] = kinds.get(column.kind or "unsure", 0) + 1
    return {
        "run": answer.run,
        "tables": [table.table for table in answer.tables],
        "columns": len(columns),
        "personal": sum(column.personal for column in columns),
        "unsure": sum(map(is_unsure, columns)),
        "failures": len(answer.failures),
        "annotator": answer.tables[0].annotator if answer.tables else None,
        "seconds": seconds,
        "woken": woken,
    }
