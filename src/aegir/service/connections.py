"""Which connections may be open: a bound for all, one per address, and room for `/health` whoever holds the others.

    place = connections.open(connection, address)
    connections.set_idle(connection)      it has sent no request, or the last one is answered
    connections.set_busy(connection)      a request has begun
    connections.close(connection)

When there is no room, the one that has been idle longest is dropped for a new one, so that
idle connections stop nobody, however many there are. If all are busy, a few more are taken in reserved places, where `/health`
answers, and everything else says 503; further ones are told so and closed.

Descriptors: `connections_within` leaves one more for every connection, for the file that it sends, and some for workers. If they are used up all the same,
`Listener` answers 503 with one that it keeps for that, where asyncio would try again thousands of times a second.
"""

import errno
import os
import resource
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

ACCEPTED_AT_ONCE = 4
"""Connections that are taken per turn of the event loop; what the others send is read in between."""
RESERVED = 8 * ACCEPTED_AT_ONCE
"""Connections beyond the bound, for `/health`: so many that one has sent its request before it is dropped for further ones."""
FILES_OF_SERVICE = 16
"""Descriptors that are kept for starting workers and for what libraries open."""
FEWEST = 8
WAITING = 1024
"""Connections that the system keeps until they are accepted."""
USED_UP = (errno.EMFILE, errno.ENFILE)
UNREAD = 64 << 10


class Place(Enum):
    """What is there for a new connection."""

    ORDINARY = "ordinary"
    RESERVED = "reserved"
    NONE = "none"


class Droppable(Protocol):
    """A connection that can be ended."""

    def drop(self) -> None:
        """End the connection, which is idle, for another one."""


@dataclass(slots=True, eq=False)
class _Group:
    """Connections with a bound in common."""

    open: int = 0
    idle: dict[Droppable, None] = field(default_factory=dict)
    """In the order in which they became idle."""


class Connections:
    """The open connections, each with its address."""

    def __init__(self, most: int, most_per_address: int, reserved: int = RESERVED) -> None:
        self._most, self._most_per_address = most, most_per_address
        self._most_reserved = reserved
        self._all, self._reserved = _Group(), _Group()
        self._by_address: dict[str, _Group] = {}
        self._places: dict[Droppable, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def open(self, connection: Droppable, address: str) -> Place:
        """Take in a connection; what has been idle longest may be dropped for it.

        In an ordinary place it is busy until `set_idle` is called; in a reserved one it is idle at once.
        """
        group = self._by_address.get(address) or _Group()
        if group.open >= self._most_per_address:
            has_room = self._drop_first(group)
        else:
            has_room = self._all.open < self._most or self._drop_first(self._all)
        if has_room:
            self._places[connection] = (address,)
            self._by_address.setdefault(address, _Group())
        elif self._reserved.open < self._most_reserved or self._drop_first(self._reserved):
            self._places[connection] = ()
        else:
            return Place.NONE
        for each in self._groups(connection):
            each.open += 1
        if has_room:
            return Place.ORDINARY
        self.set_idle(connection)
        return Place.RESERVED

    def set_busy(self, connection: Droppable) -> None:
        """Note that a request has begun."""
        for group in self._groups(connection):
            group.idle.pop(connection, None)

    def set_idle(self, connection: Droppable) -> None:
        """Note that there is no request."""
        for group in self._groups(connection):
            group.idle[connection] = None

    def close(self, connection: Droppable) -> None:
        """Forget a connection; one that is not known is forgotten already."""
        for group in self._groups(connection):
            group.open -= 1
            group.idle.pop(connection, None)
        for address in self._places.pop(connection, ()):
            if not self._by_address[address].open:
                del self._by_address[address]

    def _groups(self, connection: Droppable) -> list[_Group]:
        if connection not in self._places:
            return []
        of_address = [self._by_address[address] for address in self._places[connection]]
        return [self._all, *of_address] if of_address else [self._reserved]

    def _drop_first(self, group: _Group) -> bool:
        """Drop the connection that has been idle longest; return whether there was one."""
        connection = next(iter(group.idle), None)
        if connection is None:
            return False
        self.close(connection)
        connection.drop()
        return True


def connections_within(most: int, most_per_address: int, *, workers: int) -> Connections:
    """Return bounds for which there are descriptors, after raising the limit of them as far as that helps and is allowed."""
    kept = len(list(Path("/proc/self/fd").iterdir())) + workers + FILES_OF_SERVICE
    needed = kept + 2 * (most + RESERVED)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY not in (soft, hard):
        soft = max(soft, min(needed, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return Connections(most, most_per_address)
    usable = max((soft - kept) // 2, FEWEST)
    reserved = min(RESERVED, usable // 2)
    return Connections(min(most, usable - reserved), most_per_address, reserved)


class Listener(socket.socket):
    """A listening socket that turns connections away when no descriptor is left for them."""

    refusal = b""
    """What they are told."""
    _spare: int | None = None

    def listen(self, _backlog: int = WAITING, /) -> None:
        """Listen with a long queue; asyncio takes as many connections per turn as it gives here, which should be few."""
        super().listen(WAITING)
        self._keep_spare()

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection for which there is a descriptor."""
        while True:
            try:
                return super().accept()
            except OSError as error:
                if error.errno not in USED_UP or self._spare is None:
                    raise
            self._turn_away()

    def close(self) -> None:
        """Close the socket and the spare descriptor."""
        self._free_spare()
        super().close()

    def _turn_away(self) -> None:
        """Tell the next connection that there is no room."""
        self._free_spare()
        try:
            connection, _ = super().accept()
            with connection, suppress(OSError):
                connection.setblocking(False)
                connection.send(self.refusal)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(UNREAD)  # closing with unread bytes would take the answer back
        finally:
            self._keep_spare()

    def _keep_spare(self) -> None:
        if self._spare is None:
            with suppress(OSError):
                self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _free_spare(self) -> None:
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
