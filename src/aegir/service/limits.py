"""What a request may cost, and the refusal of one that costs more.

    RequestLimits(upload_bytes=16 << 20)          the sizes, counts and times that hold for every request
    raise Refused(429, "…", retry_after=2) what a sender is told, with the HTTP status

Not here: receiving within the limits (uploads.py), unpacking within them (sources.py), time at work (job_queue.py).
"""

import errno
import os
from dataclasses import dataclass

from aegir_rl.base.errors import AegirError, CheckFailed, UnreadableTable, UsageError


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may cost, and how many are taken in at once."""

    upload_bytes: int = 64 << 20
    """Of all files of a request together."""
    unpacked_bytes: int = 256 << 20
    """Of a compressed file or an archive."""
    files: int = 32
    columns: int = 2_000
    """Of all tables of a request together."""
    seconds: float = 30.0
    """For a request at work."""
    header_seconds: float = 15.0
    """For the headers of a request to arrive."""
    upload_seconds: float = 60.0
    """For the body of a request to arrive, and for a client to go on reading its response."""
    connections: int = 1024
    """Open at once."""
    connections_per_address: int = 256
    queue: int = 64
    """Requests that are taken in beyond those at work."""
    worker_bytes: int = 2 << 30
    """Memory of a worker process."""

    def __post_init__(self) -> None:
        for name in (
            "upload_bytes",
            "unpacked_bytes",
            "files",
            "columns",
            "queue",
            "connections",
            "connections_per_address",
        ):
            if getattr(self, name) < 1:
                raise UsageError(f"the limit {name} is {getattr(self, name)}; expected at least 1")
        for name in ("seconds", "header_seconds", "upload_seconds"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UsageError(f"the limit {name} is {getattr(self, name)}; expected more than 0")


UNAVAILABLE, DISK_FULL = 503, 507
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)
_SIGNS_OF_NO_ROOM = (*map(os.strerror, _NO_ROOM), "database or disk is full", "disk I/O error")
"""As errors of the system, and of SQLite, are quoted in sentences; the last one says that its log's index cannot grow."""


class Refused(UsageError):
    """A request that is not served, with its HTTP status; the text is a sentence for its sender."""

    def __init__(self, status: int, sentence: str, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.retry_after = status, retry_after


def status_of(error: AegirError) -> int:
    """Return the HTTP status that tells of an error: what fails at work, such as a store that is away, may work later."""
    if isinstance(error, Refused):
        return error.status
    if is_full(error):
        return DISK_FULL
    if isinstance(error, UnreadableTable):
        return 422
    if isinstance(error, UsageError):
        return 400
    return 409 if isinstance(error, CheckFailed) else UNAVAILABLE


def is_full(error: Exception) -> bool:
    """Whether an error, or the one that its sentence quotes, says that a disk is full."""
    return any(sign in str(error) for sign in _SIGNS_OF_NO_ROOM)


def store_refusal(error: AegirError) -> Refused:
    """Return the refusal for a store that cannot be used, which is not the sender's fault."""
    return Refused(DISK_FULL if is_full(error) else UNAVAILABLE, str(error))


def out_of_resources(error: BaseException) -> Refused | None:
    """Return the refusal for an error that says that disk or descriptors are used up; None for any other."""
    number = error.errno if isinstance(error, OSError) else None
    if number in _NO_ROOM:
        return Refused(DISK_FULL, "the disk of the service is full; try again when it has room")
    if number in _NO_DESCRIPTOR:
        return Refused(UNAVAILABLE, "the service has too many files open; try again in a moment", 1)
    return None
