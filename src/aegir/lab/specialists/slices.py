"""The slice of the training tables that a specialist learns from: single columns, most of them of its domain.

    Domain.of(settings, tables).place(labels)     "inside", "outside", or None where the labels do not say
    slice_tables(tables, numbers, domain, seed)   one-column tables

A column is inside if its best type or its best fine type is a name of the domain; a column of which only the relation is
known, if most columns of that relation are. A column whose best names are outside while another acceptable one is inside
teaches nothing, and so does one without labels.

Columns inside keep their labels. Columns outside are labelled "none of these" for types and fine types, and lose the
rest: the network spends its weights on telling the names of its domain apart, and learns what is foreign to it.
A source with its own label space (`Source.aux`) is not sliced.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from aegir.lab.data.sources import Source, TrainingTable, types_of_relations
from aegir.lab.specialists.config import ALL, EVERYDAY, SpecialistSettings
from aegir.tables.labelled import Accepted, ColumnLabels, LabelledTable
from aegir.vocabulary.hierarchy import kind_of, tree_path_of
from aegir.vocabulary.terms import TYPE_NAMES
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds

Side = Literal["inside", "outside"]
FOREIGN = ColumnLabels(types=(), fine=())
"""What a column outside the domain is learnt to be: none of the names."""
MOST = 0.5
"""A relation is inside if more than this share of its columns with a known type is."""


@dataclass(frozen=True, slots=True)
class Domain:
    """Decides which columns belong to a specialist's domain."""

    settings: SpecialistSettings
    relations: frozenset[str]
    """Relations most of whose columns are inside."""

    @classmethod
    def of(cls, settings: SpecialistSettings, tables: Sequence[TrainingTable]) -> "Domain":
        """Make the domain of a specialist; `tables` show which types the columns of a relation have."""
        bare = cls(settings, frozenset())
        shares = types_of_relations([table for table in tables if not table.source.aux])
        inside = {
            relation: sum(share for name, share in types.items() if bare.has(name))
            for relation, types in shares.items()
        }
        return cls(settings, frozenset(name for name, share in inside.items() if share > MOST))

    @property
    def whole(self) -> bool:
        """Whether every name is of the domain."""
        return not (self.settings.kinds or self.settings.types)

    def has(self, name: str) -> bool:
        """Return whether a type or fine type is a name of the domain."""
        kind, *below = tree_path_of(name)
        return (
            self.whole
            or kind in self.settings.kinds
            or any(part in self.settings.types for part in below)
        )

    @property
    def types(self) -> tuple[str, ...]:
        """The column types of the domain; empty if that is every type."""
        return () if self.whole else tuple(filter(self.has, TYPE_NAMES))

    def covers(self, source: Source) -> bool:
        """Return whether the domain has columns of such tables."""
        if self.settings.tables == ALL:
            return True
        return source.everyday == (self.settings.tables == EVERYDAY)

    def place(self, labels: ColumnLabels) -> Side | None:
        """Return where a column with these labels is; None if they do not say."""
        named = [names for names in (labels.types, labels.fine) if names is not None]
        if not named:
            known = labels.relations and (self.whole or labels.relations[0] in self.relations)
            return "inside" if known else None
        if self.whole or any(names and self.has(names[0]) for names in named):
            return "inside"
        return None if any(self.has(name) for names in named for name in names) else "outside"


KeepOutside = Callable[[], bool]
"""Draws whether a column outside the domain is kept."""


@dataclass(frozen=True, slots=True)
class Slice:
    """One-column tables, and where each is from."""

    tables: tuple[TrainingTable, ...]
    numbers: tuple[int, ...]
    """The number of the table that each is a column of."""
    inside: int
    """How many of them are of the domain; the others are outside."""


def slice_tables(
    tables: Sequence[TrainingTable], numbers: Sequence[int], domain: Domain, seed: int
) -> Slice:
    """Return the columns inside the domain of the tables with these numbers, and its share of columns outside."""
    keep = _draws(tables, numbers, domain, seed)
    columns, origins, inside = [], [], 0
    for number in numbers:
        table = tables[number]
        for side, column in _columns(table, domain, keep[table.source.stem]):
            columns.append(column)
            origins.append(number)
            inside += side == "inside"
    return Slice(tuple(columns), tuple(origins), inside)


def _columns(
    table: TrainingTable, domain: Domain, keep: KeepOutside
) -> Iterator[tuple[Side, TrainingTable]]:
    """Yield the columns of a table that are learnt from, with the labels that a specialist learns."""
    if not domain.covers(table.source):
        return
    for number, labels in enumerate(table.labelled.labels):
        side = _side(labels, table.source, domain)
        if side == "inside" or (side == "outside" and keep()):
            learnt = labels if side == "inside" else FOREIGN
            yield side, replace(table, labelled=single_column(table.labelled, number, learnt))


def single_column(labelled: LabelledTable, number: int, labels: ColumnLabels) -> LabelledTable:
    """Return a table of one of the columns; it has no subject."""
    table = replace(labelled.table, columns=(labelled.table.columns[number],), subject=None)
    return replace(labelled, table=table, labels=(labels,), unknown_names=())


def check_not_empty(slice_: Slice, tables: Sequence[TrainingTable], domain: Domain) -> None:
    """Raise UsageError if no column to learn from is inside the domain."""
    if slice_.inside:
        return
    settings = domain.settings
    raise UsageError(
        f"no column to learn from is in the domain of {settings.name!r} "
        f"(kinds {_listed(settings.kinds)}; types {_listed(settings.types)}; tables {settings.tables}); "
        f"kinds of columns in the tables: {_listed(_kinds_of(tables))}"
    )


def _draws(
    tables: Sequence[TrainingTable], numbers: Sequence[int], domain: Domain, seed: int
) -> dict[str, KeepOutside]:
    """Return for each source how columns outside are drawn, so that they make up their share of its columns."""
    counts: dict[str, Counter[Side | None]] = defaultdict(Counter)
    for number in numbers:
        source = tables[number].source
        counts[source.stem].update(
            _side(labels, source, domain) for labels in tables[number].labelled.labels
        )
    share = domain.settings.outside
    draws: dict[str, KeepOutside] = {}
    for stem, count in counts.items():
        wanted = count["inside"] * share / (1 - share)
        draws[stem] = _draw(wanted / max(count["outside"], 1), Seeds(seed), stem)
    return draws


def _draw(probability: float, seeds: Seeds, stem: str) -> KeepOutside:
    random = seeds.generator("outside", stem)
    return lambda: bool(random.random() < probability)


def _side(labels: ColumnLabels, source: Source, domain: Domain) -> Side | None:
    if source.aux:
        return "inside" if labels.types else None
    return domain.place(labels)


def _kinds_of(tables: Sequence[TrainingTable]) -> Accepted:
    names = {
        name
        for table in tables
        if not table.source.aux
        for labels in table.labelled.labels
        for name in (*(labels.types or ()), *(labels.fine or ()))
    }
    return tuple(sorted({kind_of(name) for name in names}))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
