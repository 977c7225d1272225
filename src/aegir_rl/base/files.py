"""Files that are written whole or not at all: a full disk or a sudden end leaves what was there before.

    replace_file(path, content)          # all at once

    with replacing(path) as new:         # piece by piece; in place when the block ends without an error
        new.write(b"…")

Promises
  - readers see the old file or the whole new one, and the new one is on the disk before it gets the name;
  - mode and, where the system permits, owner and extended attributes of the old file are kept;
  - folders that are missing are made;
  - a link stays a link: the file it leads to is replaced; a file that may not be written is not replaced;
  - pipes, devices and files that a process holds open (/dev/stdout) are written to directly;
  - what fails to be written raises `UsageError` with the reason; other errors in the block pass through;
  - the hidden file of a process that was killed is removed by the next one that writes into its folder.

Limits: hard links to the old file keep its content. With `unchanged_since`, a program that replaces the file
in the microseconds between the last look and the rename still loses.
"""

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path

from aegir_rl.base.errors import UsageError

try:
    import fcntl
except ImportError:  # Windows has no such locks; there stale files stay
    fcntl = None  # type: ignore[assignment]

PARTIAL_NAME = re.compile(r"\.aegir-[0-9a-f]{16,32}\.partial")
WRITTEN_DIRECTLY = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders whose entries are devices, or files that a process holds open."""


def replace_file(path: Path, content: bytes) -> None:
    """Write `content` beside `path`, flush it to disk, and rename it over `path`."""
    with replacing(path) as new:
        new.write(content)


@contextmanager
def replacing(
    path: Path, *, unchanged_since: os.stat_result | None = None
) -> Iterator["NewContent"]:
    """Give an object to write the new content of `path` to; after an error the old content is kept.

    With `unchanged_since`, a file that was replaced or written to since it had that status is left alone, and
    `UsageError` says so.
    """
    with _write_errors(path):
        new = NewContent(path)
    try:
        yield new
        with _write_errors(path):
            new.finish(unchanged_since)
    finally:
        new.discard()


class NewContent:
    """The new content of a file: written to a hidden file beside it, then renamed over it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._partial: Path | None = None
        self._size = 0
        if path.parent in WRITTEN_DIRECTLY or (path.exists() and not path.is_file()):
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            return
        self._target = Path(os.path.realpath(path))
        self._target.parent.mkdir(parents=True, exist_ok=True)
        if self._target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        old = self._target.stat() if self._target.exists() else None
        if old is not None and not os.access(self._target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        remove_stale_partials(self._target.parent)
        self._partial, self._handle = _create_partial(self._target.parent, 0o600 if old else 0o666)
        if old is not None:
            _copy_attributes(self._target, old, self._partial)

    @property
    def partial(self) -> Path | None:
        """The hidden file that holds what was written so far; None if it went to a pipe or device."""
        return self._partial

    def write(self, content: bytes) -> None:
        """Append to the new content."""
        with _write_errors(self.path):
            left = memoryview(content)
            while left:
                left = left[os.write(self._handle, left) :]
            self._size += len(content)

    def keep(self) -> Path | None:
        """Move what was written so far to a name of its own, and return that; None if it went to a pipe or device.

        A piece that was cut off in the middle is left out.
        """
        if self._partial is None:
            return None
        with _write_errors(self.path):
            os.ftruncate(self._handle, self._size)
            os.fsync(self._handle)
            name = f"{self._target.name}.interrupted"
            names = (name if number == 1 else f"{name}-{number}" for number in count(1))
            kept = next(
                path for path in map(self._target.with_name, names) if not os.path.lexists(path)
            )
            self._partial.rename(kept)
            _sync_folder(kept.parent)
        self._partial = None
        return kept

    def finish(self, unchanged_since: os.stat_result | None = None) -> None:
        """Flush the new content to disk and rename it over the file."""
        if self._partial is not None:
            os.fsync(self._handle)
            if unchanged_since is not None:
                _check_unchanged(self._target, unchanged_since)
            self._partial.replace(self._target)
            _sync_folder(self._target.parent)

    def discard(self) -> None:
        """Close the new content, and remove it unless it was moved."""
        with suppress(OSError):
            os.close(self._handle)
        if self._partial is not None:
            with suppress(OSError):
                self._partial.unlink(missing_ok=True)


@contextmanager
def utf8_path(path: Path) -> Iterator[Path]:
    """A path to the same file whose text is valid UTF-8, as some libraries need: a temporary link if it is not."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        from aegir_rl.base.temporary import private_folder  # few files need it

        with private_folder() as folder:
            link = folder / "content"
            for ending in ("", "-wal", "-shm", ".wal"):  # what SQLite and DuckDB keep beside a file
                beside = Path(f"{path.absolute()}{ending}")
                if beside.exists():
                    Path(f"{link}{ending}").symlink_to(beside)
            yield link
    else:
        yield path


def user_folder() -> Path | None:
    """Return the folder of what the user taught, which need not exist; None for a user without a home."""
    if home := os.environ.get("AEGIR_HOME"):
        return Path(home)
    given = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME", "")
    if Path(given).is_absolute():  # the XDG specification asks that other paths be ignored
        return Path(given) / "aegir"
    try:
        return Path.home() / ".local" / "share" / "aegir"
    except RuntimeError:
        return None


@lru_cache(maxsize=1024)
def remove_stale_partials(folder: Path) -> None:
    """Remove hidden files that killed processes left in a folder; each folder is looked at once.

    A process holds a lock on its hidden file as long as it lives, so a file without one is stale.
    """
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if PARTIAL_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    handle = os.open(entry.path, os.O_RDWR | os.O_NOFOLLOW)
                    try:
                        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        os.unlink(entry.path)  # noqa: PTH108
                    finally:
                        os.close(handle)


def _create_partial(folder: Path, mode: int) -> tuple[Path, int]:
    """Create and lock a hidden file in a folder; return its path and file descriptor."""
    while True:
        path = folder / f".aegir-{os.urandom(8).hex()}.partial"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)  # another process took it for stale before it was locked


def _check_unchanged(path: Path, since: os.stat_result) -> None:
    """Raise if the file is no longer the one that had this status."""
    try:
        now = path.stat()
    except OSError:
        now = None
    if now is None or _identity(now) != _identity(since):
        raise UsageError(
            f"{path} was changed by another program in the meantime and is left as it is; run again"
        )


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Turn an `OSError` into a sentence about this file."""
    try:
        yield
    except OSError as error:
        sentence = f"{path} cannot be written ({error.strerror or error})"
        with suppress(OSError):
            if path.is_file():
                sentence += "; what was there before is untouched"
        raise UsageError(sentence) from None


def _copy_attributes(source: Path, status: os.stat_result, target: Path) -> None:
    """Give `target` the owner, extended attributes and mode of `source`, as far as is permitted."""
    with suppress(OSError):
        os.chown(target, -1, status.st_gid)
    with suppress(OSError):
        os.chown(target, status.st_uid, -1)
    if hasattr(os, "listxattr"):  # Linux
        with suppress(OSError):
            for name in os.listxattr(source):
                with suppress(OSError):
                    os.setxattr(target, name, os.getxattr(source, name))
    with suppress(OSError):
        target.chmod(stat.S_IMODE(status.st_mode))


def _sync_folder(folder: Path) -> None:
    """Flush a rename to disk, where folders can be flushed."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
