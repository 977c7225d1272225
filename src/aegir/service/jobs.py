"""What workers do: jobs by name, each answered with a reply.

    work = build_work(load_annotator, …)      in the fork server, once
    for place, reply in work(jobs): ...                   in a worker

What few requests need is imported by the worker that gets the first of them: starting the service takes a tenth less.

A job is an object with the key `do` and what the job needs. Whatever goes wrong in it becomes its reply.
"""

import traceback
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aegir.answers.writers import FORMATS
from aegir.memory.location import memory_exists
from aegir.pipeline.run import Prepared, annotate_sources
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.service.annotating import Annotating, Stores
from aegir.service.fork_server import Job, Work
from aegir.service.limits import Limits, Refused
from aegir.service.responses import Reply, error_reply, json_reply
from aegir.vocabulary.terms import KINDS
from aegir_rl.base.errors import AegirError
from aegir_rl.offline.store import DecisionStore

ANNOTATE = "annotate"


def build_work(
    load: Callable[[], Annotator], limits: Limits, stores: Stores, runs: Path | None
) -> tuple[Work, dict[str, Any]]:
    """Load the annotator; return the function that does jobs with it, and what the service should know."""
    # What cannot be opened raises now, not at the first request.
    if stores.decisions is not None:
        DecisionStore.open(stores.decisions).close()
    if stores.reviews is not None and memory_exists(stores.reviews):
        from aegir.memory.store import ReviewStore

        ReviewStore.open(stores.reviews).close()
    annotator = load()
    _warm_up(annotator)
    annotating = Annotating(annotator, limits, stores)

    def feedback(job: Job) -> Reply:
        from aegir.service.reviewing import Reviewing

        return Reviewing(annotating, limits, stores).record(job)

    def about_types(job: Job) -> Reply:
        from aegir.service import teaching

        return teaching.JOBS[job["do"]](job)

    def about_runs(job: Job) -> Reply:
        from aegir.service.training_runs import TrainingRuns

        found = TrainingRuns(runs)
        return found.list_runs(job) if job["do"] == "runs" else found.show_run(job)

    others = {
        "feedback": feedback,
        **dict.fromkeys(("types", "type", "teach", "forget"), about_types),
        **dict.fromkeys(("runs", "run"), about_runs),
    }

    def work(jobs: list[Job]) -> Iterator[tuple[int, Reply]]:
        if jobs[0]["do"] == ANNOTATE:
            yield from _guarded(annotating, jobs)
            return
        for place, job in enumerate(jobs):
            yield place, _do(others[job["do"]], job)

    about = {
        "version": version("aegir-tables"),
        "annotator": annotator.name,
        "formats": ["text", *FORMATS],
        "kinds": list(KINDS),
        "logged": stores.decisions is not None,
        "remembers": stores.reviews is not None,
    }
    return work, about


def _warm_up(annotator: Annotator) -> None:
    """Annotate a table, so that what is loaded on first use is loaded once and shared by all workers."""
    table = {"when": ["2024-05-01", "2024-06-17"], "what": ["red", "fir"], "n": ["4", "17"]}
    list(annotate_sources([table], Prepared(AnnotationSettings(), annotator, Thresholds())))


def _guarded(annotating: Annotating, jobs: list[Job]) -> Iterator[tuple[int, Reply]]:
    """Annotate jobs together; if that fails for a reason nobody expected, one by one."""
    left = dict(enumerate(jobs))
    try:
        for place, reply in annotating.run(list(left.items())):
            del left[place]
            yield place, reply
    except Exception as error:
        if len(jobs) == 1:
            yield 0, _unexpected(error)
            return
        for place, job in left.items():
            for _, reply in _guarded(annotating, [job]):
                yield place, reply


def _do(function: Callable[[Job], Reply], job: Job) -> Reply:
    try:
        return function(job)
    except AegirError as error:
        return error_reply(error)
    except Exception as error:
        return _unexpected(error)


def _unexpected(error: Exception) -> Reply:
    """Print the traceback where the service runs; the sender learns that it is not their fault."""
    if isinstance(error, MemoryError):
        return error_reply(
            Refused(422, "the request needs more memory than a worker may have; send less")
        )
    traceback.print_exc()
    return json_reply({"error": "something went wrong inside the service; its log says what"}, 500)
