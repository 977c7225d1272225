"""Folders of small swarms with random weights, made without torch."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from aegir.readers.bytes.annotator import MODEL_FILE
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from aegir.readers.bytes.network import ByteModel
from aegir.readers.ngrams.specialist import NgramSpecialist
from aegir.readers.swarm.specialists import ByteSpecialist, SpecialistModel
from aegir.readers.swarm.weights_file import (
    SwarmSettings,
    SwarmWeights,
    expected_swarm_shapes,
    save_specialist,
    save_swarm,
    weights_sha256,
)
from byte_models import annotating_checkpoint, random_checkpoint

LAYOUT = Architecture(
    layout=["w1", ["w1"], "w0"],
    widths=(32, 64),
    head_size=32,
    rank=4,
    gram_rows=100,
    column_width=32,
    table_blocks=0,
)
OTHER_LAYOUT = replace(LAYOUT, layout=["w2"], widths=(48,), head_size=16, column_width=48)
"""Two layers of three small heads, and wider vectors: everything must be aligned."""
FACTS = {"calibration": {"bytes": {"cta": 1.0, "cpa": 2.0}}, "held_out": {}}


@cache
def shipped_network() -> Checkpoint:
    """The byte network that ships."""
    with as_file(files("aegir.readers") / "weights" / MODEL_FILE) as shipped:
        return load_checkpoint(shipped)


def small_primary() -> Checkpoint:
    """Random weights that can annotate."""
    return annotating_checkpoint(FACTS)


def save_random_swarm(
    folder: Path,
    primary: Checkpoint,
    layouts: Mapping[str, Architecture],
    ngrams: str | None = None,
    *,
    gates: float = 0.3,
    seed: int = 0,
) -> Path:
    """Write a swarm of byte networks of these layouts, and of the n-gram networks that ship under a name; about half are woken."""
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    save_checkpoint(folder / "primary.safetensors", primary)
    specialists: list[SpecialistModel] = []
    hashes = {}
    for number, (name, layout) in enumerate(layouts.items(), 1):
        checkpoint = random_checkpoint(layout, number)
        manifest = save_specialist(folder / f"{name}.safetensors", checkpoint, name, "made up")
        hashes[name] = manifest.weights_sha256
        specialists.append(ByteSpecialist(ByteModel(checkpoint)))
    if ngrams:
        networks = NgramSpecialist.load()
        hashes[ngrams] = networks.fingerprint()
        specialists.append(networks)
    loaded = load_checkpoint(folder / "primary.safetensors")
    settings = SwarmSettings(
        weights_sha256(loaded.architecture, loaded.tensors),
        hashes,
        families={ngrams: "ngrams"} if ngrams else {},
    )
    tensors = {
        name: _weight(name, shape, gates, random).astype(np.float32)
        for name, shape in expected_swarm_shapes(
            settings, primary.architecture, specialists
        ).items()
    }
    save_swarm(folder / "swarm.safetensors", SwarmWeights(settings, tensors))
    return folder


def _weight(
    name: str, shape: tuple[int, ...], gates: float, random: np.random.Generator
) -> np.ndarray:
    drawn = random.standard_normal(shape)
    if name.startswith(("entry_gates", "observation_gates")):
        return gates * (1 + 0.1 * drawn)
    return drawn / np.sqrt(shape[-1])
