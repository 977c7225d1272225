"""What one specialist is trained and measured on.

    tables of the configuration --split by fold--> columns of the domain and some of others (slices.py)
    raw tables that do not belong to the fold --sentence encoder--> columns with its vectors (teacher.py)

Folds are those of the byte network with the same sources and seed: tables held out there are held out here.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegir.answers.gold_labels import count_unknown_names
from aegir.lab.byte_network.corpus import Corpus, Split, origin_of, split_tables
from aegir.lab.byte_network.examples import TEACHER_HEAD, TableExample, examples_of, heads_of
from aegir.lab.data.raw_tables import read_raw_tables
from aegir.lab.data.sources import TrainingTable, raw_files
from aegir.lab.held_out import column_names
from aegir.lab.ngram_network.distillation import Encode
from aegir.lab.specialists.config import SpecialistTraining
from aegir.lab.specialists.slices import Domain, Slice, check_not_empty, slice_tables
from aegir.lab.specialists.teacher import (
    Say,
    TaughtColumns,
    ask_teacher,
    choose_columns,
    first_rows,
)
from aegir.tables.leakage import HeldOutGroups
from aegir_rl.base.errors import UsageError

VECTORS = "teacher.safetensors"
"""The file with the encoder's vectors in the run folder."""
ENCODER = "all-MiniLM-L6-v2"
KEPT_APART = 20
"""One in so many columns with a teacher's vector is not learnt from, to measure how near the student comes."""


@dataclass(frozen=True, slots=True)
class SpecialistData:
    """The examples of a run, and what its result is measured on."""

    corpus: Corpus
    domain: Domain
    held_out: tuple[TrainingTable, ...]
    """Whole tables, with all their labels."""
    taught_apart: tuple[TableExample, ...]
    """Columns with a teacher's vector that are not learnt from."""
    facts: dict[str, Any]
    """Counts of columns, and a fingerprint of the held-out ones, for the specialist's file."""


def read_data(
    config: SpecialistTraining,
    folder: Path,
    encode: Encode,
    say: Say,
) -> SpecialistData:
    """Read, split and slice the tables of a specialist; vectors of the encoder are kept in the run folder."""
    split = split_tables(config.data, config.held_out, config.seed)
    domain = Domain.of(config.specialist, [split.tables[number] for number in split.training])
    learnt = slice_tables(split.tables, split.training, domain, config.seed)
    check_not_empty(learnt, split.tables, domain)
    evaluated = slice_tables(split.tables, split.held_out, domain, config.seed)
    held_out = tuple(split.tables[number] for number in split.held_out)
    taught, apart = _teach(config, held_out, folder, encode, say)
    return SpecialistData(
        corpus=_corpus(config, split, learnt, evaluated, taught),
        domain=domain,
        held_out=held_out,
        taught_apart=tuple(apart.examples(config.distil.weight)),
        facts={
            "inside": learnt.inside,
            "outside": len(learnt.tables) - learnt.inside,
            "taught": len(taught.columns),
            "held_out": held_out_fingerprint(held_out),
        },
    )


def held_out_fingerprint(tables: Sequence[TrainingTable]) -> str:
    """Return a hash of the names of the columns that a fold keeps out: two models with the same one share their fold."""
    names = sorted(name for table in tables for name in column_names(table))
    return hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _corpus(
    config: SpecialistTraining,
    split: Split,
    learnt: Slice,
    evaluated: Slice,
    taught: TaughtColumns,
) -> Corpus:
    heads = heads_of(split.tables)
    examples = examples_of(learnt.tables, heads)
    groups = [split.groups[number] for number in learnt.numbers]
    if taught.columns:
        heads[TEACHER_HEAD] = tuple(map(str, range(taught.vectors.shape[1])))
        examples += taught.examples(config.distil.weight)
        groups += range(-len(taught.columns), 0)  # each a group of its own
    return Corpus(
        heads=heads,
        training=tuple(examples),
        groups=tuple(groups),
        held_out=tuple(examples_of(evaluated.tables, heads)),
        origins=tuple(
            origin_of(table, split.groups[number])
            for table, number in zip(evaluated.tables, evaluated.numbers, strict=True)
        ),
        unknown=count_unknown_names(table.labelled for table in split.tables),
        first_rows=first_rows(taught, config.architecture.reading)
        if config.distil.start_rows
        else None,
        calibrates=False,
    )


def _teach(
    config: SpecialistTraining,
    held_out: Sequence[TrainingTable],
    folder: Path,
    encode: Encode,
    say: Say,
) -> tuple[TaughtColumns, TaughtColumns]:
    """Return the columns with a teacher's vector to learn from, and those to measure on; none without a teacher."""
    settings = config.distil
    if not settings.texts:
        return TaughtColumns.none(), TaughtColumns.none()
    files = raw_files([Path(path) for path in config.data.folders])
    leave_out = HeldOutGroups([table.labelled for table in held_out])
    tables = read_raw_tables(files, config.seed, leave_out) if files else []
    columns = choose_columns(tables, settings.texts, config.seed)
    if len(columns) < KEPT_APART:
        raise UsageError(
            f"distil.texts asks for {settings.texts} unlabelled columns, but raw/ below data.folders has "
            f"{len(columns)} with words; name a folder with raw/*.jsonl.gz, or set texts to 0"
        )
    cache = Path(settings.cache) if settings.cache else folder / VECTORS
    taught, apart = ask_teacher(columns, encode, cache, say), len(columns) // KEPT_APART
    return taught.at(slice(apart, None)), taught.at(slice(apart))
