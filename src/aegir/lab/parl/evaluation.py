"""A swarm's answers to held-out tables: as users would get them, and which specialists were activated for what.

    evaluated = evaluate(policy, config, corpus.held_out)
    evaluated.answers                    as of the byte network (byte_network/evaluation.py)
    evaluated.routing                    activation and score of every column and specialist, seconds
    save_routing(path, routing)          load_routing(path)

Learnt routing is the router's threshold. "average" gives the logarithm of the mean probability of the primary and of every
specialist that is a byte network itself. Seconds are measured part by part: router, specialists in threads, primary.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from aegir.lab.byte_network.batches import ColumnBatch
from aegir.lab.byte_network.evaluation import Answers, answer
from aegir.lab.byte_network.examples import TableExample
from aegir.lab.nets.hierarchy import StageOutput
from aegir.lab.parl.config import AVERAGE, LEARNT, ParlTraining
from aegir.lab.parl.policy import SwarmPolicy, activation_chances
from aegir.lab.parl.reading import read_columns, score_columns
from aegir.readers.bytes.heads import PERSONAL_HEAD
from aegir.swarm.column_model import ByteColumnModel
from aegir_rl.base.arrays import F32, Bools, softmax
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import parse_json
from aegir_rl.rl.critical_path import compute_critical_path

ROUTING = "routing.safetensors"
FORMAT = "aegir-routing-1"
SMALLEST = 1e-12
"""Averaged probabilities are at least this, so that their logarithm is finite."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds over all held-out tables."""

    critical_path: float = 0.0
    """Router, longest specialist, primary, summed over parts."""
    total_work: float = 0.0
    """Everything, one after the other."""


@dataclass(frozen=True, slots=True)
class RoutedSample:
    """Which specialist read which held-out column."""

    activation: Bools
    """(columns, N), columns table by table."""
    scores: F32
    specialists: tuple[str, ...]
    dropped: tuple[int, ...]
    """Columns of each specialist that it gave no finite numbers for."""
    times: Times
    columns: tuple[str, ...] = ()
    """Name of every column, as in held_out.safetensors."""

    def metrics(self) -> dict[str, float]:
        """Return the activation rate, of each specialist too, patterns in use, and times."""
        if not self.activation.size:
            return {}
        rates = self.activation.mean(axis=0)
        return {
            "activation/rate": float(self.activation.mean()),
            "activation/patterns": float(len(np.unique(self.activation, axis=0))),
            **{f"activation/{n}": float(r) for n, r in zip(self.specialists, rates, strict=True)},
            "time/critical_path": self.times.critical_path,
            "time/total_work": self.times.total_work,
        }


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Answers, and how they were routed."""

    answers: Answers
    routing: RoutedSample


def evaluate(
    policy: SwarmPolicy, config: ParlTraining, examples: Sequence[TableExample]
) -> Evaluated:
    """Return the answers to these tables."""
    reader = _Reader(policy, config)
    primary = policy.primary
    answers = answer(primary.network, examples, primary.index, read=reader)
    if config.routing.kind == AVERAGE:
        answers = _averaged(policy, examples, answers)
    return Evaluated(answers, reader.routing())


class _Reader:
    """Reads batches as the settings say and remembers who read what."""

    def __init__(self, policy: SwarmPolicy, config: ParlTraining) -> None:
        self.policy, self.config = policy, config
        self.names = tuple(each.name for each in policy.swarm.specialists)
        self._active: list[Bools] = []
        self._scores: list[F32] = []
        self._dropped = np.zeros(len(self.names), np.int64)
        self._times = Times()

    def __call__(self, batch: ColumnBatch) -> tuple[Tensor, list[StageOutput]]:
        if not self.names or not self.config.routing.calls_specialists:
            reading = read_columns(self.policy, batch)
            return reading.vectors, reading.outputs
        scores = score_columns(self.policy, batch)
        active = self._activation(scores)
        reading = read_columns(self.policy, batch, None, active)
        self._dropped += reading.dropped.sum(dim=0).numpy()
        back = np.argsort(batch.order)
        self._active.append(active.numpy()[back])
        self._scores.append(scores.numpy()[back])
        for steps in reading.steps:
            path = compute_critical_path(steps)
            self._times = Times(
                self._times.critical_path + path.length, self._times.total_work + path.total_work
            )
        return reading.vectors, reading.outputs

    def _activation(self, scores: Tensor) -> Tensor:
        routing = self.config.routing
        if routing.kind == LEARNT:
            return self.policy.swarm.router.activate(scores)
        random = Seeds(self.config.seed).generator("held out", len(self._active))
        chances = activation_chances(scores.double().numpy(), routing)
        return torch.from_numpy(random.random(chances.shape) < chances)

    def routing(self) -> RoutedSample:
        shape = (0, len(self.names))
        return RoutedSample(
            activation=np.concatenate([np.zeros(shape, bool), *self._active]),
            scores=np.concatenate([np.zeros(shape, np.float32), *self._scores]),
            specialists=self.names,
            dropped=tuple(self._dropped.tolist()),
            times=self._times,
        )


def _averaged(policy: SwarmPolicy, examples: Sequence[TableExample], own: Answers) -> Answers:
    """Return the answers with the mean probabilities of primary and specialists."""
    models = (each.model for each in policy.swarm.specialists)
    several = [
        own.logits,
        *(
            answer(model.network, examples, model.index).logits
            for model in models
            if isinstance(model, ByteColumnModel)
        ),
    ]
    logits = {head: _mean_logits(head, [logits[head] for logits in several]) for head in own.logits}
    return replace(own, logits=logits)


def _mean_logits(head: str, several: Sequence[F32]) -> F32:
    if head == PERSONAL_HEAD:  # one output: log odds
        mean = np.mean([1 / (1 + np.exp(-each)) for each in several], axis=0)
        mean = np.clip(mean, SMALLEST, 1 - 1e-7)
        return np.asarray(np.log(mean / (1 - mean)), np.float32)
    mean = np.mean([softmax(each) for each in several], axis=0)
    return np.asarray(np.log(np.maximum(mean, SMALLEST)), np.float32)


def save_routing(path: Path, routing: RoutedSample) -> None:
    """Write who read which column; columns must have names."""
    facts = {
        "format": FORMAT,
        "specialists": json.dumps(routing.specialists),
        "dropped": json.dumps(routing.dropped),
        "columns": json.dumps(routing.columns),
        "times": json.dumps([routing.times.critical_path, routing.times.total_work]),
    }
    tensors: dict[str, npt.NDArray[Any]] = {
        "activation": routing.activation.astype(np.uint8),
        "scores": routing.scores,
    }
    replace_file(path, safetensors_bytes(tensors, facts))


def load_routing(path: Path) -> RoutedSample:
    """Read a file written by `save_routing`."""
    tensors, facts = read_safetensors(path)
    if facts.get("format") != FORMAT:
        raise UsageError(
            f"{path} does not say who read what (format {facts.get('format')!r}, expected {FORMAT!r})"
        )
    return RoutedSample(
        activation=tensors["activation"].astype(bool),
        scores=tensors["scores"],
        specialists=tuple(parse_json(facts["specialists"])),
        dropped=tuple(parse_json(facts["dropped"])),
        times=Times(*parse_json(facts["times"])),
        columns=tuple(parse_json(facts["columns"])),
    )
