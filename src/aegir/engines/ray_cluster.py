"""Places on the nodes of a Ray cluster: one per node with all its worker processes, or one per worker.

    with RayEngine("10.0.0.1:6379") as engine:         # joins a cluster, of which this machine is a node
    with RayEngine(None) as engine:                    # starts one on the loopback address, and ends it

A place is an actor that is pinned to its node and holds a child interpreter (child.py): what a job loads, it loads once per node. Ray says when
an actor or its node is gone; shards and retries are those of every engine (engine.py).

Promises
  - a cluster that is started here listens on the loopback address, asks for a token, which Ray keeps in the user's home, has
    no dashboard and sends no usage statistics;
  - an address where nothing answers is an error within seconds, a machine without Ray one with the command that installs it.

Limits: the machine that runs the command and the head of the cluster must live. A node that goes silent without closing its
connections is given up when Ray's own health checks do so, after about half a minute. What Ray reads from the environment when
it is imported is not set for a program that has imported it before.
"""

import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from aegir.engines.child import in_order, opening_order, start_job
from aegir.engines.engine import TRIES, Engine, check_places
from aegir.engines.job import Job
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes.channel import Channel
from aegir_rl.processes.worker import END, SECONDS_TO_END, Worker

LOST = -signal.SIGKILL
"""The exit code of what ran on a node that is gone."""
MOST_PLACES = 4096
SECONDS_BETWEEN_LOOKS = 5.0
"""After which places that turned up or went away are looked for."""
SECONDS_WITHOUT_PLACES = 60.0
LOOPBACK = "127.0.0.1"
LOOPBACK_HOSTS = ("127.", "localhost:", "[::1]:")
SECONDS_TO_ANSWER = 5.0
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""How a connection to a gRPC server begins (RFC 9113, 3.4): Ray itself waits for minutes for one that is none."""
SETTINGS_FRAME = b"\x04"
"""The fourth byte of a server's first answer."""
INSTALL = "pip install 'aegir-tables[cluster]'"


class RayEngine(Engine):
    """The nodes of a cluster.

    `workers` is how many worker processes a node has at most, by default one per CPU of the node. With `cpus_per_place`, a node
    has several places, each of which works on one item at a time and counts as so many CPUs.
    """

    most_places = MOST_PLACES

    def __init__(
        self, address: str | None, workers: int | None = None, cpus_per_place: int | None = None
    ) -> None:
        if workers is not None:
            check_places(workers)
        if address is not None:
            _check_address(address)
        self._workers, self._cpus_per_place = workers, cpus_per_place
        if cpus_per_place is not None:
            self.at_once = 1
        self._ray = _import_ray(address)
        self._where = address or "this machine"
        _connect(self._ray, address)

    def places(self, job: Job) -> Callable[[], Worker | None]:
        return _Places(self, job, self._ray, self._where).start

    def count_workers(self) -> int:
        return max(sum(place.workers for place in self.find_places()), 1)

    def close(self) -> None:
        """Leave the cluster; end it if it was started here."""
        self._ray.shutdown()

    def find_places(self) -> "Iterator[_Place]":
        """Yield every place that there can be."""
        for node in self._ray.nodes():
            cpus = int(node["Resources"].get("CPU", 0))
            if not node["Alive"] or cpus < 1:
                continue
            node_id, name = node["NodeID"], f"node {node['NodeManagerAddress']}"
            if self._cpus_per_place is None:
                workers = min(self._workers or cpus, cpus)
                yield _Place(node_id, node_id, name, workers, workers)
                continue
            each = min(self._cpus_per_place, cpus)
            for number in range(min(self._workers or cpus, cpus // each)):
                yield _Place(f"{node_id}/{number}", node_id, name, 1, each)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a child interpreter can run."""

    key: str
    node: str
    name: str
    workers: int
    cpus: int


class _Places:
    """The places of one job: those at work, and where another one can be started."""

    def __init__(self, engine: RayEngine, job: Job, ray: Any, where: str) -> None:
        self._engine, self._job, self._ray, self._where = engine, job, ray, where
        self._actor = ray.remote(_Actor)
        self._present: dict[str, _RayWorker] = {}
        self._failed_starts: Counter[str] = Counter()
        self._free: list[_Place] = []
        self._next_look = 0.0
        self._last_place = time.monotonic()

    def start(self) -> "Worker | None":
        """Start a place; look for places from time to time, and after one was lost."""
        now = time.monotonic()
        for key in [key for key, worker in self._present.items() if worker.ended]:
            self._failed_starts[key] += self._present.pop(key).opening
            self._next_look = 0.0
        if now >= self._next_look:
            self._next_look = now + SECONDS_BETWEEN_LOOKS
            self._free = [
                place
                for place in self._engine.find_places()
                if place.key not in self._present and self._failed_starts[place.key] < TRIES
            ]
        if any(worker.started for worker in self._present.values()):
            self._last_place = now
        elif now - self._last_place > SECONDS_WITHOUT_PLACES:
            raise AegirError(
                f"no node of the Ray cluster at {self._where} has had a free CPU for a minute; see what it does with: ray status"
            )
        if not self._free:
            return None
        place = self._free.pop(0)
        self._present[place.key] = worker = self._start(place)
        return worker

    def _start(self, place: _Place) -> "_RayWorker":
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        actor = self._actor.options(
            num_cpus=place.cpus,
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(place.node, soft=False),
        ).remote()
        return _RayWorker(place, actor, opening_order(self._job, place.workers), self._ray)


class _Actor:
    """Runs on a node; hands shards to a process of its own."""

    def start(self) -> None:
        """Nothing: the answer says that the actor runs."""

    def open(self, order: bytes) -> list[bytes] | None:
        self._process = start_job(order)
        return self._process.ask(b"[]")

    def ask(self, shard: bytes) -> list[bytes] | None:
        return self._process.ask(shard)


class _RayWorker(Worker):
    """An actor as a worker of a pool: a thread hands requests to it, and its replies back."""

    def __init__(self, place: _Place, actor: Any, order: bytes, ray: Any) -> None:
        channel, theirs = Channel.pair()
        super().__init__(0, channel, lambda: LOST)
        self.size, self.opening, self.ended = place.workers, True, False
        self._name, self._actor, self._ray = place.name, actor, ray
        self._started = actor.start.remote().future()
        self._thread = threading.Thread(target=self._forward, args=(theirs, order), daemon=True)
        self._thread.start()

    @property
    def started(self) -> bool:
        """Whether it has a machine to itself, and not only a place in a queue."""
        return self._started.done() and self._started.exception() is None

    def close(self, _by: signal.Signals | None = None, *, seconds: float = SECONDS_TO_END) -> int:
        """End the actor; what it works on is lost."""
        self.ended = True
        with suppress(Exception):  # it is gone already, as a rule
            self._ray.kill(self._actor)
        code = super().close(seconds=seconds)
        self._thread.join(
            seconds
        )  # Ray ends a program that leaves it while a thread waits for an answer
        return code

    def _forward(self, theirs: Channel, order: bytes) -> None:
        lost = (self._ray.exceptions.RayError, OSError)
        with suppress(*lost):
            replies = self._ray.get(self._actor.open.remote(order))
            while replies is not None:
                for reply in in_order(replies, self._name):
                    theirs.send(reply)
                theirs.send(END)
                shard = theirs.receive()
                if shard is None:
                    break
                replies = self._ray.get(self._actor.ask.remote(shard))
        theirs.close()


def _import_ray(address: str | None) -> Any:
    # Read when Ray is imported.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else a warning
    # Ray prints to standard output, among the answers, that a node was lost.
    os.environ |= {"RAY_DEDUP_LOGS": "1", "RAY_DEDUP_LOGS_SKIP_REGEX": ".*"}
    if address is None or address.startswith(LOOPBACK_HOSTS):
        # Else Ray replaces a loopback address by one that other machines can reach, and listens on all of them.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ModuleNotFoundError:
        raise UsageError(f"--engine ray needs Ray; install it with: {INSTALL}") from None
    return ray


def _connect(ray: Any, address: str | None) -> None:
    """Join the cluster at an address, or start one on this machine."""
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        settings |= {"address": "local", "include_dashboard": False, "_node_ip_address": LOOPBACK}
    else:
        settings |= {"address": address}
    try:
        with _own_signals():
            ray.init(**settings)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split())[:300]
        where = f"the Ray cluster at {address}" if address else "a Ray cluster on this machine"
        raise UsageError(f"{where} cannot be used ({reason})") from None


def _check_address(address: str) -> None:
    """Raise `UsageError` if no server of the kind that Ray has answers at an address."""
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()) or "/" in host:
        raise UsageError(
            f"the address of the Ray cluster is {address!r}; expected HOST:PORT of its head, such as 10.0.0.1:6379"
        )
    try:
        with socket.create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER) as connection:
            connection.sendall(HELLO)
            answer = connection.recv(9)
        reason = "" if answer[3:4] == SETTINGS_FRAME else "something else listens there"
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason:
        raise UsageError(
            f"no Ray cluster answers at {address} ({reason}); start one with: ray start --head, or leave --address out to use "
            "this machine alone"
        )


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the handler of SIGTERM, which Ray would replace by its own."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with suppress(
            ValueError, TypeError
        ):  # in another thread, or a handler that is not Python's
            signal.signal(signal.SIGTERM, handler)
