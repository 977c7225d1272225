"""Shards over places that come and go: every item is answered, whatever is lost."""

import json
import os
import signal
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.engines.annotating import OPEN, file_item
from aegir.engines.child import in_order, opening_order, start_job
from aegir.engines.engine import Engine
from aegir.engines.job import Job, check_installation, check_signed, sign, sign_files
from aegir.engines.local import LocalEngine
from aegir.pipeline.settings import AnnotationSettings
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes.channel import Channel
from aegir_rl.processes.plain import error_from_plain, to_json
from aegir_rl.processes.worker import END, Worker

JOB = Job("aegir.nothing:needed", {})


class Doubling(Engine):
    """Places that answer an item with its double, item by item in any order; the shards of these numbers lose their place."""

    at_once = 3

    def __init__(self, places: int, losses: Collection[int] = (), workers: int = 1) -> None:
        self.most_places, self.losses, self.workers = places, losses, workers
        self.asked = self.started = 0

    def places(self, job: Job) -> Callable[[], Worker | None]:
        return self.start_place

    def start_place(self) -> Worker | None:
        self.started += 1
        if self.started % 3 == 2:  # none is to be had at the moment
            return None
        channel, theirs = Channel.pair()
        worker = Worker(0, channel, lambda: -9)
        worker.size, worker.opening = self.workers, True
        threading.Thread(target=self.serve, args=(theirs,), daemon=True).start()
        return worker

    def serve(self, channel: Channel) -> None:
        with suppress(OSError):
            channel.send(END)
            while (shard := channel.receive()) is not None:
                self.asked += 1
                if self.asked in self.losses:
                    break
                replies = [to_json([at, 2 * item]) for at, item in enumerate(json.loads(shard))]
                for reply in in_order(replies[::-1], "here"):
                    channel.send(reply)
                channel.send(END)
        channel.close()

    def count_workers(self) -> int:
        return self.most_places

    def close(self) -> None:
        pass


@given(
    count=st.integers(0, 60),
    places=st.integers(1, 4),
    workers=st.integers(1, 3),
    losses=st.sets(st.integers(1, 40), max_size=4),
    ordered=st.booleans(),
)
def test_every_item_is_answered_once_whichever_places_are_lost(
    count: int, places: int, workers: int, losses: set[int], ordered: bool
):
    engine = Doubling(places, losses, workers)
    answers = list(engine.map(JOB, range(count), count, ordered=ordered))
    assert (answers if ordered else sorted(answers)) == [2 * item for item in range(count)]


def test_a_shard_that_loses_every_place_is_given_up():
    # One place and one item: the only shard is asked for five times.
    with pytest.raises(AegirError, match="5 processes were lost over 7; the last: SIGKILL"):
        list(Doubling(1, range(100)).map(JOB, [7], 1))


def rules_job() -> Job:
    settings = AnnotationSettings(annotator="rules", custom_types=False, memory=False)
    return Job(OPEN, settings.as_dict())


def csv_files(folder: Path, count: int) -> list[str]:
    paths = [folder / f"t{number:02}.csv" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(f"id,mail\n{number},user{number}@example.org\n{number + 1},b@example.org\n")
    return [str(path) for path in paths]


def test_processes_of_this_machine_answer_in_order_and_are_replaced(tmp_path: Path):
    files = csv_files(tmp_path, 12)
    tables: list[str] = []
    with LocalEngine(2) as engine:
        for answer in engine.map(rules_job(), map(file_item, files), len(files)):
            if len(tables) == 2:
                os.kill(next(iter(children())), signal.SIGKILL)
            tables.append(answer["table"])
    assert tables == [Path(file).name for file in files]
    assert not children()


def children() -> set[int]:
    """Processes of this one that do jobs."""
    threads = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = {int(pid) for path in threads for pid in path.read_text().split()}
    return {pid for pid in pids if b"aegir.engines.child" in command(pid)}


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def ask(worker: Worker, items: object) -> list[Any]:
    replies = worker.ask(to_json(items))
    assert replies is not None
    answers = [json.loads(reply) for reply in in_order(replies, "node 7")]
    for index, answer in answers:
        if index is None:
            raise error_from_plain(answer)
    return [answer for _, answer in answers]


def test_a_process_refuses_what_it_does_not_see_alike_and_ends_with_its_parent(tmp_path: Path):
    worker = start_job(opening_order(rules_job(), 1))
    name, seen = sign(csv_files(tmp_path, 1)[0])
    assert seen is not None
    assert len(ask(worker, [{"file": [name, seen]}])) == 1
    changed = {"file": [name, [seen[0] + 1, *seen[1:]]]}
    gone = {"file": [f"{name}.gone", seen]}
    answers = ask(worker, [changed, gone])
    assert [answer["source"] for answer in answers] == [name, f"{name}.gone"]
    reasons = ("its size or its time of change is another", "it is missing")
    for answer, reason in zip(answers, reasons, strict=True):
        assert f"as where the work came from ({reason}); all machines must see" in answer["reason"]
    other = start_job(opening_order(replace(rules_job(), files=[(f"{name}.gone", seen)]), 1))
    with pytest.raises(UsageError, match=r"node 7: .*gone is not the same on .*it is missing"):
        ask(other, [])
    other.close()
    assert worker.close() == 0  # closed as when the parent is killed


def test_what_differs_between_machines_is_named(tmp_path: Path):
    check_installation({})
    with pytest.raises(UsageError, match=r"numpy is .* there and 0\.1 here; install the same"):
        check_installation({"numpy": "0.1"})
    with pytest.raises(UsageError, match="another Aegir is installed there than here"):
        check_installation({"aegir": "?"})
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_text("1")
    signed = sign_files([tmp_path / "model", tmp_path / "missing", None])
    assert [looks and looks[0] for _, looks in signed] == [1, None]  # one byte; not there
    for each in signed:
        check_signed(each)  # what is missing on both sides is alike


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path):
    job = Job(OPEN, {}, folder=str(tmp_path / "gone"))
    worker = start_job(opening_order(job, 1))
    with pytest.raises(UsageError, match=r"gone cannot be entered .* on a shared file system"):
        ask(worker, [])
    worker.close()
