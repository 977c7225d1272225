"""Which files hold tables: names, folders and patterns in, a sorted list of files out.

    find_table_files(["shop.csv", "lake", "archive/**/*.parquet"])

Promises
  - a file asked for by name is kept whatever it is called; in folders and patterns only known
    suffixes count, hidden files and folders are skipped;
  - each file comes once, arguments in the order given, files of a folder sorted;
  - links that lead in circles do not trap it; pipes and devices are skipped;
  - what should have been looked at and cannot be (a link to nothing, a folder without permission) is in
    the list as well: reading it gives the sentence that says why, so nothing is passed over in silence.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from aegir.errors import UsageError
from aegir.tables.formats import COMPRESSION_SUFFIXES, SUFFIXES, has_known_suffix


def find_table_files(paths: Sequence[str | Path]) -> list[Path]:
    """Expand files, folders and patterns; `UsageError` for what leads to no table."""
    found: dict[Path, None] = {}
    for given in paths:
        found.update(dict.fromkeys(_expand(given)))
    return list(found)


def _expand(given: str | Path) -> list[Path]:
    path = Path(given)
    if given == "":  # Path("") would be this folder; most likely a variable that is not set
        raise UsageError("the name of a table is empty; give a file, a folder or a pattern")
    if str(given) == "-":
        return [path]
    try:
        if path.is_dir():
            return _in_folder(path)
        if path.exists() or path.is_symlink():
            return [path]
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(given)!r} cannot be looked at ({error})") from error
    if glob.has_magic(str(given)):
        return _matching(str(given))
    raise UsageError(f"there is no file or folder {given}")


def _in_folder(folder: Path) -> list[Path]:
    files = sorted(_walk(folder))
    if not files:
        raise UsageError(
            f"the folder {folder} holds no tables; Aegir looks for {_suffix_list()}; "
            "name a file to read it whatever its suffix"
        )
    return files


def _walk(folder: Path) -> Iterator[Path]:
    closed: list[Path] = []

    def remember(error: OSError) -> None:
        closed.append(Path(os.fsdecode(error.filename)))

    for parent, folders, files in os.walk(folder, onerror=remember):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(parent) / name
            if not name.startswith(".") and has_known_suffix(name) and _is_file_or_broken(path):
                yield path
    yield from closed


def _is_file_or_broken(path: Path) -> bool:
    """A file, or a link that leads to nothing."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def _matching(pattern: str) -> list[Path]:
    matches = (Path(match) for match in glob.glob(pattern, recursive=True))  # noqa: PTH207 (absolute patterns)
    # Patterns follow links to folders, even in circles: the shortest way to a file is kept.
    real: dict[Path, Path] = {}
    for path in sorted(matches, key=lambda path: (len(path.parts), path)):
        if _is_file_or_broken(path):
            real.setdefault(path.resolve(), path)
    files = sorted(real.values())
    known = [path for path in files if has_known_suffix(path.name)]
    if not files:
        raise UsageError(f"no file matches {pattern}")
    # A pattern such as *.dat names its suffix on purpose.
    return known or files


def _suffix_list() -> str:
    return f"{' '.join(SUFFIXES)} (also with {' '.join(COMPRESSION_SUFFIXES)})"
