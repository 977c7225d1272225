"""What forked and exec'ed workers promise alike."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import toy_worker
from aegir_rl.processes.plain import to_json
from aegir_rl.processes.worker import Answer, Worker, describe_exit, exec_worker, fork_worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
Start = Callable[[], Worker]


def ask(worker: Worker, *items: object) -> list[object] | None:
    replies = worker.ask(to_json(items))
    return None if replies is None else [json.loads(reply)[1] for reply in replies]


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_a_worker_answers_one_request_after_the_other_and_ends_when_it_is_closed(start: Start):
    worker = start()
    answers = ask(worker, {"pid": 1})
    assert answers is not None
    (pid,) = answers
    assert pid == worker.pid != os.getpid()
    assert ask(worker, 1, 2) == [10, 20, 21]
    assert ask(worker) == []
    assert worker.close() == 0


def test_what_a_worker_prints_is_no_reply(start: Start):
    worker = start()
    assert ask(worker, {"print": 1}) == ["printed"]
    worker.close()


def test_a_worker_that_dies_in_the_middle_of_its_replies_gives_none(start: Start):
    worker = start()
    assert ask(worker, 2, {"exit": 7}) is None
    assert describe_exit(worker.close()) == "exit code 7"
    killed = start()
    os.kill(killed.pid, signal.SIGKILL)
    assert ask(killed, 2) is None  # neither sending nor receiving raises
    assert describe_exit(killed.close()) == "SIGKILL"


def test_a_worker_whose_work_raises_ends_with_its_traceback(capfd: pytest.CaptureFixture[str]):
    @contextmanager
    def open_() -> Iterator[Answer]:
        def answer(_request: bytes) -> Iterator[bytes]:
            raise RuntimeError("a bug")

        yield answer

    worker = fork_worker(open_)
    assert worker.ask(b"?") is None
    assert worker.close() == 1
    assert "RuntimeError: a bug" in capfd.readouterr().err


def test_sigterm_interrupts_the_work_and_leaves_the_context(start: Start, tmp_path: Path):
    mark = tmp_path / "mark"
    worker = start()
    worker.send(to_json([{"say": "begun", "leave": str(mark)}, {"sleep": 60}]))
    assert worker.channel.receive() is not None
    before = time.monotonic()
    worker.close(signal.SIGTERM)
    assert time.monotonic() - before < 5
    assert mark.read_text() == "closed"


def test_sigint_is_left_to_the_parent(start: Start):
    worker = start()
    assert ask(worker, 1) == [10]
    assert os.getsid(worker.pid) == worker.pid  # a terminal's signals do not reach it
    os.kill(worker.pid, signal.SIGINT)
    assert ask(worker, 2) == [20, 21]
    worker.close()


def test_a_worker_that_does_not_end_is_killed(start: Start):
    worker = start()
    worker.send(to_json([{"say": 1}, {"sleep": 60}]))
    assert worker.channel.receive() is not None
    if worker.poll() is None:
        os.kill(worker.pid, signal.SIGSTOP)  # it cannot end by itself
    assert worker.close(signal.SIGTERM, seconds=0.1) == -signal.SIGKILL
    assert worker.close(signal.SIGKILL) == -signal.SIGKILL  # once more does no harm


def test_a_signal_while_it_closes_does_not_bring_a_worker_back_to_its_parent():
    @contextmanager
    def open_() -> Iterator[Answer]:
        yield lambda request: [request]
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()  # the handler runs before this

    worker = fork_worker(open_)
    assert worker.ask(b"3") == [b"3"]
    assert worker.close() == 0


def test_workers_end_when_their_parent_is_killed(
    start: Start, running: Callable[[int], bool], tmp_path: Path
):
    mark = tmp_path / "pids"
    if (parent := os.fork()) == 0:
        workers = [start(), start()]
        for worker in workers:
            ask(worker, 1)
        mark.with_suffix(".new").write_text(json.dumps([worker.pid for worker in workers]))
        mark.with_suffix(".new").rename(mark)
        time.sleep(60)
        os._exit(1)
    assert wait_until(mark.exists)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    pids = json.loads(mark.read_text())
    assert wait_until(lambda: not any(map(running, pids)))


def test_an_execed_worker_ends_with_its_parent_also_in_the_middle_of_its_work(
    running: Callable[[int], bool],
):
    here = Path(toy_worker.__file__).parent
    paths = [str(here), *filter(None, sys.path)]
    worker = exec_worker(["-c", "from exec_child import main; main()"], paths=paths)
    worker.send(to_json([{"say": 1}, {"sleep": 60}]))
    assert worker.channel.receive() is not None
    worker.channel.close()  # as when the parent is gone
    assert wait_until(lambda: worker.poll() is not None)
    assert not running(worker.pid)


def test_a_module_in_the_current_folder_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    here = Path(toy_worker.__file__).parent
    paths = [str(here), *filter(None, sys.path)]
    worker = exec_worker(["-c", "from exec_child import main; main()"], paths=paths)
    assert ask(worker, 1) == [10]
    worker.close()


def test_a_worker_that_is_told_to_end_while_it_ends_never_goes_on_as_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def cleans_up_slowly() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)

    monkeypatch.setattr("aegir_rl.processes.worker.remove_own_folders", cleans_up_slowly)

    @contextmanager
    def open_() -> Iterator[Answer]:
        yield lambda request: [request]

    parent = os.getpid()
    try:
        worker = fork_worker(open_)
    finally:
        if os.getpid() != parent:
            (tmp_path / "escaped").touch()
            os._exit(9)
    assert worker.ask(b"a") == [b"a"]
    worker.close()
    assert not (tmp_path / "escaped").exists()
