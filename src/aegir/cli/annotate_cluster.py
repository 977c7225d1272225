"""`aegir annotate --engine ray`: what the nodes of a cluster are asked to do. Loaded when it is needed."""

from collections.abc import Generator, Iterable
from pathlib import Path

from aegir.cli.engines import make_job, open_ray
from aegir.cli.routing import policy_file
from aegir.engines.annotating import OPEN, annotate_over, file_item
from aegir.engines.job import Job
from aegir.memory.location import default_location
from aegir.pipeline.settings import DEFAULT_ANNOTATOR, AnnotationSettings
from aegir.pipeline.worker_pool import Outcome
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
        yield from annotate_over(ray, annotating_job(settings), items, count)


def annotating_job(settings: AnnotationSettings) -> Job:
    """Return what a node does with these settings; memory and policy may be those of the environment."""
    memory = default_location() if settings.memory is True else settings.memory
    routes = settings.annotator == DEFAULT_ANNOTATOR and settings.effort is None
    policy = policy_file(settings.policy) if routes else None
    home = user_folder()
    files = [
        settings.model,
        memory if memory and "://" not in memory else None,
        home / "types" if settings.custom_types and home else None,
        settings.routing,
        policy,
    ]
    searches = settings.effort is not None or settings.annotator.startswith(("search", "swarm@"))
    if searches or settings.routing or policy:
        files += _specialists()  # a search may activate them
    settings = settings.changed(memory=memory or False, policy=policy)
    return make_job(OPEN, settings.as_dict(), files)


def _specialists() -> list[Path]:
    """Return the files of the user's pool, without its statistics: nodes may add to them."""
    manifests = manifest_files(swarm_folder())
    names = [path.name.removesuffix(MANIFEST_ENDING) for path in manifests]
    return [
        *manifests,
        *(path.with_name(f"{name}{ENDING}") for path, name in zip(manifests, names, strict=True)),
    ]
