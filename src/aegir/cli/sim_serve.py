"""`aegir sim serve`: tasks of the simulator as environments for other people's trainers."""

from ipaddress import ip_address
from pathlib import Path

import click

from aegir.cli.options import verb_options
from aegir.cli.terminal import tell
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount
from aegir_rl.plugins.code_tasks import CodeTasks
from aegir_rl.simulator.task import read_tasks


@click.command(
    "serve",
    epilog="Example: aegir sim serve --openenv --tasks datasets/sim_tasks.jsonl --attempts 3",
)
@verb_options("sim-serve")
def serve(
    openenv: bool,
    tasks: Path,
    host: str,
    port: int,
    attempts: int,
    share: bool,
    workers: int,
    sessions: int,
) -> None:
    """Serve tasks as environments to OpenEnv clients, over HTTP and WebSocket.

    Answers run in the sandbox only. The protocol knows no token: whoever reaches the port can use the sandboxes.
    """
    if not openenv:
        raise UsageError("sim serve speaks one protocol, OpenEnv's; say so with --openenv")
    from aegir_rl.plugins.openenv import make_app, run_app

    with CodeTasks(read_tasks(tasks), grade="share" if share else "all", workers=workers) as opened:
        app = make_app(opened, attempts=attempts, most_sessions=sessions)
        if not _is_local(host):
            tell(f"{host} can be reached by other machines, and nobody is asked for a token")
        tell(f"{amount(len(opened), 'task')} at http://{host}:{port}, until Ctrl-C")
        run_app(app, host, port)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
