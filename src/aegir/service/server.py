"""Start the service, announce it, and stop it so that what was accepted is finished.

    fork server ── loads the annotator, forks workers ──────────┐
    this process ── imports the HTTP stack, binds the port ── ready ── serves ── stops ── ends the workers

The two start side by side. The port is bound at once, so that a taken one is noticed before anything is loaded, and opened when the
workers are ready.

A first SIGTERM, SIGINT or SIGHUP stops gracefully; a second one at once.
"""

import asyncio
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

# numpy is loaded here, before the fork, so that it is loaded once.
import aegir_rl.observe.performance_tracker  # noqa: F401
from aegir.service.connections import ACCEPTED_AT_ONCE, Listener, connections_within
from aegir.service.limits import RequestLimits
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.temporary import make_private_folder
from aegir_rl.processes.fork_server import ForkServer
from aegir_rl.processes.worker import Open

if TYPE_CHECKING:
    from aegir.pipeline.settings import AnnotationSettings
    from aegir.service.security import Access

STOP = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TRIES_TO_REMOVE = 100


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How the service runs; `access` says where, and for whom."""

    annotation: "AnnotationSettings"
    access: "Access"
    workers: int
    limits: RequestLimits = field(default_factory=RequestLimits)
    decisions: str | None = None
    """Where routing decisions are logged."""
    reviews: str | None = None
    """Where reviews of columns are kept."""
    runs: Path | None = None
    """A folder of training runs to show."""


def serve(
    settings: ServiceSettings, announce: Callable[[str], None], say: Callable[[str], None]
) -> None:
    """Serve until stopped by a signal; `announce` gets the address, `say` a sentence for each file that cannot be used."""
    folder = make_private_folder()

    def build() -> tuple[Open, dict[str, Any]]:
        from aegir.service.annotations import RequestAnnotator, Stores
        from aegir.service.worker import build_worker

        stores = Stores(settings.decisions, settings.reviews)
        annotator = RequestAnnotator(settings.annotation, settings.limits, stores, say)
        return build_worker(annotator, settings.limits, settings.runs, folder)

    fork_server = ForkServer(build, at_end=lambda: remove_folder(folder))
    try:
        with _bound_socket(settings.access.host, settings.access.port) as listener:
            asyncio.run(_serve(settings, fork_server, folder, listener, announce))
    finally:
        fork_server.close()


async def _serve(
    settings: ServiceSettings,
    fork_server: ForkServer,
    folder: Path,
    listener: Listener,
    announce: Callable[[str], None],
) -> None:
    # Imported while the fork server loads the annotator.
    import uvicorn

    from aegir.service.app import Service
    from aegir.service.http_protocol import LONGEST_HEADERS, as_bytes, service_protocol
    from aegir.service.job_queue import JobQueue
    from aegir.service.security import too_many_connections
    from aegir.service.status import Status

    class Server(uvicorn.Server):
        """Leaves signals to this module: uvicorn would raise them again after its graceful stop."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce(_address(listener))

    about = fork_server.wait_until_ready()
    queue = JobQueue(fork_server, folder, workers=settings.workers, limits=settings.limits)
    status = Status(queue.metrics, settings.limits, about)
    app = Service(queue, status, settings.limits, folder).app(settings.access)
    limits = settings.limits
    connections = connections_within(
        limits.connections, limits.connections_per_address, workers=settings.workers
    )
    listener.refusal = as_bytes(too_many_connections())
    server = Server(
        uvicorn.Config(
            app,
            lifespan="off",
            http=service_protocol(connections, limits),
            ws="none",
            loop="asyncio",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            backlog=ACCEPTED_AT_ONCE,
            h11_max_incomplete_event_size=LONGEST_HEADERS - 1,  # of headers that go on
        )
    )

    def stop() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    for number in STOP:
        asyncio.get_running_loop().add_signal_handler(number, stop)
    await queue.start()
    await server.serve(sockets=[listener])
    await queue.close()
    if queue.metrics.broken:
        raise AegirError("the process that starts workers has ended; start the service again")


def remove_folder(folder: Path) -> None:
    """Delete the folder of uploads, in which a worker that has just been started may be making its own."""
    for _ in range(TRIES_TO_REMOVE):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.02)


@contextmanager
def _bound_socket(host: str, port: int) -> Iterator[Listener]:
    """A socket bound to the address, not yet listening; raise UsageError if that is not possible."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError, OverflowError) as error:
        raise UsageError(f"--host {host} is no address of this machine ({error})") from None
    family, kind, protocol, _, address = addresses[0]
    with Listener(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            raise UsageError(
                f"port {port} of {host} cannot be used ({reason}); give another one with --port"
            ) from None
        yield listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
