"""Learn a type from a few example columns, and measure its effect on columns of other types.

    examples, in their tables and alone    --read-->  +
    known columns (reader.py)            --read-->  -    --fit_head-->  CustomType, Report
    … some under the examples' headers     --read-->  -
    neighbours of the examples, --not      --read-->  -

Neighbours count as other types: they are the user's own data, and a new type is most often confused with them.
All metrics are held out: an example is measured with a head that was fitted without its column.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aegir.pipeline.custom_types.examples import (
    LEAST_CELLS,
    ExampleColumn,
    alone,
    cut_examples,
    read_examples,
    without_header,
)
from aegir.pipeline.custom_types.head import ExampleReadings, FittedHead, Others, fit_head
from aegir.pipeline.custom_types.reader import Background, Reader, read_known_columns
from aegir.pipeline.custom_types.store import DEFAULT_KIND, CustomType, check_kind, check_name
from aegir.pipeline.decide import best_guesses
from aegir.readers.ngrams.network import ColumnReadings
from aegir.readers.scores import Annotator
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_NAMES
from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount

FEWEST = 5
NEIGHBOUR, COUNTER_EXAMPLE = 2.0, 5.0
"""A neighbour or a counter-example counts as much as this many known columns.

Neighbours count less, because a few of them are of the type, too.
"""
DISGUISED_WEIGHT = 0.2
"""Known columns under the examples' headers are not as common as known columns."""
MOST_NEIGHBOURS = 300
MOST_TAKEN = 0.01
"""The share of known columns that a type may claim before it is refused."""
MOST_NEIGHBOURS_TAKEN = 1 / 3
"""Generous, because some neighbours are of the type: four prices of a day stand side by side."""
LEAST_RECOGNISED = 3 / 8
"""Held-out examples are judged by heads that saw fewer examples; the head that is kept does better."""
NO_COLUMNS = Table("", ())
"""Has a reading of no columns, of the right widths."""


@dataclass(frozen=True, slots=True)
class Report:
    """The number of examples, and held-out metrics of the new type."""

    columns: int
    files: int
    parts: int
    """Examples after cutting; equal to `columns` when none was cut."""
    recognised: int
    """Parts claimed by a head fitted without their column (without themselves, if there is one column)."""
    recognised_without_header: int
    known: int
    """Known columns of other types."""
    taken: int
    """Known columns that the type would claim wrongly."""
    taken_of: Mapping[str, int]
    """The number of columns that each known type would lose."""
    disguised: int
    """Known columns under the examples' headers: a header alone should not make the type."""
    disguised_taken: int
    neighbours: int
    """Neighbours of the examples, and counter-examples."""
    neighbours_taken: int
    so_far: Mapping[str, int]
    """The answers to the examples before, most frequent first."""

    def complaint(self) -> str | None:
        """Return why this type should not be used; None if it can be."""
        if self.recognised < LEAST_RECOGNISED * self.parts:
            return (
                f"only {self.recognised} of {amount(self.parts, 'example')} would be recognised; "
                "they have too little in common: give more, or teach two types"
            )
        if self.taken > MOST_TAKEN * self.known:
            most = ", ".join(self.taken_of)
            return (
                f"it would take {self.taken} of {self.known} known columns"
                f"{f' (of {most})' if most else ''}; the examples read too much like these"
            )
        if self.neighbours_taken > MOST_NEIGHBOURS_TAKEN * self.neighbours:
            return (
                f"it would take {self.neighbours_taken} of {amount(self.neighbours, 'column')} beside the "
                "examples or given with --not; if they are of the type, give them as examples, too"
            )
        return None

    def as_dict(self) -> dict[str, object]:
        """Return a JSON-ready object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Learnt:
    """A type, not saved yet, and its report."""

    type: CustomType
    report: Report

    def as_dict(self, *, kept: bool) -> dict[str, object]:
        """Return a JSON-ready object: what was learnt, and whether it is kept."""
        said = {"name": self.type.name, "kept": kept, "complaint": self.report.complaint()}
        return {**said, **self.report.as_dict()}


def learn_type(
    name: str,
    examples: Sequence[str],
    against: Sequence[str],
    reader: Reader,
    annotator: Annotator,
    *,
    personal: bool = False,
    about: str = "",
    kind: str = DEFAULT_KIND,
) -> Learnt:
    """Learn a type from columns named as in examples.py; nothing is saved.

    `annotator` gives the answers to the examples so far, for the report.
    """
    check_name(name)
    check_kind(kind)
    columns = read_examples(examples, name)
    counter = read_examples(against, name, of_type=False)
    fitted, report = learn_from_columns(name, columns, counter, reader, annotator)
    learnt = CustomType(
        name=name,
        head=fitted.head,
        fingerprint=reader.fingerprint,
        examples=tuple(examples),
        counter_examples=tuple(against),
        columns=len(columns),
        personal=personal,
        about=about,
        kind=kind,
        figures=report.as_dict(),
    )
    return Learnt(learnt, report)


def learn_from_columns(
    name: str,
    examples: Sequence[ExampleColumn],
    counter: Sequence[ExampleColumn],
    reader: Reader,
    annotator: Annotator,
) -> tuple[FittedHead, Report]:
    """Fit a head to columns that are of the type and others that are not, and measure it; the name is only shown."""
    parts = _check_count(name, cut_examples(examples, FEWEST))
    if clash := _in_both(examples, counter):
        raise UsageError(f"{clash} is given as an example and with --not; choose one")
    background = read_known_columns(reader, [example.column.name for example in examples])
    neighbours = _neighbours(examples)[:MOST_NEIGHBOURS]
    beside = [*neighbours, *counter]
    closeness = np.repeat([NEIGHBOUR, COUNTER_EXAMPLE], [len(neighbours), len(counter)])
    fitted = fit_type(
        _read_parts(parts, reader), background, *_read_twice(beside, reader), closeness
    )
    return fitted, make_report(
        fitted,
        background,
        neighbours=len(beside),
        columns=len(examples),
        files=len({example.table.source or example.table.name for example in examples}),
        so_far=_answers(examples, annotator),
    )


def fit_type(
    examples: ExampleReadings,
    background: Background,
    beside: ColumnReadings,
    beside_alone: ColumnReadings,
    closeness: Floats,
) -> FittedHead:
    """Separate examples from known columns and from columns beside them, which are read in their tables and alone.

    `closeness` (columns beside,) says how many known columns each counts for.
    """
    known = [*background.groups, *range(len(background.disguised))]
    own = list(range(len(beside)))
    others = Others(
        ColumnReadings.join([background.readings, background.disguised, beside, beside_alone]),
        np.concatenate(
            [
                np.ones(len(background.readings)),
                np.full(len(background.disguised), DISGUISED_WEIGHT),
                closeness / 2,
                closeness / 2,
            ]
        ),
        [*known, *own, *own],
        len(background.readings),
    )
    return fit_head(examples, others)


def make_report(
    fitted: FittedHead,
    background: Background,
    *,
    neighbours: int,
    columns: int,
    files: int,
    so_far: Mapping[str, int],
) -> Report:
    """Count held-out columns that are recognised, and those that are taken wrongly."""
    known, disguised = len(background.readings), len(background.disguised)
    claimed = fitted.others >= 0
    lost = Counter(
        label
        for label, is_taken in zip(background.labels, claimed[:known], strict=True)
        if is_taken and label is not None
    )
    return Report(
        columns=columns,
        files=files,
        parts=len(fitted.examples),
        recognised=int((fitted.examples >= 0).sum()),
        recognised_without_header=int((fitted.headless >= 0).sum()),
        known=known,
        taken=int(claimed[:known].sum()),
        taken_of=dict(lost.most_common()),
        disguised=disguised,
        disguised_taken=int(claimed[known : known + disguised].sum()),
        neighbours=neighbours,
        neighbours_taken=int(claimed[known + disguised :][:neighbours].sum()),
        so_far=so_far,
    )


def _check_count(name: str, parts: list[ExampleColumn]) -> list[ExampleColumn]:
    if len(parts) < FEWEST:
        raise UsageError(
            f"{name} has {amount(len(parts), 'example')}, and {FEWEST} are needed; give more columns, or "
            f"longer ones: {LEAST_CELLS} cells that are not empty make an example"
        )
    return parts


def _in_both(examples: Sequence[ExampleColumn], counter: Sequence[ExampleColumn]) -> str | None:
    keys = {(example.table.source, example.table.name, example.index) for example in examples}
    for example in counter:
        if (example.table.source, example.table.name, example.index) in keys:
            return f"{example.table.name}:{example.column.name or example.index + 1}"
    return None


def _neighbours(examples: Sequence[ExampleColumn]) -> list[ExampleColumn]:
    """Return the other columns of the examples' tables."""
    tables = {(example.table.source, example.table.name): example.table for example in examples}
    chosen = {(example.table.source, example.table.name, example.index) for example in examples}
    return [
        ExampleColumn(table, i, number)
        for number, (table_key, table) in enumerate(tables.items())
        for i, column in enumerate(table.columns)
        if (*table_key, i) not in chosen and column.present
    ]


def _read_parts(parts: Sequence[ExampleColumn], reader: Reader) -> ExampleReadings:
    groups = [example.group for example in parts]
    if len(set(groups)) == 1:  # of a single column, parts are held out one by one
        groups = list(range(len(parts)))
    in_table, by_itself = _read_twice(parts, reader)
    headless = _read([(without_header(example), example.index) for example in parts], reader)
    return ExampleReadings(in_table, by_itself, headless, groups)


def _read_twice(
    examples: Sequence[ExampleColumn], reader: Reader
) -> tuple[ColumnReadings, ColumnReadings]:
    """Return the readings of columns in their tables, and alone."""
    return (
        _read([(example.table, example.index) for example in examples], reader),
        _read([(alone(example), 0) for example in examples], reader),
    )


def _read(columns: Sequence[tuple[Table, int]], reader: Reader) -> ColumnReadings:
    """Return the readings of columns, given by table and number; each table is read once."""
    tables = {id(table): table for table, _ in columns}
    together = ColumnReadings.join(reader.read([NO_COLUMNS, *tables.values()]))
    ends = np.cumsum([len(table.columns) for table in tables.values()])
    starts = dict(zip(tables, [0, *ends.tolist()], strict=False))
    return together.at([starts[id(table)] + index for table, index in columns])


def _answers(examples: Sequence[ExampleColumn], annotator: Annotator) -> dict[str, int]:
    """Return the annotator's best guesses for the examples, and how often it gave each."""
    scored = annotator.score([example.table for example in examples])
    best = (
        best_guesses(scores.types[example.index], TYPE_NAMES)
        for example, scores in zip(examples, scored, strict=True)
    )
    return dict(Counter(guesses[0].label for guesses in best if guesses).most_common())
