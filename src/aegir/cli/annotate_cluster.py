"""`aegir annotate --engine ray`: what the nodes of a cluster are asked to do. Loaded when it is needed."""

from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path

from aegir.cli.engines import make_job, open_ray
from aegir.engines.annotating import FILES_AT_ONCE, OPEN, file_item
from aegir.engines.job import Job
from aegir.memory.location import default_location, memory_exists
from aegir.pipeline.settings import AnnotationSettings
from aegir.pipeline.worker_process import Outcome, outcome_from_json
from aegir.readers.swarm.network import ENDING
from aegir.readers.swarm.pool.location import MANIFEST_ENDING, manifest_files, swarm_folder
from aegir_rl.base.files import user_folder


def annotate_over_cluster(
    files: Iterable[object],
    count: int,
    address: str | None,
    workers: int | None,
    settings: AnnotationSettings,
) -> Generator[Outcome, None, None]:
    """Yield the outcomes of files, of which there are `count`, in their order."""
    with open_ray(address, workers) as ray:
        items = (file_item(str(file)) for file in files)
        job = annotating_job(settings)
        yield from map(outcome_from_json, ray.map(job, items, count, at_once=FILES_AT_ONCE))


def annotating_job(settings: AnnotationSettings) -> Job:
    """What a node does with these settings; the user's own reviews are named, because a node may have others."""
    memory, home = settings.memory, user_folder()
    if memory is True:
        own = default_location()
        memory = own if own is not None and memory_exists(own) else False
    files = [
        *(settings.model, settings.routing, settings.policy),
        None if isinstance(memory, bool) or "://" in memory else memory,
        home / "types" if settings.custom_types and home else None,
    ]
    if settings.effort or settings.routing or settings.policy or "search" in settings.annotator:
        files += _specialists()  # a search may call them
    return make_job(OPEN, replace(settings, memory=memory).as_dict(), files)


def _specialists() -> list[Path]:
    """The files of the user's pool, without its statistics: nodes may add to them."""
    manifests = manifest_files(swarm_folder())
    names = [path.name.removesuffix(MANIFEST_ENDING) for path in manifests]
    return [
        *manifests,
        *(path.with_name(f"{name}{ENDING}") for path, name in zip(manifests, names, strict=True)),
    ]
