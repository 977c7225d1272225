"""Pools of small specialists with random weights, made without torch."""

from pathlib import Path

from aegir.model.architecture import Architecture
from aegir.model.swarm_file import save_specialist
from aegir.swarm.pool.changes import add_specialist
from aegir.swarm.pool.entry import PoolEntry, load_entry, manifest_files
from aegir.swarm.pool.spawning import SpawnBudget
from aegir.swarm.pool.specialist_pool import SpecialistPool
from byte_models import random_checkpoint
from swarm_folders import LAYOUT, OTHER_LAYOUT

NAMES = ("amber", "birch", "cedar", "delta")


def write_weights(path: Path, layout: Architecture = LAYOUT, seed: int = 0) -> Path:
    """Write a specialist as `aegir train specialist` does."""
    save_specialist(path, random_checkpoint(layout, seed), path.stem, f"{path.stem} things")
    return path


def make_pool(folder: Path) -> Path:
    """A user's folder with three specialists of one size and a larger one."""
    for seed, name in enumerate(NAMES):
        layout = OTHER_LAYOUT if name == "delta" else LAYOUT
        add_specialist(write_weights(folder.parent / f"{name}.safetensors", layout, seed), folder)
    return folder


def entries_of(folder: Path) -> dict[str, PoolEntry]:
    """What the manifests of a folder say."""
    entries = [load_entry(path, "user") for path in manifest_files(folder)]
    return {entry.name: entry for entry in entries}


def open_pool(folder: Path, budget: SpawnBudget | None = None) -> SpecialistPool:
    """The specialists of a folder, without those that ship."""
    return SpecialistPool(entries_of(folder), budget, folder)
