"""Read Parquet, Arrow, workbooks and databases in a separate process, within limits.

    read_tables ── path, format, request ──▶ reader process ── read_container ──▶ DuckDB, PyArrow, …
                ◀── one table at a time ────                                      (C, C++ and Rust)

A damaged or hostile file can make a native library crash, loop or allocate without bound, and the process
in which that happens cannot recover. Here it is a process of its own.

What it stops
  - crashes: the file gets one sentence, and the next file gets a new process;
  - endless work: `SECONDS` of CPU time and one more per MB of the file, `PATIENCE` times that on the clock;
    for a database `SECONDS` per table, whatever its size;
  - memory: `MEMORY` and `MEMORY_PER_BYTE` for each byte of the file (Linux only: other systems accept the
    limit and do not enforce it);
  - leftovers: temporary files are deleted with the process; few files need any.

What it does not stop: a file that takes control of a library. The process has all rights of its user.

A process serves one file at a time and is kept for the next one; it is started on first use, which takes about
as long as importing numpy and DuckDB.
"""

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegir.tables.assembling import Request
from aegir.tables.formats import Format
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError
from aegir_rl.base.temporary import remove_folders_of, remove_stale_folders
from aegir_rl.processes.channel import TooLong
from aegir_rl.processes.plain import from_plain, to_json
from aegir_rl.processes.worker import describe_exit, exec_worker, serve_parent

SECONDS = 5
SECONDS_PER_MB = 1
PATIENCE = 1.6
MEMORY = 640 << 20
MEMORY_PER_BYTE = 10
REUSABLE_MEMORY = 256 << 20
"""A process that holds more memory than this after reading a file is not used again."""
ANSWER_LIMIT = 128 << 20
IDLE_PROCESSES = 2
PROGRAM = "from aegir.tables.reader_process import serve; serve()"
DATABASES = (Format.SQLITE, Format.DUCKDB)
OUT_OF_TIME = (signal.SIGPROF, signal.SIGALRM)

_idle: list["ReaderProcess"] = []
_open: set["ReaderProcess"] = set()


def read_in_process(path: Path, format_: Format, request: Request) -> Iterator[Table]:
    """Yield the tables that `read_container` yields, read by a reader process."""
    reader = _take_reader()
    try:
        yield from reader.read(path, format_, request)
    finally:
        if reader.is_reusable and len(_idle) < IDLE_PROCESSES:
            _idle.append(reader)
        else:
            reader.close()


def read_container(path: Path, format_: Format, request: Request) -> Iterator[Table]:
    """Yield the tables of a file that is neither text nor an archive, read in this process."""
    if format_ is Format.PARQUET:
        from aegir.tables.columnar import read_parquet

        yield from read_parquet(path, request)
    elif format_ in (Format.ARROW_FILE, Format.ARROW_STREAM):
        from aegir.tables.columnar import read_arrow_file

        yield from read_arrow_file(path, format_, request)
    elif format_ in (Format.AVRO, Format.ORC):
        from aegir.tables.avro_orc import read_extra

        yield from read_extra(path, format_, request)
    elif format_ is Format.SQLITE:
        from aegir.tables.databases import read_sqlite

        yield from read_sqlite(path, request)
    elif format_ is Format.DUCKDB:
        from aegir.tables.databases import read_duckdb

        yield from read_duckdb(path, request)
    else:
        from aegir.tables.spreadsheets import read_workbook

        yield from read_workbook(path, request)


class ReaderProcess:
    """A child process that reads one file at a time; `close` ends it."""

    def __init__(self) -> None:
        remove_stale_folders(Path(tempfile.gettempdir()))
        self._worker = exec_worker(
            ["-c", PROGRAM],
            paths=[str(Path(__file__).parents[2]), *filter(None, sys.path)],
            environment={
                "TMPDIR": tempfile.gettempdir(),
                "OPENBLAS_NUM_THREADS": "1",
                "ARROW_DEFAULT_MEMORY_POOL": "system",  # the others reserve memory that counts as used
            },
            output=subprocess.DEVNULL,  # libraries may print
            errors=subprocess.DEVNULL,
        )
        self._ready = True
        _open.add(self)

    @property
    def is_reusable(self) -> bool:
        """Whether the last file was read to its end, or refused, and the process can read another."""
        return self._ready and self._worker.poll() is None

    def read(self, path: Path, format_: Format, request: Request) -> Iterator[Table]:
        """Yield the tables of a file; `UnreadableTable` when it is refused or the process ends."""
        self._ready = False
        # Of a database only the sampled rows are read, so its size does not matter.
        size = 0 if format_ in DATABASES else path.stat().st_size
        order = _Order(
            path=str(path.absolute()),
            format=format_,
            request=request,
            seconds=SECONDS + SECONDS_PER_MB * (size >> 20),
            memory=MEMORY + MEMORY_PER_BYTE * size,
        )
        self._worker.send(to_json(order))
        while "table" in (answer := json.loads(self._receive(order))):
            yield from_plain(Table, answer["table"])
        self._receive(order)  # END
        self._ready = answer["reusable"]
        if "error" in answer:
            raise UnreadableTable(answer["error"])

    def close(self) -> None:
        """End the process and delete its temporary files."""
        _open.discard(self)
        self._worker.close(signal.SIGKILL)
        remove_folders_of(self._worker.pid)

    def _receive(self, order: "_Order") -> bytes:
        try:
            message = self._worker.channel.receive(ANSWER_LIMIT)
        except TooLong:
            raise UnreadableTable(
                f"the sample of {order.request.label} is larger than {ANSWER_LIMIT >> 20} MB; "
                "ask for fewer rows"
            ) from None
        if message is None:
            raise UnreadableTable(order.describe_end(self._worker.close()))
        return message


@dataclass(frozen=True, slots=True)
class _Order:
    """A file to be read, and within which limits."""

    path: str
    format: Format
    request: Request
    seconds: float
    memory: int

    def describe_end(self, exit_code: int) -> str:
        """The sentence for a process that ended while it read this file."""
        data = f"{self.request.label} is {self.format} data"
        if -exit_code in OUT_OF_TIME:
            return f"{data} that takes more than {self.seconds:g} seconds to sample; save it as CSV"
        return f"{data} that stops its reader ({describe_exit(exit_code)}); {self._too_large}"

    def describe_error(self, error: Exception) -> str:
        """The sentence for an exception that reading this file raised."""
        if isinstance(error, UnreadableTable | UsageError):
            return str(error)
        data = f"{self.request.label} is {self.format} data"
        if isinstance(error, MemoryError):
            return f"{data} that cannot be read; {self._too_large}"
        reason = (str(error).strip().splitlines() or [""])[0].rstrip(".")
        return f"{data} that cannot be read ({type(error).__name__}: {reason})"

    @property
    def _too_large(self) -> str:
        return f"it is damaged or needs more than {self.memory >> 20:,} MB of memory"


def serve() -> None:
    """Read the files that the parent names until it is gone; runs in the child."""
    serve_parent(lambda _requests: nullcontext(_read_file))


def _read_file(request: bytes) -> Iterator[bytes]:
    """Yield the tables of a file, then how it ended: after its last table or with an error."""
    order = from_plain(_Order, json.loads(request))
    _limit_resources(order)
    tables = read_container(Path(order.path), order.format, order.request)
    while True:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE * order.seconds)
        answer = _next_answer(tables, order)
        signal.setitimer(signal.ITIMER_REAL, 0)  # the parent takes its time between tables
        yield to_json(answer)
        if "table" not in answer:
            return
        if order.format in DATABASES:  # each table has a time of its own
            signal.setitimer(signal.ITIMER_PROF, order.seconds)


def _next_answer(tables: Iterator[Table], order: _Order) -> dict[str, Any]:
    try:
        table = next(tables, None)
        if table is not None:
            return {"table": table}
    except Exception as error:  # of any kind: whatever a file holds, it leads to one sentence
        reusable = isinstance(error, UnreadableTable) and _is_small()
        return {"error": order.describe_error(error), "reusable": reusable}
    return {"reusable": _is_small()}


def _take_reader() -> ReaderProcess:
    while _idle:
        with suppress(IndexError):  # another thread took it
            reader = _idle.pop()
            if reader.is_reusable:
                return reader
            reader.close()
    return ReaderProcess()


@atexit.register
def close_readers() -> None:
    """End the processes that wait for the next file, and those whose file is not read to its end."""
    _idle.clear()
    while _open:
        _open.pop().close()


def _leave_readers_to_parent() -> None:
    """Forget the parent's readers in a forked process."""
    _idle.clear()
    _open.clear()


os.register_at_fork(after_in_child=_leave_readers_to_parent)


def _limit_resources(order: _Order) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = order.memory if hard == resource.RLIM_INFINITY else min(order.memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_PROF, order.seconds)


def _is_small() -> bool:
    """Whether this process holds little memory, by what counts towards its limit."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[5])
    except OSError:
        return True  # no limit is enforced here either
    return pages * resource.getpagesize() < REUSABLE_MEMORY
