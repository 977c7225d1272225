"""Temporary folders that are not left behind.

    with private_folder() as folder: ...          aegir-PID-RANDOM in the temporary folder, for this user alone

Promises
  - a folder is removed when its block ends, however that is, and else when the process ends;
  - a forked worker removes its own when it ends (aegir_rl.processes.worker), and whoever kills a process removes those of that
    process (`remove_folders_of`);
  - a folder of a living process with the same number, in another container that shares the temporary folder, is left alone;
  - what a killed process left is removed by the next process that makes a folder, if it belongs to the same user, its
    process is gone, nothing holds its lock and it is older than `OLD_SECONDS`.

Limit: on systems without such locks the number of the process and the age decide alone.
"""

import atexit
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

OLD_SECONDS = 3600
_NAME = re.compile(r"aegir-(\d+)-\w+")
_TOKEN = secrets.token_hex(4)
"""Tells names of this process from those of one with the same number in another container."""
_locks: dict[Path, int] = {}
"""The folders that this process made, and the file descriptors that hold their locks."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder that only this user can read; removed when the block ends."""
    folder = make_private_folder()
    try:
        yield folder
    finally:
        remove_private_folder(folder)


def make_private_folder() -> Path:
    """Make such a folder; it is removed by `remove_private_folder`, or when the process ends."""
    parent = Path(tempfile.gettempdir())
    remove_stale_folders(parent)
    folder = temporary_name(secrets.token_hex(4))
    folder.mkdir(mode=0o700)
    _locks[folder] = -1
    with suppress(OSError):  # a file system without locks
        _locks[folder] = os.open(folder, os.O_RDONLY)
        if fcntl is not None:
            fcntl.flock(_locks[folder], fcntl.LOCK_EX | fcntl.LOCK_NB)
    return folder


def temporary_name(ending: str) -> Path:
    """Return a path for a temporary folder of this process, which need not be made; it is swept like the others."""
    return Path(tempfile.gettempdir()) / f"{_own_prefix()}{ending}"


def remove_private_folder(folder: Path) -> None:
    """Remove a folder of `make_private_folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        os.close(_locks.pop(folder, -1))


@atexit.register
def remove_own_folders() -> None:
    """Remove the folders of this process; those of the process it was forked from are left alone."""
    for path, _ in _folders(Path(tempfile.gettempdir())):
        if path.name.startswith(_own_prefix()):
            remove_private_folder(path)


def remove_folders_of(process: int) -> None:
    """Remove the folders of another process, which has ended; those that are locked belong to one that lives."""
    for path, number in _folders(Path(tempfile.gettempdir())):
        with suppress(OSError):
            if number == process and not _is_locked(path):
                shutil.rmtree(path, ignore_errors=True)


def _own_prefix() -> str:
    return f"aegir-{os.getpid()}-{_TOKEN}"


@lru_cache(maxsize=16)
def remove_stale_folders(parent: Path) -> None:
    """Remove what killed processes of this user left in a temporary folder; each is looked at once."""
    for path, number in _folders(parent):
        with suppress(OSError):
            old = time.time() - path.stat().st_mtime > OLD_SECONDS
            if old and not _is_running(number) and not _is_locked(path):
                shutil.rmtree(path, ignore_errors=True)


def _folders(parent: Path) -> Iterator[tuple[Path, int]]:
    """Yield the folders of this user that have such a name, and the numbers of their processes."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match and entry.is_dir(follow_symlinks=False):
                mine = not hasattr(os, "geteuid") or (
                    entry.stat(follow_symlinks=False).st_uid == os.geteuid()
                )
                if mine:
                    yield Path(entry.path), int(match[1])


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # a process of another user
        return True
    return True


def _is_locked(folder: Path) -> bool:
    if fcntl is None:
        return False
    handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
