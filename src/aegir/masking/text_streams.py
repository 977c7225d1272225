"""Text files as streams for rewriting: decoded line by line, encoded piece by piece, within bounded memory.

Bytes that mean nothing in the encoding survive: they are carried as lone surrogates and written as they were. A line longer than
`LINE_LIMIT` is refused, since it would have to be held as a whole.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aegir.tables.byte_stream import sample_file
from aegir.tables.text_decoding import TextSample, decode_sample, find_encoding
from aegir_rl.base.errors import UnreadableTable, UsageError

LINE_LIMIT = 16 << 20
PIECE = 1 << 20
Write = Callable[[bytes], None]
Progress = Callable[[int], None]
"""Called now and then with how many bytes were read."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of text and how it is encoded."""

    path: Path
    codec: str
    mark: bytes
    """The byte order mark, or nothing."""

    @property
    def errors(self) -> str:
        """How bytes outside of the encoding are carried."""
        return "surrogatepass" if self.codec.startswith("utf-16") else "surrogateescape"

    def lines(self, progress: Progress = lambda _: None) -> Iterator[str]:
        """The lines with their ends, without the mark."""
        with self.path.open("rb") as raw:
            raw.seek(len(self.mark))
            text = io.TextIOWrapper(raw, self.codec, self.errors, newline="")
            read = 0
            while line := text.readline(LINE_LIMIT):
                if len(line) >= LINE_LIMIT:
                    raise UnreadableTable(
                        f"{self.path} has a line of more than {LINE_LIMIT >> 20} million characters; it cannot be masked line by line"
                    )
                read += len(line)
                if read >= PIECE:
                    progress(raw.tell())
                    read = 0
                yield line

    def encode(self, text: str) -> bytes:
        """Text as bytes of this file's encoding."""
        try:
            return text.encode(self.codec, self.errors)
        except UnicodeEncodeError as error:
            raise UsageError(
                f"{error.object[error.start : error.end]!r} cannot be written as {self.codec}, the encoding of {self.path}; convert the file to UTF-8"
            ) from None


class Sink:
    """Collects text and writes it in pieces."""

    def __init__(self, write: Write, file: TextFile) -> None:
        self._write, self._file = write, file
        self.buffer = io.StringIO(newline="")
        write(file.mark)

    def flush(self, at_least: int = 0) -> None:
        """Write what was collected, if it is that much."""
        if self.buffer.tell() > at_least:
            self._write(self._file.encode(self.buffer.getvalue()))
            self.buffer.seek(0)
            self.buffer.truncate()


def open_text(path: Path, encoding: str | None = None) -> tuple[TextFile, TextSample]:
    """A file with its encoding, by `encoding` if it is given, and the sample of it from which its structure is found."""
    with path.open("rb") as raw:
        sample = sample_file(raw, path.stat().st_size)
    codec, length = find_encoding(sample)
    if encoding is not None:
        codec, length = _as_given(encoding, codec, length)
    text = decode_sample(sample, str(path), encoding=encoding)
    return TextFile(path, codec, sample.head[:length]), text


def _as_given(encoding: str, found: str, mark: int) -> tuple[str, int]:
    """The codec of an encoding that was given, and the length of the mark; codecs that write a mark of their own are not used."""
    if not encoding.startswith("utf"):
        return encoding, 0
    if encoding in ("utf-16", "utf-32"):
        return found if found.startswith(encoding) else f"{encoding}-le", mark
    return "utf-8" if encoding == "utf-8-sig" else encoding, mark
