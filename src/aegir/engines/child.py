"""A child interpreter that does a job, shard by shard.

    worker = start_job(opening_order(job, workers=4))       # loads what the job needs
    worker.ask(to_json(items))

It is a process of its own because the worker processes of a job are forked: a process of Ray has threads, and a fork of it
may hang. Standard output of the job goes to standard error. When the parent is gone, the child ends itself and what it started.

Replies are those of a pool's worker (aegir_rl/processes/pool.py): index of the item and answer, or an error.
"""

import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from aegir.engines.job import (
    Job,
    RunShard,
    check_installation,
    check_signed,
    describe_installation,
)
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes.plain import error_as_plain, from_plain, to_json
from aegir_rl.processes.pool import ERROR
from aegir_rl.processes.worker import Answer, Worker, exec_worker, serve_parent

STANDARD_ERROR = 2
PROGRAM = f"from {__name__} import main; main()"


def start_job(order: bytes) -> Worker:
    """Start the child on what `opening_order` says; it runs the Aegir of its parent."""
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    worker = exec_worker(["-c", PROGRAM], paths=paths, output=STANDARD_ERROR)
    worker.send(order)
    return worker


def opening_order(job: Job, workers: int) -> bytes:
    """Return the first message to a child: the job, and how many worker processes it may have."""
    return to_json(
        {
            "job": job,
            "workers": workers,
            "installation": describe_installation(job.packages),
            "command": sys.argv,  # what a run folder keeps
        }
    )


def in_order(replies: Sequence[bytes], place: str) -> list[bytes]:
    """Return the replies to a shard item by item, as a pool expects them; an error names the place it comes from."""
    ordered = []
    for reply in replies:
        index, answer = json.loads(reply)
        if index is ERROR:
            kind, sentence = answer
            return [to_json([ERROR, [kind, f"{place}: {sentence}"]])]
        ordered.append((index, reply))
    return [reply for _, reply in sorted(ordered, key=lambda each: each[0])]


def main() -> None:
    """Do the job of the first message with the shards of the others, until there are no more."""
    serve_parent(_open_job)


@contextmanager
def _open_job(requests: Iterator[bytes]) -> Iterator[Answer]:
    order = json.loads(next(requests))
    with ExitStack() as ended_after:
        opening_error: AegirError | None = None
        try:
            run = _load(order, ended_after)
        except Exception as error:  # to be told where the work came from
            opening_error = _as_aegir_error(error)

        def answer(request: bytes) -> Iterator[bytes]:
            try:
                if opening_error is not None:
                    raise opening_error
                yield from map(to_json, run(json.loads(request)))
            except Exception as error:
                yield to_json([ERROR, error_as_plain(_as_aegir_error(error))])

        yield answer


def _load(order: dict[str, Any], ended_after: ExitStack) -> RunShard:
    """Load what the job needs, after a check that it can be done here as elsewhere."""
    check_installation(order["installation"])
    sys.argv, job = order["command"], from_plain(Job, order["job"])
    try:
        os.chdir(job.folder)
    except OSError as error:
        raise UsageError(
            f"the folder {job.folder} cannot be entered ({error.strerror}); all machines must see it, on a shared file system"
        ) from None
    os.environ.update(job.environment)
    for signed in job.files:
        check_signed(signed)
    return ended_after.enter_context(job.open(order["workers"]))


def _as_aegir_error(error: Exception) -> AegirError:
    if isinstance(error, AegirError):
        return error
    traceback.print_exception(error)
    return AegirError(f"{type(error).__name__}: {error}")
