"""Open connections: bounds, who makes room for whom, and descriptors that are used up."""

import resource
import socket
from pathlib import Path

import pytest

from aegir.service.connections import Connections, Listener, Place, connections_within
from used_up_descriptors import no_descriptors


class Wire:
    """A connection that remembers whether it was dropped."""

    dropped = False

    def drop(self) -> None:
        self.dropped = True


def opened(connections: Connections, *addresses: str) -> list[Wire]:
    wires = [Wire() for _ in addresses]
    for wire, address in zip(wires, addresses, strict=True):
        assert connections.open(wire, address) is Place.ORDINARY
        connections.set_idle(wire)
    return wires


def test_the_longest_idle_connection_of_an_address_makes_room_for_its_next_one():
    connections = Connections(10, 2)
    other, first, second = opened(connections, "b", "a", "a")
    connections.set_busy(first)
    connections.set_idle(first)  # answered just now
    opened(connections, "a")
    assert (other.dropped, first.dropped, second.dropped) == (False, False, True)
    assert len(connections) == 3


def test_the_longest_idle_connection_of_all_makes_room_when_there_are_too_many():
    connections = Connections(2, 2)
    first, second = opened(connections, "a", "b")
    opened(connections, "c")
    assert (first.dropped, second.dropped, len(connections)) == (True, False, 2)


def test_busy_connections_are_never_dropped_and_leave_room_for_health():
    connections = Connections(3, 2, reserved=4)
    busy = opened(connections, "a", "a", "b")
    for wire in busy:
        connections.set_busy(wire)
    reserved = [Wire() for _ in range(5)]
    assert {connections.open(wire, "a") for wire in reserved} == {Place.RESERVED}
    assert [wire.dropped for wire in reserved] == [True, False, False, False, False]
    for wire in reserved[1:]:
        connections.set_busy(wire)
    assert connections.open(Wire(), "a") is Place.NONE
    connections.close(busy[0])
    assert connections.open(Wire(), "a") is Place.ORDINARY
    assert not any(wire.dropped for wire in (*busy, *reserved[1:]))


def test_what_is_closed_is_forgotten():
    connections = Connections(5, 1)
    (wire,) = opened(connections, "a")
    connections.close(wire)
    connections.close(wire)
    connections.set_idle(wire)
    assert len(connections) == 0
    opened(connections, "a")
    assert not wire.dropped


def test_the_limit_of_descriptors_is_raised_for_the_connections():
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(
        int(each.name) for each in Path("/proc/self/fd").iterdir()
    )  # earlier tests may keep some open
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 20, usual[1]))
        connections_within(300, 300, workers=2)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 600
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)


def test_a_listener_without_descriptors_turns_connections_away_and_recovers():
    with Listener(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.refusal = b"no room"
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        clients = [socket.create_connection(listener.getsockname(), 10) for _ in range(3)]
        with no_descriptors():
            for _ in range(2):
                with pytest.raises(BlockingIOError):  # none is left in the queue
                    listener.accept()
        assert [client.recv(100) for client in clients] == [b"no room"] * 3
        clients.append(socket.create_connection(listener.getsockname(), 10))
        connection, _ = listener.accept()
        for each in (*clients, connection):
            each.close()
