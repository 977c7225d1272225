"""Training the byte network: next symbols and headers of unlabelled tables first, then types and relations.

    aegir train pretrain configs/tiny.toml --out runs/pretrained
    aegir train supervised configs/tiny.toml --from runs/pretrained --out runs/bytes

A run folder holds config.toml, environment.json, metrics.jsonl and checkpoint.safetensors: network, optimiser and step.
Killed at any moment and resumed, a run ends with the bits of one that was not. Under `torchrun` every process reads
its share of each step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from aegir.errors import AegirError, UsageError
from aegir.health.rules import RULES
from aegir.nets.annotator import DROPPED, ByteNetwork
from aegir.run_folder import RunFolder
from aegir.seeding import Seeds
from aegir.training.byte_network.batches import Batch, GramIndex, Mixture, batch_of, draw_varied
from aegir.training.byte_network.config import ByteTraining, Phase, PhaseName
from aegir.training.byte_network.corpus import Corpus, build_corpus
from aegir.training.byte_network.evaluation import answer, check_alive, liveness
from aegir.training.byte_network.examples import NO_LABEL, RELATIONS_HEAD, TYPES_HEAD, Heads
from aegir.training.byte_network.learner import (
    Learner,
    Processes,
    read_learner,
    restore,
    save_learner,
    start_from,
)
from aegir.training.byte_network.losses import ALONE
from aegir.training.byte_network.run import CHECKPOINT, checkpoint_of, open_run
from aegir.training.held_out import ANSWERS, HeldOut, save_answers

GRAMS = "grams.hashes"


class Watcher(Protocol):
    """Who is told how training goes."""

    def say(self, line: str) -> None:
        """Something happened."""

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        """One step was taken."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What a finished run left."""

    net: ByteNetwork
    index: GramIndex
    grams: Any
    heads: Heads
    corpus: Corpus
    figures: dict[str, float]
    """Held-out scores and liveness after the last step."""


def train(
    config: ByteTraining,
    name: PhaseName,
    folder: Path,
    watch: Watcher,
    start: Path | None = None,
    resume: bool = False,
) -> Trained:
    """Train one phase; `start` is the run folder or checkpoint whose weights to begin with."""
    processes = Processes.found()
    if config.threads:
        torch.set_num_threads(config.threads)
    with open_run(folder, config, processes, resume=resume) as run:
        return _train(config, name, run, processes, watch, start, resume)


def _train(
    config: ByteTraining,
    name: PhaseName,
    run: RunFolder,
    processes: Processes,
    watch: Watcher,
    start: Path | None,
    resume: bool,
) -> Trained:
    phase, folder = config.phase(name), run.path
    watch.say("reading tables")
    corpus = build_corpus(config)
    mixture = corpus.mixture(phase, config.seed)
    tables = corpus.fingerprint()
    _refuse_other_tables(processes, tables)
    saved = read_learner(folder / CHECKPOINT) if resume else None
    before = read_learner(checkpoint_of(start)) if start and not saved else None
    grams = _grams(corpus, config, saved or before)
    net = build_network(config, corpus.heads, len(grams))
    learner = Learner(net, phase, processes)
    first = 0
    if saved:
        _refuse_other_phase(saved[2], name, folder)
        if saved[2].get("tables", tables) != tables:
            raise UsageError(
                f"the tables are not those {folder} began with; resume it with the same data"
            )
        restore(learner, saved[0], folder / CHECKPOINT)
        first = saved[1]
        if processes.rank == 0:
            run.cut(first)
        watch.say(f"going on after step {first} of {phase.steps}")
    elif before:
        taken, left = start_from(net, before[0])
        if not taken:
            raise UsageError(
                f"nothing in {start} fits this configuration; start from a run of the same architecture"
            )
        watch.say(f"{len(taken)} tensors taken from {start}, {len(left)} begin anew")
    index = GramIndex.of(grams)
    watch.say(_describe(corpus, mixture, net))
    if corpus.unknown:
        watch.say(
            f"{sum(corpus.unknown.values())} labels are none of our types or relations and are left "
            f"out, such as {max(corpus.unknown, key=lambda label: corpus.unknown[label])!r}"
        )
    facts = {
        "phase": name,
        "tables": tables,
        "heads": {head: list(classes) for head, classes in corpus.heads.items()},
    }

    def keep(step: int) -> None:
        if processes.rank == 0:
            save_learner(folder / CHECKPOINT, learner, step, facts, {GRAMS: grams})
        processes.wait()

    if not resume:
        keep(0)  # from here on, a run that is killed can go on
    figures: dict[str, float] = {}
    for step in range(first, phase.steps):
        batch = _batch(mixture, step, phase, config, index, corpus.heads, processes)
        taken_step = learner.learn(batch, step)
        if processes.rank == 0:
            run.record(step + 1, **taken_step)
        watch.step(step + 1, taken_step)
        if (step + 1) % phase.check_every == 0 or step + 1 == phase.steps:
            if processes.rank == 0:
                figures = _look(net, corpus, index, name, watch)
                run.record(step + 1, **_named(figures))
            keep(step + 1)
    if first >= phase.steps:
        figures = _look(net, corpus, index, name, watch)
    if name == "supervised" and corpus.held_out and processes.rank == 0:
        save_answers(folder / ANSWERS, held_out_answers(net, corpus, index))
    return Trained(net, index, grams, corpus.heads, corpus, figures)


def _refuse_other_tables(processes: Processes, fingerprint: str) -> None:
    """Processes that read other tables would learn from what another keeps out."""
    own = torch.tensor(float(int(fingerprint[:12], 16)), dtype=torch.float64)
    if float(processes.add_up(own)) != float(own) * processes.count:
        raise AegirError("the processes of this run read different tables; give all the same data")


def build_network(config: ByteTraining, heads: Heads, gram_rows: int) -> ByteNetwork:
    """A fresh network; its weights depend on the seed alone."""
    torch.manual_seed(Seeds(config.seed).derive("weights") >> 1)
    classes = {name: len(names) for name, names in heads.items()}
    classes |= {task + ALONE: classes[task] for task in (TYPES_HEAD, RELATIONS_HEAD)}
    settings = config.architecture.as_dict() | {"gram_rows": gram_rows}
    return ByteNetwork(type(config.architecture).from_dict(settings), classes)


def _refuse_other_phase(facts: Mapping[str, Any], name: PhaseName, folder: Path) -> None:
    if facts.get("phase") != name:
        raise UsageError(
            f"{folder} is a {facts.get('phase')} run; resume it with: aegir train {facts.get('phase')}"
        )


def _grams(corpus: Corpus, config: ByteTraining, saved: Any) -> Any:
    """The n-grams of the run that is continued, or those the training tables suggest."""
    if saved:
        return saved[0][GRAMS].numpy()
    return corpus.grams(config) if config.architecture.gram_rows else np.zeros(0, np.int32)


def _batch(
    mixture: Mixture,
    step: int,
    phase: Phase,
    config: ByteTraining,
    index: GramIndex,
    heads: Heads,
    processes: Processes,
) -> Batch:
    """This process's share of a step."""
    examples = mixture.draw(step)
    if len(examples) < processes.count:
        raise UsageError(
            f"a step reads {len(examples)} tables, fewer than the {processes.count} processes; "
            "raise tables_per_step"
        )
    reading, seeds = config.architecture.reading, Seeds(config.seed)
    drawings = [
        draw_varied(example, reading, phase.augmentation, seeds, step, place)
        for place, example in enumerate(examples)
        if place % processes.count == processes.rank
    ]
    noise = DROPPED * config.architecture.column_width if phase.loss.dropout else 0
    return batch_of(drawings, index, list(heads), noise)


def _look(
    net: ByteNetwork, corpus: Corpus, index: GramIndex, phase: PhaseName, watch: Watcher
) -> dict[str, float]:
    """Scores on held-out tables, and signs of life; a collapse is said at once."""
    answers = answer(net, corpus.held_out or corpus.to_look_at(200), index)
    figures = liveness(answers)
    if phase == "pretrain":  # the heads for types and relations have learnt nothing yet
        figures = {name: one for name, one in figures.items() if not name.startswith("prediction")}
    elif corpus.held_out:
        for head in (TYPES_HEAD, RELATIONS_HEAD):
            if (score := answers.micro_f1(head)) is not None:
                figures[f"{head}/micro_f1"] = score
    for finding in check_alive(figures, answers.types).unwell:
        watch.say(f"unwell: {finding.sentence}")
    return figures


def _named(figures: Mapping[str, float]) -> dict[str, float]:
    """Figures under the names `aegir runs health` knows; those it does not know are `held_out/…`."""
    return {name if name in RULES else f"held_out/{name}": value for name, value in figures.items()}


def held_out_answers(net: ByteNetwork, corpus: Corpus, index: GramIndex) -> dict[str, HeldOut]:
    """Answers to labelled columns that were kept out: per task, and apart where a source only reports."""
    answers = answer(net, corpus.held_out, index)
    names = np.array([name for some in corpus.held_out_names for name in some])
    apart = np.repeat(corpus.held_out_apart, [len(some) for some in corpus.held_out_names])
    found = {}
    for task in (TYPES_HEAD, RELATIONS_HEAD):
        for suffix in np.unique(apart):
            kept = np.flatnonzero((answers.labels[task] != NO_LABEL) & (apart == suffix))
            if len(kept):
                found[f"{task}{suffix}"] = HeldOut(
                    answers.logits[task][kept],
                    answers.labels[task][kept],
                    np.unique(answers.table[kept], return_inverse=True)[1],
                    type_logits=answers.logits[TYPES_HEAD][kept],
                    names=tuple(names[kept].tolist()),
                )
    return found


def _describe(corpus: Corpus, mixture: Mixture, net: ByteNetwork) -> str:
    parameters = sum(parameter.numel() for parameter in net.parameters())
    grams = net.reader.embedding.grams.numel()
    return (
        f"{sum(map(len, mixture.examples.values()))} tables to learn from, {len(corpus.held_out)} "
        f"held out; {parameters / 1e6:.2f} M parameters, {grams / 1e6:.2f} M of them n-grams"
    )
