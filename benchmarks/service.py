"""What does the service bear: load, hostile uploads under load, and kills while people correct columns?

    python -m benchmarks service            16 clients for 60 seconds, twice, 500 hostile uploads, 100 kills
    python -m benchmarks service --quick    a few seconds of each

The load comes from `hey` (a package of Debian), over loopback, on the same cores as the service: every client sends a CSV
file of ten columns and a hundred rows as soon as its last one is answered. The time of a single request is the median of
requests sent one after the other to an idle service.
"""

import csv
import http.client
import io
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aegir.memory.store import ReviewStore
from aegir_rl.base.seeding import Seeds
from benchmarks.commands import aegir
from benchmarks.measuring import CommandFailed, Runs, time_command
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_most
from benchmarks.service_process import FORM, Service, attack, form, running
from benchmarks.synthetic_tables import csv_text

QUESTION = "latency of 16 clients beside one, under hostile uploads, and what kills cost"
CLIENTS = 16
P99_TARGET, HOSTILE_TARGET, START_TARGET = 8.0, 2.0, 1.5
MEMORY_TARGET = 1.1
"""Memory after the load beside memory after its first tenth."""
TOOL = "hey"


@dataclass(frozen=True, slots=True)
class Load:
    """What the clients saw."""

    p50: float
    p99: float
    requests: int
    errors: int


def run(options: Options) -> Result:
    """Measure start, single requests, load, load with hostile uploads, and kills."""
    if shutil.which(TOOL) is None:
        raise CommandFailed(f"{TOOL} is not installed; on Debian: apt-get install {TOOL}")
    seconds, uploads, kills = (4, 50, 4) if options.quick else (60, 500, 100)
    repeats = 1 if options.quick else options.repeats
    draw = random.Random(Seeds(options.seed).derive("service"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "one.csv"
        table.write_text(csv_text(10, 100, draw), encoding="utf-8")
        cold = Measurement(
            "aegir annotate one.csv", "CPU seconds", time_command(aegir("annotate", table), repeats)
        )
        start = Measurement("aegir serve until ready", "CPU seconds", _start(folder, repeats))
        body = folder / "body"
        body.write_bytes(form("one.csv", table.read_bytes()))
        with running(folder / "home") as service:
            single = _single(service, body.read_bytes(), 10 if options.quick else 100)
            _load(service, body, max(1, seconds // 10))
            before = service.megabytes()
            plain = _load(service, body, seconds)
            after = service.megabytes()
            under, outcomes = _attacked(service, body, seconds, uploads, options.seed)
        lost, acknowledged = _kill(folder / "killed", table, kills, draw)
    return _result(
        options,
        cold,
        start,
        single,
        plain,
        under,
        outcomes,
        (before, after),
        (lost, acknowledged, kills),
    )


def _result(
    options: Options,
    cold: Measurement,
    start: Measurement,
    single: float,
    plain: Load,
    under: Load,
    outcomes: dict[str, int],
    memory: tuple[float, float],
    killed: tuple[int, int, int],
) -> Result:
    def one(name: str, unit: str, value: float) -> Measurement:
        return Measurement(name, unit, Runs((value,)))

    alone = one("single request", "seconds", single)
    p99, hostile = (
        one("p99 of 16 clients", "seconds", plain.p99),
        one("p99 under hostile uploads", "seconds", under.p99),
    )
    bad = sum(
        count for name, count in outcomes.items() if name not in ("answered", "refused", "cut off")
    )
    times = one("p99 beside a single request", "times", plain.p99 / single)
    worse = one("p99 under hostile uploads beside without", "times", under.p99 / plain.p99)
    grown = one("memory after the load beside before", "times", memory[1] / memory[0])
    slower = one("start beside a cold annotate", "times", start.value / cold.value)
    failed = one("requests of the clients that failed", "requests", plain.errors + under.errors)
    wrong = one("hostile uploads with another end than an answer or a sentence", "uploads", bad)
    lost = one("acknowledged corrections lost", "corrections", killed[0])
    return Result(
        benchmark="service",
        question=QUESTION,
        data="one synthetic CSV file of 10 columns and 100 rows; mutated files, bombs, bad JSON, path tricks, cut connections",
        measurements=(
            cold, start, alone, one("p50 of 16 clients", "seconds", plain.p50), p99, hostile, times, worse, grown, slower,
            one("requests per second", "requests", plain.requests), one("memory", "MB", memory[1]), failed, wrong, lost,
        ),
        ratios=(Ratio(p99, alone), Ratio(hostile, p99), Ratio(start, cold)),
        targets=(
            at_most(times, P99_TARGET), at_most(worse, HOSTILE_TARGET), at_most(grown, MEMORY_TARGET),
            at_most(slower, START_TARGET), at_most(failed, 0), at_most(wrong, 0), at_most(lost, 0),
        ),
        settings={"clients": CLIENTS, "hostile": outcomes, "kills": killed[2], "acknowledged": killed[1], "quick": options.quick},
    )  # fmt: skip


def _start(folder: Path, repeats: int) -> Runs:
    """CPU seconds of the service and its processes until it announces itself."""
    times = []
    for _ in range(repeats + 1):
        with running(folder / "home") as service:
            times.append(service.cpu_seconds())
    return Runs(tuple(times[1:]))


def _single(service: Service, body: bytes, count: int) -> float:
    times = []
    for _ in range(count):
        started = time.perf_counter()
        status, _ = service.ask("/annotate", body)
        times.append(time.perf_counter() - started)
        assert status == 200
    return statistics.median(times)


def _load(service: Service, body: Path, seconds: int) -> Load:
    """Let the clients send for so many seconds."""
    command = [TOOL, "-z", f"{seconds}s", "-c", str(CLIENTS), "-t", "120", "-m", "POST", "-T", FORM]
    done = subprocess.run(
        [*command, "-D", str(body), "-o", "csv", f"{service.url}/annotate"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    times = sorted(float(row["response-time"]) for row in rows if row["status-code"] == "200")
    if not times:
        raise CommandFailed(f"{TOOL} got no answer: {done.stdout[:300]}{done.stderr[:300]}")
    quantile = [times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.99)]
    return Load(*quantile, int(len(times) / seconds), len(rows) - len(times))


def _attacked(
    service: Service, body: Path, seconds: int, uploads: int, seed: int
) -> tuple[Load, dict[str, int]]:
    """Let the clients send while hostile uploads come, one after the other."""
    outcomes: dict[str, int] = {}
    attacker = threading.Thread(
        target=lambda: outcomes.update(attack(service, range(uploads), seed))
    )
    attacker.start()
    load = _load(service, body, seconds)
    attacker.join()
    return load, outcomes


def _kill(home: Path, table: Path, kills: int, draw: random.Random) -> tuple[int, int]:
    """Kill workers, and one time in ten the service, while columns are corrected; return lost and acknowledged ones."""
    acknowledged: set[str] = set()
    left = kills
    while left > 0:
        with running(home) as service:
            stopped = threading.Event()
            writer = threading.Thread(target=_correct, args=(service, table, acknowledged, stopped))
            writer.start()
            try:
                for _ in range(min(left, 10) - 1):
                    time.sleep(0.05 + draw.random() * 0.3)
                    with suppress(ProcessLookupError):  # it is being replaced
                        os.kill(draw.choice(service.worker_pids()), signal.SIGKILL)
                    left -= 1
                time.sleep(0.05 + draw.random() * 0.3)
                service.process.kill()
                left -= 1
            finally:
                stopped.set()
                writer.join()
    with ReviewStore.open(home / "memory.db") as store:
        kept = {review.id for review in store.read()}
    return len(acknowledged - kept), len(acknowledged)


def _correct(
    service: Service, table: Path, acknowledged: set[str], stopped: threading.Event
) -> None:
    corrections = json.dumps([{"table": table.name, "column": 0, "label": "city"}])
    body = form(table.name, table.read_bytes(), corrections=corrections, by="benchmark")
    while not stopped.is_set():
        try:
            status, said = service.ask("/feedback", body)
        except (OSError, http.client.HTTPException):  # cut off: no acknowledgement
            continue
        if status == 200:
            acknowledged |= {each["id"] for each in json.loads(said)["recorded"]}
