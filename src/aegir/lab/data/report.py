"""Counts of training tables and labels per source and per type, real or made up.

The first table answers "where do the labels come from", the second "which types are still scarce". Columns of
sources with weight 0 for a task, and labels outside our vocabulary, do not count for that task.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aegir.lab.data.sources import Source, TrainingTable
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

ENOUGH_COLUMNS = 500
_TYPES, _RELATIONS = frozenset(TYPE_NAMES), frozenset(RELATION_NAMES)


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """One line of the report."""

    name: str
    kind: str
    """gold, weak, synthetic or auxiliary."""
    tables: int = 0
    cta: int = 0
    cpa: int = 0
    auxiliary: int = 0
    none: int = 0
    """Columns labelled as none of the types."""
    fine: int = 0
    """Columns with a fine name."""


@dataclass(frozen=True, slots=True)
class EngineReport:
    """Counts per source, and per type and relation: (real, synthetic) columns."""

    sources: tuple[SourceCounts, ...]
    types: Mapping[str, tuple[int, int]]
    relations: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, tables: Sequence[TrainingTable]) -> "EngineReport":
        """Count the labels of these tables."""
        by_file: dict[str, list[TrainingTable]] = defaultdict(list)
        real: dict[str, Counter[str]] = {"cta": Counter(), "cpa": Counter()}
        made: dict[str, Counter[str]] = {"cta": Counter(), "cpa": Counter()}
        for table in tables:
            by_file[f"{table.source.file} {_kind(table.source)}"].append(table)
            counters = made if table.source.synthetic else real
            counters["cta"].update(_types(table))
            counters["cpa"].update(_relations(table))
        return cls(
            tuple(_count(group) for group in by_file.values()),
            {name: (real["cta"][name], made["cta"][name]) for name in TYPE_NAMES},
            {name: (real["cpa"][name], made["cpa"][name]) for name in RELATION_NAMES},
        )

    def scarce_types(self, fewest: int = ENOUGH_COLUMNS) -> list[str]:
        """Return the types with fewer labelled columns than this, real and synthetic together."""
        return [name for name, counts in self.types.items() if sum(counts) < fewest]

    def __str__(self) -> str:
        lines = [
            f"{'source':40} {'kind':10} {'tables':>7} {'types':>7} {'none':>7} {'fine':>7} "
            f"{'relations':>9} {'other':>7}"
        ]
        lines += [
            f"{source.name:40} {source.kind:10} {source.tables:7} {source.cta:7} {source.none:7} {source.fine:7} "
            f"{source.cpa:9} {source.auxiliary:7}"
            for source in self.sources
        ]
        enough = len(self.types) - len(self.scarce_types())
        lines += ["", f"{enough} of {len(self.types)} types have {ENOUGH_COLUMNS} columns or more"]
        lines += [f"{'type':40} {'real':>7} {'synthetic':>9}"]
        lines += [
            f"{name:40} {real:7} {made:9}"
            for name, (real, made) in sorted(self.types.items(), key=lambda item: sum(item[1]))
        ]
        return "\n".join(lines)


def _count(tables: Sequence[TrainingTable]) -> SourceCounts:
    source = tables[0].source
    columns = [labels for table in tables for labels in table.labelled.labels]
    return SourceCounts(
        source.file,
        _kind(source),
        len(tables),
        sum(len(_types(table)) for table in tables),
        sum(len(_relations(table)) for table in tables),
        sum(bool(labels.types) for labels in columns) if source.aux else 0,
        sum(labels.types == () for labels in columns),
        sum(bool(labels.fine) for labels in columns),
    )


def _kind(source: Source) -> str:
    if source.aux:
        return "auxiliary"
    if source.synthetic:
        return "synthetic"
    return "weak" if source.weak or source.translated else "gold"


def _types(table: TrainingTable) -> list[str]:
    if table.source.aux or table.source.cta_weight == 0:
        return []
    return [labels.type for labels in table.labelled.labels if labels.type in _TYPES]


def _relations(table: TrainingTable) -> list[str]:
    if table.source.cpa_weight == 0:
        return []
    return [labels.relation for labels in table.labelled.labels if labels.relation in _RELATIONS]
