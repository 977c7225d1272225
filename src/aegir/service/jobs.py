"""What workers do: jobs by name, each answered with a reply.

    work = build_work(load_annotator, …)      in the fork server, once
    for place, reply in work(jobs): ...                   in a worker

A job is an object with the key `do` and what the job needs. Whatever goes wrong in it becomes its reply.
"""

import traceback
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aegir.annotators.scores import Annotator
from aegir.answers.writers import FORMATS
from aegir.errors import AegirError
from aegir.service import teaching
from aegir.service.annotating import Annotating
from aegir.service.fork_server import Job, Work
from aegir.service.limits import Limits
from aegir.service.responses import Reply, error_reply, json_reply
from aegir.service.training_runs import TrainingRuns
from aegir.vocabulary.terms import KINDS

ANNOTATE = "annotate"


def build_work(
    load: Callable[[], Annotator], limits: Limits, store: str | None, runs: Path | None
) -> tuple[Work, dict[str, Any]]:
    """Load the annotator; return the function that does jobs with it, and what the service should know."""
    annotator = load()
    annotating = Annotating(annotator, limits, store)
    training_runs = TrainingRuns(runs)
    others: dict[str, Callable[[Job], Reply]] = {
        "types": teaching.list_types,
        "type": teaching.show_type,
        "teach": teaching.teach,
        "forget": teaching.forget,
        "runs": training_runs.list_runs,
        "run": training_runs.show_run,
    }

    def work(jobs: list[Job]) -> Iterator[tuple[int, Reply]]:
        if jobs[0]["do"] == ANNOTATE:
            yield from _guarded(annotating, jobs)
            return
        for place, job in enumerate(jobs):
            yield place, _do(others[job["do"]], job)

    about = {
        "version": version("aegir"),
        "annotator": annotator.name,
        "formats": ["text", *FORMATS],
        "kinds": list(KINDS),
        "logged": store is not None,
    }
    return work, about


def _guarded(annotating: Annotating, jobs: list[Job]) -> Iterator[tuple[int, Reply]]:
    """Annotate jobs together; if that fails for a reason nobody expected, one by one."""
    left = dict(enumerate(jobs))
    try:
        for place, reply in annotating.run(list(left.items())):
            del left[place]
            yield place, reply
    except Exception:
        if len(jobs) == 1:
            yield 0, _unexpected()
            return
        for place, job in left.items():
            for _, reply in _guarded(annotating, [job]):
                yield place, reply


def _do(function: Callable[[Job], Reply], job: Job) -> Reply:
    try:
        return function(job)
    except AegirError as error:
        return error_reply(error)
    except Exception:
        return _unexpected()


def _unexpected() -> Reply:
    """Print the traceback where the service runs; the sender learns that it is not their fault."""
    traceback.print_exc()
    return json_reply({"error": "something went wrong inside the service; its log says what"}, 500)
