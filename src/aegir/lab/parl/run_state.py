"""Everything a PARL run changes, and its checkpoints.

    state = RunState.prepare(config, run, watch, specialists, stand_ins, start, resume=False)
    draws, batch = state.draw("rl", step)
    state.keep(step)                       after so many steps of both stages

A checkpoint holds primary, router, fusion and optimiser, the reference policy if there is one, and what curriculum, rater
ensemble, normaliser, KL control and health monitor remember: a run that is resumed ends with the bits of one that was not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from aegir.answers.gold_labels import unknown_names_sentence
from aegir.lab.byte_network.batches import Batch, batch_of, draw_varied
from aegir.lab.byte_network.config import NO_CURRICULUM
from aegir.lab.byte_network.corpus import Corpus, build_corpus
from aegir.lab.byte_network.learner import Checkpoint, read_learner, restore, save_learner
from aegir.lab.byte_network.mixture import Draw, Mixture
from aegir.lab.byte_network.supervised import GRAMS, Watcher, check_same_run
from aegir.lab.nets.annotator import DROPPED
from aegir.lab.parl.build import Start, build_policy, take_over, unlike_folds
from aegir.lab.parl.config import ALWAYS, ParlTraining, read_parl_training
from aegir.lab.parl.learner import SwarmLearner
from aegir.lab.parl.policy import Policy
from aegir.lab.parl.reading import Known, StandIns, column_folds, run_activated
from aegir.lab.parl.rewarding import ParlRewards
from aegir.readers.bytes.architecture import Architecture
from aegir.swarm.specialist import FrozenSpecialist
from aegir_rl.base.arrays import I32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG, RunFolder
from aegir_rl.base.saved_state_parts import join_state, split_state
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.training_run import CHECKPOINT
from aegir_rl.health import HealthMonitor

REFERENCE = "reference."
STAGES = ("warm_start", "rl")


@dataclass(slots=True)
class RunState:
    """A run between two steps."""

    config: ParlTraining
    run: RunFolder
    watch: Watcher
    corpus: Corpus
    policy: Policy
    learner: SwarmLearner
    rewards: ParlRewards
    monitor: HealthMonitor
    mixtures: dict[str, Mixture]
    """What each stage with steps reads."""
    facts: dict[str, Any]
    done: int
    """Steps taken, of both stages."""
    dropped: dict[str, int]
    """Columns of which a specialist gave numbers that are not finite."""
    stand_ins: StandIns
    """Who reads training tables for specialists that have learnt from them."""

    @classmethod
    def prepare(
        cls,
        config: ParlTraining,
        run: RunFolder,
        watch: Watcher,
        specialists: Sequence[FrozenSpecialist],
        stand_ins: StandIns,
        start: Start | None,
        resume: bool,
        warm: Path | None = None,
    ) -> "RunState":
        """Begin a run, go on with the one in the folder, or begin where the warm start of the run in `warm` ended."""
        saved = read_learner(run.path / CHECKPOINT) if resume else None
        before = _read_warm_start(warm, config) if warm and not resume else None
        architecture = _architecture(config, start, saved or before)
        settings = config.corpus_settings(architecture)
        watch.say("reading tables")
        corpus = build_corpus(settings)
        grams = _grams(start, saved or before)
        grams = corpus.grams(settings) if grams is None else grams
        policy = build_policy(config, architecture, grams, corpus, specialists)
        facts = {
            "phase": "parl",
            "tables": corpus.fingerprint(),
            "specialists": {each.name: each.sha256 for each in specialists},
            "stand_ins": {
                twin.name: twin.sha256 for twins in stand_ins.values() for twin in twins.values()
            },
            "architecture": architecture.as_dict(),
        }
        state = cls(
            config,
            run,
            watch,
            corpus,
            policy,
            SwarmLearner(policy, config),
            ParlRewards(config.rl),
            HealthMonitor(),
            _mixtures(config, corpus),
            facts,
            0,
            {each.name: 0 for each in specialists},
            stand_ins,
        )
        if saved:
            state._restore(saved)
        elif before and warm:
            state._check_parts(before, warm)
            restore(state.learner, before.tensors, warm / CHECKPOINT)
            state.done = before.step
            watch.say(f"beginning after the warm start of {warm}")
        elif start:
            watch.say(f"primary: {take_over(policy, corpus, start)}")
            if sentence := unlike_folds(start, config):
                watch.say(sentence)
        watch.say(_describe(corpus, policy))
        if sentence := unknown_names_sentence(corpus.unknown):
            watch.say(sentence)
        if not saved:
            state.keep(state.done)
        return state

    def draw(self, stage: str, step: int) -> tuple[list[Draw], Batch]:
        """Return the tables of a step of a stage, and as they are read."""
        learning, architecture = self.config.learning, self.policy.primary.network.architecture
        draws, seeds = self.mixtures[stage].draw(step), Seeds(self.config.seed)
        drawings = [
            draw_varied(
                draw.example, architecture.reading, learning.augmentation, seeds, stage, step, place
            )
            for place, draw in enumerate(draws)
        ]
        noise = DROPPED * architecture.column_width if learning.loss.dropout else 0
        return draws, batch_of(drawings, self.policy.primary.index, self.corpus.heads, noise)

    def run_activated(self, draws: Sequence[Draw], batch: Batch, activation: Tensor) -> Known:
        """Let activated specialists, or those that stand in for them, read a batch of training tables."""
        folds = column_folds(batch, [draw.example for draw in draws])
        return run_activated(self.policy, batch, activation, self.stand_ins, folds)

    def count_dropped(self, known: Known) -> int:
        """Count activations that were left out because of numbers that are not finite; report the first of each."""
        counts = known.dropped.sum(dim=0).tolist()
        for specialist, count in zip(self.policy.swarm.specialists, counts, strict=True):
            if count and not self.dropped[specialist.name]:
                self.watch.say(
                    f"specialist {specialist.name!r} gave numbers that are not finite on {count} of "
                    f"{len(known.dropped)} columns; left out, as will be others (specialists/dropped counts them)"
                )
            self.dropped[specialist.name] += count
        return int(sum(counts))

    def keep(self, done: int) -> None:
        """Write a checkpoint after `done` steps; raise if a specialist has changed."""
        self.policy.swarm.check_unchanged()
        self.done = done
        facts, arrays = split_state(self._state())
        arrays[GRAMS] = self.policy.primary.index.kept
        if self.learner.reference is not None:
            kept = self.learner.reference.state_dict()
            arrays |= {f"{REFERENCE}{name}": each.numpy() for name, each in kept.items()}
        path = self.run.path / CHECKPOINT
        save_learner(path, self.learner, done, self.facts | {"state": facts}, arrays)

    def _state(self) -> dict[str, Any]:
        return {
            "curricula": {name: each.state_dict() for name, each in self.mixtures.items()},
            "rewards": self.rewards.state_dict(),
            "monitor": self.monitor.state_dict(),
            "kl_control": self.learner.kl_control.state_dict(),
            "dropped": self.dropped,
        }

    def _check_parts(self, saved: Checkpoint, folder: Path) -> None:
        """Raise if a checkpoint is of other tables or specialists."""
        check_same_run(saved, self.facts, folder)
        if any(saved.facts[name] != self.facts[name] for name in ("specialists", "stand_ins")):
            raise UsageError(
                f"the specialists are not those {folder} began with "
                f"({', '.join(saved.facts['specialists']) or 'none'}); go on with the same files"
            )

    def _restore(self, saved: Checkpoint) -> None:
        self._check_parts(saved, self.run.path)
        restore(self.learner, saved.tensors, self.run.path / CHECKPOINT)
        state = join_state(saved.facts["state"], saved.tensors)
        for name, mixture in self.mixtures.items():
            mixture.load_state_dict(state["curricula"][name])
        self.rewards.load_state_dict(state["rewards"])
        self.monitor.load_state_dict(state["monitor"])
        self.learner.kl_control.load_state_dict(state["kl_control"])
        reference = {
            name.removeprefix(REFERENCE): tensor
            for name, tensor in saved.tensors.items()
            if name.startswith(REFERENCE)
        }
        if reference:
            self.learner.keep_reference()
            assert self.learner.reference is not None
            self.learner.reference.load_state_dict(reference)
        self.dropped, self.done = dict(state["dropped"]), saved.step
        self.run.cut(saved.step)
        self.watch.say(f"going on after step {saved.step} of {self.config.steps}")


def _read_warm_start(folder: Path, config: ParlTraining) -> Checkpoint:
    """Return the checkpoint of a run that ended after the warm start that this configuration asks for."""
    theirs = read_parl_training(folder / CONFIG)
    for name in ("seed", "data_seed", "warm_start", "learning", "swarm", "held_out"):
        if getattr(theirs, name) != getattr(config, name):
            raise UsageError(
                f"{folder} began with another {name} than this run; use the same configuration and seed"
            )
    saved = read_learner(folder / CHECKPOINT)
    if saved.step != config.warm_start.steps or ALWAYS in (
        theirs.routing.kind,
        config.routing.kind,
    ):
        raise UsageError(
            f"{folder} is no run that stopped after {config.warm_start.steps} steps of warm start with specialists "
            "drawn at random; make one with --variant warm-start"
        )
    return saved


def _architecture(
    config: ParlTraining, start: Start | None, saved: Checkpoint | None
) -> Architecture:
    if saved and "architecture" in saved.facts:
        return Architecture.from_dict(saved.facts["architecture"])
    return start.architecture if start else config.architecture


def _grams(start: Start | None, saved: Checkpoint | None) -> I32 | None:
    if saved:
        hashes: I32 = saved.tensors[GRAMS].numpy()
        return hashes
    return start.grams if start else None


def _mixtures(config: ParlTraining, corpus: Corpus) -> dict[str, Mixture]:
    """Only reinforcement learning draws tables by a curriculum."""
    steps = {"warm_start": config.warm_start.steps, "rl": config.rl.steps}
    return {
        stage: corpus.mixture(
            config.stage(stage), config.seed, config.curriculum if stage == "rl" else NO_CURRICULUM
        )
        for stage in STAGES
        if steps[stage]
    }


def _describe(corpus: Corpus, policy: Policy) -> str:
    primary = policy.primary.network.parameters()
    own = [each for name, each in policy.named_parameters() if "primary_model" not in name]
    names = ", ".join(each.name for each in policy.swarm.specialists) or "none"
    return (
        f"{len(corpus.training)} tables to learn from, {len(corpus.held_out)} held out; "
        f"{_millions(primary)} M parameters in the primary, {_millions(own)} M in router, fusion and alignment; "
        f"specialists: {names}"
    )


def _millions(parameters: Any) -> str:
    return f"{sum(np.prod(each.shape) for each in parameters) / 1e6:.2f}"
