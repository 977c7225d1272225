"""`aegir mcp` as an agent meets it: the client of the official package, and a process of its own."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import refused, run, run_process

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    for name in ("customers.csv", "products.tsv"):
        shutil.copy(EXAMPLES / name, folder)
    return folder


def with_client(arguments: list[str], ask: Callable[[Any], Awaitable[Any]]) -> Any:
    """What `ask` returns of a client that is connected to `aegir mcp` with these arguments."""
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "aegir", "mcp", *arguments, "--no-memory"]
    )

    async def talk() -> Any:
        async with mcp.Client(stdio_client(server)) as client:
            return await ask(client)

    return asyncio.run(talk())


async def call(client: Any, tool: str, **arguments: object) -> Any:
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    return text if result.is_error else json.loads(text)


def test_an_agent_learns_what_columns_are_and_meets_no_person(lake: Path):
    async def ask(client: Any) -> Any:
        listed = (await client.list_tools()).tools
        return (
            {tool.name: tool.annotations.read_only_hint for tool in listed},
            await call(client, "annotate", path="."),
            await call(client, "sample", path="customers.csv", rows=20),
            await call(client, "explain", path="customers.csv", column="email"),
        )

    tools, answer, sample, explained = with_client([str(lake)], ask)
    assert tools == {
        **dict.fromkeys(("annotate", "explain", "types", "diff", "sample"), True),
        "mask": False,
    }
    assert [table["row"]["noun"] for table in answer["tables"]] == ["customer", "product"]
    assert len(sample["rows"]) == 20
    assert any("e-mail addresses" in reason for reason in explained["columns"][0]["reasons"])
    lines = (lake / "customers.csv").read_text().splitlines()[1:]
    seen = json.dumps([answer, sample, explained], ensure_ascii=False)
    for line in lines:
        key, name, email = line.split(",")[:3]
        assert key not in seen
        assert name not in seen
        assert not email or email not in seen


def test_what_is_refused_is_one_sentence_and_the_server_goes_on(lake: Path):
    async def ask(client: Any) -> list[Any]:
        return [
            await call(client, "sample", path="/etc/passwd"),
            await call(client, "mask", path="customers.csv", out="copy.csv"),
            await call(client, "sample", path="customers.csv", rows=0),
            await call(client, "types", name="email_address"),
        ]

    outside, writing, none, answer = with_client([str(lake)], ask)
    assert "/etc/passwd is outside of the folders that may be read" in outside
    assert "nothing may be written" in writing
    assert "rows is 0; ask for 1 to 100" in none
    assert not [text for text in (outside, writing, none) if "\n" in text]
    assert answer["types"][0]["name"] == "email_address"


def test_an_agent_masks_a_file_by_the_policy_and_compares_it(lake: Path, tmp_path: Path):
    policy = tmp_path / "policy.toml"
    policy.write_text('redacted = "---"\n[columns]\nemail = "redact"\n')

    async def ask(client: Any) -> tuple[Any, Any]:
        report = await call(client, "mask", path="customers.csv", out="masked.csv")
        return report, await call(client, "diff", old="customers.csv", new="masked.csv")

    arguments = [str(lake), "--write", str(lake), "--mask-policy", str(policy)]
    report, changes = with_client(arguments, ask)
    assert report["rows"] == 20
    assert "---" in (lake / "masked.csv").read_text()
    assert changes["counts"]["not-personal"] > 0


def test_the_vocabulary_is_a_resource(lake: Path):
    async def ask(client: Any) -> list[Any]:
        shown = [await client.read_resource(f"aegir://vocabulary{end}") for end in ("", "/price")]
        return [json.loads(each.contents[0].text) for each in shown]

    names, price = with_client([str(lake)], ask)
    assert len(names) > 400
    assert {each["level"] for each in names} == {"kind", "column type", "fine type", "relation"}
    assert price["types"][0]["name"] == "price"


def started(lake: Path) -> subprocess.Popen[bytes]:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    process = subprocess.Popen(
        [sys.executable, "-m", "aegir", "mcp", str(lake), "--no-memory"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(hello).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "aegir"
    return process


def test_the_server_ends_with_its_client(lake: Path):
    process = started(lake)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, b"", b"")


def test_a_terminated_server_leaves_no_traceback(lake: Path):
    process = started(lake)
    os.kill(process.pid, signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert err == b"aegir: terminated\n"


def test_a_folder_that_is_not_there_and_a_short_key_are_refused(tmp_path: Path):
    refused(run("mcp", tmp_path / "none"), "there is no folder")
    (tmp_path / "key").write_text("short\n")
    refused(run("mcp", tmp_path, "--key-file", tmp_path / "key"), "the key has 5 bytes")


def test_without_the_package_the_sentence_says_how_to_install_it(lake: Path, tmp_path: Path):
    (tmp_path / "mcp.py").write_text("raise ImportError('no module named mcp')\n")
    done = run_process("mcp", lake, PYTHONPATH=str(tmp_path))
    refused(done, "pip install 'aegir-tables[mcp]'")
