"""What a request may cost, and the refusal of one that costs more.

    RequestLimits(upload_bytes=16 << 20)          the sizes, counts and times that hold for every request
    raise Refused(429, "…", retry_after=2) what a sender is told, with the HTTP status

Not here: receiving within the limits (uploads.py), unpacking within them (sources.py), time at work (job_queue.py).
"""

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


UNAVAILABLE = 503


class Refused(UsageError):
    """A request that is not served, with its HTTP status; the text is a sentence for its sender."""

    def __init__(self, status: int, sentence: str, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.retry_after = status, retry_after


def status_of(error: AegirError) -> int:
    """Return the HTTP status that tells of an error: what fails at work, such as a store that is away, may work later."""
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, UnreadableTable):
        return 422
    if isinstance(error, UsageError):
        return 400
    return 409 if isinstance(error, CheckFailed) else UNAVAILABLE
