"""Servers on loopback that hold files: a web server that answers requests for ranges, and an S3 server."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

BUCKET = "lake"


class _Handler(BaseHTTPRequestHandler):
    """Files of a folder; `/elsewhere/…` redirects, `/whole/…` ignores ranges, `/slow/…` waits, `/cut/…` breaks off."""

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        server: Any = self.server
        server.requests.append((self.path, dict(self.headers)))
        way, _, name = self.path.lstrip("/").partition("?")[0].rpartition("/")
        path = server.folder / name
        if way == "elsewhere":
            self.send_response(302)
            self.send_header("Location", "http://other.example.org/secret?token=1")
            self.end_headers()
            return
        if way == "slow":
            server.ended.wait(10)
            return
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        given = self.headers.get("Range")
        if given and way != "whole":
            first, last = map(int, given.removeprefix("bytes=").split("-"))
            content = content[first : last + 1]
        self.send_response(206 if given and way != "whole" else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content[: len(content) // 2] if way == "cut" else content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def web_server(folder: Path) -> Iterator[Any]:
    """A server of a folder, with `address` and the `requests` that came."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.folder, server.requests, server.ended = folder, [], threading.Event()
    server.address = f"http://127.0.0.1:{server.server_port}"
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of an S3 server with an empty bucket; skips where moto and s3fs are not installed."""
    for package in ("moto", "s3fs", "flask"):
        pytest.importorskip(package, reason=f"{package} is not installed (make test-extras)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"MOTO_S3_CUSTOM_ENDPOINTS": ""},
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def upload(endpoint: str, folder: Path, prefix: str = "") -> None:
    """Put the files of a folder into the bucket."""
    client = _client(endpoint)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = f"{prefix}{path.relative_to(folder).as_posix()}"
            client.put_object(Bucket=BUCKET, Key=name, Body=path.read_bytes())


def upload_many(endpoint: str, content: bytes, folder: str, count: int) -> None:
    """Put the same content into the bucket so many times, in partitions of a hundred."""
    client = _client(endpoint)
    for number in range(count):
        name = f"{folder}/day={number // 100:03}/part-{number}.parquet"
        client.put_object(Bucket=BUCKET, Key=name, Body=content)


def _client(endpoint: str) -> Any:
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    client.create_bucket(Bucket=BUCKET)
    return client
