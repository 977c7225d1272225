"""Annotating as a job of an engine: items are files or tables, answers are the outcomes of a single run.

    job = Job(OPEN, settings.as_dict(), files=…)
    for outcome in annotate_over(engine, job, map(file_item, files), len(files)):
        ...

A place loads the annotator once and shares it with its worker processes (worker_pool.py). Files are not sent: a place that
does not see a file as the sender does answers with a `Failure`. Tables of `aegir eval` are sent.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from aegir.answers.annotation import TableAnnotation
from aegir.engines.engine import Engine
from aegir.engines.job import Job, RunShard, check_signed, sign
from aegir.evaluation.evaluation import AnnotateAll
from aegir.pipeline.run import Failure, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.pipeline.worker_pool import Outcome, WorkerPool, outcome_from_json
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.tables.table import Table
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes.plain import from_plain

OPEN = f"{__name__}:open_annotating"


def file_item(path: str) -> dict[str, Any]:
    """Return the item for a file: its name, with what it looks like from here."""
    return {"file": sign(path)}


def table_item(table: Table) -> dict[str, Any]:
    """Return the item for a table, which is sent whole."""
    return {"table": table}


def annotate_over(engine: Engine, job: Job, items: Iterable[Any], count: int) -> Iterator[Outcome]:
    """Yield the outcomes of items, of which there are `count`, in their order."""
    return map(outcome_from_json, engine.map(job, items, count))


def annotate_all_over(engine: Engine, job: Job) -> AnnotateAll:
    """Return a function that lets an engine annotate tables; their CPU time is not measured."""

    def annotate_all(
        _annotator: Annotator, tables: Sequence[Table], _thresholds: Thresholds | None
    ) -> tuple[list[TableAnnotation], None]:
        answers = []
        for outcome in annotate_over(engine, job, map(table_item, tables), len(tables)):
            if isinstance(outcome, Failure):
                raise AegirError(outcome.reason)
            answers.append(outcome)
        return answers, None

    return annotate_all


@contextmanager
def open_annotating(values: Mapping[str, Any], workers: int) -> Iterator[RunShard]:
    """Load what the settings name, and start workers that share it."""
    # What cannot be used of the user's pool was told where the work came from.
    prepared = prepare(AnnotationSettings.from_dict(values), say=lambda _sentence: None)
    with WorkerPool(prepared, workers=workers, read=_read) as pool:
        yield lambda shard: pool.annotate_items(shard, len(shard), name=_name)


def _read(item: Mapping[str, Any]) -> object:
    """Return the source that an item is; a `Failure` for a file that does not look here as it looked to the sender."""
    if "table" in item:
        return from_plain(Table, item["table"])
    try:
        check_signed(item["file"])
    except UsageError as error:
        return Failure(_name(item), str(error), UsageError)
    return _name(item)


def _name(item: Mapping[str, Any]) -> str:
    return str(item["table"]["name"] if "table" in item else item["file"][0])
