"""Annotating as a job of an engine: items are files or tables, answers are the outcomes of a single run.

    job = Job(OPEN, AnnotationSettings(precision=0.9).as_dict(), files=…)
    for outcome in map(outcome_from_json, engine.map(job, map(file_item, files), len(files), at_once=FILES_AT_ONCE)):
        ...

A place loads the annotator once and shares it with its worker processes (worker_pool.py). Files are not sent: a place that
does not see a file as the sender does answers with a `Failure`. Tables of `aegir eval` are sent.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from aegir.answers.annotation import TableAnnotation
from aegir.engines.job import Job, RunShard, check_signed, sign
from aegir.engines.mapping import Engine
from aegir.evaluation.evaluation import AnnotateAll
from aegir.pipeline.run import Failure, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.pipeline.worker_pool import WorkerPool
from aegir.pipeline.worker_process import Outcome, outcome_as_json, outcome_from_json
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import AegirError, UsageError

OPEN = f"{__name__}:open_annotating"
FILES_AT_ONCE = 16
"""Files per worker process in a shard."""
ITEM = "\0"
"""With which an item begins where the worker pool expects the name of a file; no such name has a zero."""


def file_item(path: str) -> list[Any]:
    """A file, with what it looks like from here."""
    return ["file", *sign(path)]


def table_item(table: Table) -> list[Any]:
    """A table itself."""
    columns = [(column.name, column.values) for column in table.columns]
    return ["table", table.name, [columns, table.subject, table.title]]


def asking(engine: Engine, job: Job) -> AnnotateAll:
    """A function that lets the places of an engine annotate tables; their CPU time is not measured."""

    def annotate_all(
        _annotator: Annotator, tables: Sequence[Table], _thresholds: Thresholds | None
    ) -> tuple[list[TableAnnotation], None]:
        answers = []
        for answer in engine.map(job, map(table_item, tables), len(tables), at_once=FILES_AT_ONCE):
            outcome = outcome_from_json(answer)
            if isinstance(outcome, Failure):
                raise AegirError(outcome.reason)
            answers.append(outcome)
        return answers, None

    return annotate_all


@contextmanager
def open_annotating(settings: Mapping[str, Any], workers: int) -> Iterator[RunShard]:
    """Load what the settings name and start workers that share it."""
    prepared = prepare(AnnotationSettings.from_dict(settings), say=ignore)  # the sender has told it
    with WorkerPool(prepared, workers=workers, read=_read) as pool:

        def run(shard: Sequence[Any]) -> Iterator[dict[str, Any]]:
            names = {ITEM + json.dumps(item): item[1] for item in shard}
            for outcome in pool.annotate(names, len(names)):
                yield outcome_as_json(_named(outcome, names))

        yield run


def _read(name: str) -> object:
    """The source that an item is; a `Failure` for a file that does not look here as it looked to the sender."""
    kind, title, content = json.loads(name.removeprefix(ITEM))
    if kind == "file":
        try:
            check_signed((title, content))
        except UsageError as error:
            return Failure(title, str(error), UsageError)
        return title
    columns, subject, own_title = content
    parsed = tuple(Column(header, tuple(values)) for header, values in columns)
    return Table(title, parsed, subject=subject, title=own_title)


def _named(outcome: Outcome, names: Mapping[str, str]) -> Outcome:
    """The outcome, with an item's own name where the worker pool gave all of it."""
    if isinstance(outcome, Failure) and (name := names.get(outcome.source)):
        return replace(outcome, source=name, reason=outcome.reason.replace(outcome.source, name))
    return outcome


def ignore(_sentence: str) -> None:
    pass
