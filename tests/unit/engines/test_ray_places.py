"""Nodes that come and go, as a cluster tells of them. Ray is made up: actors are threads; child interpreters are not started."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from aegir.engines import ray_cluster
from aegir.engines.job import Job
from aegir.engines.ray_cluster import RayEngine
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes import pool as pools
from aegir_rl.processes.plain import to_json
from aegir_rl.processes.pool import ERROR

JOB = Job("aegir.nothing:needed", {})
Answer = Callable[[str, bytes], list[bytes] | None]


class RayError(Exception):
    """As Ray has it: an actor or its node is gone."""


class FakeRay(ModuleType):
    """Nodes with actors; `answer` is called with the node's name and a message for every request."""

    exceptions = SimpleNamespace(RayError=RayError)

    def __init__(self, answer: Answer, **nodes: int) -> None:
        super().__init__("ray")
        self.answer, self.cpus = answer, nodes
        self.dead: set[str] = set()
        self.asked: list[tuple[str, int]] = []
        self.lock = threading.Lock()

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {
                "NodeID": name,
                "NodeManagerAddress": name,
                "Alive": name not in self.dead,
                "Resources": {"CPU": float(cpus)},
            }
            for name, cpus in self.cpus.items()
        ]

    def init(self, **_: object) -> None:
        pass

    def shutdown(self) -> None:
        pass

    def kill(self, _actor: object) -> None:
        pass

    def remote(self, _class: type) -> Any:
        return SimpleNamespace(
            options=lambda **how: SimpleNamespace(remote=lambda: self.actor(how))
        )

    def actor(self, how: dict[str, Any]) -> Any:
        name = how["scheduling_strategy"]
        self.asked.append((name, how["num_cpus"]))

        def method(function: Callable[..., Any]) -> Any:
            return SimpleNamespace(remote=lambda *values: lambda: function(*values))

        def start() -> Any:
            begun: Future[None] = Future()
            begun.set_result(None)
            return SimpleNamespace(future=lambda: begun)

        return SimpleNamespace(
            start=SimpleNamespace(remote=start),
            open=method(lambda _order: self.reply(name, b"[]")),
            ask=method(lambda shard: self.reply(name, shard)),
        )

    def reply(self, name: str, shard: bytes) -> list[bytes] | None:
        if name in self.dead:
            raise RayError(name)
        return self.answer(name, shard)

    def get(self, call: Callable[[], Any]) -> Any:
        return call()


def doubles(_node: str, shard: bytes) -> list[bytes]:
    return [to_json([index, 2 * item]) for index, item in enumerate(json.loads(shard))][::-1]


@pytest.fixture
def engine_with(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., tuple[RayEngine, FakeRay]]]:
    monkeypatch.setattr(pools, "SECONDS_BETWEEN_STARTS", 0.01)
    monkeypatch.setattr(ray_cluster, "SECONDS_BETWEEN_LOOKS", 0.0)
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_DEDUP_LOGS", "RAY_DEDUP_LOGS_SKIP_REGEX"):
        monkeypatch.setenv(name, "")
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = lambda node, soft: node  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
    monkeypatch.setitem(sys.modules, "ray.util", ModuleType("ray.util"))

    def make(answer: Answer = doubles, cpus_per_place: int | None = None, **nodes: int) -> Any:
        ray = FakeRay(answer, **nodes)
        monkeypatch.setitem(sys.modules, "ray", ray)
        return RayEngine(None, cpus_per_place=cpus_per_place), ray

    return make


def test_answers_come_in_order_from_all_nodes(engine_with: Any):
    engine, ray = engine_with(first=2, second=3, without_cpu=0)
    assert engine.count_workers() == 5
    assert list(engine.map(JOB, range(100), 100)) == [2 * item for item in range(100)]
    assert sorted(ray.asked) == [
        ("first", 2),
        ("second", 3),
    ]  # one place per node, with all its CPUs


def test_a_node_that_is_lost_costs_no_answer(engine_with: Any):
    def answer(node: str, shard: bytes) -> list[bytes] | None:
        with ray.lock:
            if node == "second" and json.loads(shard):
                ray.dead.add(node)
                raise RayError(node)
        return doubles(node, shard)

    engine, ray = engine_with(answer, first=1, second=2)
    assert list(engine.map(JOB, range(50), 50)) == [2 * item for item in range(50)]


def test_a_node_that_joins_later_is_used(engine_with: Any):
    seen: set[str] = set()

    def answer(node: str, shard: bytes) -> list[bytes]:
        seen.add(node)
        ray.cpus["late"] = 1
        if node == "first" and json.loads(shard):
            late.wait(5)
        if node == "late":
            late.set()
        return doubles(node, shard)

    late = threading.Event()
    engine, ray = engine_with(answer, first=1)
    assert list(engine.map(JOB, range(40), 40)) == [2 * item for item in range(40)]
    assert seen == {"first", "late"}


def test_a_process_that_ends_on_its_node_is_started_again(engine_with: Any):
    left = [2]

    def answer(node: str, shard: bytes) -> list[bytes] | None:
        if json.loads(shard) and left[0]:
            left[0] -= 1
            return None  # the child interpreter has ended
        return doubles(node, shard)

    engine, ray = engine_with(answer, only=1)
    assert list(engine.map(JOB, [1, 2, 3], 3)) == [2, 4, 6]
    assert len(ray.asked) == 3


def test_an_error_of_a_node_names_it(engine_with: Any):
    def answer(_node: str, _shard: bytes) -> list[bytes]:
        return [to_json([ERROR, ["UsageError", "numpy is 1 there and 2 here"]])]

    engine, _ = engine_with(answer, only=1)
    with pytest.raises(UsageError, match=r"^node only: numpy is 1 there and 2 here$"):
        list(engine.map(JOB, [1], 1))


def test_places_of_a_few_cpus_get_one_item_at_a_time(engine_with: Any):
    sizes: list[int] = []

    def answer(node: str, shard: bytes) -> list[bytes]:
        sizes.append(len(json.loads(shard)))
        return doubles(node, shard)

    engine, ray = engine_with(answer, cpus_per_place=2, only=5)
    assert engine.count_workers() == 2
    assert sorted(engine.map(JOB, range(9), 9, ordered=False)) == [2 * item for item in range(9)]
    assert ray.asked == [("only", 2)] * 2
    assert max(sizes) == 1


def test_a_cluster_without_a_free_cpu_is_an_error_after_a_while(
    engine_with: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ray_cluster, "SECONDS_WITHOUT_PLACES", 0.05)
    engine, _ = engine_with(nothing=0)
    with pytest.raises(AegirError, match="no node of the Ray cluster at this machine has had"):
        list(engine.map(JOB, [1], 1))


def test_nodes_where_the_job_never_opens_are_given_up(
    engine_with: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ray_cluster, "SECONDS_WITHOUT_PLACES", 0.2)
    engine, ray = engine_with(lambda _node, _shard: None, broken=1)
    with pytest.raises(AegirError, match="has had a free CPU"):
        list(engine.map(JOB, [1], 1))
    assert len(ray.asked) == 5


def test_a_number_of_workers_that_is_none_is_refused():
    with pytest.raises(UsageError, match="the number of workers is 0; expected at least 1"):
        RayEngine(None, workers=0)
