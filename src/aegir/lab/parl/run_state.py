"""Everything a PARL run changes, and its checkpoints.

    state = RunState.prepare(config, run, specialists, out_of_fold, start)
    draws, batch = state.draw("rl", step)
    state.save_checkpoint(step)            after so many steps of both stages

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
from aegir.lab.byte_network.batches import ColumnBatch, batch_of_varied
from aegir.lab.byte_network.config import NO_CURRICULUM, TableCurriculum
from aegir.lab.byte_network.corpus import Corpus, build_corpus
from aegir.lab.byte_network.mixture import Draw, TableMixture
from aegir.lab.parl.build import StartPrimary, build_policy, load_primary, unlike_folds
from aegir.lab.parl.config import (
    ALWAYS,
    ParlTraining,
    RlSettings,
    WarmStartSettings,
    read_parl_training,
)
from aegir.lab.parl.learner import SwarmLearner
from aegir.lab.parl.policy import SwarmPolicy
from aegir.lab.parl.reading import CachedOutputs, OutOfFold, column_folds, run_activated
from aegir.lab.parl.rewarding import ParlRewards
from aegir.lab.torch_training import (
    GRAMS,
    TrainingCheckpoint,
    check_same_run,
    read_learner,
    restore,
    save_learner,
)
from aegir.readers.bytes.architecture import Architecture
from aegir.swarm.specialist import FrozenSpecialist
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.training_run import CHECKPOINT, TrainingRun, join_state, split_state
from aegir_rl.health import HealthMonitor

REFERENCE = "reference."


@dataclass(slots=True)
class RunState:
    """A run between two steps."""

    config: ParlTraining
    run: TrainingRun
    corpus: Corpus
    policy: SwarmPolicy
    learner: SwarmLearner
    rewards: ParlRewards
    monitor: HealthMonitor
    mixtures: dict[str, TableMixture]
    """What each stage with steps reads."""
    facts: dict[str, Any]
    """What must be the same when the run is resumed."""
    out_of_fold: OutOfFold
    """Who reads training tables for specialists that have learnt from them."""
    dropped: dict[str, int]
    """Columns of which a specialist gave numbers that are not finite."""
    done: int = 0
    """Steps taken, of both stages."""

    @classmethod
    def prepare(
        cls,
        config: ParlTraining,
        run: TrainingRun,
        specialists: Sequence[FrozenSpecialist],
        out_of_fold: OutOfFold,
        start: StartPrimary | None,
        warm: Path | None = None,
    ) -> "RunState":
        """Begin a run, go on with the one in the folder, or begin where the warm start of the run in `warm` ended."""
        saved = read_learner(run.checkpoint) if run.resumes else None
        before = _read_warm_start(warm, config) if warm and not saved else None
        earlier = saved or before
        architecture = _architecture(config, start, earlier)
        run.watch.say("reading tables")
        corpus = build_corpus(config.data, config.held_out, config.data_seed)
        primary = earlier or (start.saved if start else None)
        grams = primary.grams if primary else corpus.grams(architecture)
        policy = build_policy(config, architecture, grams, corpus, specialists)
        state = cls(
            config=config,
            run=run,
            corpus=corpus,
            policy=policy,
            learner=SwarmLearner(policy, config),
            rewards=ParlRewards(
                config.rl, policy.swarm.lambda_parallel, policy.swarm.lambda_finish
            ),
            monitor=HealthMonitor(),
            mixtures=_mixtures(config, corpus),
            facts={
                "phase": "parl",
                "tables": corpus.fingerprint(),
                "specialists": {each.name: each.sha256 for each in specialists},
                "stand_ins": {  # the name in checkpoints of the out-of-fold specialists
                    each.name: each.sha256
                    for by_fold in out_of_fold.values()
                    for each in by_fold.values()
                },
                "architecture": architecture.as_dict(),
            },
            out_of_fold=out_of_fold,
            dropped={each.name: 0 for each in specialists},
        )
        if saved:
            state._restore(saved)
        elif before and warm:
            state._check_parts(before, warm)
            restore(state.learner, before.tensors, warm / CHECKPOINT)
            state.done = before.step
            run.watch.say(f"beginning after the warm start of {warm}")
        elif start:
            run.watch.say(f"primary: {load_primary(policy, corpus, start)}")
            if sentence := unlike_folds(start, config):
                run.watch.say(sentence)
        run.watch.say(_describe(corpus, policy))
        if sentence := unknown_names_sentence(corpus.unknown):
            run.watch.say(sentence)
        if not saved:
            state.save_checkpoint(state.done)
        return state

    def draw(self, stage: str, step: int) -> tuple[list[Draw], ColumnBatch]:
        """Return the tables of a step of a stage, and as they are read."""
        learning, draws = self.config.learning, self.mixtures[stage].draw(step)
        return draws, batch_of_varied(
            {number: draw.example for number, draw in enumerate(draws)},
            self.policy.primary.network.architecture,
            augmentation=learning.augmentation,
            seeds=Seeds(self.config.seed),
            names=(stage, step),
            index=self.policy.primary.index,
            heads=self.corpus.heads,
            dropout=learning.loss.dropout,
        )

    def run_activated(
        self, draws: Sequence[Draw], batch: ColumnBatch, activation: Tensor
    ) -> CachedOutputs:
        """Let activated specialists, out of fold where there are such, read a batch of training tables."""
        folds = column_folds(batch, [draw.example for draw in draws])
        return run_activated(self.policy, batch, activation, self.out_of_fold, folds)

    def count_dropped(self, cached: CachedOutputs) -> int:
        """Count activations that were left out because of numbers that are not finite; report the first of each."""
        counts = cached.dropped.sum(dim=0).tolist()
        for specialist, count in zip(self.policy.swarm.specialists, counts, strict=True):
            if count and not self.dropped[specialist.name]:
                self.run.watch.say(
                    f"specialist {specialist.name!r} gave numbers that are not finite on {count} of "
                    f"{len(cached.dropped)} columns; left out, as will be others (specialists/dropped counts them)"
                )
            self.dropped[specialist.name] += count
        return int(sum(counts))

    def save_checkpoint(self, done: int) -> None:
        """Write a checkpoint after `done` steps; raise if a specialist has changed."""
        self.policy.swarm.check_unchanged()
        self.done = done
        state = {name: part.state_dict() for name, part in self._remembering().items()}
        curricula = {name: each.state_dict() for name, each in self.mixtures.items()}
        facts, arrays = split_state({"curricula": curricula, **state, "dropped": self.dropped})
        arrays[GRAMS] = self.policy.primary.index.kept
        if self.learner.reference is not None:
            reference = self.learner.reference.state_dict()
            arrays |= {f"{REFERENCE}{name}": each.numpy() for name, each in reference.items()}
        known = self.facts | {"state": facts}
        save_learner(self.run.checkpoint, self.learner, done, known, arrays)

    def _remembering(self) -> dict[str, Any]:
        """The parts that have a state, beside the curricula."""
        return {
            "rewards": self.rewards,
            "monitor": self.monitor,
            "kl_control": self.learner.kl_control,
        }

    def _check_parts(self, saved: TrainingCheckpoint, folder: Path) -> None:
        """Raise if a checkpoint is of other tables or specialists."""
        check_same_run(saved, self.facts, folder)
        if any(saved.facts[name] != self.facts[name] for name in ("specialists", "stand_ins")):
            raise UsageError(
                f"the specialists are not those {folder} began with "
                f"({', '.join(saved.facts['specialists']) or 'none'}); go on with the same files"
            )

    def _restore(self, saved: TrainingCheckpoint) -> None:
        self._check_parts(saved, self.run.path)
        restore(self.learner, saved.tensors, self.run.checkpoint)
        state = join_state(saved.facts["state"], saved.tensors)
        for name, mixture in self.mixtures.items():
            mixture.load_state_dict(state["curricula"][name])
        for name, part in self._remembering().items():
            part.load_state_dict(state[name])
        reference = {
            name.removeprefix(REFERENCE): tensor
            for name, tensor in saved.tensors.items()
            if name.startswith(REFERENCE)
        }
        if reference:
            self.learner.set_reference()
            assert self.learner.reference is not None
            self.learner.reference.load_state_dict(reference)
        self.dropped, self.done = dict(state["dropped"]), saved.step
        self.run.resume_after(saved.step, self.config.steps)


def _read_warm_start(folder: Path, config: ParlTraining) -> TrainingCheckpoint:
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
    config: ParlTraining, start: StartPrimary | None, saved: TrainingCheckpoint | None
) -> Architecture:
    if saved and "architecture" in saved.facts:
        return Architecture.from_dict(saved.facts["architecture"])
    return start.architecture if start else config.architecture


def _mixtures(config: ParlTraining, corpus: Corpus) -> dict[str, TableMixture]:
    """Only reinforcement learning draws tables by a curriculum."""
    stages: dict[str, tuple[WarmStartSettings | RlSettings, TableCurriculum]] = {
        "warm_start": (config.warm_start, NO_CURRICULUM),
        "rl": (config.rl, config.curriculum),
    }
    unlabelled = config.learning.loss.next_symbol > 0
    return {
        name: corpus.mixture(stage.tables_per_step, config.seed, curriculum, unlabelled)
        for name, (stage, curriculum) in stages.items()
        if stage.steps
    }


def _describe(corpus: Corpus, policy: SwarmPolicy) -> str:
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
