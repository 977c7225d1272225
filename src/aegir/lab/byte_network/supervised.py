"""Training the byte network: on next symbols and headers of unlabelled tables, then on what columns are.

    aegir train pretrain configs/tiny.toml --out runs/pretrained
    aegir train supervised configs/tiny.toml --from runs/pretrained --out runs/bytes

A run folder holds config.toml, environment.json, metrics.jsonl and checkpoint.safetensors: network, optimiser, step and
the state of the curriculum, if there is one. Killed at any moment and resumed, a run ends with the bits of one that was
not. Under `torchrun` every process reads its share of each step.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from aegir.answers.gold_labels import unknown_names_sentence
from aegir.lab.byte_network.batches import Batch, batch_of, draw_varied
from aegir.lab.byte_network.config import NO_CURRICULUM, ByteTraining, Phase, PhaseName
from aegir.lab.byte_network.corpus import Corpus, build_corpus
from aegir.lab.byte_network.evaluation import (
    Answers,
    answer,
    check_alive,
    liveness,
)
from aegir.lab.byte_network.everyday_figures import everyday_figures
from aegir.lab.byte_network.examples import Example, Heads
from aegir.lab.byte_network.held_out_answers import save_held_out
from aegir.lab.byte_network.learner import (
    Checkpoint,
    Learner,
    Processes,
    read_learner,
    restore,
    save_learner,
    start_from,
)
from aegir.lab.byte_network.mixture import Mixture
from aegir.lab.held_out import ANSWERS
from aegir.lab.nets.annotator import DROPPED, ByteNetwork
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import RELATIONS_HEAD, TYPES_HEAD, all_sizes
from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.training_run import CHECKPOINT, checkpoint_of, open_run
from aegir_rl.health.rules import RULES

GRAMS = "grams.hashes"
CURRICULUM = "curriculum/"
SUPERVISED: PhaseName = "supervised"
FIRST_NOISE = 0.3
"""Share of the random embeddings of n-grams that is added to rows given to begin with."""


class Watcher(Protocol):
    """Receives progress reports."""

    def say(self, line: str) -> None:
        """Report an event."""

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        """Report the figures of a step."""


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a finished run."""

    net: ByteNetwork
    index: GramIndex
    grams: Any
    heads: Heads
    corpus: Corpus
    figures: dict[str, float]
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
    processes = Processes.found()
    if config.threads:
        torch.set_num_threads(config.threads)
    with open_run(folder, config, processes, resume=resume) as run:
        return _train(config, name, run, processes, watch, start, resume, make_corpus)


def _train(
    config: ByteTraining,
    name: PhaseName,
    run: RunFolder,
    processes: Processes,
    watch: Watcher,
    start: Path | None,
    resume: bool,
    make_corpus: MakeCorpus | None,
) -> Trained:
    phase, path = config.phase(name), run.path / CHECKPOINT
    watch.say("reading tables")
    corpus = make_corpus(run.path) if make_corpus else build_corpus(config)
    curriculum = config.curriculum if name == SUPERVISED else NO_CURRICULUM
    mixture = corpus.mixture(phase, config.seed, curriculum)
    tables = corpus.fingerprint()
    _check_same_tables(processes, tables)
    saved = read_learner(path) if resume else None
    before = read_learner(checkpoint_of(start)) if start and not saved else None
    grams = _grams(corpus, config, saved or before)
    net, index = build_network(config, corpus.heads, len(grams)), GramIndex.of(grams)
    learner = Learner(net, phase, processes)
    facts = {
        "phase": name,
        "tables": tables,
        "heads": {head: list(classes) for head, classes in corpus.heads.items()},
    }

    def keep(step: int) -> None:
        if processes.rank == 0:
            kept, arrays = _packed(mixture.state_dict())
            save_learner(path, learner, step, facts | kept, arrays | {GRAMS: grams})
        processes.wait()

    if saved:
        check_same_run(saved, facts, run.path)
        restore(learner, saved.tensors, path)
        mixture.load_state_dict(_unpacked(saved))
        if processes.rank == 0:
            run.cut(saved.step)
        watch.say(f"going on after step {saved.step} of {phase.steps}")
    elif before:
        taken = start_from(net, corpus.heads, before)
        if not (taken.whole or taken.partly):
            raise UsageError(
                f"nothing in {start} fits this configuration; start from a run of the same architecture"
            )
        watch.say(f"from {start}: {taken}")
    elif corpus.first_rows and len(grams):
        begin_with_rows(net, corpus.first_rows(grams, config.architecture.widths[0]))
    watch.say(_describe(corpus, mixture, net))
    if sentence := unknown_names_sentence(corpus.unknown):
        watch.say(sentence)
    if not saved:
        keep(0)  # from here on, a run that is killed can be resumed
    figures: dict[str, float] = {}
    for step in range(saved.step if saved else 0, phase.steps):
        draws = mixture.draw(step)
        batch = _batch(
            [draw.example for draw in draws], step, config, phase, corpus, index, processes
        )
        learnt = learner.learn(batch, step)
        mixture.update(draws, processes.interleave(learnt.success, len(draws)).numpy())
        if processes.rank == 0:
            run.record(step + 1, **learnt.figures)
        watch.step(step + 1, learnt.figures)
        if (step + 1) % phase.check_every == 0 or step + 1 == phase.steps:
            if processes.rank == 0:
                figures = _look(net, corpus, index, name, watch)
                run.record(step + 1, **name_figures(figures), **mixture.metrics())
            keep(step + 1)
    if saved and saved.step >= phase.steps:
        figures = _look(net, corpus, index, name, watch)
    if name == SUPERVISED and corpus.held_out and corpus.calibrates and processes.rank == 0:
        save_held_out(run.path / ANSWERS, answer(net, corpus.held_out, index), corpus)
    return Trained(net, index, grams, corpus.heads, corpus, figures)


def _check_same_tables(processes: Processes, fingerprint: str) -> None:
    """Raise if processes read different tables: one would learn from what another keeps out."""
    own = torch.tensor(float(int(fingerprint[:12], 16)), dtype=torch.float64)
    if float(processes.add_up(own)) != float(own) * processes.count:
        raise AegirError("the processes of this run read different tables; give all the same data")


def check_same_run(saved: Checkpoint, facts: Mapping[str, Any], folder: Path) -> None:
    """Raise if the checkpoint is of another phase or of other tables."""
    phase = saved.facts.get("phase")
    if phase != facts["phase"]:
        raise UsageError(f"{folder} is a {phase} run; resume it with: aegir train {phase}")
    if saved.facts.get("tables", facts["tables"]) != facts["tables"]:
        raise UsageError(
            f"the tables are not those {folder} began with; resume it with the same data"
        )


def _packed(
    states: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Split states of curricula into what is kept as JSON and what as arrays."""
    arrays = {
        f"{CURRICULUM}{source}/{key}": value
        for source, state in states.items()
        for key, value in state.items()
        if isinstance(value, np.ndarray)
    }
    facts = {
        source: {k: v for k, v in state.items() if not isinstance(v, np.ndarray)}
        for source, state in states.items()
    }
    return {CURRICULUM: facts} if facts else {}, arrays


def _unpacked(saved: Checkpoint) -> dict[str, dict[str, Any]]:
    states: dict[str, dict[str, Any]] = saved.facts.get(CURRICULUM, {})
    for name, tensor in saved.tensors.items():
        if name.startswith(CURRICULUM):
            source, _, key = name.removeprefix(CURRICULUM).rpartition("/")
            states[source][key] = tensor.numpy()
    return states


def build_network(config: ByteTraining, heads: Heads, gram_rows: int) -> ByteNetwork:
    """Return a new network; its weights depend on the seed alone."""
    torch.manual_seed(Seeds(config.seed).derive("weights") >> 1)
    sizes = all_sizes({name: len(names) for name, names in heads.items()})
    settings = config.architecture.as_dict() | {"gram_rows": gram_rows}
    return ByteNetwork(type(config.architecture).from_dict(settings), sizes)


def begin_with_rows(net: ByteNetwork, rows: F32) -> None:
    """Add rows (n-grams, width) to the embeddings of n-grams; of the random start, FIRST_NOISE is left."""
    with torch.no_grad():
        kept = net.reader.embedding.grams[:-1]  # the last row stays zero
        kept.mul_(FIRST_NOISE).add_(torch.from_numpy(rows))


def _grams(corpus: Corpus, config: ByteTraining, saved: Any) -> Any:
    """Return the n-grams of the run that is continued, or those chosen on the training tables."""
    if saved:
        return saved[0][GRAMS].numpy()
    return corpus.grams(config) if config.architecture.gram_rows else np.zeros(0, np.int32)


def _batch(
    examples: Sequence[Example],
    step: int,
    config: ByteTraining,
    phase: Phase,
    corpus: Corpus,
    index: GramIndex,
    processes: Processes,
) -> Batch:
    """Return this process's share of a step."""
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
    return batch_of(drawings, index, corpus.heads, noise)


def _look(
    net: ByteNetwork, corpus: Corpus, index: GramIndex, phase: PhaseName, watch: Watcher
) -> dict[str, float]:
    """Return scores on held-out tables and liveness figures, and report a collapse."""
    answers = answer(net, corpus.held_out or corpus.to_look_at(200), index)
    figures = liveness(answers)
    if phase == "pretrain":  # the heads for types and relations have learnt nothing yet
        figures = {name: one for name, one in figures.items() if not name.startswith("prediction")}
    elif corpus.held_out:
        figures |= held_out_scores(answers, corpus)
    for finding in check_alive(figures, answers.types).unwell:
        watch.say(f"unwell: {finding.sentence}")
    return figures


def held_out_scores(answers: Answers, corpus: Corpus) -> dict[str, float]:
    """Return scores of the answers to held-out tables: F1 on web tables, and shares on everyday ones."""
    everyday = answers.per_column([origin.everyday for origin in corpus.origins])
    scores = {}
    for head in (TYPES_HEAD, RELATIONS_HEAD):
        if (score := answers.micro_f1(head, ~everyday)) is not None:
            scores[f"{head}/micro_f1"] = score
    return scores | everyday_figures(answers, everyday)


def name_figures(figures: Mapping[str, float]) -> dict[str, float]:
    """Return figures under the names that `aegir runs health` knows; the others become `held_out/…`."""
    return {name if name in RULES else f"held_out/{name}": value for name, value in figures.items()}


def _describe(corpus: Corpus, mixture: Mixture, net: ByteNetwork) -> str:
    parameters = sum(parameter.numel() for parameter in net.parameters())
    grams = net.reader.embedding.grams.numel()
    return (
        f"{sum(map(len, mixture.examples.values()))} tables to learn from, {len(corpus.held_out)} "
        f"held out; {parameters / 1e6:.2f} M parameters, {grams / 1e6:.2f} M of them n-grams"
    )
