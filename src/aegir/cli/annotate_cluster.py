"""`aegir annotate --engine ray`: what the nodes of a cluster are asked to do. Loaded when it is needed."""

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

from aegir.cli.engines import make_job, open_ray
from aegir.cli.routing import policy_file
from aegir.engines.annotating import FILES_AT_ONCE, OPEN, annotating_settings, file_item
from aegir.engines.evaluating import OPEN as OPEN_DISPATCHER
from aegir.engines.evaluating import dispatching_settings
from aegir.engines.job import Job
from aegir.memory.location import default_location
from aegir.pipeline.worker_process import Outcome, outcome_from_json
from aegir.readers.swarm.network import ENDING
from aegir.readers.swarm.pool.location import MANIFEST_ENDING, manifest_files, swarm_folder
from aegir_rl.base.files import user_folder


def annotate_over_cluster(
    files: Iterable[object],
    count: int,
    address: str | None,
    workers: int | None,
    *,
    dispatched: bool,
    routing: Path | None,
    policy: Path | None,
    reviewed: bool,
    memory: str | None,
    **settings: Any,
) -> Generator[Outcome, None, None]:
    """Yield the outcomes of files, of which there are `count`, in their order.

    The settings are those of `annotating_settings`; `reviewed` says whether reviews, kept in `memory` or in the user's folder, count,
    and `dispatched` whether columns are routed.
    """
    kept = annotating_settings(
        **settings, memory=(memory or default_location()) if reviewed else None
    )
    job = annotating_job(kept, dispatched, routing, policy)
    with open_ray(address, workers) as ray:
        items = (file_item(str(file)) for file in files)
        yield from map(outcome_from_json, ray.map(job, items, count, at_once=FILES_AT_ONCE))


def annotating_job(
    settings: dict[str, Any],
    dispatched: bool,
    routing: Path | None = None,
    policy: Path | None = None,
) -> Job:
    """What a node does with these settings of `annotating_settings`; the policy may be that of the environment."""
    memory, home = settings["memory"], user_folder()
    files = [
        settings["model"],
        None if memory is None or "://" in memory else memory,
        home / "types" if settings["custom_types"] and home else None,
    ]
    learnt = policy_file(policy) if dispatched else None
    if routing or learnt or settings["annotator"].startswith(("search", "swarm@")):
        files += _specialists()  # a search may ask them
    if not dispatched:
        return make_job(OPEN, settings, files)
    settings = dispatching_settings(settings, routing, learnt)
    return make_job(OPEN_DISPATCHER, settings, [*files, routing, learnt])


def _specialists() -> list[Path]:
    """The files of the user's pool, without its statistics: nodes may add to them."""
    manifests = manifest_files(swarm_folder())
    names = [path.name.removesuffix(MANIFEST_ENDING) for path in manifests]
    return [
        *manifests,
        *(path.with_name(f"{name}{ENDING}") for path, name in zip(manifests, names, strict=True)),
    ]
