"""A real service with few connections: idle ones, slow ones and wrong ones stop nobody."""

import os
import resource
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aegir.service.connections import RESERVED
from raw_connections import answer_of, ask, connect, idle_connections
from running_service import EXAMPLES, RunningService, running_service, wait_until

HEALTH = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
TYPES = HEALTH.replace(b"/health", b"/types")
SLOW_BODY = (
    b"POST /annotate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)
MOST, PER_ADDRESS = 24, 12


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    bounds = ("--max-connections", MOST, "--max-per-address", PER_ADDRESS, "--header-seconds", 3)
    folder = tmp_path_factory.mktemp("service")
    with running_service(folder, "--annotator", "rules", "--workers", 1, *bounds) as running:
        yield running


def descriptors(service: RunningService) -> list[int]:
    return [int(path.name) for path in Path(f"/proc/{service.process.pid}/fd").iterdir()]


def cpu_seconds(service: RunningService) -> float:
    fields = Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_secured(answer: bytes) -> bool:
    return b"x-content-type-options: nosniff" in answer and b"content-security-policy" in answer


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost:"])
def test_idle_connections_stop_nobody(service: RunningService, sent: bytes):
    before = len(descriptors(service))
    with idle_connections(service.url, 4 * MOST, sent) as idle:
        for _ in range(3):
            assert ask(service.url, HEALTH).startswith(b"HTTP/1.1 200")
        assert wait_until(lambda: service.annotate(EXAMPLES / "books.csv").status_code == 200)
        assert len(descriptors(service)) <= before + PER_ADDRESS + RESERVED
        # All are ended: the first to make room, the last when their time is over.
        last = answer_of(idle[-1])
        assert last == b"" if not sent else b"408 Request Timeout" in last and is_secured(last)


def test_busy_connections_leave_a_place_for_health(service: RunningService):
    with idle_connections(service.url, PER_ADDRESS, SLOW_BODY):
        assert wait_until(lambda: b" 503 " in ask(service.url, TYPES))
        assert ask(service.url, HEALTH).startswith(b"HTTP/1.1 200")
        refused = ask(service.url, TYPES)
        assert b"too many connections" in refused
        assert b"retry-after: 1" in refused
        assert is_secured(refused)
    assert wait_until(lambda: b" 200 " in ask(service.url, TYPES))


def test_a_body_that_trickles_in_is_refused(service: RunningService):
    answer = ask(service.url, SLOW_BODY.replace(b"Host", b"Connection: close\r\nHost"))
    assert b"408 Request Timeout" in answer
    assert b"less than 1,024 bytes a second" in answer


def test_bytes_after_the_answer_do_not_keep_a_connection(service: RunningService):
    with connect(service.url) as connection:
        connection.sendall(SLOW_BODY.replace(b"/annotate", b"/health"))
        assert b"405" in connection.recv(1 << 16)

        def is_ended() -> bool:
            try:
                connection.sendall(b" ")
            except ConnectionError:
                return True
            return False

        assert wait_until(is_ended)


def test_headers_may_have_32_kb_and_not_a_byte_more(service: RunningService):
    def request(size: int) -> bytes:
        return HEALTH[:-2] + b"a: " + b"x" * (size - len(HEALTH) - 5) + b"\r\n\r\n"

    for size, status in ((32_767, b" 200 "), (32_768, b" 200 "), (32_769, b" 431 ")):
        whole = request(size)
        assert len(whole) == size
        assert status in ask(service.url, whole)[:20], size
        with connect(service.url) as connection:  # the end comes later
            connection.sendall(whole[:-3])
            time.sleep(0.05)
            connection.sendall(whole[-3:])
            assert status in answer_of(connection)[:20], size


def test_what_is_no_http_gets_a_sentence_and_the_headers_of_every_response(service: RunningService):
    cases = [
        (b"hello\r\n\r\n", b" 400 ", b"the request is no HTTP ("),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b" 400 ", b"the request is no HTTP ("),
        (HEALTH[:-2] + b"a:" + b"x" * 100_000 + b"\r\n\r\n", b" 431 ", b"longer than 32 kB"),
        (HEALTH[:-2] + b"a:b\r\n" * 20_000 + b"\r\n", b" 431 ", b"longer than 32 kB"),
        (HEALTH[:-2] + b"a:b\r\n" * 98 + b"\r\n", b" 200 ", b"ok"),
        (HEALTH[:-2] + b"a:b\r\n" * 99 + b"\r\n", b" 431 ", b"has 101 headers; expected at most"),
    ]
    for request, status, sentence in cases:
        answer = ask(service.url, request)
        assert status in answer[:20], answer[:200]
        assert sentence in answer
        assert is_secured(answer)


def test_descriptors_that_are_used_up_give_503_cost_no_cpu_and_come_back(service: RunningService):
    pid = service.process.pid
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    (worker,) = service.status()["pool"]["pids"]
    highest = max(descriptors(service))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (highest + 2, usual[1]))
    try:
        with idle_connections(service.url, 40) as idle:
            assert wait_until(lambda: b" 503 " in ask(service.url, HEALTH))
            assert b"too many connections" in answer_of(idle[-1])
            before = cpu_seconds(service)
            time.sleep(1.5)
            assert cpu_seconds(service) - before < 0.5
            # A worker that ends now is replaced when there is a descriptor for the next one.
            os.kill(worker, signal.SIGKILL)
            with ThreadPoolExecutor(1) as clients:
                types = clients.submit(service.client.get, "/types")
                time.sleep(0.5)
                resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
                assert types.result().status_code == 200
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
    assert wait_until(lambda: b" 200 " in ask(service.url, HEALTH))
    assert service.annotate(EXAMPLES / "books.csv").status_code == 200


def test_a_service_that_has_few_descriptors_takes_few_connections(tmp_path: Path):
    with running_service(tmp_path, "--annotator", "rules", "--workers", 1, descriptors=64) as small:
        with idle_connections(small.url, 200):
            before = cpu_seconds(small)
            assert wait_until(lambda: b" 200 " in ask(small.url, HEALTH))
            time.sleep(1.5)
            assert cpu_seconds(small) - before < 0.5
            assert b" 200 " in ask(small.url, HEALTH)
            assert small.annotate(EXAMPLES / "books.csv").status_code == 200
            assert len(descriptors(small)) < 60
        assert small.annotate(EXAMPLES / "shop.xlsx").status_code == 200
