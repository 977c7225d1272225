"""The tables of one training run: read, grouped, and split into training and held-out tables.

    corpus = build_corpus(data, held_out, seed)     corpus.mixture(tables_per_step, seed).draw(step)     corpus.held_out
    split = split_tables(data, held_out, seed)      the same tables with all they came with, for recipes that change them

Folds are made of groups of tables (same site or repository, or the same rows) and are over validation tables, web and
everyday ones, when there are any, else over all tables. A table that shares a group with a held-out one is kept out as well.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aegir.answers.gold_labels import count_unknown_names
from aegir.lab.byte_network.config import (
    EVERY_FOLD,
    NO_CURRICULUM,
    DataSettings,
    HeldOutSettings,
    TableCurriculum,
)
from aegir.lab.byte_network.examples import (
    NO_FOLD,
    Heads,
    TableExample,
    choose_grams,
    examples_of,
    heads_of,
)
from aegir.lab.byte_network.mixture import TableMixture
from aegir.lab.data.engine import build_tables
from aegir.lab.data.sources import TrainingTable
from aegir.lab.first_layer import FirstReadings
from aegir.lab.held_out import column_names
from aegir.readers.bytes.architecture import Architecture
from aegir.tables.leakage import fold_of_group, group_tables
from aegir_rl.base.arrays import F16, F32, I32
from aegir_rl.base.errors import UsageError

FirstRows = Callable[[I32, int], F32]
"""From the n-grams that are kept and a width to the rows (n-grams, width) that their embedding begins with."""


@dataclass(frozen=True, slots=True)
class Split:
    """The tables that a configuration asks for, and which of them are learnt from."""

    tables: tuple[TrainingTable, ...]
    groups: tuple[int, ...]
    """Group of each table."""
    training: tuple[int, ...]
    """Numbers of the tables to learn from."""
    held_out: tuple[int, ...]
    """Numbers of the tables that are kept out and evaluated."""
    folds: tuple[int, ...]
    """The fold that keeps each table out, NO_FOLD if none does."""
    readings: tuple[F16 | None, ...]
    """(columns, FIRST_WIDTH) what the first layer, not having seen it, says of each table."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a held-out table is from."""

    columns: tuple[str, ...]
    """The name of each of its columns."""
    group: int
    """What stays on one side of a split."""
    everyday: bool
    apart: str
    """The suffix of its task's name: empty where answers count towards calibration."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The examples of a run."""

    heads: Heads
    training: tuple[TableExample, ...]
    groups: tuple[int, ...]
    """Group of each training example."""
    held_out: tuple[TableExample, ...]
    """Tables kept out; of validation files when there are any."""
    origins: tuple[Origin, ...]
    """Of each of them."""
    unknown: Mapping[str, int]
    """Labels that are not in the vocabulary and are left out, with their number of columns."""
    first_rows: FirstRows | None = None
    """What the embeddings of n-grams begin with; at random if None."""
    calibrates: bool = True
    """Whether answers to the held-out tables are kept for calibration."""

    def fingerprint(self) -> str:
        """Return a hash of the tables and their use, the same in every process."""
        digest = hashlib.blake2b(digest_size=8)
        for part in (self.training, self.held_out):
            digest.update(b"part")
            for example in part:
                cells = [(column.name, column.values) for column in example.table.columns]
                digest.update(repr((example.source, example.labels, cells)).encode())
        return digest.hexdigest()

    def sample(self, most: int) -> tuple[TableExample, ...]:
        """Return at most `most` tables to check a network on: held-out ones, else training ones of all sources."""
        tables = self.held_out or self.training
        return tables[:: -(-len(tables) // most)] if tables else ()

    def mixture(
        self,
        tables_per_step: Mapping[str, int],
        seed: int,
        curriculum: TableCurriculum = NO_CURRICULUM,
        unlabelled: bool = False,
    ) -> TableMixture:
        """Return what every step reads; without curriculum settings, every table in turn.

        Tables without labels and vectors to learn are read only if `unlabelled` is true.
        """
        by_source: dict[str, list[TableExample]] = {}
        for example in self.training:
            if example.labels or example.vectors is not None or unlabelled:
                by_source.setdefault(example.source, []).append(example)
        wanted = {name: count for name, count in tables_per_step.items() if count}
        for name in wanted:
            if name not in by_source:
                raise UsageError(
                    f"tables_per_step names {name!r}, of which there are no tables; "
                    f"there are {', '.join(sorted(by_source)) or 'none at all'}"
                )
        if not wanted:
            raise UsageError(
                "tables_per_step names no tables to learn from; "
                f"there are {', '.join(sorted(by_source)) or 'none at all'}"
            )
        return TableMixture(by_source, wanted, seed, curriculum)

    def grams(self, architecture: Architecture) -> I32:
        """Return the n-grams to keep, chosen on training tables."""
        return choose_grams(
            self.training, self.groups, architecture.reading, architecture.gram_rows
        )


def build_corpus(data: DataSettings, held_out: HeldOutSettings, seed: int) -> Corpus:
    """Read the tables of the data settings and split off those that are kept out."""
    split = split_tables(data, held_out, seed)
    heads = heads_of(split.tables)
    examples = examples_of(split.tables, heads)
    return Corpus(
        heads=heads,
        training=tuple(
            replace(examples[number], fold=split.folds[number], readings=split.readings[number])
            for number in split.training
        ),
        groups=tuple(split.groups[number] for number in split.training),
        held_out=tuple(
            replace(examples[number], readings=split.readings[number]) for number in split.held_out
        ),
        origins=tuple(
            origin_of(split.tables[number], split.groups[number]) for number in split.held_out
        ),
        unknown=count_unknown_names(table.labelled for table in split.tables),
    )


def split_tables(data: DataSettings, held_out: HeldOutSettings, seed: int) -> Split:
    """Return the tables of the data settings, and which of them are learnt from."""
    folders = [Path(folder) for folder in data.folders]
    for folder in folders:
        if not folder.exists():
            raise UsageError(f"there is no {folder}, which data.folders names")
    tables = build_tables(folders, data.sources, seed, data.teacher)
    if not tables:
        raise UsageError(
            "the sources in data.sources give no table to learn from; switch another one on"
        )
    groups = group_tables([table.labelled for table in tables])
    evaluated = _evaluated(tables)
    first = FirstReadings.load(Path(data.first_layer), tables) if data.first_layer else None
    if first is None:
        by_group = _folds(tables, groups, evaluated, held_out, seed)
        folds = [by_group[group] for group in groups]
    else:
        folds = _folds_of_first_layer(tables, groups, first, held_out.fold)
    learnt = [fold == NO_FOLD or (held_out.validation and fold != held_out.fold) for fold in folds]
    numbers = range(len(tables))
    return Split(
        tables=tuple(tables),
        groups=tuple(groups),
        training=tuple(number for number in numbers if learnt[number]),
        held_out=tuple(n for n in numbers if evaluated[n] and not learnt[n]),
        folds=tuple(folds),
        readings=tuple(None if first is None else first.of(table) for table in tables),
    )


def _folds_of_first_layer(
    tables: Sequence[TrainingTable], groups: Sequence[int], first: FirstReadings, held_out: int
) -> list[int]:
    """Return the fold of each table: the one that the first layer kept it out of.

    A table that shares a group with one of the held-out fold is of that fold, too.
    """
    own = [first.fold(table) for table in tables]
    apart = {group for group, fold in zip(groups, own, strict=True) if fold == held_out}
    return [
        held_out if fold is None and group in apart else NO_FOLD if fold is None else fold
        for group, fold in zip(groups, own, strict=True)
    ]


def origin_of(table: TrainingTable, group: int) -> Origin:
    """Return where a held-out table of a group is from."""
    apart = "" if table.source.calibrates else f"@{table.source.stem}"
    return Origin(tuple(column_names(table)), group, table.source.everyday, apart)


def _evaluated(tables: Sequence[TrainingTable]) -> list[bool]:
    """Return which tables are evaluated: those of validation files, or all when there is none."""
    validation = [table.source.is_validation for table in tables]
    return validation if any(validation) else [True] * len(tables)


def _folds(
    tables: Sequence[TrainingTable],
    groups: Sequence[int],
    evaluated: Sequence[bool],
    settings: HeldOutSettings,
    seed: int,
) -> Mapping[int, int]:
    """Return the fold of each group; NO_FOLD for groups that no fold keeps out."""
    if settings.folds < 2:
        raise UsageError(f"held_out.folds is {settings.folds}; expected 2 or more")
    if not EVERY_FOLD <= settings.fold < settings.folds:
        raise UsageError(
            f"held_out.fold is {settings.fold} of {settings.folds} folds; "
            f"expected 0 to {settings.folds - 1}, or -1 to keep none out"
        )
    # One entry per column, as the n-gram recipe counts them, so that both keep the same tables out.
    groups_of_columns = [
        group
        for group, table, is_evaluated in zip(groups, tables, evaluated, strict=True)
        for _ in table.labelled.table.columns
        if is_evaluated
    ]
    folds = fold_of_group(groups_of_columns, settings.folds, seed)
    return {group: folds.get(group, NO_FOLD) for group in groups}
