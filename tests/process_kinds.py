"""Forked and exec'ed workers, which keep the same promises."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aegir_rl.processes.worker import Worker, exec_worker, fork_worker
from toy_worker import open_toy

HERE = Path(__file__).parent

Start = Callable[[], Worker]


def fork_toy() -> Worker:
    return fork_worker(open_toy)


def exec_toy() -> Worker:
    program = ["-c", "from exec_child import main; main()"]
    paths = [str(HERE), *filter(None, sys.path)]
    return exec_worker(program, paths=paths, output=subprocess.DEVNULL, errors=subprocess.DEVNULL)


@pytest.fixture(params=[fork_toy, exec_toy], ids=["fork", "exec"])
def start(request: pytest.FixtureRequest) -> Start:
    return request.param


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def running() -> Callable[[int], bool]:
    return is_running


@pytest.fixture(autouse=True)
def _in_this_process_only():
    """A forked worker that came back from its work would run other tests."""
    here = os.getpid()
    yield
    if os.getpid() != here:
        os._exit(1)
