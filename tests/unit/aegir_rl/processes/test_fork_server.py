"""A process that forks workers: who ends with whom."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes.channel import Channel
from aegir_rl.processes.fork_server import ForkServer, StartedWorker
from aegir_rl.processes.worker import END, Answer
from used_up_descriptors import no_descriptors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
Running = Callable[[int], bool]
LOADED: list[object] = []


@contextmanager
def open_() -> Iterator[Answer]:
    yield lambda request: [request + b" by %d of %d" % (os.getpid(), len(LOADED))]


def build() -> tuple[Callable[[], object], dict[str, int]]:
    LOADED.append(os.getpid())
    return open_, {"loaded by": os.getpid()}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ForkServer]:
    opened = ForkServer(build, (tmp_path / "ended").touch)
    yield opened
    opened.close()
    assert (tmp_path / "ended").exists()


def ask(worker: StartedWorker, request: bytes) -> bytes | None:
    channel = Channel(worker.connection)
    channel.send(request)
    reply = channel.receive()
    assert reply is None or channel.receive() == END
    channel.close()
    return reply


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_a_worker_for_whose_channel_no_descriptor_is_left_is_told(server: ForkServer):
    server.wait_until_ready()
    with no_descriptors(), pytest.raises(OSError, match="Too many open files"):
        server.start_worker()
    assert ask(server.start_worker(), b"?") is not None


def test_what_is_loaded_is_loaded_once_and_elsewhere(server: ForkServer):
    assert server.wait_until_ready() == {"loaded by": server.pid}
    workers = [server.start_worker() for _ in range(3)]
    assert [ask(worker, b"?") for worker in workers] == [
        b"? by %d of 1" % worker.pid for worker in workers
    ]
    assert len({worker.pid for worker in workers}) == 3
    assert LOADED == []  # in this process


def test_a_worker_that_is_killed_leaves_no_zombie_and_another_is_started(
    server: ForkServer, running: Running
):
    first = server.start_worker()
    first.connection.close()
    os.kill(first.pid, signal.SIGKILL)
    assert wait_until(lambda: not Path(f"/proc/{first.pid}").exists())
    assert ask(server.start_worker(), b"!") is not None
    assert running(server.pid)


def test_signals_that_supervisors_send_to_everybody_are_left_to_the_program(
    server: ForkServer, running: Running
):
    worker = server.start_worker()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(server.pid, number)
        os.kill(worker.pid, number)
    assert ask(worker, b"still here") is not None
    assert running(server.pid)


def test_workers_end_when_the_program_closes_their_connection(server: ForkServer, running: Running):
    worker = server.start_worker()
    assert running(worker.pid)
    worker.connection.close()
    assert wait_until(lambda: not running(worker.pid))


def test_what_cannot_be_loaded_is_raised_where_it_is_waited_for(tmp_path: Path):
    def fail() -> tuple[Callable[[], object], None]:
        raise UsageError("there are no weights")

    server = ForkServer(fail, (tmp_path / "ended").touch)
    with pytest.raises(UsageError, match="there are no weights"):
        server.wait_until_ready()
    server.close()
    assert (tmp_path / "ended").exists()


def test_a_server_that_is_gone_is_an_error_in_one_sentence(capfd: pytest.CaptureFixture[str]):
    def crash() -> tuple[Callable[[], object], None]:
        raise RuntimeError("a bug")

    broken = ForkServer(crash, lambda: None)
    with pytest.raises(AegirError, match="its message is above"):
        broken.wait_until_ready()
    broken.close()
    assert "RuntimeError: a bug" in capfd.readouterr().err
    killed = ForkServer(build, lambda: None)
    killed.wait_until_ready()
    os.kill(killed.pid, signal.SIGKILL)
    with pytest.raises(AegirError, match="the process that starts workers has ended"):
        killed.start_worker()
    killed.close()
