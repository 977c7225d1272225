"""The recipe for the n-gram model: linear stages and networks, from labelled tables to one calibrated file.

    linear stages   folds over the validation tables of the web, then all web tables
    embeddings      begin with what a sentence encoder knows of words (ngram_network/distillation.py)
    networks        per fold a teacher, its answers to unlabelled tables, and a student of both; then on all tables
    calibration     how the two are mixed on web and everyday tables, fitted on the answers to held-out tables

What was finished is kept in a folder beside the result: a run that was stopped goes on where it was.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from aegir.lab.calibrate import (
    LINEAR_ANSWERS,
    NETWORK_ANSWERS,
    calibrate_ngrams,
    compatibility_of,
)
from aegir.lab.data.known_names import (
    HEADER_NAMES,
    TYPICAL_VALUES,
    all_headers,
    made_up_tables,
    read_names,
)
from aegir.lab.data.sources import Source, TrainingTable
from aegir.lab.held_out import HeldOut, column_names, load_answers, save_answers
from aegir.lab.linear_stages import (
    LinearExamples,
    LinearTraining,
    cross_validate,
    fit,
    predict,
)
from aegir.lab.names_fit import fit_names
from aegir.lab.ngram_network.batches import TAUGHT, HeaderNames
from aegir.lab.ngram_network.columns import Columns
from aegir.lab.ngram_network.distillation import Knowledge, distil_rows, read_knowledge
from aegir.lab.ngram_network.fit import Fit, NetworkTraining
from aegir.lab.sentence_encoder import encode_texts
from aegir.readers.ngrams.annotator import NgramNetworks
from aegir.readers.ngrams.model import NgramModel
from aegir.readers.ngrams.network import (
    LEVELS,
    TABLE_HEADS,
    NgramNetwork,
    levels_of,
    load_networks,
    network_tensors,
)
from aegir.tables.labelled import UNLABELLED, LabelledTable, read_labelled_tables
from aegir.tables.leakage import HeldOutGroups, fold_of_group, group_tables
from aegir.tables.table import Column
from aegir_rl.base.arrays import F16, F32, I64, Bools
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import safetensors_bytes

RAW = Source("raw", cta_weight=0, cpa_weight=0, web=False, raw=True)
RAW_TABLES_PER_FILE, RAW_COLUMNS, RAW_ROWS = 600, 16, 40
SETTINGS = "settings.json"
"""The file in the folder of intermediate results that tells what they are of."""
KNOWLEDGE = "knowledge.safetensors"
"""The file there with texts and the sentence encoder's vectors of them."""
NETWORKS = 2
"""A teacher and its student."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class NgramTraining:
    """Settings of one training run."""

    linear: LinearTraining = field(default_factory=LinearTraining)
    network: NetworkTraining = field(default_factory=NetworkTraining)
    seed: int = 0
    folds: int = 5
    jobs: int = 2
    threads: int = 1
    """Threads of each network's training."""
    encoder: bool = True
    """Whether embeddings begin with what a sentence encoder knows, else at random."""


def train_ngrams(
    tables: Sequence[TrainingTable],
    raw: Sequence[Path],
    config: NgramTraining,
    say: Say,
    work: Path,
) -> NgramModel:
    """Cross-validate, calibrate, then fit on all tables; `work` is the folder of intermediate results.

    `raw` are files of unlabelled tables. The answers to held-out tables are in `work` afterwards, for
    `aegir train calibrate`.
    """
    web = [table for table in tables if table.source.web]
    if not any(table.source.everyday for table in tables):
        raise UsageError(
            "there are no everyday tables; give a folder with open/tables.jsonl.gz too"
        )
    work.mkdir(parents=True, exist_ok=True)
    _hold_to_settings(work, config, len(tables))
    examples = LinearExamples.of(web)
    say(f"{len(web)} web tables, {len(examples.table)} columns, {len(set(examples.group))} groups")
    linear_config = replace(config.linear, seed=config.seed, folds=config.folds, jobs=config.jobs)
    fitted = fit(examples, np.ones(len(examples.table), bool), linear_config)
    linear_file = work / LINEAR_ANSWERS
    if not linear_file.exists():
        everyday = LinearExamples.of([table for table in tables if table.source.everyday])
        answers = {
            "web": cross_validate(examples, linear_config, say),
            "open": predict(fitted, everyday, np.ones(len(everyday.table), bool)),
        }
        save_answers(linear_file, answers)
    networks = _train_networks(tables, raw, config, say, work)
    calibration, types_of_fine, metrics, on_everyday = calibrate_ngrams(work, tables)
    names, by_names = fit_names(_networks_of_folds(tables, config.folds, work), types_of_fine)
    calibration = replace(calibration, names=names)
    for name, judgement in metrics.items():
        say(f"{name}: {judgement}")
    return NgramModel(
        values=fitted.values,
        subject=fitted.subject,
        context=fitted.context,
        compatibility=compatibility_of(tables),
        networks=networks,
        types_of_fine=types_of_fine,
        calibration=calibration,
        facts={
            "held_out": {name: asdict(judgement) for name, judgement in metrics.items()},
            "everyday": on_everyday.as_dict(),
            "names": by_names,
            "training": {
                **asdict(config),
                "tables": len(tables),
                "sources": sorted({table.source.file for table in tables}),
            },
        },
    )


def _hold_to_settings(work: Path, config: NgramTraining, tables: int) -> None:
    """Write the settings that what is in the folder depends on; raise UsageError if it was begun with others."""
    settings = {
        "seed": config.seed,
        "folds": config.folds,
        "tables": tables,
        "features": config.linear.features,
        "network": asdict(config.network),
        "encoder": config.encoder,
    }
    text = json.dumps(settings, indent=1, sort_keys=True) + "\n"
    path = work / SETTINGS
    if not path.exists():
        replace_file(path, text.encode())
    elif path.read_text(encoding="utf-8") != text:
        raise UsageError(
            f"{work} has results of other settings or other tables; choose another --work, or remove it"
        )


def _train_networks(
    tables: Sequence[TrainingTable],
    raw: Sequence[Path],
    config: NgramTraining,
    say: Say,
    work: Path,
) -> tuple[NgramNetwork, ...]:
    """Return the networks fitted on all tables; the answers of those of each fold go to `work`."""
    from joblib import Parallel, delayed

    parts = [work / NETWORK_ANSWERS.format(number) for number in range(config.folds)]
    final = work / networks_file(-1)
    missing = [number for number, part in enumerate(parts) if not part.exists()]
    if not final.exists():
        missing.append(-1)
    if missing:
        knowledge: Knowledge = {}
        if config.encoder:
            say("asking the sentence encoder")
            known = [
                name for names in all_headers(read_names(HEADER_NAMES)).values() for name in names
            ]
            knowledge = read_knowledge(work / KNOWLEDGE, raw, known, encode_texts)
        say("reading columns for the networks")
        task = _NetworkTask.of(tables, raw, config, knowledge)
        jobs = (delayed(task.run)(number, work) for number in missing)
        for line in Parallel(config.jobs, return_as="generator_unordered")(jobs):
            say(line)
    return load_networks(final)


def _networks_of_folds(
    tables: Sequence[TrainingTable], folds: int, work: Path
) -> list[tuple[NgramNetworks, list[LabelledTable]]]:
    """Return the networks of every fold with the everyday tables that they were not trained on."""
    found = []
    for number in range(folds):
        answered = set(load_answers(work / NETWORK_ANSWERS.format(number))["open"].names)
        held_out = [
            table.labelled
            for table in tables
            if table.source.everyday and answered.issuperset(column_names(table)[:1])
        ]
        networks = NgramNetworks(load_networks(work / networks_file(number)))
        found.append((networks, held_out))
    return found


def networks_file(fold: int) -> str:
    """Return the name of the file with the networks of a fold, or of those fitted on all tables for -1."""
    return "networks.safetensors" if fold == -1 else f"networks-fold{fold}.safetensors"


@dataclass(frozen=True, slots=True)
class _NetworkTask:
    """Everything that the training of one fold's networks needs."""

    columns: Columns
    fold: I64
    """(tables,) the fold a table is held out in, -1 for none."""
    group: I64
    config: NgramTraining
    knowledge: Knowledge

    @classmethod
    def of(
        cls,
        tables: Sequence[TrainingTable],
        raw: Sequence[Path],
        config: NgramTraining,
        knowledge: Knowledge,
    ) -> "_NetworkTask":
        labelled = [table for table in tables if _is_learnt_from(table)]
        groups = group_tables([table.labelled for table in labelled])
        held_out = [g for g, t in zip(groups, labelled, strict=True) if t.source.is_validation]
        fold_of = fold_of_group(held_out, config.folds, config.seed)
        everyday = {table.labelled.table.name for table in labelled if table.source.everyday}
        headers, values = read_names(HEADER_NAMES), read_names(TYPICAL_VALUES)
        others = [
            *read_unlabelled(raw, everyday, config.seed),
            *made_up_tables(headers, values, config.seed),
        ]
        fold = [fold_of.get(group, -1) for group in groups] + [-1] * len(others)
        return cls(
            Columns.of([*labelled, *others]),
            np.array(fold),
            np.array([*groups, *range(-1, -1 - len(others), -1)]),
            config,
            knowledge,
        )

    def run(self, number: int, work: Path) -> str:
        """Train the networks of a fold, or of all tables for -1, and write their answers or weights."""
        import torch

        torch.set_num_threads(self.config.threads)
        used = self._used(number)
        names = HeaderNames.of(all_headers(read_names(HEADER_NAMES)))
        settings = self.config.network
        fits: list[Fit] = []
        teacher: dict[str, F16] | None = None
        start: dict[str, F32] = {}
        for member in range(NETWORKS):
            fitting = Fit(self.columns, used, names, settings, self.config.seed + member)
            start = start or {
                bag: distil_rows(known, fitting.buckets[bag], settings.sizes.embedding)
                for bag, known in self.knowledge.items()
            }
            fitting.start_from(start)
            fitting.run(teacher)
            fits.append(fitting)
            teacher = teacher or self._taught(fitting, used)
        tensors = network_tensors([fitting.export() for fitting in fits])
        replace_file(work / networks_file(number), safetensors_bytes(tensors, {}))
        if number == -1:
            return "networks: fitted on all tables"
        save_answers(work / NETWORK_ANSWERS.format(number), self._answers(fits, number))
        return f"networks: fold {number + 1} of {self.config.folds} done"

    def _used(self, number: int) -> Bools:
        """Return the tables (tables,) that a fold's networks may learn from."""
        used = self.fold != number if number >= 0 else np.ones(len(self.fold), bool)
        tables = self.columns.tables
        held_out = HeldOutGroups([tables[i].labelled for i in np.flatnonzero(~used)])
        for index in np.flatnonzero([table.source.raw for table in tables]):
            used[index] = tables[index].labelled not in held_out
        return used

    def _taught(self, fitting: Fit, used: Bools) -> dict[str, F16]:
        """Return the probabilities (columns, outputs), or (tables, outputs), that a network gives to raw and everyday tables."""
        columns = self.columns
        asked = np.array([t.source.raw or t.source.everyday for t in columns.tables])
        tables = np.flatnonzero(used & asked)
        where = columns.of_tables(tables)
        outputs = fitting.predict(tables)
        sizes = np.diff(columns.starts)[tables]
        person = np.repeat(_probabilities(outputs["person"]), sizes, axis=0)
        found = {head: _probabilities(each) for head, each in outputs.items() if head != "levels"}
        joint = person[:, :, None] * np.exp(outputs["levels"]).reshape(*person.shape, -1)
        found["levels"] = joint.reshape(len(person), -1)
        taught: dict[str, F16] = {}
        for head in (*TAUGHT, *TABLE_HEADS):
            taught[head] = np.zeros_like(columns.targets[head])
            taught[head][tables if head in TABLE_HEADS else where] = found[head]
        return taught

    def _answers(self, fits: Sequence[Fit], number: int) -> dict[str, HeldOut]:
        """Return the mean answers of the networks to the fold's tables."""
        columns, answers = self.columns, {}
        everyday = np.array([table.source.everyday for table in columns.tables])
        for origin, wanted in (("web", ~everyday), ("open", everyday)):
            tables = np.flatnonzero((self.fold == number) & wanted)
            where = columns.of_tables(tables)
            sizes = np.diff(columns.starts)[tables]
            outputs = [_by_column(fitting.predict(tables), sizes) for fitting in fits]
            accepted, known = self._right(tables, where, sizes)
            answers[origin] = HeldOut(
                logits={
                    head: _mean_logits([each[head] for each in outputs]) for head in outputs[0]
                },
                accepted=accepted,
                known=known,
                table=np.repeat(np.arange(len(tables)), sizes),
                group=np.repeat(self.group[tables], sizes),
                names=tuple(name for t in tables for name in column_names(columns.tables[t])),
            )
        return answers

    def _right(
        self, tables: I64, where: I64, sizes: I64
    ) -> tuple[dict[str, Bools], dict[str, Bools]]:
        """Return what is right for the columns of these tables, and what is known of them."""
        columns = self.columns
        accepted: dict[str, Bools] = {head: columns.targets[head][where] > 0 for head in TAUGHT}
        by_state = accepted["levels"].reshape(len(where), -1, LEVELS)
        accepted["levels"] = np.logical_or.reduce(by_state, axis=1)
        known = {head: columns.weights[head][where] > 0 for head in TAUGHT}
        for head in TABLE_HEADS:
            accepted[head] = np.repeat(columns.targets[head][tables] > 0, sizes, axis=0)
            known[head] = np.repeat(columns.weights[head][tables] > 0, sizes)
        return accepted, known


def _by_column(outputs: Mapping[str, F32], sizes: I64) -> dict[str, F32]:
    """Return the outputs of a fit with those for tables once per column, and the levels whoever's row it is."""
    by_column = dict(outputs)
    for head in TABLE_HEADS:
        by_column[head] = np.repeat(outputs[head], sizes, axis=0)
    by_column["levels"] = levels_of(_probabilities(by_column["person"]), outputs["levels"])
    return by_column


def _is_learnt_from(table: TrainingTable) -> bool:
    trusted = (table.source.cta_weight, table.source.cpa_weight)
    labelled = any(labels.types is not None or labels.relations for labels in table.labelled.labels)
    return table.source.everyday or (any(trusted) and labelled)


def _probabilities(logits: F32) -> F32:
    if logits.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-logits)), np.float32)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)


def _mean_logits(several: Sequence[F32]) -> F32:
    """Return the logits of the mean probabilities."""
    mean = np.clip(np.mean([_probabilities(logits) for logits in several], axis=0), 1e-7, 1 - 1e-7)
    odds = np.log(mean) - np.log1p(-mean) if mean.shape[1] == 1 else np.log(mean)
    return np.asarray(odds, np.float32)


def read_unlabelled(paths: Sequence[Path], known: set[str], seed: int) -> list[TrainingTable]:
    """Return unlabelled tables, at most RAW_TABLES_PER_FILE of a file, cut down, without those of known names."""
    chosen = []
    for path in paths:
        tables = [
            labelled
            for labelled in read_labelled_tables(path)
            if labelled.table.columns and labelled.table.name not in known
        ]
        random = np.random.default_rng(seed)
        if len(tables) > RAW_TABLES_PER_FILE:
            drawn = np.sort(random.choice(len(tables), RAW_TABLES_PER_FILE, replace=False))
            tables = [tables[index] for index in drawn]
        chosen += [TrainingTable(_cut(labelled), RAW) for labelled in tables]
    return chosen


def _cut(labelled: LabelledTable) -> LabelledTable:
    columns = tuple(
        Column(column.name, column.values[:RAW_ROWS])
        for column in labelled.table.columns[:RAW_COLUMNS]
    )
    table = replace(labelled.table, columns=columns)
    return LabelledTable(table, (UNLABELLED,) * len(columns), labelled.origin)
