"""How long does an agent wait for its first answer from `aegir mcp`?

Wall time: the server loads its annotator while the client connects. A run is a new process; what is sent and read is what a client of the
protocol sends, without the time that a client takes itself.
"""

import json
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from aegir_rl.base.seeding import Seeds
from benchmarks.commands import aegir, is_installed
from benchmarks.measuring import CommandFailed, Runs, run_command
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_most
from benchmarks.synthetic_tables import csv_text

QUESTION = "wall seconds until the first answer of aegir mcp about one CSV file of ten columns"
UNIT = "seconds"
RATIO_TARGET = 1.2


def run(options: Options) -> Result:
    """Time first answers, by turns with cold runs of the command on the same file."""
    if not is_installed("mcp"):
        raise CommandFailed("mcp is not installed; pip install 'aegir-tables[mcp]'")
    repeats = 1 if options.quick else max(options.repeats, 5)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one.csv"
        draw = random.Random(Seeds(options.seed).derive("cold_start"))
        file.write_text(csv_text(10, 100, draw), encoding="utf-8")
        cold, asked, started = [], [], []
        for _ in range(repeats + 1):
            begin = time.perf_counter()
            run_command(aegir("annotate", file, "--no-memory"))
            cold.append(time.perf_counter() - begin)
            times = _first_answer(Path(folder))
            asked.append(times[0])
            started.append(times[1])
    annotate, first, whole = (
        Measurement(name, UNIT, Runs(tuple(values[1:])))  # the first run warms the files
        for name, values in (
            ("aegir annotate one.csv", cold),
            ("first question to answer", asked),
            ("start to first answer", started),
        )
    )
    return Result(
        benchmark="agent_start",
        question=QUESTION,
        data="one synthetic CSV file of 10 columns and 100 rows",
        measurements=(first, whole, annotate),
        ratios=(Ratio(first, annotate), Ratio(whole, annotate)),
        targets=(at_most(first, RATIO_TARGET * annotate.value),),
        settings={"repeats": repeats},
    )


def _first_answer(folder: Path) -> tuple[float, float]:
    """Seconds from the first question, and from the start, to its answer."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        aegir("mcp", folder, "--no-memory"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    client = {"name": "benchmark", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    _send(process, {"id": 1, "method": "initialize", "params": hello})
    _receive(process)
    _send(process, {"method": "notifications/initialized"})
    asked = time.perf_counter()
    question = {"name": "annotate", "arguments": {"path": "one.csv"}}
    _send(process, {"id": 2, "method": "tools/call", "params": question})
    answer = _receive(process)
    end = time.perf_counter()
    process.communicate()
    if answer["result"].get("isError"):
        raise CommandFailed(f"aegir mcp answered: {answer['result']['content'][0]['text']}")
    return end - asked, end - begin


def _send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def _receive(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer
