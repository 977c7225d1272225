"""HTTP connections: uvicorn's, within limits that uvicorn has no settings for.

    http = service_protocol(connections, limits)        a class for `uvicorn.Config(http=…)`

Promises
  - the headers of a request arrive within a time, counted from the connection or the last response and not from the last byte,
    or the connection is ended with 408; also one that goes on sending a body after its response;
  - headers are bounded in bytes, however many arrive at once; in number by security.py;
  - a client that does not read its response is dropped after a time;
  - what is no HTTP gets a sentence and the headers of every response.
"""

import asyncio
import sys
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from aegir.service.connections import Connections, Place
from aegir.service.limits import Refused, RequestLimits
from aegir.service.responses import refusal
from aegir.service.security import RESERVED_PLACE, security_headers, too_many_connections

LONGEST_HEADERS = 32 << 10
"""Bytes of the headers of a request, with its first line and the empty one at their end."""
SECONDS_TO_BEGIN = 0.05
"""After which a connection that has sent no request may be dropped for another one."""


def service_protocol(connections: Connections, limits: RequestLimits) -> type[H11Protocol]:
    """Return the protocol of a service."""
    return type("LimitedProtocol", (ServiceProtocol,), {"registry": connections, "limits": limits})


def as_bytes(refused: Refused) -> bytes:
    """Return the whole response that tells of a refusal, for a connection that is closed after it."""
    response = refusal(refused)
    lines = [f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}".encode()]
    headers = [*response.raw_headers, *security_headers("/refused"), (b"connection", b"close")]
    lines += [name + b": " + value for name, value in headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + bytes(response.body)


class ServiceProtocol(H11Protocol):
    """A connection; `registry` and `limits` are those of its service."""

    registry: Connections
    limits: RequestLimits
    _is_busy = False
    _has_received = False
    _until_request: asyncio.TimerHandle | None = None
    _until_read: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take in the connection, or turn it away."""
        super().connection_made(transport)
        place = self.registry.open(self, self.client[0] if self.client else "")
        if place is Place.NONE:
            self._end_with(too_many_connections())
            return
        if place is Place.RESERVED:
            self.app_state = {**self.app_state, RESERVED_PLACE: True}
        self._wait_for_request()
        self.loop.call_later(SECONDS_TO_BEGIN, self._begin_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room."""
        super().connection_lost(exc)
        self.registry.close(self)
        for timer in (self._until_request, self._until_read):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Parse headers up to the bytes that they may have, where h11 counts them, and bodies as they come."""
        self._has_received = True
        start = 0
        while start < len(data) and not self.transport.is_closing():
            end = len(data)
            if not self._is_busy:
                end = start + max(LONGEST_HEADERS - len(self.conn.trailing_data[0]), 1)
            super().data_received(data[start:end])
            self._note_request()
            start = end

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is here already."""
        super().on_response_complete()
        self._note_request(answered=True)

    def pause_writing(self) -> None:
        """Give the client some time to read."""
        super().pause_writing()
        self._until_read = self.loop.call_later(self.limits.upload_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        if self._until_read is not None:
            self._until_read.cancel()

    def send_400_response(self, msg: str) -> None:
        """Tell the sender what is wrong with the request; called while h11's error is handled."""
        error = sys.exception()
        if getattr(error, "error_status_hint", 400) == 431:
            sentence = f"the headers are longer than {LONGEST_HEADERS >> 10} kB; send fewer"
            self._end_with(Refused(431, sentence))
        else:
            self._end_with(Refused(400, f"the request is no HTTP ({error or msg})"))

    def drop(self) -> None:
        """End this connection, which is idle, for another one."""
        self.transport.abort()

    def _note_request(self, *, answered: bool = False) -> None:
        """Notice the begin or the end of a request."""
        is_busy = self.cycle is not None and not self.cycle.response_complete
        if is_busy and not self._is_busy:
            self.registry.set_busy(self)
            if self._until_request is not None:
                self._until_request.cancel()
        elif (
            answered and not is_busy
        ):  # if it is closing, the client has this time to read the rest
            self.registry.set_idle(self)
            self._has_received = False
            self._wait_for_request()
        self._is_busy = is_busy

    def _begin_idle(self) -> None:
        if not self._is_busy:
            self.registry.set_idle(self)

    def _wait_for_request(self) -> None:
        self._until_request = self.loop.call_later(self.limits.header_seconds, self._end_waiting)

    def _end_waiting(self) -> None:
        is_silent = not self._has_received or self.conn.their_state is not h11.IDLE
        if self.transport.is_closing() or is_silent:
            self.transport.abort()
            return
        sentence = f"the headers did not arrive within {self.limits.header_seconds:g} seconds"
        self._end_with(Refused(408, sentence))

    def _end_with(self, refused: Refused) -> None:
        """Send a refusal, unless a response is being sent, and close."""
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            self.transport.write(as_bytes(refused))
        self.transport.close()
