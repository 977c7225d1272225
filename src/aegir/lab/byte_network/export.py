"""From a training run to the file that ships: checked for collapse, without what only training needs.

    export_run(Path("runs/bytes"), config, corpus, Path("bytes.safetensors"), calibration)
    read_network(Path("runs/bytes"), config, corpus, facts)         the same, as a Checkpoint
    read_run(Path("runs/bytes"), config)                            what was saved, unchecked

The optimiser and the auxiliary heads are left out. A network that no longer tells its inputs apart is refused.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from aegir.lab.byte_network.config import ByteTraining
from aegir.lab.byte_network.corpus import Corpus
from aegir.lab.byte_network.evaluation import answer, liveness, refuse_if_collapsed
from aegir.lab.nets.annotator import ByteNetwork
from aegir.lab.torch_training import read_learner
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint, save_checkpoint
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import ALONE_HEADS, HEAD_SIZES, OUTPUTS, all_sizes
from aegir.readers.calibration import ByteCalibration
from aegir_rl.base.arrays import I32
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.run_folder import CONFIG
from aegir_rl.base.text import parse_json
from aegir_rl.base.training_run import CHECKPOINT

SHIPPED_HEADS = frozenset((*OUTPUTS, *ALONE_HEADS))
CHECKED_TABLES = 400
"""Tables on which the network is checked for collapse."""


def read_calibration(path: Path | None) -> dict[str, Any]:
    """Read what `aegir train calibrate` wrote; without a file, return temperatures of 1."""
    if path is None:
        return {"calibration": {"bytes": {"cta": 1.0, "cpa": 1.0}}, "held_out": {}}
    try:
        calibration = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as a calibration ({reason_of(error)})") from None
    try:
        ByteCalibration.from_json(calibration["calibration"])
    except (KeyError, TypeError, UsageError) as error:
        raise UsageError(
            f"{path} is not a calibration ({error}); make one with: aegir train calibrate"
        ) from None
    return dict(calibration)


def export_run(
    folder: Path, config: ByteTraining, corpus: Corpus, out: Path, calibration: Mapping[str, Any]
) -> dict[str, float]:
    """Write the run's network as a checkpoint and return its liveness metrics."""
    checkpoint = read_network(folder, config, corpus, calibration)
    save_checkpoint(out, checkpoint)
    return dict(checkpoint.facts["liveness"])


def read_network(
    folder: Path, config: ByteTraining, corpus: Corpus, known: Mapping[str, Any]
) -> Checkpoint:
    """Return the run's network without auxiliary heads, with `known` among its facts; raise if it has collapsed."""
    run = read_run(folder, config)
    net = ByteNetwork(run.architecture, all_sizes(run.heads))
    try:
        net.load_state_dict(run.weights)
    except RuntimeError:  # torch names every tensor, over many lines
        raise UsageError(
            f"the network in {folder} does not fit this configuration's [architecture]; "
            f"export it with the one it was trained with, {folder / CONFIG}"
        ) from None
    tables = corpus.sample(CHECKED_TABLES)
    answers = answer(net, tables, GramIndex.of(run.hashes))
    metrics = liveness(answers)
    refuse_if_collapsed(metrics, str(folder), answers.types)
    training = {
        "steps": run.step,
        "seed": config.seed,
        "sources": dict(config.data.sources),
        "held_out": asdict(config.held_out),
        "tables": len(corpus.training),
    }
    return run.checkpoint({**known, "training": training, "liveness": metrics})


@dataclass(frozen=True, slots=True)
class RunNetwork:
    """What a supervised run has learnt, as it was saved."""

    architecture: Architecture
    weights: Mapping[str, Tensor]
    hashes: I32
    """Of the n-grams that have an embedding."""
    heads: Mapping[str, int]
    """Every head, auxiliary ones too, and its number of outputs."""
    step: int

    def checkpoint(self, facts: Mapping[str, Any]) -> Checkpoint:
        """The network without auxiliary heads, with these facts; it is not checked for collapse."""
        shipped = {
            name: tensor.numpy()
            for name, tensor in self.weights.items()
            if not name.startswith("heads.") or name.split(".")[1] in SHIPPED_HEADS
        }
        return Checkpoint(self.architecture, shipped | {GRAM_HASHES: self.hashes}, facts)


def read_run(folder: Path, config: ByteTraining) -> RunNetwork:
    """Read the network of a supervised run; raise for any other."""
    saved = read_learner(folder / CHECKPOINT)
    facts, hashes = saved.facts, saved.grams
    if facts.get("phase") != "supervised":
        raise UsageError(
            f"{folder} is a {facts.get('phase')} run, which knows no types; export a supervised one"
        )
    weights = {
        name.removeprefix("net."): tensor
        for name, tensor in saved.tensors.items()
        if name.startswith("net.")
    }
    settings = config.architecture.as_dict() | {"gram_rows": len(hashes)}
    heads = {name: len(names) for name, names in facts["heads"].items()}
    if any(heads.get(name) != size for name, size in HEAD_SIZES.items()):
        raise UsageError(
            f"{folder} was trained for other answers than today's; train its last phase again, "
            f"with --from {folder}"
        )
    return RunNetwork(
        architecture=Architecture.from_dict(settings),
        weights=weights,
        hashes=hashes.astype(np.int32),
        heads=heads,
        step=saved.step,
    )
