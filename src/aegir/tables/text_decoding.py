"""Decode sampled bytes: guess their encoding, and keep whole lines.

    byte order mark -> UTF-8, UTF-16, UTF-32      NUL at every other byte -> UTF-16 without a mark
    valid UTF-8     -> UTF-8                      else, line by line, UTF-8 or the older encoding that
                                                  fits best (legacy_encodings.py), with a warning

Promises
  - any bytes give text or an `UnreadableTable`; nothing else is raised;
  - the text holds no NUL and no lone surrogate;
  - text in anything but Unicode carries a warning that names the encoding it was read as.
"""

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aegir.tables.byte_stream import ByteSample
from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.text import amount

if TYPE_CHECKING:
    from aegir.tables.json_outline import JsonOutline
    from aegir.tables.legacy_encodings import Encoding

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins alike
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Control characters that do not occur in text. Tab, line feeds, escape and the separators \x01 and \x1c to \x1f
# (used as delimiters) are allowed.
CONTROL = bytes({*range(0x02, 0x09), *range(0x0E, 0x1B), 0x7F})
BINARY_SHARE = 0.03
GUESSED_BY = 16 << 10
CHARACTER_END = re.compile(rb"[\x40-\xff]*\Z")
CHANCE_SHARE = 0.1
# Escape sequences with which programs colour a terminal, as saved with their output.
TERMINAL = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\([0-9A-B])\x0f?")
TERMINAL_BYTES = re.compile(TERMINAL.pattern.encode())
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class TextSample:
    """The beginning of a text and, unless that is all of it, blocks of whole lines from later parts."""

    head: str
    blocks: tuple[str, ...] = ()
    whole: bool = True
    warnings: tuple[str, ...] = ()
    encoding: str | None = "utf-8"
    """The Python name of the encoding; None where lines of several are mixed."""
    outline: "JsonOutline | None" = None


def decode_sample(
    sample: ByteSample, label: str, *, lines: bool = True, encoding: str | None = None
) -> TextSample:
    """Decode a sample, by `encoding` if it is given; `UnreadableTable` names binary content by `label`.

    With `lines`, partial lines at the edges of blocks are dropped; without, blocks stay as they are
    (for documents that are one long line) and a character cut at an edge becomes U+FFFD.
    """
    wide, mark = _wide_encoding(sample.head)
    warnings = list(sample.warnings)
    if encoding is not None and not encoding.startswith("utf"):
        mark = 0
    elif encoding in (None, "utf-16", "utf-32"):
        encoding = wide or encoding
    raw = [sample.head[mark:], *sample.blocks]
    name: str | None = encoding
    if encoding is not None:
        if mark:  # these names skip the mark
            name = "utf-8-sig" if encoding == "utf-8" else encoding[:6]
        parts = [part.decode(encoding, "replace") for part in raw]
        if wide is None and (unknown := parts[0].count(REPLACEMENT)):
            warnings.append(f"{amount(unknown, 'character')} could not be read as {encoding}")
        if lines and not sample.whole:
            parts = [_cut_last_text_line(parts[0]), *map(_cut_text_lines, parts[1:])]
    else:
        _refuse_binary(raw[0], label)
        if lines and not sample.whole:
            raw = [_cut_last_line(raw[0]), *map(_cut_lines, raw[1:])]
        decode = _decode_bytes if lines or sample.whole else _decode_pieces
        parts, notes, name = decode(raw)
        name = "utf-8-sig" if mark and name == "utf-8" else name
        warnings += notes
    if any("\0" in part for part in parts):
        parts = [part.replace("\0", "") for part in parts]
        warnings.append("NUL characters were removed")
    if "\x1b" in parts[0]:
        plain = [TERMINAL.sub("", part) for part in parts]
        if plain != parts:
            parts = plain
            warnings.append("terminal colours were removed")
    blocks_text = tuple(part for part in parts[1:] if part)
    return TextSample(parts[0], blocks_text, sample.whole, tuple(warnings), name, sample.outline)


def find_encoding(sample: ByteSample) -> tuple[str, int]:
    """The name of a sample's codec, and the length of its byte order mark; utf-8 where lines of several encodings are mixed."""
    encoding, mark = _wide_encoding(sample.head)
    if encoding is not None:
        return encoding, mark
    parts = [sample.head[mark:], *sample.blocks]
    if not sample.whole:
        parts = [_cut_last_line(parts[0]), *map(_cut_lines, parts[1:])]
    beyond_ascii = [line for part in parts for line in _lines(part) if not line.isascii()]
    foreign = [line for line in beyond_ascii if not _is_utf8(line)]
    if not foreign or len(beyond_ascii) - len(foreign) > CHANCE_SHARE * len(beyond_ascii):
        return "utf-8", mark
    return _guess_encoding(foreign).codec, mark


def _wide_encoding(head: bytes) -> tuple[str | None, int]:
    """The UTF-16 or UTF-32 encoding of these bytes (None: bytes of text), and the mark's length."""
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return (None if encoding == "utf-8" else encoding), len(mark)
    start = head[:4096]
    pairs = max(1, len(start) // 2)
    even, odd = start[0::2].count(0) / pairs, start[1::2].count(0) / pairs
    if odd > 0.1 and even < 0.01:
        return "utf-16-le", 0
    if even > 0.1 and odd < 0.01:
        return "utf-16-be", 0
    return None, 0


def _refuse_binary(head: bytes, label: str) -> None:
    start = TERMINAL_BYTES.sub(b"", head[: 64 << 10])
    controls = len(start) - len(start.translate(None, CONTROL))
    nuls = start.count(0)
    if controls > BINARY_SHARE * (len(start) - nuls) or nuls > 0.3 * len(start):
        raise UnreadableTable(
            f"{label} is binary data, not a table in a format Aegir knows; "
            "try CSV, JSON, Parquet, Arrow, Excel, SQLite or DuckDB"
        )


def _decode_bytes(parts: list[bytes]) -> tuple[list[str], list[str], str | None]:
    """The texts, warnings and the encoding: UTF-8 where all lines are valid, else each line in its own encoding."""
    try:
        return [part.decode() for part in parts], [], "utf-8"
    except UnicodeDecodeError:
        pass
    lines = [_lines(part) for part in parts]
    beyond_ascii = [line for part in lines for line in part if not line.isascii()]
    foreign = [line for line in beyond_ascii if not _is_utf8(line)]
    encoding = _guess_encoding(foreign)
    # Now and then a line in another encoding is valid UTF-8 by chance.
    mixed = len(beyond_ascii) - len(foreign) > CHANCE_SHARE * len(beyond_ascii)
    texts = ["".join(_decode_line(line, encoding, mixed) for line in part) for part in lines]
    if mixed:
        return texts, [f"lines in UTF-8 and in {encoding.name} are mixed"], None
    return texts, [_guess_warning(encoding)], encoding.codec


def _decode_pieces(parts: list[bytes]) -> tuple[list[str], list[str], str | None]:
    """The texts, warnings and encoding of blocks cut anywhere: UTF-8 if the beginning is, else the older encoding that fits best."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(parts[0])  # a cut last character is fine
    except UnicodeDecodeError:
        encoding = _guess_encoding(_lines(parts[0]))
        texts = [part.decode(encoding.codec, "replace") for part in parts]
        return texts, [_guess_warning(encoding)], encoding.codec
    return [part.decode("utf-8", "replace") for part in parts], [], "utf-8"


def _guess_encoding(lines: list[bytes]) -> "Encoding":
    from aegir.tables.legacy_encodings import WESTERN, guess_encoding

    return guess_encoding(_first(lines)) or WESTERN


def _guess_warning(encoding: "Encoding") -> str:
    return f"read as {encoding.name}; if that is wrong, give its --encoding"


def _first(lines: list[bytes]) -> bytes:
    """The first bytes of these lines, enough to guess an encoding and not cut inside a character."""
    taken: list[bytes] = []
    size = 0
    for line in lines:
        taken.append(line)
        size += len(line)
        if size > GUESSED_BY:
            break
    beginning = b"".join(taken)[:GUESSED_BY]
    # No character of any encoding ends in a byte below 0x40.
    return beginning if size <= GUESSED_BY else CHARACTER_END.sub(b"", beginning)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decode_line(line: bytes, encoding: "Encoding", mixed: bool) -> str:
    if line.isascii() or (mixed and _is_utf8(line)):
        return line.decode()
    try:
        return line.decode(encoding.codec)
    except UnicodeDecodeError:  # five bytes mean nothing in Windows-1252
        return line.decode("latin-1" if encoding.codec == "cp1252" else encoding.codec, "replace")


def _lines(part: bytes) -> list[bytes]:
    ends = [match.end() for match in LINE_END.finditer(part)]
    return [part[low:high] for low, high in zip([0, *ends], [*ends, len(part)], strict=True)]


def _cut_lines(block: bytes) -> bytes:
    """Drop the partial first and last line of a block."""
    first = LINE_END.search(block)
    return _cut_last_line(block[first.end() :]) if first else b""


def _cut_last_line(block: bytes) -> bytes:
    """Drop a partial last line; a block that is one single line stays."""
    return block[: max(block.rfind(b"\n"), block.rfind(b"\r")) + 1] or block


def _cut_text_lines(block: str) -> str:
    first = re.search(r"\r\n|\n|\r", block)
    return _cut_last_text_line(block[first.end() :]) if first else ""


def _cut_last_text_line(block: str) -> str:
    return block[: max(block.rfind("\n"), block.rfind("\r")) + 1] or block
