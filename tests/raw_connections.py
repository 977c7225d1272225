"""Sockets to a service in tests: idle ones, and requests written byte by byte."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

TIMEOUT = 30.0


def connect(url: str) -> socket.socket:
    """A connection to a service."""
    address = httpx.URL(url)
    return socket.create_connection((address.host, address.port), TIMEOUT)


@contextmanager
def idle_connections(url: str, count: int, sent: bytes = b"") -> Iterator[list[socket.socket]]:
    """So many connections, each of which sends the same bytes and nothing more."""
    connections: list[socket.socket] = []
    try:
        for _ in range(count):
            connections.append(connect(url))
            connections[-1].sendall(sent)
        yield connections
    finally:
        for connection in connections:
            connection.close()


def answer_of(connection: socket.socket) -> bytes:
    """What a service sends until it closes the connection."""
    pieces = []
    try:
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def ask(url: str, request: bytes) -> bytes:
    """The whole answer to a request that says that the connection is closed after it."""
    with connect(url) as connection:
        connection.sendall(request)
        return answer_of(connection)
