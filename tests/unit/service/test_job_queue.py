"""Worker processes behind a queue: who dies, who waits, who is retried. The work is a toy; the processes are real."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aegir.service.job_queue import JobQueue
from aegir.service.jobs import Sent
from aegir.service.limits import Refused, RequestLimits
from aegir.service.responses import Reply, json_reply
from aegir.service.server import remove_folder
from aegir.service.worker import open_worker
from aegir_rl.base.errors import UsageError
from aegir_rl.processes.fork_server import ForkServer, StartedWorker
from used_up_descriptors import no_descriptors

MEMORY = 1 << 30


@dataclass(frozen=True)
class Toy:
    """A job for the function below."""

    do: str = "work"
    name: int | None = None
    mark: str = ""
    sent: Sent = field(default_factory=lambda: Sent("."))


def work(batch: list[Any]) -> Iterator[tuple[int, Reply]]:
    """Say who worked on what; or die, or take forever."""
    for index, (_, job) in enumerate(batch):
        if job["do"] == "die":
            os._exit(1)
        if job["do"] == "die once" and not Path(job["mark"]).exists():
            Path(job["mark"]).touch()
            os._exit(1)
        if job["do"] == "sleep":
            time.sleep(60)
        yield index, json_reply({"name": job["name"], "together": len(batch), "pid": os.getpid()})


def answer(reply: Reply) -> dict[str, Any]:
    return json.loads(reply.body)


@asynccontextmanager
async def running(folder: Path, workers: int = 1, **limits: Any) -> AsyncIterator[JobQueue]:
    uploads = folder / "uploads"
    uploads.mkdir()
    server = ForkServer(
        lambda: (lambda: open_worker(work, uploads, MEMORY), {"version": "0"}),
        lambda: remove_folder(uploads),
    )
    try:
        assert server.wait_until_ready() == {"version": "0"}
        queue = JobQueue(server, uploads, workers=workers, limits=RequestLimits(**limits))
        await queue.start()
        yield queue
        await queue.close()
    finally:
        server.close()
    assert not uploads.exists()


def test_jobs_of_one_key_are_done_together_and_others_alone(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path) as queue:
            tasks = [queue.submit(Toy(name=n), key="a") for n in range(6)]
            tasks += [queue.submit(Toy(name=6), key="b")]
            tasks += [queue.submit(Toy(name=7))]
            said = [answer(reply) for reply in await asyncio.gather(*tasks)]
        assert [each["name"] for each in said] == list(range(8))
        assert [each["together"] for each in said] == [4] * 4 + [2] * 2 + [1, 1]

    asyncio.run(scenario())


def test_a_worker_is_replaced_when_there_is_a_descriptor_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    start_worker = ForkServer.start_worker
    tries: list[int] = []

    def start_in_a_crowd(server: ForkServer) -> StartedWorker:
        tries.append(len(tries))
        with no_descriptors() if len(tries) < 3 else nullcontext():
            return start_worker(server)

    async def scenario() -> None:
        async with running(tmp_path) as queue:
            monkeypatch.setattr(ForkServer, "start_worker", start_in_a_crowd)
            job = Toy("die once", name=3, mark=str(tmp_path / "mark"))
            assert answer(await queue.submit(job))["name"] == 3
            assert len(tries) == 3

    asyncio.run(scenario())


def test_what_waits_is_shared_out_among_free_workers(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path, workers=2) as queue:
            tasks = [queue.submit(Toy(name=n), key="a") for n in range(4)]
            said = [answer(reply) for reply in await asyncio.gather(*tasks)]
        assert [each["together"] for each in said] == [2] * 4
        assert len({each["pid"] for each in said}) == 2

    asyncio.run(scenario())


def test_a_job_that_ends_its_worker_is_refused_and_the_others_are_answered(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path) as queue:
            good = [queue.submit(Toy(name=n), key="a") for n in range(2)]
            bad = queue.submit(Toy("die", sent=Sent(".", ("evil.csv",))), key="a")
            *replies, error = await asyncio.gather(*good, bad, return_exceptions=True)
            assert [answer(reply)["name"] for reply in replies] == [0, 1]
            assert isinstance(error, Refused)
            assert error.status == 422
            assert str(error).startswith("evil.csv ended 2 worker processes")
            assert queue.metrics.restarts == 2
            assert len(queue.metrics.pids) == 1

    asyncio.run(scenario())


def test_a_job_whose_worker_was_killed_is_tried_again_unless_it_writes(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path) as queue:
            job = Toy("die once", mark=str(tmp_path / "first"))
            assert (await queue.submit(job)).status == 200
            job = Toy("die once", mark=str(tmp_path / "second"))
            with pytest.raises(Refused, match="a worker process ended") as refused:
                await queue.submit(job, again=False)
            assert refused.value.status == 503

    asyncio.run(scenario())


def test_a_job_that_takes_too_long_is_stopped(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path, seconds=0.2) as queue:
            late = queue.submit(Toy("sleep", sent=Sent(".", ("slow.xlsx",))))
            with pytest.raises(
                Refused, match=r"slow.xlsx took more than 0.2 seconds and was stopped"
            ):
                await late
            assert (await queue.submit(Toy())).status == 200
            assert queue.metrics.timed_out == 1

    asyncio.run(scenario())


def test_heavy_jobs_leave_one_worker_to_small_ones(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path, workers=2, seconds=0.5) as queue:
            heavy = [asyncio.create_task(queue.submit(Toy("sleep"), heavy=True)) for _ in range(2)]
            small = await asyncio.gather(*(queue.submit(Toy()) for _ in range(4)))
            assert {reply.status for reply in small} == {200}
            assert not any(task.done() for task in heavy)
            await asyncio.gather(*heavy, return_exceptions=True)

    asyncio.run(scenario())


def test_a_full_service_says_when_to_try_again(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path, queue=1) as queue:
            refusing = pytest.raises(Refused, match="busy with 2 requests")
            with queue.admit(), queue.admit(), refusing as refused, queue.admit():
                pass
            assert (refused.value.status, refused.value.retry_after) == (429, 1)
            with queue.admit():
                assert queue.metrics.admitted == 1

    asyncio.run(scenario())


def test_what_was_accepted_is_finished_before_the_pool_closes(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path) as queue:
            waiting = [asyncio.create_task(queue.submit(Toy())) for _ in range(20)]
            await asyncio.sleep(0)
            await queue.close()
            assert {task.result().status for task in waiting} == {200}
            with pytest.raises(Refused, match="stopping"):
                await queue.submit(Toy())

    asyncio.run(scenario())


def test_what_cannot_be_loaded_is_told(tmp_path: Path):
    def build():
        raise UsageError("there are no weights")

    uploads = tmp_path / "uploads"
    uploads.mkdir()
    server = ForkServer(build, lambda: remove_folder(uploads))
    with pytest.raises(UsageError, match="there are no weights"):
        server.wait_until_ready()
    server.close()
    assert not uploads.exists()
