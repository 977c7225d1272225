"""Temporary folders: nothing is left behind, whatever ends the process; what a killed one left is swept."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from aegir_rl.base.temporary import (
    OLD_SECONDS,
    make_private_folder,
    private_folder,
    remove_folders_of,
    remove_private_folder,
    remove_stale_folders,
    temporary_name,
)
from aegir_rl.processes.worker import fork_worker

EXAMPLES = Path(__file__).parents[4] / "examples"
HOLDS_A_FOLDER = """
import sys, time
from aegir_rl.base.temporary import make_private_folder
print(make_private_folder(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    remove_stale_folders.cache_clear()
    return tmp_path


def test_a_folder_is_private_and_goes_with_its_block(temporary: Path):
    def fail() -> None:
        with private_folder() as folder:
            (folder / "inside").mkdir()
            assert folder.parent == temporary
            assert folder.stat().st_mode & 0o777 == 0o700
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(temporary.iterdir()) == []


def _left_by(number: int, temporary: Path, seconds: float) -> Path:
    folder = temporary / f"aegir-{number}-0123456789abcdef"
    folder.mkdir()
    (folder / "content").write_text("x")
    os.utime(folder, (time.time() - seconds,) * 2)
    return folder


def test_what_a_killed_process_left_is_swept_when_it_is_old_and_ours(temporary: Path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    old = _left_by(ended.pid, temporary, OLD_SECONDS + 60)
    kept = [
        _left_by(os.getppid(), temporary, OLD_SECONDS + 60),  # a process that runs
        temporary / f"aegir-{ended.pid}-new",
        temporary / "aegir-of-somebody-else",
        temporary / f"other-{ended.pid}-0123456789abcdef",
    ]
    for path in kept[1:]:
        path.mkdir()
    for path in kept[2:]:
        os.utime(path, (0, 0))
    (temporary / f"aegir-{ended.pid}-link").symlink_to(kept[3], target_is_directory=True)
    with private_folder():
        assert not old.exists()
        assert all(path.exists() for path in kept)


def test_a_locked_folder_is_not_swept_although_its_process_cannot_be_seen(temporary: Path):
    folder = make_private_folder()
    hidden = temporary / "aegir-999999999-0123456789abcdef"  # as seen from another container
    folder.rename(hidden)
    os.utime(hidden, (0, 0))
    remove_stale_folders.cache_clear()
    remove_stale_folders(temporary)
    assert hidden.exists()
    remove_private_folder(folder)  # its lock ends
    remove_stale_folders.cache_clear()
    remove_stale_folders(temporary)
    assert not hidden.exists()


def test_a_process_that_ends_without_closing_leaves_nothing_and_a_killed_one_one_folder(
    temporary: Path,
):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDS_A_FOLDER], **pipes) as process:
        assert Path(process.stdout.readline().strip()).is_dir()
        process.stdin.close()
        assert process.wait() == 0
    assert list(temporary.iterdir()) == []
    with subprocess.Popen([sys.executable, "-c", HOLDS_A_FOLDER], **pipes) as process:
        left = Path(process.stdout.readline().strip())
        process.kill()
    os.utime(left, (0, 0))
    with private_folder():
        assert not left.exists()


def test_a_forked_worker_removes_its_own_folders_and_not_those_of_its_parent(temporary: Path):
    @contextmanager
    def open_():
        make_private_folder()
        temporary_name("spilled").mkdir()
        yield lambda _request: [b"made"]

    with private_folder() as mine:
        worker = fork_worker(open_)
        assert worker.ask(b"?") == [b"made"]
        assert len(list(temporary.iterdir())) == 3
        worker.close(signal.SIGTERM)
        assert list(temporary.iterdir()) == [mine]


def test_folders_of_a_process_with_the_same_number_in_another_container_are_left(temporary: Path):
    """A process ends, and is swept after, while another one holds a folder with its number in the name."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDS_A_FOLDER], **pipes) as process:
        own = Path(process.stdout.readline().strip())
        locked = make_private_folder()
        other = temporary / f"aegir-{process.pid}-0123456789abcdef"
        locked.rename(other)
        process.stdin.close()
        assert process.wait() == 0
    assert not own.exists()
    assert other.exists()
    remove_folders_of(process.pid)
    assert other.exists()
    remove_private_folder(locked)  # its lock ends
    remove_folders_of(process.pid)
    assert not other.exists()


SLOW_VIEW = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (a)")
    connection.execute("CREATE VIEW v AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c")
    connection.commit()
    import os; os._exit(0)
"""


@pytest.mark.parametrize("end", [None, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_annotating_leaves_no_folder_whatever_ends_it(
    temporary: Path, tmp_path_factory: pytest.TempPathFactory, end: signal.Signals | None
):
    slow = tmp_path_factory.mktemp("data") / "slow.sqlite"
    subprocess.run([sys.executable, "-c", SLOW_VIEW, str(slow)], check=True)
    assert slow.with_name("slow.sqlite-wal").exists()  # so that it is read from a copy
    files = [EXAMPLES / "shop.xlsx", *([slow] if end else [])]
    command = [sys.executable, "-m", "aegir", "annotate", *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while end and not list(temporary.glob("aegir-*/*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        if end:
            assert list(temporary.glob("aegir-*/*")), "the copy is there while it is read"
            process.send_signal(end)
        code = process.wait()
    assert code == (0 if end is None else 128 + end)
    assert list(temporary.iterdir()) == []
