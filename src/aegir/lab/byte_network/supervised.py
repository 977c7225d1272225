"""Training the byte network: on next symbols and headers of unlabelled tables, then on what columns are.

    aegir train pretrain configs/tiny.toml --out runs/pretrained
    aegir train supervised configs/tiny.toml --from runs/pretrained --out runs/bytes

A run folder holds config.toml, environment.json, metrics.jsonl and checkpoint.safetensors: network, optimiser, step and
the state of the curriculum, if there is one. Killed at any moment and resumed, a run ends with the bits of one that was
not. Under `torchrun` every process reads its share of each step.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from aegir.answers.gold_labels import unknown_names_sentence
from aegir.lab.byte_network.batches import Augmentation, batch_of_varied
from aegir.lab.byte_network.config import NO_CURRICULUM, ByteTraining, Phase, PhaseName
from aegir.lab.byte_network.corpus import Corpus, build_corpus
from aegir.lab.byte_network.evaluation import answer
from aegir.lab.byte_network.examples import Heads
from aegir.lab.byte_network.held_out_metrics import (
    measure_answers,
    recorded_names,
    save_held_out,
)
from aegir.lab.byte_network.learner import Learner, Processes
from aegir.lab.byte_network.mixture import TableMixture
from aegir.lab.held_out import ANSWERS
from aegir.lab.nets.annotator import ByteNetwork
from aegir.lab.torch_training import (
    GRAMS,
    TrainingCheckpoint,
    check_same_run,
    load_weights,
    read_learner,
    restore,
    save_learner,
)
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import all_sizes
from aegir_rl.base.arrays import F32, I32
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.training_run import (
    TrainingRun,
    Watcher,
    checkpoint_of,
    join_state,
    open_run,
    split_state,
)

CURRICULUM = "curriculum/"
"""Key of the curricula's state in a checkpoint, and prefix of its arrays."""
SUPERVISED: PhaseName = "supervised"
CHECKED_TABLES = 200
"""Training tables of a check, for a run that keeps none out."""
FIRST_NOISE = 0.3
"""Share of the random embeddings of n-grams that is added to rows given to begin with."""


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a finished run."""

    net: ByteNetwork
    index: GramIndex
    grams: I32
    heads: Heads
    corpus: Corpus
    metrics: dict[str, float]
    """Held-out scores and liveness after the last step."""


MakeCorpus = Callable[[Path], Corpus]
"""Makes the corpus of a run; it may keep files in the run folder that it is given."""


def train(
    config: ByteTraining,
    name: PhaseName,
    folder: Path,
    watch: Watcher,
    start: Path | None = None,
    resume: bool = False,
    make_corpus: MakeCorpus | None = None,
) -> Trained:
    """Train one phase; `start` is the run folder or checkpoint whose weights to begin with.

    The tables are those of the configuration, unless `make_corpus` gives others.
    """
    processes = Processes.from_environment()
    if config.threads:
        torch.set_num_threads(config.threads)
    with open_run(folder, config, watch, processes, resume=resume) as run:
        return _train(config, name, run, processes, start, make_corpus)


def _train(
    config: ByteTraining,
    name: PhaseName,
    run: TrainingRun,
    processes: Processes,
    start: Path | None,
    make_corpus: MakeCorpus | None,
) -> Trained:
    phase = config.phase(name)
    run.watch.say("reading tables")
    corpus = (
        make_corpus(run.path)
        if make_corpus
        else build_corpus(config.data, config.held_out, config.seed)
    )
    curriculum = config.curriculum if name == SUPERVISED else NO_CURRICULUM
    mixture = corpus.mixture(
        phase.tables_per_step, config.seed, curriculum, unlabelled=phase.loss.next_symbol > 0
    )
    tables = corpus.fingerprint()
    _check_same_tables(processes, tables)
    saved = read_learner(run.checkpoint) if run.resumes else None
    before = read_learner(checkpoint_of(start)) if start and not saved else None
    grams = _grams(corpus, config.architecture, saved or before)
    net = build_network(config.architecture, corpus.heads, len(grams), config.seed)
    index, learner = GramIndex.of(grams), Learner(net, phase, processes)
    facts = {
        "phase": name,
        "tables": tables,
        "heads": {head: list(classes) for head, classes in corpus.heads.items()},
    }

    def save_checkpoint(step: int) -> None:
        if run.writes:
            curricula, arrays = split_state(mixture.state_dict(), CURRICULUM)
            known = facts | ({CURRICULUM: curricula} if curricula else {})
            save_learner(run.checkpoint, learner, step, known, arrays | {GRAMS: grams})
        processes.wait()

    if saved:
        check_same_run(saved, facts, run.path)
        restore(learner, saved.tensors, run.checkpoint)
        mixture.load_state_dict(
            join_state(saved.facts.get(CURRICULUM, {}), saved.tensors, CURRICULUM)
        )
        run.resume_after(saved.step, phase.steps)
    elif before:
        loaded = load_weights(net, corpus.heads, before)
        if not (loaded.whole or loaded.partly):
            raise UsageError(
                f"nothing in {start} fits this configuration; start from a run of the same architecture"
            )
        run.watch.say(f"from {start}: {loaded}")
    elif corpus.first_rows and len(grams):
        begin_with_rows(net, corpus.first_rows(grams, config.architecture.widths[0]))
    run.watch.say(_describe(corpus, mixture, net))
    if sentence := unknown_names_sentence(corpus.unknown):
        run.watch.say(sentence)
    if not saved:
        save_checkpoint(0)  # from here on, a run that is killed can be resumed
    metrics: dict[str, float] = {}
    for step in range(saved.step if saved else 0, phase.steps):
        draws = mixture.draw(step)
        if len(draws) < processes.count:
            raise UsageError(
                f"a step reads {len(draws)} tables, fewer than the {processes.count} processes; "
                "raise tables_per_step"
            )
        batch = batch_of_varied(
            {i: draws[i].example for i in range(processes.rank, len(draws), processes.count)},
            config.architecture,
            augmentation=_augmentation(phase, step),
            seeds=Seeds(config.seed),
            names=(step,),
            index=index,
            heads=corpus.heads,
            dropout=phase.loss.dropout,
        )
        learnt = learner.learn(batch, step)
        mixture.update(draws, processes.interleave(learnt.success, len(draws)).numpy())
        run.report(step + 1, learnt.metrics)
        if (step + 1) % phase.check_every == 0 or step + 1 == phase.steps:
            if run.writes:
                metrics = _evaluate(net, corpus, index, name, run.watch)
                run.record(step + 1, **recorded_names(metrics), **mixture.metrics())
            save_checkpoint(step + 1)
    if saved and saved.step >= phase.steps:
        metrics = _evaluate(net, corpus, index, name, run.watch)
    if name == SUPERVISED and corpus.held_out and corpus.calibrates and run.writes:
        save_held_out(run.path / ANSWERS, answer(net, corpus.held_out, index), corpus)
    return Trained(net, index, grams, corpus.heads, corpus, metrics)


def _augmentation(phase: Phase, step: int) -> Augmentation:
    """Return how tables are varied in a step: at first without the first layer's answers."""
    if step < phase.without_answers * phase.steps:
        return replace(phase.augmentation, hide_answers=1.0)
    return phase.augmentation


def _check_same_tables(processes: Processes, fingerprint: str) -> None:
    """Raise if processes read different tables: one would learn from what another keeps out."""
    own = torch.tensor(float(int(fingerprint[:12], 16)), dtype=torch.float64)
    if float(processes.add_up(own)) != float(own) * processes.count:
        raise AegirError("the processes of this run read different tables; give all the same data")


def build_network(
    architecture: Architecture, heads: Heads, gram_rows: int, seed: int
) -> ByteNetwork:
    """Return a new network that embeds so many n-grams; its weights depend on the seed alone."""
    torch.manual_seed(Seeds(seed).derive("weights") >> 1)
    sizes = all_sizes({name: len(names) for name, names in heads.items()})
    settings = architecture.as_dict() | {"gram_rows": gram_rows}
    return ByteNetwork(Architecture.from_dict(settings), sizes)


def begin_with_rows(net: ByteNetwork, rows: F32) -> None:
    """Add rows (n-grams, width) to the embeddings of n-grams; of the random start, FIRST_NOISE is left."""
    with torch.no_grad():
        embeddings = net.reader.embedding.grams[:-1]  # the last row stays zero
        embeddings.mul_(FIRST_NOISE).add_(torch.from_numpy(rows))


def _grams(corpus: Corpus, architecture: Architecture, saved: TrainingCheckpoint | None) -> I32:
    """Return the n-grams of the run that is continued, or those chosen on the training tables."""
    if saved:
        return saved.grams
    return corpus.grams(architecture) if architecture.gram_rows else np.zeros(0, np.int32)


def _evaluate(
    net: ByteNetwork, corpus: Corpus, index: GramIndex, phase: PhaseName, watch: Watcher
) -> dict[str, float]:
    """Return scores on held-out tables and liveness metrics, and report a collapse."""
    answers = answer(net, corpus.held_out or corpus.sample(CHECKED_TABLES), index)
    return measure_answers(answers, corpus, watch, phase == "pretrain")


def _describe(corpus: Corpus, mixture: TableMixture, net: ByteNetwork) -> str:
    parameters = sum(parameter.numel() for parameter in net.parameters())
    grams = net.reader.embedding.grams.numel()
    return (
        f"{sum(map(len, mixture.examples.values()))} tables to learn from, {len(corpus.held_out)} "
        f"held out; {parameters / 1e6:.2f} M parameters, {grams / 1e6:.2f} M of them n-grams"
    )
