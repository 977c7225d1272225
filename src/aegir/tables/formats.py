"""Which files hold tables, and the format of each: names, folders and patterns in, a sorted list of files out.

    find_table_files(["shop.csv", "lake", "archive/**/*.parquet"])

`recognise` compares magic numbers; whether text is JSON or delimited is decided by reading it. Suffixes only
decide which files of a folder or an archive are opened at all.

Promises
  - a file asked for by name is kept whatever it is called; in folders and patterns only known
    suffixes count, hidden files and folders are skipped;
  - each file comes once, arguments in the order given, files of a folder sorted;
  - links that lead in circles are followed once; pipes and devices are skipped;
  - what should have been looked at and cannot be (a link to nothing, a folder without permission) is in
    the list as well: reading it raises the sentence that says why.
"""

import glob
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import dropwhile
from pathlib import Path
from urllib.parse import urlsplit

from aegir_rl.base.errors import UnreadableTable, UsageError, reason_of
from aegir_rl.base.text import read_tsv


class Format(StrEnum):
    """The formats that Aegir opens; the values appear in messages."""

    TEXT = "text"
    PARQUET = "Parquet"
    ARROW_FILE = "Arrow file"
    ARROW_STREAM = "Arrow stream"
    SQLITE = "SQLite"
    DUCKDB = "DuckDB"
    ZIP = "zip"
    WORKBOOK = "workbook"
    AVRO = "Avro"
    ORC = "ORC"
    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"
    ZSTD = "zstd"


COMPRESSED = (Format.GZIP, Format.BZIP2, Format.XZ, Format.ZSTD)

MAGIC = tuple(
    (int(offset), magic.encode().decode("unicode_escape").encode("latin-1"), content)
    for _, (offset, magic, content) in read_tsv(
        Path(__file__).with_name("formats.tsv"), "offset magic content"
    )
)
"""Where a magic number stands, the number, and a `Format`, or what is refused: a message that names the content says more
than "binary data"."""
MAGIC_LENGTH = 512

SUFFIXES = (
    *(".csv", ".tsv", ".tab", ".psv", ".txt", ".json", ".jsonl", ".ndjson", ".geojson"),
    *(".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows", ".avro", ".orc"),
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    *(".sqlite", ".sqlite3", ".db", ".db3", ".duckdb", ".zip"),
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
WEB = ("http", "https")
STORES = {"s3": "s3fs", "gs": "gcsfs", "abfs": "adlfs", "az": "adlfs"}
"""Schemes of object stores, and the package that fsspec needs for each."""
COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def recognise(head: bytes, label: str) -> Format:
    """Return the format of content that begins with `head`; `UnreadableTable` for formats that hold no table."""
    for offset, magic, content in MAGIC:
        if head.startswith(magic, offset):
            if content in tuple(Format):
                return Format(content)
            is_what = f"{label} is {content}"
            raise UnreadableTable(is_what if ";" in content else f"{is_what}, not a table")
    return Format.TEXT


def has_known_suffix(name: str) -> bool:
    """Whether a file of this name is opened when it lies in a folder or an archive."""
    name = name.lower()
    for suffix in COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.endswith(SUFFIXES)


def is_url(source: object) -> bool:
    """Whether a source looks like an address of any scheme."""
    return isinstance(source, str) and _SCHEME.match(source) is not None


def is_remote(source: object) -> bool:
    """Whether a source is an address of files."""
    return is_url(source) and str(source).partition("://")[0].lower() in (*WEB, *STORES)


def show_address(address: str) -> str:
    """An address as it may be shown: without user, password, parameters and fragment."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def find_table_files(
    paths: Sequence[str | Path], skip: Callable[[Path], None] = lambda _path: None
) -> list[Path]:
    """Expand files, folders and patterns; `UsageError` for what leads to no table.

    `skip` is called with every file of a folder that is not in the list because of its suffix.
    """
    files: dict[Path, None] = {}
    for argument in paths:
        files.update(dict.fromkeys(_expand(argument, skip)))
    return list(files)


def is_expanded(argument: str | Path) -> bool:
    """Whether an argument is a folder or a pattern, which lead to files that nobody has named."""
    path = Path(argument)
    try:
        return path.is_dir() or not (path.exists() or path.is_symlink())
    except (OSError, ValueError):
        return False


def _expand(argument: str | Path, skip: Callable[[Path], None]) -> list[Path]:
    path = Path(argument)
    if argument == "":  # Path("") would be this folder; most likely a variable that is not set
        raise UsageError("the name of a table is empty; give a file, a folder or a pattern")
    if str(argument) == "-":
        return [path]
    try:
        if path.is_dir():
            return _in_folder(path, skip)
        if path.exists() or path.is_symlink():
            return [path]
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(argument)!r} cannot be looked at ({reason_of(error)})") from error
    if glob.has_magic(str(argument)):
        return _matching(str(argument))
    raise UsageError(f"there is no file or folder {argument}")


def _in_folder(folder: Path, skip: Callable[[Path], None]) -> list[Path]:
    files = sorted(_walk(folder, skip))
    if not files:
        raise UsageError(
            f"the folder {folder} holds no tables; Aegir looks for {_suffix_list()}; "
            "name a file to read it whatever its suffix"
        )
    return files


def _walk(folder: Path, skip: Callable[[Path], None]) -> Iterator[Path]:
    closed: list[Path] = []

    def remember(error: OSError) -> None:
        closed.append(Path(os.fsdecode(error.filename or folder)))

    for parent, folders, files in os.walk(folder, onerror=remember):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(parent) / name
            if name.startswith(".") or not _is_file_or_broken(path):
                continue
            if has_known_suffix(name):
                yield path
            else:
                skip(path)
    yield from closed


def _is_file_or_broken(path: Path) -> bool:
    """Whether this is a file, or something whose kind cannot be found out: reading it will say why."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def _matching(pattern: str) -> list[Path]:
    closed: list[Path] = []
    # Patterns follow links to folders: of several ways to a file, the shortest is kept.
    real: dict[str, Path] = {}
    for path in sorted(_glob(Path(pattern), closed), key=lambda path: (len(path.parts), path)):
        if _is_file_or_broken(path):
            real.setdefault(os.path.realpath(path), path)
    files = sorted(real.values())
    known = [path for path in files if has_known_suffix(path.name)]
    if not files and not closed:
        raise UsageError(f"no file matches {pattern}")
    # A pattern such as *.dat names its suffix on purpose.
    return (known or files) + closed


def _glob(pattern: Path, closed: list[Path]) -> Iterator[Path]:
    """Yield what matches a pattern; folders below `**` that cannot be listed are added to `closed`.

    `glob` walks through links in circles until their path is too long: two links to their own folder are 2^40 paths.
    """
    parts = pattern.parts
    if "**" not in parts:
        yield from map(Path, glob.glob(str(pattern)))  # noqa: PTH207 (absolute patterns)
        return
    at = parts.index("**")
    rest = list(dropwhile(lambda part: part == "**", parts[at:])) or ["*"]
    for top in glob.glob(str(Path(*parts[:at]))):  # noqa: PTH207
        for folder in _folders_below(top, closed):
            yield from _glob(Path(glob.escape(folder), *rest), closed)


def _folders_below(top: str, closed: list[Path]) -> Iterator[str]:
    """Yield a folder and all folders below it, each once however many links lead to it; hidden ones are skipped."""
    seen: set[tuple[int, int]] = set()
    level = [(False, top)] if Path(top).is_dir() else []
    while level:
        below = []
        for _, folder in sorted(level):  # real folders before links to them
            try:
                status = os.stat(folder)  # noqa: PTH116
                if (status.st_dev, status.st_ino) in seen:
                    continue
                seen.add((status.st_dev, status.st_ino))
                with os.scandir(folder) as entries:
                    below += [
                        (entry.is_symlink(), entry.path)
                        for entry in entries
                        if not entry.name.startswith(".") and Path(entry.path).is_dir()
                    ]
            except OSError:
                closed.append(Path(folder))
                continue
            yield folder
        level = below


def _suffix_list() -> str:
    return f"{' '.join(SUFFIXES)} (also with {' '.join(COMPRESSION_SUFFIXES)})"
