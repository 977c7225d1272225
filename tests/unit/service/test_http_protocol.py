"""One connection, in this process: a client that does not read."""

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from aegir.service.connections import Connections
from aegir.service.http_protocol import service_protocol
from aegir.service.limits import RequestLimits

LARGE = 32 << 20
REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


async def large_answer(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * LARGE, "more_body": True})
    await send({"type": "http.response.body"})


async def read_late(seconds: float) -> tuple[int, int]:
    """Ask, read nothing for so long, then all; return how much came, and the connections that are left."""
    connections = Connections(8, 8)
    limits = RequestLimits(upload_seconds=0.4)
    config = uvicorn.Config(large_answer, lifespan="off", log_config=None)
    protocol = service_protocol(connections, limits)
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config, state, {}, loop), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(REQUEST)
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.sleep(seconds)
        left = len(connections)
        reader._transport.resume_reading()  # type: ignore[attr-defined]
        size = 0
        try:
            while size < LARGE and (piece := await reader.read(1 << 20)):
                size += len(piece)
        except ConnectionError:
            pass
        writer.close()
    return size, left


def test_a_client_that_does_not_read_is_dropped_and_a_late_one_gets_its_answer():
    size, left = asyncio.run(read_late(1.5))
    assert (size < LARGE, left) == (True, 0)
    size, left = asyncio.run(read_late(0.0))
    assert (size >= LARGE, left) == (True, 1)
