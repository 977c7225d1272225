"""What worker processes do: jobs in, replies out.

    open_, about = build_worker(annotator, limits, runs, folder)      in the fork server, once
    with open_() as answer: ...                                       in a worker

Whatever goes wrong in a job becomes its reply. What few requests need is imported by the worker that gets the first of them:
starting the service takes a tenth less.
"""

import json
import os
import resource
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from aegir.answers.writers import FORMATS
from aegir.pipeline.run import Prepared, annotate_sources
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.service.annotations import RequestAnnotator
from aegir.service.jobs import (
    AnnotateJob,
    FeedbackJob,
    ForgetTypeJob,
    Job,
    ListRunsJob,
    ListTypesJob,
    ShowRunJob,
    ShowTypeJob,
    TeachJob,
)
from aegir.service.limits import Refused, RequestLimits, out_of_resources
from aegir.service.responses import Reply, error_reply, json_reply
from aegir.tables.reader_process import close_readers
from aegir.vocabulary.terms import KINDS
from aegir_rl.base.errors import AegirError
from aegir_rl.processes.allocator import return_freed_memory
from aegir_rl.processes.plain import from_plain
from aegir_rl.processes.worker import Answer, Open

MOST_FREED = 32 << 20
"""Freed bytes that a worker keeps between requests; returning them takes a millisecond, filling them again ten."""
_JOBS: dict[str, type] = {kind.__name__: kind for kind in get_args(Job)}


def build_worker(
    annotator: RequestAnnotator, limits: RequestLimits, runs: Path | None, folder: Path
) -> tuple[Open, dict[str, Any]]:
    """Return what opens a worker, and what the service should know."""
    _warm_up(annotator.annotator)
    worker = JobWorker(annotator, limits, runs)
    about = {
        "version": version("aegir-tables"),
        "annotator": annotator.annotator.name,
        "formats": ["text", *FORMATS],
        "kinds": list(KINDS),
        "logged": annotator.stores.decisions is not None,
        "remembers": annotator.stores.reviews is not None,
    }
    return lambda: open_worker(worker.work, folder, limits.worker_bytes), about


@contextmanager
def open_worker(
    work: Callable[[list[Any]], Iterator[tuple[int, Reply]]], folder: Path, memory: int
) -> Iterator[Answer]:
    """Limit this process to so much memory, and give it a temporary folder of its own."""
    own = folder / f"worker-{os.getpid()}"
    try:
        own.mkdir()
    except FileNotFoundError:  # the service ended while this worker was started
        raise SystemExit from None
    except OSError as error:  # requests that need the folder will be refused
        if out_of_resources(error) is None:
            raise
    tempfile.tempdir = str(own)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        yield lambda request: _answers(work, request)
    finally:
        close_readers()
        shutil.rmtree(own, ignore_errors=True)


def _answers(
    work: Callable[[list[Any]], Iterator[tuple[int, Reply]]], request: bytes
) -> Iterator[bytes]:
    yield from (reply.to_bytes(index) for index, reply in work(json.loads(request)))
    return_freed_memory(MOST_FREED)


def _warm_up(annotator: Annotator) -> None:
    """Annotate a table, so that what is loaded on first use is loaded once and shared by all workers."""
    table = {"when": ["2024-05-01", "2024-06-17"], "what": ["red", "fir"], "n": ["4", "17"]}
    list(annotate_sources([table], Prepared(AnnotationSettings(), annotator, Thresholds())))


class JobWorker:
    """Does jobs with one annotator."""

    def __init__(
        self, annotator: RequestAnnotator, limits: RequestLimits, runs: Path | None
    ) -> None:
        self._annotator, self._limits, self._runs = annotator, limits, runs

    def work(self, batch: list[Any]) -> Iterator[tuple[int, Reply]]:
        """Yield the replies to jobs, which are alike, each with its index; a job is the name of its class and its fields."""
        jobs: list[Job] = [from_plain(_JOBS[kind], fields) for kind, fields in batch]
        to_annotate = [job for job in jobs if isinstance(job, AnnotateJob)]
        if len(to_annotate) == len(jobs):
            yield from self._annotate(to_annotate)
            return
        for index, job in enumerate(jobs):
            try:
                yield index, self._do(job)
            except AegirError as error:
                yield index, error_reply(error)
            except Exception as error:
                yield index, _unexpected(error)

    def _annotate(self, jobs: list[AnnotateJob]) -> Iterator[tuple[int, Reply]]:
        """Annotate jobs together; if that fails for a reason nobody expected, one by one."""
        left = dict(enumerate(jobs))
        try:
            for index, reply in self._annotator.answer_jobs(jobs):
                del left[index]
                yield index, reply
        except Exception as error:
            if len(jobs) == 1:
                yield 0, _unexpected(error)
                return
            for index, job in left.items():
                for _, reply in self._annotate([job]):
                    yield index, reply

    def _do(self, job: Job) -> Reply:
        if isinstance(job, FeedbackJob):
            from aegir.service.feedback import Feedback

            return Feedback(self._annotator, self._limits).record(job)
        if isinstance(job, ListTypesJob | ShowTypeJob | ForgetTypeJob | TeachJob):
            from aegir.service.custom_types import answer_about_types

            return answer_about_types(job)
        assert isinstance(job, ListRunsJob | ShowRunJob)
        from aegir.service.runs import answer_about_runs

        return answer_about_runs(job, self._runs)


def _unexpected(error: Exception) -> Reply:
    """Print the traceback where the service runs; the sender learns that it is not their fault.

    What is used up (memory, disk, descriptors) has a sentence instead of a traceback.
    """
    if isinstance(error, MemoryError):
        return error_reply(
            Refused(422, "the request needs more memory than a worker may have; send less")
        )
    if (refused := out_of_resources(error)) is not None:
        return error_reply(refused)
    traceback.print_exception(error)
    return json_reply({"error": "something went wrong inside the service; its log says what"}, 500)
