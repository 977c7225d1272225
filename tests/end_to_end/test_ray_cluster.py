"""`--engine ray` on a simulated cluster of two nodes, one of which is killed in the middle.

Skipped where Ray is not installed, which is 240 MB; `make test-cluster` installs it and runs these tests.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from command_line import run, run_process
from sandboxes import open_or_skip
from small_tasks import SOLUTION, adding_task

from aegir_rl.simulator.task import write_tasks  # isort: skip

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None,
    reason="Ray is not installed; run these tests with: make test-cluster",
)
EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 240.0
SLOW = SOLUTION.replace(
    "def solve(number):\n", "import time\ndef solve(number):\n    time.sleep(0.03)\n"
)
"""Solves the small tasks, in a tenth of a second with three hidden cases."""


class TwoNodes:
    """A head and another node, of one CPU each, on the loopback address."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster  # reads the environment

        node = {"num_cpus": 1, "node_ip_address": "127.0.0.1"}
        self._cluster = Cluster(
            initialize_head=True, head_node_args={**node, "include_dashboard": False}
        )
        self._node_settings = node
        self._second: Any = None

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def fill(self) -> None:
        """Start the second node if there is none."""
        if self._second is None:
            self._second = self._cluster.add_node(**self._node_settings)

    def is_working(self) -> bool:
        """Whether a job of Aegir has begun on the second node: its worker processes are there."""
        (raylet,) = self._second.all_processes["raylet"]
        jobs = [pid for pid in descendants(raylet.process.pid) if is_job(pid)]
        return any(descendants(pid) for pid in jobs)

    def kill_second(self) -> None:
        self._cluster.remove_node(self._second, allow_graceful=False)
        self._second = None

    def close(self) -> None:
        self._cluster.shutdown()


def descendants(pid: int) -> list[int]:
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            below = [int(child) for child in path.read_text().split()]
        except OSError:  # it has ended
            continue
        found += [*below, *(each for child in below for each in descendants(child))]
    return found


def is_job(pid: int) -> bool:
    try:
        return b"aegir.engines.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoNodes]:
    with pytest.MonkeyPatch.context() as patch:
        token = tmp_path_factory.mktemp("ray") / "token"
        token.write_text("0123456789abcdef" * 2)  # made up; not the user's own, in their home
        for name, value in {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the loopback address stays what it is
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }.items():
            patch.setenv(name, value)
        two = TwoNodes()
        yield two
        two.close()


@pytest.fixture
def nodes(cluster: TwoNodes) -> TwoNodes:
    cluster.fill()
    return cluster


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def start(*arguments: object) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "aegir", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: "subprocess.Popen[bytes]") -> bytes:
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err.decode()
    assert b"Traceback" not in err
    return out


def without_times(lines: str) -> list[Mapping[str, Any]]:
    """Results in the order of their tasks; how long a program takes differs from run to run."""
    results = [json.loads(line) for line in lines.splitlines()]
    for result in results:
        del result["wall_seconds"], result["cpu_seconds"]
    return sorted(results, key=lambda result: str(result["task"]))


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    open_or_skip().close()
    path = tmp_path_factory.mktemp("tasks") / "tasks.jsonl"
    write_tasks([adding_task(amount, solution=SLOW) for amount in range(40)], path)
    return path


def test_tasks_are_solved_though_a_node_is_killed(nodes: TwoNodes, tasks: Path):
    process = start(
        "sim", "run", "--tasks", tasks, "--json", "--engine", "ray", "--address", nodes.address
    )
    wait_until(nodes.is_working)
    nodes.kill_second()
    assert process.poll() is None, "the node was to be killed in the middle"
    alone = run("sim", "run", "--tasks", tasks, "--json")
    assert without_times(finish(process).decode()) == without_times(alone.out)
    assert len(alone.out.splitlines()) == 40


def test_tables_are_annotated_though_a_node_is_killed(nodes: TwoNodes, tmp_path: Path):
    for number in range(100):
        (tmp_path / f"{number}.csv").write_bytes((EXAMPLES / "customers.csv").read_bytes())
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 no archive")
    asked = ("annotate", tmp_path, "--json")
    process = start(*asked, "--engine", "ray", "--address", nodes.address)
    wait_until(nodes.is_working)
    nodes.kill_second()
    assert process.poll() is None, "the node was to be killed in the middle"
    out, err = process.communicate(timeout=SECONDS)
    alone = run(*asked)
    assert out.decode() == alone.out
    assert err.decode() == alone.err
    assert process.returncode == alone.code == 2  # for the file that is no workbook
    assert len(alone.out.splitlines()) == 100


def test_evaluation_over_a_cluster_gives_the_figures_of_one_machine(
    nodes: TwoNodes, tmp_path: Path
):
    path = tmp_path / "labelled.jsonl"
    columns = [
        {"name": None, "values": ["a@example.org", "b@example.org"], "cta": "email"},
        {"name": "x", "values": ["+49 30 901820", "+49 30 901821"], "cta": "telephone"},
    ]
    lines = [
        json.dumps({"id": f"t{number}", "columns": columns[: 1 + number % 2]})
        for number in range(30)
    ]
    path.write_text("\n".join(lines))
    asked = ("eval", path, "--annotator", "rules", "--json")
    alone, shared = (
        json.loads(finish(start(*asked, *more)))
        for more in ((), ("--engine", "ray", "--address", nodes.address))
    )
    assert shared.pop("columns_per_cpu_second") is None
    assert alone.pop("columns_per_cpu_second") > 0
    assert shared == alone
    assert alone["columns"] == 45


def test_specialists_trained_over_a_cluster_have_the_bits_of_one_machine(
    nodes: TwoNodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from small_specialists import write_specialist_settings

    monkeypatch.chdir(tmp_path)
    configs = []
    for seed, name in enumerate(("collapsed", "healthy"), start=3):
        configs.append(write_specialist_settings(tmp_path, f"{name}.toml", seed=seed))
        configs[-1].write_text(configs[-1].read_text().replace('"contacts"', f'"{name}"'))
    asked = ("train", "specialist", *configs, "--json")
    process = start(*asked, "--engine", "ray", "--address", nodes.address)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 3, err.decode()
    assert json.loads(out)["name"] == "healthy"  # a training that fails does not stop the others
    assert "collapsed.safetensors is not made: " in err.decode()
    assert [path.stem for path in Path("runs/specialists").glob("*.safetensors")] == ["healthy"]
    assert not list(tmp_path.glob("**/.aegir-shared-*"))
    assert run("train", "specialist", configs[1], "--out", "alone.safetensors").code == 0
    shared, alone = Path("runs/specialists/healthy.safetensors"), Path("alone.safetensors")
    assert shared.read_bytes() == alone.read_bytes()


def test_results_so_far_are_kept_after_an_interrupt(nodes: TwoNodes, tasks: Path, tmp_path: Path):
    out = tmp_path / "results.jsonl"
    asked = ("sim", "run", "--tasks", tasks, "--out", out)
    process = start(*asked, "--engine", "ray", "--address", nodes.address)
    wait_until(lambda: out.exists() and out.stat().st_size > 0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SECONDS)
    kept = len(out.read_text().splitlines())
    assert process.returncode == 130
    assert [line for line in err.decode().splitlines() if line] == [
        f"aegir: {kept} results are in {out}; the same command goes on from there",
        "aegir: interrupted",
    ]
    assert 0 < kept < 40
    wait_until(lambda: not nodes.is_working())
    assert f"{kept} of 40 tasks have a result in {out} already" in run(*asked).err
    assert len(out.read_text().splitlines()) == 40


def test_a_cluster_of_this_machine_alone_listens_on_the_loopback_address_and_ends(tmp_path: Path):
    python = (
        "from aegir.engines import RayEngine\n"
        "with RayEngine(None) as engine:\n"
        "    import ray\n"
        "    print(*{node['NodeManagerAddress'] for node in ray.nodes()}, engine.count_workers() > 0)\n"
        "print(ray.is_initialized())"
    )
    token = tmp_path / "token"
    token.write_text("0123456789abcdef" * 2)
    done = run_process(python=python, RAY_AUTH_TOKEN_PATH=str(token), HOME=str(tmp_path))
    assert done.out.split() == ["127.0.0.1", "True", "False"], done.err
    assert done.err == ""
