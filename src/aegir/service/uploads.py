"""Receive the body of a request into a folder, piece by piece and within limits.

    upload = await receive(request, folder, limits, fields=("corrections",))
    upload.files      ("customers.csv", "orders.csv")      as they are called in the folder
    upload.fields     {"corrections": "[…]"}               other parts of the form, as text
    upload.body       "body.json"                          a JSON document, if that was sent instead of a form

A request without fields may also be one table by itself, such as text/csv (`TABLE_BODIES`). It is called body.csv, or as a header
`Content-Disposition: attachment; filename=…` says.

Promises
  - memory does not grow with the body; a body that is too large, too slow, cut off or no form is refused with one sentence,
    and so is the wrong content type;
  - a file's name is the last part of the name sent, whatever separates parts; it never leads out of the folder, and
    names that are empty, too long, not UTF-8 or twice in a request are refused.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from aegir.service.limits import Refused, RequestLimits, out_of_resources

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

FORM, JSON = b"multipart/form-data", b"application/json"
JSON_FILE = "body.json"
TABLE_BODIES = {
    b"text/csv": "body.csv",
    b"text/tab-separated-values": "body.tsv",
    b"application/x-ndjson": "body.jsonl",
    b"application/jsonl": "body.jsonl",
    b"application/vnd.apache.parquet": "body.parquet",
}
"""Content types of a body that is a table by itself, and what it is called."""
FIELD_BYTES = 1 << 20
LONGEST_NAME = 255
"""Bytes of a file name that common file systems take."""
LEAST_RATE = 1 << 10
"""Bytes per second that a body must keep up, beyond the time that the headers may take."""
SECONDS_TO_DRAIN = 5.0
"""How long the rest of a refused body is read, so that its sender gets to read the refusal."""


@dataclass(slots=True)
class Upload:
    """What a request brought."""

    files: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    size: int = 0


async def receive(
    request: Request, folder: Path, limits: RequestLimits, *, fields: Sequence[str] = ()
) -> Upload:
    """Write the files or the JSON document of a request into the folder; raise `Refused` for what is not accepted."""
    pace = _Pace(limits)
    try:
        async with pace.timeout:
            return await _receive(request, pace, folder, limits, fields)
    except TimeoutError:
        raise Refused(
            408, f"the request {pace.complaint()}; send less, or over a faster line"
        ) from None
    except ClientDisconnect:
        raise Refused(400, "the connection was cut before the request had arrived") from None
    except Refused:
        await _drain(request, limits)
        raise
    except OSError as error:
        refused = out_of_resources(error)
        if refused is None:
            raise
        await _drain(request, limits)
        raise refused from None


class _Pace:
    """The time that a body has to arrive: so much in all, and less for one that trickles in."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self._started = asyncio.get_running_loop().time()
        self._received = 0
        self.timeout = asyncio.timeout_at(self._started + self._seconds())

    async def pieces(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body as it arrives."""
        async for piece in request.stream():
            self._received += len(piece)
            self.timeout.reschedule(self._started + self._seconds())
            yield piece

    def complaint(self) -> str:
        """What was wrong with a body that took too long."""
        if self._seconds() < self._limits.upload_seconds:
            return f"arrives at less than {LEAST_RATE:,} bytes a second"
        return f"did not arrive within {self._limits.upload_seconds:g} seconds"

    def _seconds(self) -> float:
        by_rate = self._limits.header_seconds + self._received / LEAST_RATE
        return min(by_rate, self._limits.upload_seconds)


async def _receive(
    request: Request, pace: _Pace, folder: Path, limits: RequestLimits, fields: Sequence[str]
) -> Upload:
    kind, options = parse_options_header(request.headers.get("content-type"))
    stated = request.headers.get("content-length", "")
    if stated.isascii() and stated.isdigit() and int(stated) > _most(limits):
        raise _too_large(limits)
    if kind == JSON:
        upload = Upload(body=JSON_FILE)
        return await _receive_body(pace.pieces(request), folder / JSON_FILE, upload, limits)
    if kind in TABLE_BODIES and not fields:
        name = _stated_name(request) or TABLE_BODIES[kind]
        return await _receive_body(
            pace.pieces(request), folder / name, Upload(files=[name]), limits
        )
    if kind != FORM or not options.get(b"boundary"):
        came = kind.decode("latin-1") or "nothing"
        raise Refused(
            415,
            f"the content type is {came!r}; expected {_expected(fields)}",
        )
    form = _Form(folder, limits, fields)
    try:
        parser = MultipartParser(options[b"boundary"], form.callbacks())
        async for piece in pace.pieces(request):
            form.count(len(piece))
            parser.write(piece)
        parser.finalize()
    except FormParserError as error:
        raise Refused(400, f"the form cannot be read ({str(error).rstrip('.')})") from None
    finally:
        form.close()
    if not form.ended:
        raise Refused(400, "the form breaks off before its end; send it again")
    return form.upload


def _expected(fields: Sequence[str]) -> str:
    """The content types that are accepted, in words."""
    if fields:
        return "multipart/form-data with files, or application/json with rows or columns"
    tables = ", ".join(kind.decode() for kind in TABLE_BODIES)
    return (
        "multipart/form-data with files, application/json with rows or columns, or a table as "
        + tables
    )


def _stated_name(request: Request) -> str | None:
    """The name of the file that a body is, if a header says so."""
    _, options = parse_options_header(request.headers.get("content-disposition"))
    return _file_name(options[b"filename"]) if b"filename" in options else None


async def _receive_body(
    pieces: AsyncIterator[bytes], path: Path, upload: Upload, limits: RequestLimits
) -> Upload:
    with path.open("wb") as file:
        async for piece in pieces:
            upload.size += len(piece)
            if upload.size > limits.upload_bytes:
                raise _too_large(limits)
            file.write(piece)
    return upload


async def _drain(request: Request, limits: RequestLimits) -> None:
    """Read and forget what is still coming, within limits."""
    left = limits.upload_bytes
    try:
        async with asyncio.timeout(SECONDS_TO_DRAIN):
            async for piece in request.stream():
                left -= len(piece)
                if left < 0:
                    return
    except (TimeoutError, ClientDisconnect, RuntimeError):  # RuntimeError: all of it was read
        return


class _Form:
    """Takes the parts of a form as they are parsed."""

    def __init__(self, folder: Path, limits: RequestLimits, fields: Sequence[str]) -> None:
        self.upload = Upload()
        self.ended = False
        self._folder, self._limits, self._fields = folder, limits, fields
        self._received = 0
        self._header, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._file: IO[bytes] | None = None
        self._field: tuple[str, bytearray] | None = None

    def callbacks(self) -> "MultipartCallbacks":
        """What the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._finish,
        }

    def count(self, size: int) -> None:
        """Count received bytes; raise when they are too many."""
        self._received += size
        if self._received > _most(self._limits):
            raise _too_large(self._limits)

    def close(self) -> None:
        """Close the file that is being written, if any."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._headers = {}

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header, self._value = b"", b""

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if b"filename" in options:
            name = _file_name(options[b"filename"])
            if name in self.upload.files:
                raise Refused(400, f"two files are called {name}; rename one, or send two requests")
            if len(self.upload.files) >= self._limits.files:
                raise Refused(
                    413, f"the request holds more than {self._limits.files} files; send several"
                )
            self.upload.files.append(name)
            self._file = (self._folder / name).open("wb")
            return
        field_name = options.get(b"name", b"").decode("utf-8", "replace")
        if field_name in self.upload.fields:
            raise Refused(400, f"the form has two parts {field_name!r}; send one")
        if field_name not in self._fields:
            expected = ", ".join(["files", *self._fields])
            raise Refused(
                400, f"the form has a part {field_name!r} that is no file; expected {expected}"
            )
        self._field = (field_name, bytearray())

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self.upload.size += end - start
            if self.upload.size > self._limits.upload_bytes:
                raise _too_large(self._limits)
            self._file.write(data[start:end])
        elif self._field is not None:
            self._field[1].extend(data[start:end])

    def _end(self) -> None:
        self.close()
        if self._field is not None:
            name, content = self._field
            try:
                self.upload.fields[name] = content.decode()
            except UnicodeDecodeError:
                raise Refused(400, f"the part {name!r} of the form is not UTF-8") from None
            self._field = None

    def _finish(self) -> None:
        self.ended = True


def _most(limits: RequestLimits) -> int:
    """How many bytes a body may have: the files, and some for names and fields."""
    return limits.upload_bytes + FIELD_BYTES


def _too_large(limits: RequestLimits) -> Refused:
    size = limits.upload_bytes
    shown = f"{size >> 20:,} MB" if size >= 1 << 20 else f"{size:,} bytes"
    return Refused(
        413, f"the request is larger than {shown}; send less, or run aegir annotate on the files"
    )


def _file_name(sent: bytes) -> str:
    """Return the name under which an uploaded file is kept."""
    try:
        text = sent.decode()
    except UnicodeDecodeError:
        raise Refused(400, "the name of a file is not UTF-8; rename it") from None
    name = text.replace("\\", "/").rpartition("/")[2].strip()
    if name in ("", ".", "..", JSON_FILE) or not name.isprintable():
        raise Refused(400, f"a file cannot be called {text!r}; rename it")
    if len(name.encode()) > LONGEST_NAME:
        raise Refused(
            400, f"the name of a file is longer than {LONGEST_NAME} bytes ({name[:40]}…); rename it"
        )
    return name
