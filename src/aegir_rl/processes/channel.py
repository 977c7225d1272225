"""Messages between two processes over a socket: a length of four bytes, then so many bytes.

    here, there = Channel.pair()          # before a fork; each side closes the end of the other
    here.send(b"question")
    there.receive()                       # b"question"; None when the other side has closed

Promises
  - a message arrives whole or not at all: one that breaks off counts as the end;
  - a message that is longer than `longest` raises `TooLong` before it is read;
  - a forked process can close what its parent held (`close_others`), so that the end of a process is noticed at once.
"""

import os
import socket
import struct
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from asyncio import StreamReader

LONGEST = (1 << 32) - 1
_LENGTH = struct.Struct("!I")
_READ_AT_ONCE = 1 << 16
_open: set["Channel"] = set()
"""The channels of this process, for the processes that it forks."""


class TooLong(Exception):
    """A message is longer than its receiver allows."""


class Channel:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._pending = bytearray()
        _open.add(self)

    @classmethod
    def pair(cls) -> tuple[Self, Self]:
        """Return the two ends of a new connection."""
        one, other = socket.socketpair()
        return cls(one), cls(other)

    def fileno(self) -> int:
        """Return the number of the open file, for selectors."""
        return self.connection.fileno()

    def send(self, message: bytes) -> None:
        """Send a message; `BrokenPipeError` or `ConnectionResetError` if nobody can receive it."""
        self.connection.sendall(frame(message))

    def receive(self, longest: int = LONGEST) -> bytes | None:
        """Wait for the next message and return it; None at the end."""
        while (message := self._take(longest)) is None:
            if not self._read():
                return None
        return message

    def receive_available(self) -> list[bytes] | None:
        """Wait until something arrives and return the messages that are whole; None at the end."""
        if not self._read():
            return None
        messages = []
        while (message := self._take(LONGEST)) is not None:
            messages.append(message)
        return messages

    def close(self) -> None:
        """Close this end; closing twice does no harm."""
        _open.discard(self)
        self.connection.close()

    def _read(self) -> bool:
        try:
            received = os.read(self.fileno(), _READ_AT_ONCE)
        except ConnectionResetError:  # the other side ended without reading what was sent
            return False
        self._pending += received
        return bool(received)

    def _take(self, longest: int) -> bytes | None:
        """Return the first message among the bytes that were read, if it is whole."""
        if len(self._pending) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(self._pending)[0]
        if end - _LENGTH.size > longest:
            raise TooLong
        if len(self._pending) < end:
            return None
        message = bytes(self._pending[_LENGTH.size : end])
        del self._pending[:end]
        return message


def frame(message: bytes) -> bytes:
    """Return a message as it is sent."""
    return _LENGTH.pack(len(message)) + message


async def read_message(stream: "StreamReader") -> bytes:
    """Return the next message of an asyncio stream; `asyncio.IncompleteReadError` at the end."""
    (length,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    return await stream.readexactly(length)


def close_others(own: Channel) -> None:
    """Close all channels of this process but one: in a forked process, those of its parent."""
    for each in [*_open]:
        if each is not own:
            each.close()
