"""`--engine` and `--address`: what cannot be done on a cluster is said in one sentence; no cluster is started here."""

import socket
import sys
from pathlib import Path

import pytest

from aegir_rl.simulator.task import write_tasks
from command_line import refused, run
from small_tasks import adding_task


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")
    return path


def test_without_ray_the_command_that_installs_it_is_named(
    table: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)  # an import of it fails
    tasks = table.with_name("tasks.jsonl")
    write_tasks([adding_task(1)], tasks)
    for asked in (
        ("annotate", table, "--annotator", "rules"),
        ("sim", "run", "--tasks", tasks),
    ):
        done = run(*asked, "--engine", "ray")
        refused(
            done, "--engine ray needs Ray; install it with: pip install 'aegir-tables[cluster]'"
        )


def test_an_address_where_no_cluster_answers_is_refused(
    table: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("aegir.engines.ray_cluster.SECONDS_TO_ANSWER", 0.1)
    asked = ("annotate", table, "--annotator", "rules", "--engine", "ray")
    refused(run(*asked, "--address", "127.0.0.1:1"), "no Ray cluster answers at 127.0.0.1:1 (")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        refused(run(*asked), f"no Ray cluster answers at {address} (timed out); start one with: ")
    for address in ("nowhere", "ray://127.0.0.1:1"):
        refused(
            run(*asked, "--address", address), f"is {address!r}; expected HOST:PORT of its head"
        )
    refused(run(*asked[:4], "--address", "127.0.0.1:1"), "--address 127.0.0.1:1 needs --engine ray")


def test_what_only_one_process_can_do_is_refused(table: Path):
    ray = ("--engine", "ray")
    refused(
        run("annotate", "-", *ray, stdin=b"x\n1\n"), "standard input cannot be read by the nodes"
    )
    refused(run("annotate", table, "--explain-routing", *ray), "need one process; leave them or")
    database = table.with_name("shop.db")
    database.touch()
    refused(
        run("annotate", f"sqlite:///{database}", *ray), "cannot be read by the nodes of a cluster"
    )
    tasks = table.with_name("tasks.jsonl")
    write_tasks([adding_task(1)], tasks)
    llm = ("--solver", "llm", "--llm-endpoint", "http://127.0.0.1:1/v1")
    refused(run("sim", "run", "--tasks", tasks, *llm, *ray), "is not sent to other machines")
