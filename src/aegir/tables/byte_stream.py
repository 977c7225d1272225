"""Byte streams, a bounded sample of their bytes, and their content as a temporary file.

    plain file          head + blocks found by seeking; the rest is never read
    gz, bz2, xz, zst,   head + blocks kept while streaming; when too many are kept, every other one is
    zip member, stdin   dropped, so they stay evenly spread

Both ways keep the same blocks: the same bytes give the same sample wherever they come from.
Content up to `WHOLE` bytes is sampled whole. A spread block begins and ends anywhere; text_decoding.py cuts
it to whole lines. Memory does not depend on the size of the source.

Not exact: of a larger file only some lines are seen; compressed streams are read for `STREAM_LIMIT` bytes
(archives.py has lower limits for what unpacks slowly) and no further, so that a compression bomb costs seconds. A stream that breaks off (a cut .gz) gives what
came before the break, and `damage` says why it ended.
"""

import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from aegir_rl.base.errors import UnreadableTable, UsageError

if TYPE_CHECKING:
    from aegir.tables.json_outline import JsonOutline

WHOLE = 4 << 20
HEAD = 256 << 10
STREAM_LIMIT = 1 << 30
SPOOL_LIMIT = 2 << 30
PIECE = 64 << 10
BLOCKS = 64
LINES_PER_BLOCK = 8
BLOCK_SIZES = (8 << 10, 512 << 10)


@dataclass(frozen=True, slots=True)
class ByteSample:
    """The beginning of some content and, unless that is all of it, blocks from later parts."""

    head: bytes
    blocks: tuple[bytes, ...] = ()
    whole: bool = True
    warnings: tuple[str, ...] = ()
    outline: "JsonOutline | None" = None
    """Of a JSON object that is not whole."""


class ByteStream:
    """Bytes that are read once, from the beginning, with a look ahead; damage ends them early.

    `damage` says what ended the stream too early, `taken` counts the bytes that left the source.
    """

    def __init__(self, raw: BinaryIO) -> None:
        # read1 returns what one step gave: a plain read would lose it when the next step fails.
        self._pull: Any = getattr(raw, "read1", raw.read)
        self._ahead = b""
        self._ended = False
        self.damage: str | None = None
        self.taken = 0

    def peek(self, size: int) -> bytes:
        """Return up to `size` of the next bytes without consuming them."""
        pieces, held = [self._ahead], len(self._ahead)
        while held < size and (piece := self._next(max(PIECE, min(size - held, WHOLE)))):
            pieces.append(piece)
            held += len(piece)
        self._ahead = b"".join(pieces)
        return self._ahead[:size]

    def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes, fewer at the end; all of them when negative."""
        if size < 0:
            pieces = [self._ahead]
            while piece := self._next(WHOLE):
                pieces.append(piece)
            taken, self._ahead = b"".join(pieces), b""
            return taken
        taken = self.peek(size)
        self._ahead = self._ahead[size:]
        return taken

    def unread(self, content: bytes) -> None:
        """Put bytes in front of what comes next."""
        self._ahead = content + self._ahead

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer and return how many bytes were written into it."""
        view = memoryview(buffer).cast("B")
        taken = self.read(len(view))
        view[: len(taken)] = taken
        return len(taken)

    def _next(self, size: int) -> bytes:
        if self._ended:
            return b""
        try:
            piece = self._pull(size)
        except Exception as error:
            if not is_damage(error):
                raise
            self.damage, piece = describe_damage(error), b""
        if isinstance(piece, str):
            raise UsageError("a text file object was given; open the file in binary mode ('rb')")
        self._ended = not piece
        self.taken += len(piece or b"")
        return piece or b""


@contextmanager
def spooled(stream: ByteStream, label: str, limit: int = SPOOL_LIMIT) -> Iterator[Path]:
    """A temporary file with the rest of the stream, for formats that need random access."""
    from aegir_rl.base.temporary import private_folder  # few files need it

    with private_folder() as folder:
        path = folder / "content"
        with path.open("wb") as file:
            while piece := stream.read(WHOLE):
                file.write(piece)
                if file.tell() > limit:
                    raise UnreadableTable(
                        f"{label} is larger than {limit >> 20:,} MB; save it to a file of its own"
                    )
        yield path


def is_damage(error: Exception) -> bool:
    """Whether an error says that compressed bytes are broken, or ask for too much memory."""
    known = (EOFError, OSError, zlib.error, lzma.LZMAError, MemoryError)
    return isinstance(error, known) or type(error).__name__ in ("ZstdError", "BadZipFile")


def describe_damage(error: Exception) -> str:
    """What is broken, in a few words."""
    if isinstance(error, EOFError):
        return "the compressed data ends too early"
    return str(error).rstrip(".") or type(error).__name__


def sample_file(file: BinaryIO, size: int, *, follow: bool = True) -> ByteSample:
    """Sample a seekable file: its head, and the blocks that `sample_stream` would keep.

    `follow` looks through all of a long JSON object for its lists, which reads it to its end.
    """
    file.seek(0)
    if size <= WHOLE:
        return ByteSample(file.read(WHOLE))
    head = _whole_lines_head(file.read(WHOLE))
    length, count = _block_plan(head)
    total = -(-(size - len(head)) // length)
    every = 1
    while -(-total // every) >= 2 * count:
        every *= 2
    blocks = []
    for index in range(0, total, every):
        file.seek(len(head) + index * length)
        blocks.append(file.read(length))
    outline = _begin_outline(head) if follow else None
    if outline is not None:
        file.seek(len(head))
        while not outline.ended and (piece := file.read(PIECE)):
            outline.feed(piece)
    return ByteSample(head, tuple(blocks), whole=False, outline=outline)


def sample_stream(stream: ByteStream, limit: int = STREAM_LIMIT) -> ByteSample:
    """Sample a stream of unknown length by reading it to its end, or to `limit`."""
    beginning = stream.peek(WHOLE + 1)
    if len(beginning) <= WHOLE:
        stream.read(len(beginning))
        return ByteSample(beginning, warnings=_damage_warnings(stream))
    head = _whole_lines_head(beginning[:WHOLE])
    length, count = _block_plan(head)
    stream.read(len(head))
    stored: list[bytes] = []
    every, index, seen = 1, 0, len(head)
    outline = _begin_outline(head)
    while seen < limit and (block := stream.read(length)):
        seen += len(block)
        if outline is not None:
            outline.feed(block)
        if index % every == 0:
            stored.append(block)
            if len(stored) == 2 * count:
                stored, every = stored[::2], every * 2
        index += 1
    warnings = _damage_warnings(stream)
    if seen >= limit:
        warnings += (f"only the first {limit >> 20} MB of the unpacked data were sampled",)
    return ByteSample(head, tuple(stored), whole=False, warnings=warnings, outline=outline)


def _begin_outline(head: bytes) -> "JsonOutline | None":
    """The outline of what begins as a JSON object of bytes, fed with its head."""
    if (
        not head[:PIECE].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
        or b"\0" in head[:4]
    ):
        return None
    from aegir.tables.json_outline import JsonOutline

    outline = JsonOutline()
    for start in range(0, len(head), PIECE):
        outline.feed(head[start : start + PIECE])
    return outline


def _damage_warnings(stream: ByteStream) -> tuple[str, ...]:
    if stream.damage is None:
        return ()
    return (f"the data breaks off ({stream.damage}); only what came before it was read",)


def _whole_lines_head(beginning: bytes) -> bytes:
    """A head of 256 KB, longer when lines are so long that it would hold too few of them."""
    length = HEAD
    while length < len(beginning) and beginning.count(b"\n", 0, length) < 2 * LINES_PER_BLOCK:
        length *= 2
    return beginning[:length]


def _block_plan(head: bytes) -> tuple[int, int]:
    """Length of the spread blocks, a few lines each, and how many to keep: that many to twice as many.

    Lengths are multiples of four, so that two- and four-byte characters stay whole.
    """
    line = len(head) / max(1, head.count(b"\n") or head.count(b"\r"))
    length = int(min(max(LINES_PER_BLOCK * line, BLOCK_SIZES[0]), BLOCK_SIZES[1])) // 4 * 4
    return length, max(8, min(BLOCKS, WHOLE // length))
