"""`aegir serve`: annotate over HTTP, and the page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import (
    PathName,
    settings_from,
    verb_options,
)
from aegir.cli.terminal import tell
from aegir.memory.location import default_location
from aegir.pipeline.registry import check_routes, check_settings
from aegir.service.limits import RequestLimits
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount
from aegir_rl.processes import CAN_FORK, count_cores

MEGABYTE = 1 << 20
DEFAULTS = RequestLimits()


@click.command(epilog="Example: aegir serve --port 8080")
@verb_options("serve")
@click.option(
    "--token",
    envvar="AEGIR_TOKEN",
    help="What every request must send as `Authorization: Bearer TOKEN`; better set in AEGIR_TOKEN.",
)
@verb_options(
    "serve-limits",
    queue=DEFAULTS.queue,
    max_upload=DEFAULTS.upload_bytes // MEGABYTE,
    max_unpacked=DEFAULTS.unpacked_bytes // MEGABYTE,
    max_columns=DEFAULTS.columns,
    max_seconds=DEFAULTS.seconds,
    header_seconds=DEFAULTS.header_seconds,
    max_connections=DEFAULTS.connections,
    max_per_address=DEFAULTS.connections_per_address,
)
@verb_options("annotator", "effort", "routing", "tags")
@click.option(
    "--log-decisions",
    metavar="FILE|URL",
    help="Route columns by the dispatcher, and store its decisions in this SQLite file or PostgreSQL database.",
)
@verb_options("memory")
@click.option(
    "--runs", type=PathName(file_okay=False), help="A folder of training runs to show on the page."
)
def serve(
    host: str,
    port: int,
    token: str | None,
    allow_host: tuple[str, ...],
    workers: int | None,
    queue: int,
    max_upload: int,
    max_unpacked: int,
    max_columns: int,
    max_seconds: float,
    header_seconds: float,
    max_connections: int,
    max_per_address: int,
    log_decisions: str | None,
    memory: str | None,
    runs: Path | None,
    **options: Any,
) -> None:
    """Annotate over HTTP, with a page to drop files on.

    Needs the extra `service`. Stop it with Ctrl-C or SIGTERM: what was accepted is finished first.
    """
    if not CAN_FORK:
        raise UsageError(
            f"aegir serve forks worker processes, which needs Linux; this is {sys.platform}"
        )
    try:
        from aegir.service.security import Access
        from aegir.service.server import ServiceSettings
        from aegir.service.server import serve as run_service
    except ImportError as error:
        raise UsageError(
            f"aegir serve needs {error.name}; install it with: pip install 'aegir-tables[service]'"
        ) from None
    if runs is not None and not runs.is_dir():
        raise UsageError(f"there is no folder {runs}; --runs names one that holds training runs")
    chosen = settings_from(options)
    check_settings(chosen)
    if log_decisions is not None:
        check_routes(chosen)
    settings = ServiceSettings(
        annotation=chosen,
        access=Access(host, port, token, allow_host),
        workers=workers or count_cores(),
        limits=RequestLimits(
            upload_bytes=max_upload * MEGABYTE,
            unpacked_bytes=max_unpacked * MEGABYTE,
            columns=max_columns,
            seconds=max_seconds,
            queue=queue,
            header_seconds=header_seconds,
            connections=max_connections,
            connections_per_address=max_per_address,
        ),
        decisions=_absolute(log_decisions),
        reviews=_absolute(memory or default_location()),
        runs=runs,
    )

    def announce(address: str) -> None:
        tell(f"serving at {address} with {amount(settings.workers, 'worker')}; stop with Ctrl-C")

    run_service(settings, announce, tell)


def _absolute(store: str | None) -> str | None:
    """Where a store is, whatever folder a worker is in."""
    return store if store is None or "://" in store else str(Path(store).absolute())
