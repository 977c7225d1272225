"""A stream put into a temporary file, for formats that cannot be read in one pass."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aegir.errors import UnreadableTable
from aegir.tables.byte_stream import ByteStream
from aegir.tables.formats import Format
from aegir.tables.sampling import Request

SPOOL_LIMIT = 2 << 30
PIECE = 1 << 20


@contextmanager
def spooled(stream: ByteStream, found: Format, request: Request) -> Iterator[Path]:
    """The path of a file with all that is left of the stream; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="aegir-") as folder:
        path = Path(folder) / "content"
        written = 0
        with path.open("wb") as file:
            while piece := stream.read(PIECE):
                written += file.write(piece)
                if written > SPOOL_LIMIT:
                    raise UnreadableTable(
                        f"{request.label} is {found} data above {SPOOL_LIMIT >> 20:,} MB; "
                        "save it to a file and give its path"
                    )
        yield path
