"""What a run begins with: a primary, frozen specialists, and the swarm of them.

    start = read_start(Path("runs/bytes-fold-0"))          a run of `aegir train supervised`, or a file of `train export`
    specialists = load_specialists(["specialists"], fold)  files of `save_specialist`, folders of them, n-gram networks
    out_of_fold = load_out_of_fold(["ngrams=PARTS"], folds, fold)
    policy = build_policy(config, start.architecture, start.grams, corpus, specialists)
    load_primary(policy, corpus, start)

Nothing here reads held-out tables. `unlike_folds` says when a primary may have been trained on tables that the run keeps
out; what specialists were trained on is in their manifests and is for the caller to keep apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from aegir.lab.byte_network.corpus import Corpus
from aegir.lab.byte_network.supervised import build_network
from aegir.lab.ngrams import networks_file
from aegir.lab.parl.config import NO_STATES, ParlTraining
from aegir.lab.parl.policy import SwarmPolicy
from aegir.lab.parl.reading import OutOfFold
from aegir.lab.specialists.ngram_model import NgramColumnModel
from aegir.lab.torch_training import (
    GRAMS,
    TrainedWeights,
    TrainingCheckpoint,
    load_weights,
    read_learner,
)
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.checkpoint import FORMAT as BYTES_FORMAT
from aegir.readers.bytes.checkpoint import GRAM_HASHES, load_checkpoint
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import OUTPUTS
from aegir.readers.ngrams.specialist import NGRAMS
from aegir.readers.swarm.network import ENDING, PRIMARY_NAME, SWARM_NAME
from aegir.readers.swarm.weights_file import FAMILY
from aegir.swarm.column_model import ByteColumnModel
from aegir.swarm.fusion import build_fusions
from aegir.swarm.orchestrator import SwarmOrchestrator
from aegir.swarm.specialist import FrozenSpecialist
from aegir_rl.base.arrays import I32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG
from aegir_rl.base.safetensors_file import read_safetensors
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.settings import read_toml, settings_from
from aegir_rl.base.training_run import checkpoint_of


@dataclass(frozen=True, slots=True)
class StartPrimary:
    """The primary that a run begins with."""

    saved: TrainingCheckpoint
    architecture: Architecture
    held_out: Mapping[str, Any]
    """What its own training kept out, with its seed; empty if that is not known."""


def read_start(path: Path) -> StartPrimary:
    """Read a run folder of supervised training, its checkpoint, or an exported byte network."""
    file = checkpoint_of(path)
    if not file.is_file():
        raise UsageError(
            f"{path} has no checkpoint; give a run of `aegir train supervised` or an exported network"
        )
    if read_safetensors(file)[1].get("format") == BYTES_FORMAT:
        return _exported(file)
    saved = read_learner(file)
    if saved.facts.get("phase") != "supervised":
        raise UsageError(
            f"{path} is a {saved.facts.get('phase')} run; begin with a supervised one, or with the "
            f"{PRIMARY_NAME} of a trained swarm"
        )
    config = read_toml(file.with_name(CONFIG))
    grams = {"gram_rows": len(saved.grams)}
    settings = settings_from(config.get("architecture", {}), Architecture(), str(file.parent))
    held_out = {**config.get("held_out", {}), "seed": config.get("seed", 0)}
    return StartPrimary(saved, Architecture.from_dict(settings.as_dict() | grams), held_out)


def _exported(path: Path) -> StartPrimary:
    checkpoint = load_checkpoint(path)
    tensors = {f"net.{name}": torch.tensor(each) for name, each in checkpoint.tensors.items()}
    tensors[GRAMS] = tensors.pop(f"net.{GRAM_HASHES}")
    training = checkpoint.facts.get("training", {})
    held_out = {**training.get("held_out", {}), "seed": training["seed"]} if training else {}
    facts = {"heads": {head: list(names) for head, names in OUTPUTS.items()}}
    return StartPrimary(TrainingCheckpoint(tensors, 0, facts), checkpoint.architecture, held_out)


def unlike_folds(start: StartPrimary, config: ParlTraining) -> str | None:
    """Return a sentence if the primary may have learnt from tables that this run keeps out."""
    ours = {
        "seed": config.data_seed,
        "folds": config.held_out.folds,
        "fold": config.held_out.fold,
        "validation": config.held_out.validation,
    }
    kept_out_all = not start.held_out.get("validation", True)
    if config.held_out.fold < 0 or start.held_out == ours:
        return None
    if kept_out_all and start.held_out.get("seed") == config.data_seed:
        return None
    theirs = ", ".join(f"{name} {value}" for name, value in start.held_out.items()) or "unknown"
    return (
        f"the primary kept out other tables (it: {theirs}; this run: fold {ours['fold']} of {ours['folds']}, seed "
        f"{ours['seed']}), so held-out figures may be of tables that it has learnt from"
    )


def load_specialists(names: Sequence[str], fold: int) -> list[FrozenSpecialist]:
    """Read the specialists in these files and folders, in the order given, sorted within a folder.

    "ngrams" are the n-gram networks that ship, "ngrams=PARTS" those that `aegir train ngrams` left for the fold.
    """
    specialists: list[FrozenSpecialist] = []
    for name in names:
        path, (family, equals, parts) = Path(name), name.partition("=")
        if family == NGRAMS and (parts or not equals):
            networks = NgramColumnModel.load(Path(parts) / networks_file(fold) if equals else None)
            specialists.append(FrozenSpecialist(NGRAMS, networks))
        elif name and path.is_dir():
            files = sorted(path.glob(f"*{ENDING}"))
            own = (PRIMARY_NAME, SWARM_NAME)
            specialists += [_load_specialist(file) for file in files if file.name not in own]
        elif path.is_file():
            specialists.append(_load_specialist(path))
        else:
            raise UsageError(f"there is no {name!r}, which should hold specialists")
    return specialists


def load_out_of_fold(names: Sequence[str], folds: int, fold: int) -> OutOfFold:
    """Read what `aegir train ngrams` left for the other folds, if its networks are among the specialists."""
    for name in names:
        family, _, parts = name.partition("=")
        if family == NGRAMS and parts:
            return {
                NGRAMS: {
                    other: FrozenSpecialist(
                        f"{NGRAMS}-fold{other}",
                        NgramColumnModel.load(Path(parts) / networks_file(other)),
                    )
                    for other in range(folds)
                    if other != fold
                }
            }
    return {}


def _load_specialist(file: Path) -> FrozenSpecialist:
    if read_safetensors(file)[1].get(FAMILY) == NGRAMS:
        return FrozenSpecialist(file.stem, NgramColumnModel.load(file))
    return FrozenSpecialist.load(file)


def build_policy(
    config: ParlTraining,
    architecture: Architecture,
    grams: I32,
    corpus: Corpus,
    specialists: Sequence[FrozenSpecialist],
) -> SwarmPolicy:
    """Return a swarm with a new primary, all gates closed."""
    net = build_network(architecture, corpus.heads, len(grams), config.seed)
    primary = ByteColumnModel(net, GramIndex.of(np.asarray(grams)))
    fused = config.swarm.mode != NO_STATES
    fusions = (
        build_fusions(primary.state_shapes, len(specialists), config.swarm.mode) if fused else None
    )
    torch.manual_seed(Seeds(config.seed).derive("swarm") >> 1)
    swarm = SwarmOrchestrator(
        primary,
        specialists,
        fusions,
        primary.d_model,
        config.swarm.threshold,
        config.rl.lambda_parallel,
        config.rl.lambda_finish,
        observation=config.swarm.observation,
        answers=config.swarm.answers,
        workers=config.swarm.workers or None,
        temperature=config.routing.temperature,
    )
    return SwarmPolicy(swarm)


def load_primary(policy: SwarmPolicy, corpus: Corpus, start: StartPrimary) -> TrainedWeights:
    """Copy the weights of a trained primary; raise if none fits."""
    loaded = load_weights(policy.primary.network, corpus.heads, start.saved)
    if not (loaded.whole or loaded.partly):
        raise UsageError("nothing of the primary fits; begin with a run of the byte network")
    return loaded
