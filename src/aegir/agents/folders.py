"""The folders that an agent may read: every name it gives is resolved, and what leads elsewhere is refused.

    folders = ReadableFolders([Path("lake")])
    folders.find("customers.csv")              /srv/lake/customers.csv
    folders.find("../../etc/passwd")           UsageError: … is outside of the folders that may be read

Promises
  - a name is judged by where it leads once links are followed, before anything is opened, and in the same words
    whether there is such a file or not;
  - hidden files and folders (`.env`, `.ssh`), addresses, patterns and standard input are refused;
  - files of a folder that lead outside are left out, and counted.

Limit: who may change these folders while a file is being opened can swap it for a link.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from aegir.pipeline.folders import find_tables_among
from aegir.tables.formats import is_url
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount


class ReadableFolders:
    """Folders below which files may be read."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Raise `UsageError` for what is no folder, and for an empty list."""
        if not folders:
            raise UsageError("no folder may be read; name one, such as: aegir mcp lake/")
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(f"there is no folder {folder}; name folders that may be read")
        self.roots = tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))

    def __str__(self) -> str:
        return ", ".join(map(str, self.roots))

    def find(self, name: str) -> Path:
        """Return the file or folder that a name means; a relative one is looked for in every folder, in their order."""
        if not name or name == "-" or is_url(name) or "\0" in name:
            raise UsageError(
                f"{name!r} is no name of a file; give a file or folder below {self}, addresses are not read"
            )
        places = [place for root in self.roots if (place := self._within(root / name))]
        if not places:
            raise UsageError(
                f"{name} is outside of the folders that may be read, or hidden; they are {self}"
            )
        for place in places:
            if place.exists():
                return place
        raise UsageError(
            f"there is no file or folder {name} in {self}; give a folder to see what it holds"
        )

    def find_tables(self, name: str, say: Callable[[str], None]) -> list[Path]:
        """Return the files that a name leads to; `say` is called with a sentence about those that are left out."""
        place = self.find(name)
        if not place.is_dir():
            return [place]
        files = find_tables_among(place, say)
        inside = [file for file in files if self._within(file)]
        if len(inside) < len(files):
            left = amount(len(files) - len(inside), "file")
            say(f"{left} in {name} left out: a link leads outside of the folders that may be read")
        return inside

    def _within(self, path: Path) -> Path | None:
        """Where a path leads; None if that is outside or hidden."""
        try:
            real = Path(os.path.realpath(path))
        except (OSError, ValueError):  # a name that is too long
            return None
        for root in self.roots:
            if real.is_relative_to(root):
                hidden = any(part.startswith(".") for part in real.relative_to(root).parts)
                return None if hidden else real
        return None
