"""Pools of small specialists with random weights, made without torch."""

from pathlib import Path

import numpy as np

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.checkpoint import Checkpoint
from aegir.readers.swarm.pool.changes import add_specialist
from aegir.readers.swarm.pool.entry import PoolEntry, load_entry
from aegir.readers.swarm.pool.location import manifest_files
from aegir.readers.swarm.pool.specialist_pool import SpawnBudget, SpecialistPool
from aegir.readers.swarm.weights_file import save_specialist
from aegir.vocabulary.terms import TYPE_NAMES
from byte_models import random_checkpoint
from swarm_folders import LAYOUT, OTHER_LAYOUT

NAMES = ("amber", "birch", "cedar", "delta")


def write_weights(path: Path, layout: Architecture = LAYOUT, seed: int = 0) -> Path:
    """Write a specialist as `aegir train specialist` does."""
    save_specialist(path, random_checkpoint(layout, seed), path.stem, f"{path.stem} things")
    return path


def write_insisting(path: Path, answer: str, types: tuple[str, ...] = ()) -> Path:
    """Write a specialist for these types that gives one of them to every column.

    Its bias is 10 for this answer and 0 for all others: log probabilities of -0.004 and -10.004. As an answer counts from -8, it
    says 8.0 (7.996) for this type and 0 for the others.
    """
    made = random_checkpoint(LAYOUT, 0)
    weight, bias = (np.zeros_like(made.tensors[f"heads.cta.{part}"]) for part in ("weight", "bias"))
    bias[TYPE_NAMES.index(answer)] = 10
    tensors = {**made.tensors, "heads.cta.weight": weight, "heads.cta.bias": bias}
    checkpoint = Checkpoint(made.architecture, tensors, made.facts)
    save_specialist(path, checkpoint, path.stem, f"insists on {answer}", types=types)
    return path


def make_pool(folder: Path) -> Path:
    """A user's folder with three specialists of one size and a larger one."""
    for seed, name in enumerate(NAMES):
        layout = OTHER_LAYOUT if name == "delta" else LAYOUT
        add_specialist(write_weights(folder.parent / f"{name}.safetensors", layout, seed), folder)
    return folder


def entries_of(folder: Path) -> dict[str, PoolEntry]:
    """What the manifests of a folder say."""
    entries = [load_entry(path) for path in manifest_files(folder)]
    return {entry.name: entry for entry in entries}


def open_pool(folder: Path, budget: SpawnBudget | None = None) -> SpecialistPool:
    """The specialists of a folder."""
    return SpecialistPool(entries_of(folder), budget, folder)
