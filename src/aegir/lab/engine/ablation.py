"""The deep layers with a channel from the first layer switched off, or reading fewer cells: answers to held-out tables again.

    answer_without(Path("runs/bytes-fold0"), Path("runs/ablated"))

writes `CHANNEL/bytes-fold0/held_out.safetensors` for every channel, which `python -m aegir.lab.figures engine --other` compares
with the whole network. Weights are those of training with every channel on.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import torch

from aegir.lab.byte_network.config import read_byte_training
from aegir.lab.byte_network.corpus import build_corpus
from aegir.lab.byte_network.evaluation import answer
from aegir.lab.byte_network.export import read_run
from aegir.lab.byte_network.held_out_metrics import save_held_out
from aegir.lab.held_out import ANSWERS
from aegir.lab.nets.annotator import ByteNetwork
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import all_sizes
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG


def _without_states(net: ByteNetwork) -> None:
    for state in net.first.states:
        state.zero_()


def _without_vector(net: ByteNetwork) -> None:
    net.first.vector.zero_()


def _without_answers(net: ByteNetwork) -> None:
    net.first.gates.zero_()


def _with_cells(cells: int) -> Callable[[ByteNetwork], None]:
    def change(net: ByteNetwork) -> None:
        reading = replace(net.architecture.reading, cells=cells)
        net.architecture = replace(net.architecture, reading=reading)

    return change


CHANNELS: Mapping[str, Callable[[ByteNetwork], None]] = {
    "without-states": _without_states,
    "without-vector": _without_vector,
    "without-answers": _without_answers,
    "two-cells": _with_cells(2),
    "three-cells": _with_cells(3),
}
"""Name of what is changed to what changes it."""


def answer_without(run: Path, out: Path) -> Iterator[Path]:
    """Write the answers of a fold run without each channel; yield the folders that they are in."""
    config = read_byte_training(run / CONFIG)
    if not config.architecture.first:
        raise UsageError(f"the network of {run} does not begin with what the first layer says")
    saved = read_run(run, config)
    corpus = build_corpus(config.data, config.held_out, config.seed)
    for name, change in CHANNELS.items():
        net = ByteNetwork(saved.architecture, all_sizes(saved.heads))
        net.load_state_dict(saved.weights)
        with torch.no_grad():
            change(net)
        folder = out / name / run.name
        folder.mkdir(parents=True, exist_ok=True)
        answers = answer(net, corpus.held_out, GramIndex.of(saved.hashes))
        save_held_out(folder / ANSWERS, answers, corpus)
        yield folder
