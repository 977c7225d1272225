"""Options about where work is done, and the engine that they ask for.

The environment is read here and nowhere below: RAY_ADDRESS names a running Ray cluster, as Ray's own programs read it; AEGIR_SWARM,
the folder of the user's specialists, is handed on to the nodes.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aegir.readers.swarm.pool.location import ENVIRONMENT as POOL
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import user_folder

if TYPE_CHECKING:
    from aegir.engines.job import Job
    from aegir.engines.ray_cluster import RayEngine

Verb = TypeVar("Verb", bound=Callable[..., Any])
LOCAL, RAY = "local", "ray"
ADDRESS = "RAY_ADDRESS"


def engine_options(verb: Verb) -> Verb:
    """--engine and --address."""
    verb = click.option(
        "--address",
        metavar="HOST:PORT",
        help=f"The head of a running Ray cluster [default: {ADDRESS}, else a cluster of this machine alone].",
    )(verb)
    return click.option(
        "--engine",
        type=click.Choice([LOCAL, RAY]),
        default=LOCAL,
        show_default=True,
        help="Work on this machine, or on the nodes of a Ray cluster (docs/cluster.md).",
    )(verb)


def check_engine(engine: str, address: str | None) -> None:
    """Raise `UsageError` for an address that is not used."""
    if engine == LOCAL and address is not None:
        raise UsageError(f"--address {address} needs --engine ray")


def open_ray(
    address: str | None, workers: int | None = None, cpus_per_place: int | None = None
) -> "RayEngine":
    """Join the cluster at an address or at that of the environment, or start one on this machine."""
    from aegir.engines.ray_cluster import RayEngine

    return RayEngine(address or os.environ.get(ADDRESS) or None, workers, cpus_per_place)


def make_job(function: str, settings: dict[str, Any], files: Iterable[Path | str | None]) -> "Job":
    """A job that sees the user's own folder, and for which these files must look alike everywhere."""
    from aegir.engines.job import Job, sign_files

    home = user_folder()
    environment = {} if home is None else {"AEGIR_HOME": str(home.absolute())}
    if own := os.environ.get(POOL):
        environment[POOL] = str(Path(own).absolute())
    return Job(function, settings, files=sign_files(files), environment=environment)
