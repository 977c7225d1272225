"""Loading one specialist: from a memory-mapped file, checked against its manifest.

    file --mapped--> SHA-256 of its bytes --> tensors --> SHA-256 of architecture and weights --> model

Refused with one sentence: a file that is missing, damaged, altered, of another vocabulary or family, whose tensors
are not those of the architecture that it states, or whose manifest states another hash or another size.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from aegir.readers.bytes.heads import HEAD_SIZES
from aegir.readers.bytes.network import ByteModel
from aegir.readers.ngrams.network import load_networks, network_tensors
from aegir.readers.ngrams.specialist import NGRAMS, NgramSpecialist
from aegir.readers.swarm.pool.entry import BYTES, PoolEntry
from aegir.readers.swarm.specialists import ByteSpecialist, SpecialistModel
from aegir.readers.swarm.weights_file import FAMILY, load_specialist
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import MappedFile, map_safetensors

FileState = Literal["unchanged", "altered", "missing", "unreadable"]


@dataclass(frozen=True, slots=True)
class LoadedWeights:
    """A model, and what its file is."""

    model: SpecialistModel
    family: str
    weights_sha256: str
    file_sha256: str
    size: int
    memory: int
    name: str = ""
    """As its own manifest has it; empty for a family without one."""
    domain: str = ""
    types: tuple[str, ...] = ()
    """The column types of its domain; empty where its manifest does not say."""


def load_weights(path: Path) -> LoadedWeights:
    """Read the file of a specialist; raise UsageError for anything else."""
    return _load(map_safetensors(path))


def load_model(entry: PoolEntry) -> SpecialistModel:
    """Return the model of an entry; raise UsageError if its file is not what the manifest says."""
    mapped = map_safetensors(entry.file)
    if mapped.sha256 != entry.file_sha256:
        raise UsageError(
            f"{entry.file} has SHA-256 {mapped.sha256[:12]} but its manifest says {entry.file_sha256[:12]}; "
            "it was altered or damaged, add the specialist again"
        )
    loaded = _load(mapped)
    for what in ("family", "weights_sha256", "file_sha256", "size", "memory"):
        stated, actual = getattr(entry, what), getattr(loaded, what)
        if stated != actual:
            raise UsageError(
                f"the manifest of {entry.file} says that its {what} is {stated}, but it is {actual}; "
                "add the specialist again"
            )
    return loaded.model


def file_state(entry: PoolEntry) -> FileState:
    """Return whether the file of an entry is the one that was added, by size and SHA-256; its weights are not loaded."""
    try:
        if entry.file.stat().st_size != entry.size:
            return "altered"
        unchanged = map_safetensors(entry.file).sha256 == entry.file_sha256
    except FileNotFoundError:
        return "missing"
    except (OSError, UsageError):
        return "unreadable"
    return "unchanged" if unchanged else "altered"


def _load(mapped: MappedFile) -> LoadedWeights:
    stored, metadata = mapped.tensors()
    file: dict[str, Any] = {"file_sha256": mapped.sha256, "size": len(mapped.content)}
    if metadata.get(FAMILY) == NGRAMS:
        model = NgramSpecialist(load_networks(mapped.path, mapped))
        memory = sum(tensor.nbytes for tensor in network_tensors(model.networks).values())
        return LoadedWeights(model, NGRAMS, model.fingerprint(), memory=memory, **file)
    for head, size in HEAD_SIZES.items():
        weight = stored.get(f"heads.{head}.weight")
        if weight is not None and weight.ndim and len(weight) != size:
            raise UsageError(
                f"{mapped.path} is for another vocabulary (its head {head!r} has {len(weight)} outputs, "
                f"this version has {size}); train it again with this version of Aegir"
            )
    loaded = load_specialist(mapped.path, mapped)
    own = {
        name: getattr(loaded.manifest, name)
        for name in ("weights_sha256", "name", "domain", "types")
    }
    memory = sum(tensor.nbytes for tensor in loaded.checkpoint.tensors.values())
    model_of_bytes = ByteSpecialist(ByteModel(loaded.checkpoint))
    return LoadedWeights(model_of_bytes, BYTES, memory=memory, **own, **file)
