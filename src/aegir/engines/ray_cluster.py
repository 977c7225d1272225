"""Places on the nodes of a Ray cluster: one per node with all its worker processes, or one per worker.

    with RayEngine("10.0.0.1:6379") as engine:         # joins a cluster, of which this machine is a node
    with RayEngine(None) as engine:                    # starts one on the loopback address, and ends it

A place is an actor that is pinned to its node and holds a child interpreter (child.py): what a job loads, it loads once per node. Ray says when
an actor or its node is gone; shards and retries are in mapping.py.

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
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

from aegir.engines.child import PlaceLost, opening_order, start_job
from aegir.engines.job import Job
from aegir.engines.mapping import ClusterEngine, Place, Reply, check_places
from aegir_rl.base.errors import UsageError

LOOPBACK = "127.0.0.1"
LOOPBACK_HOSTS = ("127.", "localhost:", "[::1]:")
SECONDS_TO_ANSWER = 5.0
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""How a connection to a gRPC server begins (RFC 9113, 3.4): Ray itself waits for minutes for one that is none."""
SETTINGS_FRAME = b"\x04"
"""The fourth byte of a server's first answer."""
INSTALL = "pip install 'aegir-tables[cluster]'"


class RayEngine(ClusterEngine):
    """The nodes of a cluster.

    `workers` is how many worker processes a node has at most, by default one per CPU of the node. With `cpus_per_place`, a node
    has several places, each of which works on one item at a time and counts as so many CPUs.
    """

    def __init__(
        self, address: str | None, workers: int | None = None, cpus_per_place: int | None = None
    ) -> None:
        if workers is not None:
            check_places(workers)
        if address is not None:
            _check_address(address)
        self._workers, self._cpus_per_place = workers, cpus_per_place
        if cpus_per_place is not None:
            self.at_once, self.ahead = 1, 0
        self._ray = _import_ray(address)
        self._where = address or "this machine"
        _connect(self._ray, address)
        self.lost = (PlaceLost, self._ray.exceptions.RayError)
        self._actor = self._ray.remote(_Actor)

    def start_places(self, job: Job, present: Collection[str]) -> Sequence[Place]:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        wanted = [each for each in self._places() if each[0] not in present]
        orders = {
            workers: self._ray.put(opening_order(job, workers)) for _, _, workers, _ in wanted
        }
        return [
            _RayPlace(
                key,
                f"node {node['NodeManagerAddress']}",
                workers,
                self._actor.options(
                    num_cpus=cpus,
                    max_restarts=0,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
                ).remote(),
                orders[workers],
                self._ray,
            )
            for key, node, workers, cpus in wanted
        ]

    def count_workers(self) -> int:
        return max(sum(workers for _, _, workers, _ in self._places()), 1)

    def describe_absence(self) -> str:
        return f"no node of the Ray cluster at {self._where} has had a free CPU for a minute; see what it does with: ray status"

    def close(self) -> None:
        """Leave the cluster; end it if it was started here."""
        self._ray.shutdown()

    def _places(self) -> Iterator[tuple[str, dict[str, Any], int, int]]:
        """Every place that there can be: its key, its node, its worker processes and its CPUs."""
        for node in self._ray.nodes():
            cpus = int(node["Resources"].get("CPU", 0))
            if not node["Alive"] or cpus < 1:
                continue
            if self._cpus_per_place is None:
                workers = min(self._workers or cpus, cpus)
                yield node["NodeID"], node, workers, workers
                continue
            each = min(self._cpus_per_place, cpus)
            for number in range(min(self._workers or cpus, cpus // each)):
                yield f"{node['NodeID']}/{number}", node, 1, each


class _Actor:
    """Runs on a node; hands shards to a process of its own."""

    def start(self) -> None:
        """Nothing: the answer says that the actor runs."""

    def open(self, order: bytes) -> list[bytes] | None:
        self._process = start_job(order)
        return self._process.ask(b"[]")

    def ask(self, shard: bytes) -> list[bytes] | None:
        return self._process.ask(shard)


class _RayPlace:
    """An actor, seen from the machine that sends the work."""

    def __init__(
        self, key: str, name: str, workers: int, actor: Any, order: object, ray: Any
    ) -> None:
        self.key, self.name, self.workers = key, name, workers
        self._actor, self._order, self._ray = actor, order, ray
        self._started: Future[None] = actor.start.remote().future()

    @property
    def started(self) -> bool:
        return self._started.done() and self._started.exception() is None

    def open(self) -> Reply:
        reply: Reply = self._actor.open.remote(self._order).future()
        return reply

    def submit(self, shard: bytes) -> Reply:
        reply: Reply = self._actor.ask.remote(shard).future()
        return reply

    def close(self) -> None:
        with suppress(Exception):  # it is gone already, as a rule
            self._ray.kill(self._actor)


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
