"""The data engine: every source of training tables behind one switchboard, seeded and counted.

    tables = build_tables([data], {"gold": True, "entities": True, "synthetic": 4000}, seed=0)
    print(EngineReport.of(tables))

A source is off when absent or false, whole when true, and a seeded draw of that many tables when a number is given,
so that what a source is worth can be measured by switching it. docs/data-engine.md says what each one is.

Promises
  - the same data, switches and seed give the same tables in the same order;
  - a source's tables do not depend on which other sources are switched on;
  - a table of `open/` is not also among the raw ones;
  - made-up cells come with `Source.synthetic`, guessed labels with `Source.weak`, other vocabularies with `Source.aux`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path

from aegir.lab.data.entities import ENTITIES, read_entities, rebuild_tables, site_of
from aegir.lab.data.generators.tables import TABLES, synthetic_tables
from aegir.lab.data.headers import header_tables, typed_by_header
from aegir.lab.data.raw_tables import read_raw_tables
from aegir.lab.data.self_training import pseudo_labelled
from aegir.lab.data.sources import (
    VOCABULARIES,
    Source,
    TrainingTable,
    auxiliary_tables,
    everyday_files,
    raw_files,
    read_training_tables,
)
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.settings import AnnotationSettings
from aegir.tables.labelled import read_labelled_tables
from aegir.tables.leakage import SameTables
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds

Switches = Mapping[str, bool | int]
DERIVED = Source(
    "labelled/sotabv2_cpa_as_cta.jsonl.gz",
    cta_weight=0.5,
    cpa_weight=0,
    has_subject=True,
    weak=True,
)
"""Tables labelled with relations by people, and from those with types by rule."""

TEACHER = "combined"
"""Reads every unsure table in full: labels to learn from are worth more than the time, and stay what they were."""


@dataclass(frozen=True, slots=True)
class Teacher:
    """The annotator whose sure answers label the tables of the source "pseudo"."""

    name: str = TEACHER
    weights: Path | None = None
    """Instead of those that ship."""


def build_tables(
    data: Sequence[Path], wanted: Switches, seed: int, teacher: Teacher | None = None
) -> list[TrainingTable]:
    """Return the tables of all sources switched on, source by source."""
    makers = _Sources(data, wanted, seed, teacher or Teacher()).makers()
    for name in wanted:
        if name not in makers:
            near = get_close_matches(name, makers, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(makers)}"
            raise UsageError(f"unknown source {name!r}; {hint}")
    tables = []
    for name, make in makers.items():
        if wanted.get(name):
            tables += _draw(make(), wanted[name], Seeds(seed), name)
    return tables


class _Sources:
    """Makes the tables of each source; files that several share are read once, when first needed."""

    def __init__(self, data: Sequence[Path], wanted: Switches, seed: int, teacher: Teacher) -> None:
        self._data, self._wanted, self._seed, self._teacher = data, wanted, seed, teacher

    def makers(self) -> dict[str, Callable[[], list[TrainingTable]]]:
        """Return the function that makes each source's tables, in the order they are returned."""
        return {
            "gold": self.gold,
            "open": lambda: [t for t in self.labelled if t.source.everyday],
            "derived": self.derived,
            "mapped": lambda: [t for t in self.labelled if t.source.translated is not None],
            "entities": self.entities,
            "synthetic": lambda: synthetic_tables(_made(self._wanted["synthetic"]), self._seed),
            "header_types": lambda: typed_by_header(self.raw, self._seed),
            "pseudo": self.pseudo,
            "headers": lambda: header_tables(self.raw, self._seed),
            **{name: partial(self.auxiliary, name) for name in VOCABULARIES},
        }

    @cached_property
    def labelled(self) -> list[TrainingTable]:
        return read_training_tables(self._data)

    @cached_property
    def raw(self) -> list[Table]:
        """Tables of raw/ without the labelled everyday ones among them, whether those are learnt from or not."""
        files = everyday_files(self._data)
        everyday = SameTables(table for path in files for table in read_labelled_tables(path))
        return read_raw_tables(raw_files(self._data), self._seed, everyday)

    def gold(self) -> list[TrainingTable]:
        return [
            table
            for table in self.labelled
            if table.source.translated is None
            and table.source.file != DERIVED.file
            and not table.source.everyday
        ]

    def derived(self) -> list[TrainingTable]:
        tables = [table for table in self.labelled if table.source.file == DERIVED.file]
        return [replace(table, source=DERIVED) for table in tables]

    def entities(self) -> list[TrainingTable]:
        sites = {site_of(table.labelled.table.name) for table in self.gold()}
        entities = [entity for path in self.files(ENTITIES.file) for entity in read_entities(path)]
        return rebuild_tables(entities, self._seed, {site for site in sites if site})

    def pseudo(self) -> list[TrainingTable]:
        teacher = load_annotator(
            AnnotationSettings(annotator=self._teacher.name, model=self._teacher.weights)
        )
        return pseudo_labelled(self.raw, teacher, self._seed)

    def auxiliary(self, name: str) -> list[TrainingTable]:
        vocabulary = VOCABULARIES[name]
        return [
            table
            for path in self.files(vocabulary.file)
            for table in auxiliary_tables(path, vocabulary, self._seed)
        ]

    def files(self, name: str) -> list[Path]:
        """Return the file of that name in each folder that has it."""
        paths = [folder / name for folder in self._data if (folder / name).is_file()]
        if not paths:
            folders = ", ".join(map(str, self._data))
            raise UsageError(f"no {name} in {folders}; switch its source off or name its folder")
        return paths


def _made(wanted: bool | int) -> int:
    """Return how many tables to make up: exactly as many as asked for."""
    return TABLES if wanted is True else int(wanted)


def _draw(
    tables: list[TrainingTable], wanted: bool | int, seeds: Seeds, name: str
) -> list[TrainingTable]:
    if wanted is True or wanted >= len(tables):
        return tables
    chosen = seeds.generator("draw", name).choice(len(tables), wanted, replace=False)
    return [tables[i] for i in sorted(chosen.tolist())]
