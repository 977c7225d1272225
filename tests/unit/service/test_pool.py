"""Worker processes behind a queue: who dies, who waits, who is retried. The work is a toy; the processes are real."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aegir.service.fork_server import ForkServer, Job
from aegir.service.limits import Limits, Refused
from aegir.service.pool import Pool
from aegir.service.responses import Reply, json_reply
from aegir_rl.base.errors import UsageError

MEMORY = 1 << 30


def work(jobs: list[Job]) -> Iterator[tuple[int, Reply]]:
    """Say who worked on what; or die, or take forever."""
    for place, job in enumerate(jobs):
        if job["do"] == "die":
            os._exit(1)
        if job["do"] == "die once" and not Path(job["mark"]).exists():
            Path(job["mark"]).touch()
            os._exit(1)
        if job["do"] == "sleep":
            time.sleep(60)
        yield (
            place,
            json_reply({"name": job.get("name"), "together": len(jobs), "pid": os.getpid()}),
        )


def answer(reply: Reply) -> dict[str, Any]:
    return json.loads(reply.body)


@asynccontextmanager
async def running(folder: Path, workers: int = 1, **limits: Any) -> AsyncIterator[Pool]:
    place = folder / "uploads"
    place.mkdir()
    server = ForkServer(lambda: (work, {"version": "0"}), place, MEMORY)
    try:
        assert server.wait_until_ready() == {"version": "0"}
        pool = Pool(server, place, workers=workers, limits=Limits(**limits))
        await pool.start()
        yield pool
        await pool.close()
    finally:
        server.close()
    assert not place.exists()


def test_jobs_of_one_key_are_done_together_and_others_alone(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path) as pool:
            tasks = [pool.submit({"do": "work", "name": n}, key="a") for n in range(6)]
            tasks += [pool.submit({"do": "work", "name": 6}, key="b")]
            tasks += [pool.submit({"do": "work", "name": 7})]
            said = [answer(reply) for reply in await asyncio.gather(*tasks)]
        assert [each["name"] for each in said] == list(range(8))
        assert [each["together"] for each in said] == [4] * 4 + [2] * 2 + [1, 1]

    asyncio.run(scenario())


def test_what_waits_is_shared_out_among_free_workers(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path, workers=2) as pool:
            tasks = [pool.submit({"do": "work", "name": n}, key="a") for n in range(4)]
            said = [answer(reply) for reply in await asyncio.gather(*tasks)]
        assert [each["together"] for each in said] == [2] * 4
        assert len({each["pid"] for each in said}) == 2

    asyncio.run(scenario())


def test_a_job_that_ends_its_worker_is_refused_and_the_others_are_answered(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path) as pool:
            good = [pool.submit({"do": "work", "name": n}, key="a") for n in range(2)]
            bad = pool.submit({"do": "die", "files": ["evil.csv"]}, key="a")
            *replies, error = await asyncio.gather(*good, bad, return_exceptions=True)
            assert [answer(reply)["name"] for reply in replies] == [0, 1]
            assert isinstance(error, Refused)
            assert error.status == 422
            assert str(error).startswith("evil.csv ended 2 worker processes")
            assert pool.figures.restarts == 2
            assert len(pool.figures.pids) == 1

    asyncio.run(scenario())


def test_a_job_whose_worker_was_killed_is_tried_again_unless_it_writes(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path) as pool:
            job = {"do": "die once", "mark": str(tmp_path / "first")}
            assert (await pool.submit(job)).status == 200
            job = {"do": "die once", "mark": str(tmp_path / "second")}
            with pytest.raises(Refused, match="a worker process ended") as refused:
                await pool.submit(job, again=False)
            assert refused.value.status == 503

    asyncio.run(scenario())


def test_a_job_that_takes_too_long_is_stopped(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path, seconds=0.2) as pool:
            late = pool.submit({"do": "sleep", "files": ["slow.xlsx"]})
            with pytest.raises(
                Refused, match=r"slow.xlsx took more than 0.2 seconds and was stopped"
            ):
                await late
            assert (await pool.submit({"do": "work"})).status == 200
            assert pool.figures.timed_out == 1

    asyncio.run(scenario())


def test_heavy_jobs_leave_one_worker_to_small_ones(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path, workers=2, seconds=0.5) as pool:
            heavy = [
                asyncio.create_task(pool.submit({"do": "sleep"}, heavy=True)) for _ in range(2)
            ]
            small = await asyncio.gather(*(pool.submit({"do": "work"}) for _ in range(4)))
            assert {reply.status for reply in small} == {200}
            assert not any(task.done() for task in heavy)
            await asyncio.gather(*heavy, return_exceptions=True)

    asyncio.run(scenario())


def test_a_full_service_says_when_to_try_again(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path, queue=1) as pool:
            refusing = pytest.raises(Refused, match="busy with 2 requests")
            with pool.admit(), pool.admit(), refusing as refused, pool.admit():
                pass
            assert (refused.value.status, refused.value.retry_after) == (429, 1)
            with pool.admit():
                assert pool.figures.admitted == 1

    asyncio.run(scenario())


def test_what_was_accepted_is_finished_before_the_pool_closes(tmp_path: Path):
    async def scenario() -> None:
        async with running(tmp_path) as pool:
            waiting = [asyncio.create_task(pool.submit({"do": "work"})) for _ in range(20)]
            await asyncio.sleep(0)
            await pool.close()
            assert {task.result().status for task in waiting} == {200}
            with pytest.raises(Refused, match="stopping"):
                await pool.submit({"do": "work"})

    asyncio.run(scenario())


def test_what_cannot_be_loaded_is_told(tmp_path: Path):
    def build():
        raise UsageError("there are no weights")

    place = tmp_path / "uploads"
    place.mkdir()
    server = ForkServer(build, place, MEMORY)
    with pytest.raises(UsageError, match="there are no weights"):
        server.wait_until_ready()
    server.close()
    assert not place.exists()
