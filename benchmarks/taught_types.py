"""How well are types learnt from eight example columns found elsewhere? Only with `--data FOLDER`.

FOLDER holds labelled tables of the open form (docs/labelled-tables.md) as .jsonl or .jsonl.gz; none come with Aegir.
For each type, a fine name of the labels (`--types a,b`), in each of several draws:

    8 groups  --one column each-->  learn  --kept or refused-->  claims on the labelled columns of all other groups

A group is what the file says, such as a repository, else the table. Other columns of the examples' tables count as
other types, even if they are of the type: that is what happens when someone shows eight columns. A column for which
the name is acceptable but not the best is left out. Refused types are measured as well, as if they were forced.
The reference claims the columns whose header is that of an example, in any case.

Read the figures with care: the names below are fine types of the vocabulary, so the networks that read the columns have
learnt them by name, perhaps from these very tables. A name of your own that no network knows is the harder test.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from aegir.pipeline.custom_types.examples import ExampleColumn, names_of
from aegir.pipeline.custom_types.learning import learn_from_columns
from aegir.pipeline.custom_types.reader import Reader, load_reader
from aegir.readers.ngrams.network import ColumnReadings
from aegir.readers.rules.annotator import RulesAnnotator
from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.errors import UsageError
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least

QUESTION = "types learnt from 8 columns of 8 groups: kept, and how they do on other groups"
TYPES = (
    *("gene", "status", "area_code", "disease", "software"),
    *("statistic", "price_quote", "political_party", "taxon"),
)
"""Everyday types that no type of the web covers."""
EXAMPLES = 8
LEAST_KEPT, GOOD_PRECISION, GOOD_RECALL = 6, 0.8, 0.6


@dataclass(frozen=True, slots=True)
class LabelledColumn:
    """A column with values in its table, and whose it is."""

    labelled: LabelledTable
    index: int
    group: str

    @property
    def header(self) -> str:
        """The header in lower case; empty without one."""
        return (self.labelled.table.columns[self.index].name or "").strip().lower()

    def is_named(self, name: str) -> bool:
        """Whether the name is the best fine name, or type, of its labels."""
        labels = self.labelled.labels[self.index]
        return name in ((labels.fine or ())[:1] or labels.accepted("cta")[:1])

    def may_be(self, name: str) -> bool:
        """Whether the name is among those of its labels."""
        return name in names_of(self.labelled.labels[self.index])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one draw."""

    kept: bool
    precision: float
    """1 if nothing was claimed."""
    recall: float
    average_precision: float
    recall_by_header: float

    @property
    def good(self) -> bool:
        return self.kept and self.precision >= GOOD_PRECISION and self.recall >= GOOD_RECALL


def run(options: Options) -> Result:
    """Learn every type in every draw."""
    assert options.data is not None, "the runner skips this benchmark without data"
    columns = list(find_columns(options.data))
    names = options.types or TYPES
    too_few = {name: reason for name in names if (reason := _too_few(columns, name))}
    if len(too_few) == len(names):
        raise UsageError(
            f"no type can be learnt from {options.data}: {'; '.join(too_few.values())}"
        )
    reader = load_reader()
    readings = read_columns(columns, reader)
    draws = 1 if options.quick else options.repeats
    outcomes = {
        name: [
            learn(name, columns, readings, reader, Random(f"{options.seed} {name} {draw}"))
            for draw in range(draws)
        ]
        for name in names
        if name not in too_few
    }
    measurements = [one for name, found in outcomes.items() for one in _measure(name, found)]
    totals = _totals(outcomes)
    ours, by_header = totals[2], totals[-1]
    return Result(
        benchmark="taught_types",
        question=QUESTION,
        data=f"{len(columns)} labelled columns of {len({one.group for one in columns})} groups given by the "
        "user; the networks know the vocabulary's names, and may have learnt from these tables",
        measurements=(*measurements, *totals),
        ratios=(Ratio(ours, by_header),) if by_header.value else (),
        targets=(
            at_least(totals[0], LEAST_KEPT),
            at_least(totals[1], GOOD_PRECISION),
            at_least(ours, GOOD_RECALL),
        )
        if names == TYPES
        else (),
        settings={"types": list(names), "examples": EXAMPLES, "draws": draws},
        left_out=tuple(too_few.values()),
    )


def find_columns(folder: Path) -> Iterator[LabelledColumn]:
    """Yield the columns of all tables that someone labelled and that have values; UsageError without files."""
    paths = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    if not paths:
        raise UsageError(f"{folder} has no labelled tables (.jsonl or .jsonl.gz)")
    for path in paths:
        for number, labelled in enumerate(read_labelled_tables(path)):
            group = labelled.group or f"{path.name}:{number}"
            for i, (column, labels) in enumerate(
                zip(labelled.table.columns, labelled.labels, strict=True)
            ):
                if column.present and (labels.types is not None or labels.fine is not None):
                    yield LabelledColumn(labelled, i, group)


def read_columns(columns: Sequence[LabelledColumn], reader: Reader) -> ColumnReadings:
    """Return the readings of all columns, in their order; each table is read once."""
    tables = {id(one.labelled): one.labelled.table for one in columns}
    read = dict(zip(tables, reader.read(list(tables.values())), strict=True))
    return ColumnReadings.join([read[id(one.labelled)].at([one.index]) for one in columns])


def learn(
    name: str,
    columns: Sequence[LabelledColumn],
    readings: ColumnReadings,
    reader: Reader,
    random: Random,
) -> Outcome:
    """Learn a type from columns of some groups, and measure it on the others."""
    chosen = draw_examples(name, columns, random)
    examples = [
        ExampleColumn(one.labelled.table, one.index, number) for number, one in enumerate(chosen)
    ]
    fitted, report = learn_from_columns(name, examples, [], reader, RulesAnnotator())
    used = {one.group for one in chosen}
    tested = [
        i
        for i, one in enumerate(columns)
        if one.group not in used and one.is_named(name) == one.may_be(name)
    ]
    of_type = np.array([columns[i].is_named(name) for i in tested])
    evidence = fitted.head.evidence.measure(readings.at(tested))
    scores = evidence @ fitted.head.weights  # without the ceiling, which would make many equal
    claimed = scores + fitted.head.bias >= 0
    headers = {one.header for one in chosen} - {""}
    same_header = np.array([columns[i].header in headers for i in tested])
    right = int((claimed & of_type).sum())
    return Outcome(
        report.complaint() is None,
        right / int(claimed.sum()) if claimed.any() else 1.0,
        right / int(of_type.sum()),
        average_precision(scores, of_type),
        int((same_header & of_type).sum()) / int(of_type.sum()),
    )


def draw_examples(
    name: str, columns: Sequence[LabelledColumn], random: Random
) -> list[LabelledColumn]:
    """Return one column of the type from each of some groups."""
    by_group: dict[str, list[LabelledColumn]] = {}
    for one in columns:
        if one.is_named(name):
            by_group.setdefault(one.group, []).append(one)
    groups = random.sample(sorted(by_group), EXAMPLES)
    return [random.choice(by_group[group]) for group in groups]


def average_precision(scores: Floats, of_type: Bools) -> float:
    """Return the mean, over the columns of the type, of the precision at their place in the ranking."""
    ranked = of_type[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked].mean())


def _too_few(columns: Sequence[LabelledColumn], name: str) -> str | None:
    groups = len({one.group for one in columns if one.is_named(name)})
    if groups > EXAMPLES:
        return None
    return f"{name} occurs in {groups} groups, and {EXAMPLES + 1} are needed"


def _measure(name: str, found: Sequence[Outcome]) -> tuple[Measurement, ...]:
    parts = {
        "kept": [float(one.kept) for one in found],
        "precision": [one.precision for one in found],
        "recall": [one.recall for one in found],
        "average precision": [one.average_precision for one in found],
    }
    return tuple(
        Measurement(f"{name}: {part}", "share", Runs(tuple(values)))
        for part, values in parts.items()
    )


def _totals(outcomes: dict[str, list[Outcome]]) -> tuple[Measurement, ...]:
    """Return the types kept in most draws, means over the draws that were kept, and good draws."""
    draws = [one for found in outcomes.values() for one in found]
    kept = [one for one in draws if one.kept]
    mostly = sum(2 * sum(one.kept for one in found) > len(found) for found in outcomes.values())
    means = {
        "mean precision of kept types": [one.precision for one in kept],
        "mean recall of kept types": [one.recall for one in kept],
        f"kept, precision >= {GOOD_PRECISION} and recall >= {GOOD_RECALL}": [
            float(one.good) for one in draws
        ],
        "mean average precision": [one.average_precision for one in draws],
        "mean recall by equal headers": [one.recall_by_header for one in kept],
    }
    return (
        Measurement("types kept in most draws", "types", Runs((float(mostly),))),
        *(
            Measurement(name, "share", Runs((float(np.mean(values)) if values else 0.0,)))
            for name, values in means.items()
        ),
    )
