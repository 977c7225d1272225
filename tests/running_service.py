"""`aegir serve` as a real process on loopback, for tests."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

EXAMPLES = Path(__file__).parent.parent / "examples"
TIMEOUT = 60.0


@dataclass(slots=True)
class RunningService:
    """A service, where it is, and a client for it."""

    process: subprocess.Popen[str]
    url: str
    client: httpx.Client
    temporary: Path

    def annotate(self, *files: Path, names: Sequence[str] = (), **query: object) -> httpx.Response:
        """POST /annotate with these files, under other names if given."""
        sent = [
            ("file", (name, path.read_bytes()))
            for path, name in zip(files, names or [path.name for path in files], strict=True)
        ]
        return self.client.post("/annotate", files=sent, params=query)

    def status(self) -> dict:
        return self.client.get("/status").json()

    def stop(self) -> int:
        """Ask it to stop, wait, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(TIMEOUT)


@contextmanager
def running_service(
    folder: Path, *options: object, descriptors: int | None = None
) -> Iterator[RunningService]:
    """Start a service with a home of its own; afterwards it must stop by itself and leave nothing behind."""
    home, temporary = folder / "home", folder / "tmp"
    home.mkdir(exist_ok=True)
    temporary.mkdir(exist_ok=True)

    def limit_descriptors() -> None:
        if descriptors is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    process = subprocess.Popen(
        [sys.executable, "-m", "aegir", "serve", "--port", "0", *map(str, options)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit_descriptors,
        env={**os.environ, "AEGIR_HOME": str(home), "TMPDIR": str(temporary)},
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        found = re.search(r"serving at (http://\S+)", line)
        assert found, line + process.stderr.read()
        with httpx.Client(base_url=found[1], timeout=TIMEOUT) as client:
            service = RunningService(process, found[1], client, temporary)
            yield service
        if process.poll() is None:
            assert service.stop() == 0
        assert wait_until(lambda: not list(temporary.iterdir())), list(temporary.iterdir())
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_until(condition, seconds: float = 10.0) -> bool:
    """Return whether a condition becomes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False
