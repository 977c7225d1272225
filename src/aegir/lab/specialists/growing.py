"""Growing a swarm: a specialist for the types that it confuses most, kept only if it helps on tables that nobody has seen.

    aegir swarm grow --data labelled.jsonl --from configs/specialists/tiny.toml --out runs/grown

    labelled tables --by group--> 3/5 to learn from, 1/5 to propose on, 1/5 to judge on
    each round   confusions of the swarm on the proposal tables --> the worst group of types that was not tried yet
                 --> a specialist trained on the learning tables --> its weight, fitted on the proposal tables
                 --> its gain on the judging tables; kept, in the pool and for later rounds, if the lower end is above 0
                 --> what is kept is validated on the same tables beside a search (evaluation/validating.py), which may call it or not

Promises
  - the same tables, settings and seed give the same rounds;
  - rounds.json in the folder has every finished round: a run that was killed goes on behind the last one, and resumes the
    training of the one it was in;
  - no table of a group is on two sides of the split.

Limit: several rounds are judged on the same tables, so the more rounds, the more likely one is kept by chance.
"""

import hashlib
import json
import re
import shutil
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from aegir.evaluation.validating import specialist_validator
from aegir.lab.byte_network.config import EVERY_FOLD
from aegir.lab.byte_network.corpus import Split
from aegir.lab.byte_network.examples import NO_FOLD
from aegir.lab.specialists.config import SpecialistSettings, SpecialistTraining
from aegir.lab.specialists.growth_tables import GrowthTables
from aegir.lab.specialists.recipe import run_folder_of, train_specialist
from aegir.lab.specialists.slices import Domain
from aegir.readers.scores import Annotator
from aegir.readers.swarm.added_answer import (
    Gain,
    add_answer,
    fit_weight,
    measure_gain,
    type_indices,
)
from aegir.readers.swarm.confusions import ConfusedTypes, JudgedColumns, judge, propose
from aegir.readers.swarm.pool.changes import add_specialist
from aegir.readers.swarm.pool.entry import SpecialistValidation, load_entry, manifest_of
from aegir.readers.swarm.pool.loading import load_weights
from aegir.readers.swarm.pool.measuring import specialist_types
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.text import parse_json
from aegir_rl.base.training_run import CHECKPOINT, Watcher

FORMAT = "aegir-growth-1"
ROUNDS_FILE = "rounds.json"
COLUMNS_PER_STEP = 64
"""Of a configuration that does not say how many columns a step reads."""
LONGEST_WORDS = 48
"""Characters of the names of types in the name of a specialist."""


@dataclass(frozen=True, slots=True)
class GrownRound:
    """What became of one proposal."""

    name: str
    types: tuple[str, ...]
    confusions: int
    weight: float
    """Of the specialist's answer; 0 leaves it out."""
    gain: Gain | None
    """None if there is no specialist to measure."""
    kept: bool
    reason: str
    validation: SpecialistValidation | None = None
    """Whether a search calls what was kept; None for what was not."""


class Growth:
    """The rounds of one folder."""

    def __init__(
        self,
        config: SpecialistTraining,
        tables: GrowthTables,
        swarm: Annotator,
        out: Path,
        pool: Path,
        seed: int = 0,
    ) -> None:
        """Ask the swarm about the held-out tables, and read the rounds that are finished; `pool` is the user's folder."""
        self.config, self.tables, self.out, self.pool, self.seed = config, tables, out, pool, seed
        self.proposal = judge(tables.at(tables.proposal), swarm.score)
        self.judging = judge(tables.at(tables.judging), swarm.score)
        self.fingerprint = self._fingerprint()
        self.rounds = self._finished_rounds()
        for each in self.rounds:
            if each.kept:
                self._add(each)

    def proposals(self) -> list[ConfusedTypes]:
        """Return the groups of types that the swarm, with what was kept, confuses, without those that were tried."""
        tried = {frozenset(each.types) for each in self.rounds}
        return [each for each in propose(self.proposal) if frozenset(each.types) not in tried]

    def run_round(self, watch: Watcher) -> GrownRound | None:
        """Train and judge a specialist for the worst group; None if there is none left."""
        waiting = self.proposals()
        if not waiting:
            return None
        group = waiting[0]
        name = self._name(group)
        try:
            self._train(name, group, watch)
        except CheckFailed as error:  # the network has collapsed
            done = GrownRound(name, group.types, group.confusions, 0.0, None, False, str(error))
        else:
            done = self._judge(name, group)
        if done.kept:
            done = replace(done, validation=self._keep(done, watch))
        self.rounds = (*self.rounds, done)
        self._save_rounds()
        return done

    def file(self, name: str) -> Path:
        """Return where the weights of a round are."""
        return self.out / f"{name}.safetensors"

    def _train(self, name: str, group: ConfusedTypes, watch: Watcher) -> None:
        config = _config_of(self.config, name, group, self.tables)
        folder = run_folder_of(self.file(name))
        resume = (folder / CHECKPOINT).is_file()
        if folder.exists() and not resume:
            shutil.rmtree(folder)  # it was killed before its first checkpoint
        tables = self.tables
        held_out, folds = (*tables.proposal, *tables.judging), (NO_FOLD,) * len(tables.tables)
        split = Split(tables.tables, tables.groups, tables.learning, held_out, folds)
        train_specialist(config, self.file(name), watch, resume=resume, split=split)

    def _judge(self, name: str, group: ConfusedTypes) -> GrownRound:
        model, members = load_weights(self.file(name)).model, type_indices(group.types)
        weight = fit_weight(self.proposal, specialist_types(model, self.proposal.columns), members)
        done = GrownRound(name, group.types, group.confusions, weight, None, False, "")
        gain = measure_gain(self.judging, self._added(done, self.judging).probabilities)
        if weight == 0:
            return replace(done, gain=gain, reason="its best weight is 0")
        if gain.low <= 0:
            return replace(done, gain=gain, reason="the lower end of its gain is not above 0")
        return replace(done, gain=gain, kept=True, reason="its gain is above 0")

    def _keep(self, done: GrownRound, watch: Watcher) -> SpecialistValidation | None:
        """Put a specialist into the pool, unless an earlier run did, and let later rounds use it; return whether a search calls it."""
        assert done.gain is not None, "what is kept was measured"
        digest = load_weights(self.file(done.name)).weights_sha256
        manifest = manifest_of(self.pool, done.name)
        entry = load_entry(manifest, "user") if manifest.exists() else None
        if entry is None or entry.weights_sha256 != digest:
            fitting, judging = map(self.tables.at, (self.tables.proposal, self.tables.judging))
            watch.say("measuring what a search gains by it")
            validate = specialist_validator(self.pool, fitting, judging, say=watch.say)
            entry = add_specialist(self.file(done.name), self.pool, done.name, judging, validate)
        self._add(done)
        return entry.validation

    def _add(self, done: GrownRound) -> None:
        """Add the answers of a specialist that was kept to those of the swarm."""
        self.proposal = self._added(done, self.proposal)
        self.judging = self._added(done, self.judging)

    def _added(self, done: GrownRound, judged: JudgedColumns) -> JudgedColumns:
        answers = specialist_types(load_weights(self.file(done.name)).model, judged.columns)
        members = type_indices(done.types)
        changed = add_answer(judged.probabilities, answers, members, done.weight)
        return replace(judged, probabilities=changed)

    def _name(self, group: ConfusedTypes) -> str:
        """Return a name that this run gives to this group alone: the types that are confused most, and a hash."""
        words = "-".join(re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in group.types[:2])
        digest = hashlib.sha256("|".join([self.fingerprint, *group.types]).encode()).hexdigest()
        return f"grown-{words[:LONGEST_WORDS]}-{digest[:6]}"

    def _fingerprint(self) -> str:
        """Return a hash of all that decides the rounds: settings, seed, tables, and the answers of the swarm."""
        settings = asdict(replace(self.config, data=type(self.config.data)(), threads=0))
        parts = (self.proposal, self.judging)
        said = [part.probabilities.argmax(axis=1).tolist() for part in parts]
        text = json.dumps([settings, self.seed, self.tables.fingerprint(), said], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _finished_rounds(self) -> tuple[GrownRound, ...]:
        path = self.out / ROUNDS_FILE
        if not path.is_file():
            return ()
        try:
            record = parse_json(path.read_text(encoding="utf-8"))
            if record["format"] != FORMAT:
                raise ValueError(f"format {record['format']!r}")
            if record["fingerprint"] != self.fingerprint:
                raise UsageError(
                    f"{self.out} was begun with other tables, settings, swarm or seed; go on with those, or choose another --out"
                )
            return tuple(_round(each) for each in record["rounds"])
        except UsageError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} cannot be read as rounds of growth ({error})") from None

    def _save_rounds(self) -> None:
        rounds = [asdict(each) for each in self.rounds]
        record = {"format": FORMAT, "fingerprint": self.fingerprint, "rounds": rounds}
        replace_file(self.out / ROUNDS_FILE, (json.dumps(record, indent=1) + "\n").encode())


def _round(record: dict[str, Any]) -> GrownRound:
    gain = None if record["gain"] is None else Gain(**record["gain"])
    validation = record.get("validation")
    if validation is not None:
        validation = SpecialistValidation(**{**validation, "types": tuple(validation["types"])})
    types = tuple(record["types"])
    return GrownRound(**{**record, "types": types, "gain": gain, "validation": validation})


def _config_of(
    config: SpecialistTraining, name: str, group: ConfusedTypes, tables: GrowthTables
) -> SpecialistTraining:
    """Return the settings with the group as the domain, and columns of each source in proportion to what it has of them."""
    settings = SpecialistSettings(
        name=name,
        domain="telling apart " + ", ".join(group.types),
        types=group.types,
        tables=config.specialist.tables,
        outside=config.specialist.outside,
    )
    learnt = [tables.tables[number] for number in tables.learning]
    domain = Domain.of(settings, learnt)
    inside: Counter[str] = Counter()
    for table in learnt:
        if domain.covers(table.source):
            sides = [domain.place(labels) for labels in table.labelled.labels]
            inside[table.source.stem] += sides.count("inside")
    wanted = sum(config.supervised.tables_per_step.values()) or COLUMNS_PER_STEP
    per_step = {
        stem: max(1, round(wanted * count / inside.total()))
        for stem, count in sorted(inside.items())
        if count
    }
    return replace(
        config,
        specialist=settings,
        held_out=replace(config.held_out, fold=EVERY_FOLD),
        supervised=replace(config.supervised, tables_per_step=per_step),
    )
