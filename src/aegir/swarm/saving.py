"""A trained swarm as a folder that numpy can run (`SwarmModel.load` of readers/swarm/network.py).

    primary.safetensors   swarm.safetensors   NAME.safetensors per specialist

Weights of the primary are rounded as every checkpoint is; byte networks are written as they were loaded, with their manifests.
The file of a model that has a `family` is its `tensors()` under metadata that name the family.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aegir.readers.bytes.checkpoint import Checkpoint, rounded, save_checkpoint
from aegir.readers.swarm.network import ENDING, PRIMARY_NAME, SWARM_NAME
from aegir.readers.swarm.weights_file import (
    FAMILY,
    SpecialistFile,
    SwarmSettings,
    SwarmWeights,
    save_specialist,
    save_swarm,
    weights_sha256,
)
from aegir.swarm.column_model import ByteColumnModel, FamilyColumnModel
from aegir.swarm.orchestrator import SwarmOrchestrator
from aegir.swarm.specialist import FrozenSpecialist
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import safetensors_bytes


def save_swarm_folder(
    folder: Path, orchestrator: SwarmOrchestrator, facts: Mapping[str, Any] | None = None
) -> None:
    """Write primary, specialists and swarm; `facts` are those of the primary's checkpoint."""
    orchestrator.check_unchanged()
    model = _byte_network("the primary", orchestrator.primary_model)
    primary = rounded(Checkpoint(model.network.architecture, model.tensors(), facts or {}))
    others = _of_other_families(orchestrator)
    byte_networks = [_as_file(each) for each in orchestrator.specialists if each.name not in others]
    folder.mkdir(parents=True, exist_ok=True)
    save_checkpoint(folder / PRIMARY_NAME, primary)
    for file in byte_networks:
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
    for name, other in others.items():
        content = safetensors_bytes(other.tensors(), {FAMILY: other.family})
        replace_file(folder / f"{name}{ENDING}", content)
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
        answers=orchestrator.answers,
        routing_symbols=primary.routing_symbols,
        families={name: each.family for name, each in _of_other_families(orchestrator).items()},
    )
    return SwarmWeights(settings, orchestrator.swarm_tensors())


def _of_other_families(orchestrator: SwarmOrchestrator) -> dict[str, FamilyColumnModel]:
    return {
        each.name: each.model
        for each in orchestrator.specialists
        if isinstance(each.model, FamilyColumnModel)
    }


def _byte_network(what: str, model: object) -> ByteColumnModel:
    if not isinstance(model, ByteColumnModel):
        raise UsageError(
            f"{what} is no byte network, nor a model with a family, tensors and a fingerprint"
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
