"""A trained swarm as a folder that numpy can run (`SwarmModel.load` of model/swarm.py).

    primary.safetensors   swarm.safetensors   NAME.safetensors per byte network

Weights of the primary are rounded as every checkpoint is; byte networks are written as they were loaded, with their manifests.
A specialist whose model has a `family` has no file here: the swarm stores name, family and SHA-256, and whoever reads it
supplies the vectors of that model.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aegir.errors import UsageError
from aegir.model.checkpoint import Checkpoint, rounded, save_checkpoint
from aegir.model.swarm import ENDING, PRIMARY_NAME, SWARM_NAME
from aegir.model.swarm_file import (
    SpecialistFile,
    SwarmSettings,
    SwarmWeights,
    save_specialist,
    save_swarm,
    weights_sha256,
)
from aegir.swarm.column_model import ByteColumnModel
from aegir.swarm.orchestrator import SwarmOrchestrator
from aegir.swarm.specialist import FrozenSpecialist


def save_swarm_folder(
    folder: Path, orchestrator: SwarmOrchestrator, facts: Mapping[str, Any] | None = None
) -> None:
    """Write primary, specialists and swarm; `facts` are those of the primary's checkpoint."""
    orchestrator.check_unchanged()
    model = _byte_network("the primary", orchestrator.primary_model)
    primary = rounded(Checkpoint(model.network.architecture, model.tensors(), facts or {}))
    specialists = [
        _as_file(specialist)
        for specialist in orchestrator.specialists
        if family_of(specialist) is None
    ]
    folder.mkdir(parents=True, exist_ok=True)
    save_checkpoint(folder / PRIMARY_NAME, primary)
    for file in specialists:
        manifest = file.manifest
        save_specialist(
            folder / f"{manifest.name}{ENDING}",
            file.checkpoint,
            manifest.name,
            manifest.domain,
            manifest.data,
            manifest.scores_inside,
            manifest.scores_outside,
        )
    sha256 = weights_sha256(primary.architecture, primary.tensors)
    save_swarm(folder / SWARM_NAME, swarm_weights(orchestrator, sha256))


def swarm_weights(orchestrator: SwarmOrchestrator, primary_sha256: str) -> SwarmWeights:
    """Return router, fusion, alignment and gates for `SwarmModel`."""
    primary = _byte_network("the primary", orchestrator.primary_model)
    modes = {fusion.mode for fusion in orchestrator.fusions}
    if len(modes) > 1:
        raise UsageError(f"layers fuse as {', '.join(sorted(modes))}; expected one mode for all")
    settings = SwarmSettings(
        primary_sha256=primary_sha256,
        specialists={each.name: each.sha256 for each in orchestrator.specialists},
        mode=next(iter(modes), None),
        threshold=orchestrator.router.threshold,
        observation=orchestrator.observation,
        routing_symbols=primary.routing_symbols,
        families={
            each.name: family
            for each in orchestrator.specialists
            if (family := family_of(each)) is not None
        },
    )
    return SwarmWeights(settings, orchestrator.swarm_tensors())


def family_of(specialist: FrozenSpecialist) -> str | None:
    """Return the family of a specialist's model; None for a model without one, such as a byte network.

    Raises UsageError for a family with matrix states: vectors are all that can be supplied.
    """
    family = getattr(specialist.model, "family", None)
    if family is not None and specialist.state_shapes:
        raise UsageError(
            f"specialist {specialist.name!r} of family {family!r} has matrix states; expected vectors alone"
        )
    return None if family is None else str(family)


def _byte_network(what: str, model: object) -> ByteColumnModel:
    if not isinstance(model, ByteColumnModel):
        raise UsageError(
            f"{what} is no byte network and its model names no family; expected one of the two"
        )
    return model


def _as_file(specialist: FrozenSpecialist) -> SpecialistFile:
    model = _byte_network(f"specialist {specialist.name!r}", specialist.model)
    if specialist.manifest is None:
        raise UsageError(
            f"specialist {specialist.name!r} has no manifest; write it with save_specialist and load that "
            "file with FrozenSpecialist.load before training"
        )
    checkpoint = Checkpoint(model.network.architecture, model.tensors(), {})
    return SpecialistFile(specialist.manifest, checkpoint)
