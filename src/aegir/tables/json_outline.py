"""The outline of a JSON object too large to be decoded whole: its keys and small values, and the beginnings of its large ones.

    {"count": 2, "Customer": [30,000 objects], "Employee": [50 objects]}
    ->  text       {"count": 2, "Customer": MARK 0, "Employee": [50 objects]}
        openings   [the first 4 MB of the list of customers]

Values are lists, and objects more than `SEARCH_DEPTH` deep; objects above them are always opened.

Promises
  - time is linear in what is fed and stops at `SCANNED` bytes; memory is at most about `KEPT` bytes and `OPENINGS` openings;
  - `complete` only if the object was seen to its end; else the outline says nothing.
"""

import re

import numpy as np

SEARCH_DEPTH = 3
"""How deep below the top a list of records is looked for."""
SCANNED = 256 << 20
KEPT = 16 << 20
LARGE = 4 << 20
OPENING = 4 << 20
OPENINGS = 8
MARK = "\0large value "
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[\[\]{}]', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class JsonOutline:
    """Fed with the bytes of a document, piece by piece from its beginning."""

    def __init__(self) -> None:
        self.complete = False
        self.openings: list[bytes] = []
        self._kept = bytearray()
        self._depth = 0
        self._outside: int | None = None
        """The depth at which the value that is being read began; None between values."""
        self._value_start = 0
        self._is_large = False
        self._marks = 0
        self._in_string = False
        self._half_escape = b""
        self._seen = 0
        self._given_up = False

    @property
    def text(self) -> bytes:
        """The object, with a string that begins with `MARK` in place of each large value."""
        return bytes(self._kept)

    @property
    def ended(self) -> bool:
        """Whether more bytes would change nothing."""
        return self.complete or self._given_up

    def feed(self, piece: bytes) -> None:
        """Read on."""
        if self.ended:
            return
        self._seen += len(piece)
        piece = self._half_escape + piece
        backslashes = len(piece) - len(piece.rstrip(b"\\"))
        self._half_escape = piece[-1:] if backslashes % 2 else b""
        piece = piece[: len(piece) - backslashes % 2]
        if not self._is_inside(piece):
            self._read_tokens(piece)
        if not self.complete and (self._seen > SCANNED or len(self._kept) > KEPT):
            self._given_up = True

    def _is_inside(self, piece: bytes) -> bool:
        """Take a piece that is all within one value, and say whether it is."""
        if self._outside is None:
            return False
        plain = _ESCAPE.sub(b"", piece) if b"\\" in piece else piece
        parts = plain.split(b'"')
        brackets = b"".join(parts[self._in_string :: 2]).translate(None, _NOT_BRACKETS)
        codes = np.frombuffer(brackets, dtype=np.uint8)
        # [ and { are 0x5b and 0x7b, ] and } 0x5d and 0x7d
        depths = self._depth + np.cumsum(np.where(codes & 6 == 2, 1, -1))
        if codes.size and depths.min() <= self._outside:
            return False
        self._in_string ^= len(parts) % 2 == 0
        if codes.size:
            self._depth = int(depths[-1])
        self._take(piece)
        return True

    def _read_tokens(self, piece: bytes) -> None:
        shift = int(self._in_string)
        text = b'"' * shift + piece
        taken = shift
        self._in_string = False
        for token in _TOKEN.finditer(text):
            match token[0]:
                case b"{" | b"[":
                    self._depth += 1
                    if self._outside is None and (token[0] == b"[" or self._depth > SEARCH_DEPTH):
                        self._take(text[taken : token.start()])
                        taken = token.start()
                        self._outside, self._value_start = self._depth - 1, len(self._kept)
                case b"}" | b"]":
                    self._depth -= 1
                    if self._depth == self._outside:
                        self._take(text[taken : token.end()])
                        taken = token.end()
                        self._outside, self._is_large = None, False
                    if self._depth <= 0:
                        self._take(text[taken : token.end()])
                        self.complete = not text[token.end() :].strip()
                        self._given_up = not self.complete
                        return
                case _:
                    self._in_string = not token[1]
        self._take(text[taken:])

    def _take(self, content: bytes) -> None:
        if self._is_large:
            return
        self._kept += content
        if self._outside is not None and len(self._kept) - self._value_start > LARGE:
            if len(self.openings) < OPENINGS:
                self.openings.append(bytes(self._kept[self._value_start :][:OPENING]))
            del self._kept[self._value_start :]
            self._kept += f'"\\u0000{MARK[1:]}{self._marks}"'.encode()
            self._marks += 1
            self._is_large = True
