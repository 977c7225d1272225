"""Folders for what requests bring, each for one request at a time.

    folders = RequestFolders(folder)
    with folders.take() as folder: ...        empty now, and emptied afterwards

A folder is used again: deleting one takes 4 ms on some file systems (ext4), during which the service could answer nobody, and
deleting the files in it 0.05 ms.

Promise: a request never finds files of another one. A folder that cannot be emptied, or whose request was abandoned, so that a worker
may still be at it, is deleted.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from aegir_rl.base.errors import AegirError


class RequestFolders:
    """Folders inside one that exists; as many as there are requests at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._free: list[Path] = []
        self._numbers = count()

    @contextmanager
    def take(self) -> Iterator[Path]:
        """An empty folder."""
        folder = self._free.pop() if self._free else self._make()
        answered = False
        try:
            yield folder
            answered = True
        except AegirError:
            answered = True
            raise
        finally:
            if answered and _is_emptied(folder):
                self._free.append(folder)
            else:
                shutil.rmtree(folder, ignore_errors=True)

    def _make(self) -> Path:
        folder = self._folder / f"request-{next(self._numbers)}"
        folder.mkdir()
        return folder


def _is_emptied(folder: Path) -> bool:
    """Delete the files in a folder, and return whether nothing is left in it."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                os.unlink(entry.path)  # noqa: PTH108 (a path that is text already)
    except OSError:
        return False
    return True
