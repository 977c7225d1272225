"""`aegir serve` as a process to be measured: what it has used, what it answers, and uploads that mean no good."""

import bz2
import gzip
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.commands import aegir
from benchmarks.measuring import CommandFailed
from benchmarks.mutations import mutated_file, sample_files

EDGE = "aegir-edge"
FORM = f"multipart/form-data; boundary={EDGE}"
TICKS = os.sysconf("SC_CLK_TCK")
TRICKS = (
    "../../etc/passwd",
    "..",
    "/dev/zero",
    "C:\\x.csv",
    "a\x00b.csv",
    "x" * 400,
    "\u202ecsv.exe",
    "-",
    "",
)
BAD_JSON = (
    b"{",
    b"[" * 20_000,
    b'{"rows": 3}',
    b"[]",
    b"\xff",
    b'{"rows": [1]}',
    b'{"columns": {"a": 1}}',
)
BLOCK, FACTOR = 1 << 20, 300
"""Each bomb unpacks to so many blocks of so many bytes."""


@dataclass(slots=True)
class Service:
    """A running service."""

    process: subprocess.Popen[str]
    host: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def ask(
        self, path: str, body: bytes = b"", content_type: str = FORM, method: str = "POST"
    ) -> tuple[int, bytes]:
        """Send one request; return status and body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        try:
            connection.request(method, path, body, {"Content-Type": content_type})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def worker_pids(self) -> list[int]:
        pids: list[int] = json.loads(self.ask("/status", method="GET")[1])["pool"]["pids"]
        return pids

    def pids(self) -> list[int]:
        """The service and all processes below it."""
        found, waiting = [], [self.process.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                with suppress(OSError):  # it has just ended
                    waiting += map(int, task.read_text().split())
        return found

    def cpu_seconds(self) -> float:
        """CPU time of all its processes that are alive, and of those they have waited for."""
        total = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))
        return total / TICKS

    def megabytes(self) -> float:
        """Memory of all its processes, shared pages counted once."""
        return sum(self.megabytes_by_process().values())

    def megabytes_by_process(self) -> dict[int, float]:
        """Memory of each of its processes, which share what they share in equal parts."""
        found = {}
        for pid in self.pids():
            with suppress(OSError, IndexError):  # it has just ended
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                pss = re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[0]
                found[pid] = int(pss) / 1024
        return found


@contextmanager
def running(home: Path, *options: str) -> Iterator[Service]:
    """Start a service with a home of its own, and stop it."""
    home.mkdir(exist_ok=True)
    process = subprocess.Popen(
        aegir("serve", "--port", "0", *options),
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "AEGIR_HOME": str(home)},
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        found = re.search(r"serving at http://([^:]+):(\d+)", line)
        if found is None:
            raise CommandFailed(f"aegir serve did not start: {line}{process.stderr.read()}")
        yield Service(process, found[1], int(found[2]))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(120)
        process.stderr.close()


def form(name: str, content: bytes, **fields: str) -> bytes:
    """A form with one file, and perhaps other parts."""
    parts = [
        f'--{EDGE}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{text}\r\n'.encode()
        for field, text in fields.items()
    ]
    head = f'--{EDGE}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return b"".join([*parts, head.encode(), content, f"\r\n--{EDGE}--\r\n".encode()])


def attack(service: Service, numbers: Iterable[int], seed: int) -> dict[str, int]:
    """Send the hostile uploads of these numbers one after the other; count how they were answered."""
    samples, bombs = sample_files(), _bombs()
    outcomes: dict[str, int] = {}
    for number in numbers:
        draw = Random(f"service/{seed}/{number}")
        kind = number % 5
        if kind == 4 and number % 10 == 9:
            outcome = _cut_connection(service, draw)
        elif kind == 4:
            outcome = _answer(service.ask("/annotate", draw.choice(BAD_JSON), "application/json"))
        elif kind == 3:
            outcome = _answer(service.ask("/annotate", form(draw.choice(TRICKS), b"a,b\n1,2\n")))
        elif kind == 2 and number % 25 == 2:
            name, content = draw.choice(bombs)
            outcome = _answer(service.ask("/annotate", form(name, content)))
        else:
            suffix, content = mutated_file(samples, draw)
            outcome = _answer(service.ask("/annotate", form(f"x.{suffix}", content)))
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes


def _answer(answer: tuple[int, bytes]) -> str:
    """`answered`, `refused` with a sentence, or what should not happen."""
    status, body = answer
    if status in (200, 207):
        return "answered"
    try:
        sentence = json.loads(body)["error"]
    except (ValueError, KeyError):
        return f"status {status} without a sentence"
    return "refused" if 400 <= status < 500 and sentence else f"status {status}"


def _cut_connection(service: Service, draw: Random) -> str:
    body = form("x.csv", b"a,b\n" * 1000)
    head = f"POST /annotate HTTP/1.1\r\nHost: {service.host}\r\nContent-Type: {FORM}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((service.host, service.port)) as connection:
        connection.sendall((head.encode() + body)[: draw.randrange(1, len(head) + len(body))])
    return "cut off"


def _bombs() -> Sequence[tuple[str, bytes]]:
    """Files of a few hundred kilobytes that unpack to more than the service allows."""
    block = b"a,b,c\n" * (BLOCK // 6)
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        for _ in range(FACTOR):
            file.write(block)
    squeezed = bz2.compress(block) * FACTOR  # streams one after the other are one file
    archive = io.BytesIO()
    members = zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with members, members.open("a.csv", "w") as member:
        for _ in range(FACTOR):
            member.write(block)
    return [
        ("bomb.csv.gz", packed.getvalue()),
        ("bomb.csv.bz2", squeezed),
        ("bomb.zip", archive.getvalue()),
        ("bomb.xlsx", archive.getvalue()),
    ]
