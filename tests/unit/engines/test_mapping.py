"""Shards over places that come and go: every item is answered, whatever is lost."""

import json
import os
import signal
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.engines.annotating import OPEN, file_item
from aegir.engines.job import Job, check_installation, check_signed, sign, sign_files
from aegir.engines.local import LocalEngine
from aegir.engines.mapping import Engine, Place, Reply
from aegir.engines.process import JobProcess, opening_order, read_reply, shard_order
from aegir.pipeline.settings import AnnotationSettings
from aegir_rl.base.errors import AegirError, UsageError

JOB = Job("aegir.nothing:needed", {})


class Doubling(Engine):
    """Places that answer an item with its double; the shards of these numbers lose their place."""

    def __init__(self, places: int, losses: Collection[int] = (), workers: int = 1) -> None:
        self.keys, self.losses, self.workers = [str(n) for n in range(places)], losses, workers
        self.asked = 0

    def start_places(self, job: Job, present: Collection[str]) -> Sequence[Place]:
        return [DoublingPlace(self, key) for key in self.keys if key not in present]

    def count_workers(self) -> int:
        return len(self.keys)

    def describe_absence(self) -> str:
        return "nobody is there"

    def close(self) -> None:
        pass


class DoublingPlace:
    started = True

    def __init__(self, engine: Doubling, key: str) -> None:
        self.engine, self.key, self.name, self.workers = engine, key, key, engine.workers
        self.gone = False

    def open(self) -> Reply:
        return replied([b"Dnull"])

    def submit(self, order: bytes) -> Reply:
        self.engine.asked += 1
        self.gone |= self.engine.asked in self.engine.losses
        doubles = [b"A%d" % (2 * item) for item in json.loads(order)]
        return replied(doubles[:1] if self.gone else [*doubles, b"Dnull"])

    def close(self) -> None:
        self.gone = True


def replied(lines: list[bytes]) -> Reply:
    reply: Reply = Future()
    reply.set_result(lines)
    return reply


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
    answers = list(engine.map(JOB, range(count), count, at_once=3, ordered=ordered))
    assert (answers if ordered else sorted(answers)) == [2 * item for item in range(count)]


def test_a_shard_that_loses_every_place_is_given_up():
    # One place and one item: the only shard is asked for five times.
    with pytest.raises(AegirError, match="5 processes were lost over the items from 7 on"):
        list(Doubling(1, range(100)).map(JOB, [7], 1))


def test_no_place_is_an_error_after_a_while(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("aegir.engines.mapping.SECONDS_WITHOUT_PLACES", 0.0)
    monkeypatch.setattr("aegir.engines.mapping.SECONDS_BETWEEN_LOOKS", 0.0)
    engine = Doubling(1)
    engine.keys = []
    engine.count_workers = lambda: 1  # type: ignore[method-assign]
    with pytest.raises(AegirError, match="nobody is there"):
        list(engine.map(JOB, [1], 1))


def rules_job(**changes: object) -> Job:
    settings = AnnotationSettings(annotator="rules", memory=False).as_dict()
    return Job(OPEN, settings | changes)


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


def test_a_process_refuses_what_it_does_not_see_alike_and_ends_with_its_parent(tmp_path: Path):
    process = JobProcess()
    read_reply(process.ask(opening_order(rules_job(), 1)), "here")
    name, seen = sign(csv_files(tmp_path, 1)[0])
    assert seen is not None
    assert len(read_reply(process.ask(shard_order([["file", name, seen]])), "here")) == 1
    changed = ["file", name, [seen[0] + 1, *seen[1:]]]
    gone = ["file", f"{name}.gone", seen]
    answers = read_reply(process.ask(shard_order([changed, gone])), "here")
    assert [answer["source"] for answer in answers] == [name, f"{name}.gone"]
    reasons = ("its size or its time of change is another", "it is missing")
    for answer, reason in zip(answers, reasons, strict=True):
        assert f"as where the work came from ({reason}); all machines must see" in answer["reason"]
    other = JobProcess()
    reply = other.ask(opening_order(replace(rules_job(), files=[(f"{name}.gone", seen)]), 1))
    with pytest.raises(UsageError, match=r"node 7: .*gone is not the same on .*it is missing"):
        read_reply(reply, "node 7")
    other.close()
    process._orders.close()  # as when the parent is killed
    assert process.ask(b"[]") == []
    process.close()


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
    process = JobProcess()
    job = Job(OPEN, {}, folder=str(tmp_path / "gone"))
    with pytest.raises(UsageError, match=r"gone cannot be entered .* on a shared file system"):
        read_reply(process.ask(opening_order(job, 1)), "node 7")
    process.close()
