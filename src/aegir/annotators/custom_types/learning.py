"""Teach a type from a few example columns, and measure what it does to the others.

    examples, in their tables and alone    --embed-->  +
    known columns (background.py)          --embed-->  -    --fit_head-->  CustomType, Report
    … some under the examples' headers     --embed-->  -
    neighbours of the examples, --not      --embed-->  -

Neighbours count as other types: they are the user's own data, and what a new type is most often confused with.
All figures are held out: an example is judged by a head that saw no part of its column.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aegir.annotators.custom_types.background import Background, embed_background
from aegir.annotators.custom_types.embedder import Embedder
from aegir.annotators.custom_types.examples import (
    LEAST_CELLS,
    Example,
    alone,
    cut_examples,
    read_examples,
    without_header,
)
from aegir.annotators.custom_types.head import Embeddings, Examples, Fitted, Others, fit_head
from aegir.annotators.custom_types.store import CustomType, check_name
from aegir.annotators.decide import best_guesses
from aegir.annotators.scores import Annotator
from aegir.errors import UsageError
from aegir.tables.amounts import amount
from aegir.vocabulary.terms import TYPE_NAMES

FEWEST = 5
CLOSE = 5.0
"""A neighbour or a counter-example counts as much as this many known columns."""
MOST_NEIGHBOURS = 300
MOST_TAKEN = 0.01
"""Share of known columns a type may take before it is refused."""
MOST_NEIGHBOURS_TAKEN = 0.1
LEAST_RECOGNISED = 0.5


@dataclass(frozen=True, slots=True)
class Report:
    """What was learnt from, and what came of it."""

    columns: int
    files: int
    parts: int
    """Examples after cutting; equal to `columns` where nothing was cut."""
    recognised: int
    """Of the parts, by a head that saw nothing of their column (of themselves, where there is one column)."""
    recognised_without_header: int
    known: int
    taken: int
    """Known columns, and those that would be claimed wrongly."""
    taken_of: Mapping[str, int]
    """Of the known types, how many columns each would lose."""
    disguised: int
    disguised_taken: int
    """Known columns under the examples' headers: a header alone should not make the type."""
    neighbours: int
    neighbours_taken: int
    """Neighbours of the examples and counter-examples."""
    so_far: Mapping[str, int]
    """What the examples were answered with before, most frequent first."""

    def complaint(self) -> str | None:
        """Why this type should not be used, if so."""
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
        """JSON-ready."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Learnt:
    """A type that can be saved, and its report."""

    type: CustomType
    report: Report


def learn_type(
    name: str,
    examples: Sequence[str],
    against: Sequence[str],
    embedder: Embedder,
    annotator: Annotator,
    *,
    personal: bool = False,
    about: str = "",
) -> Learnt:
    """Learn a type from columns named as in examples.py; nothing is saved.

    The annotator says what the examples were taken for so far.
    """
    check_name(name)
    given = read_examples(examples, name)
    parts = _enough(name, cut_examples(given, FEWEST))
    counter = read_examples(against, name, of_type=False)
    if clash := _both(given, counter):
        raise UsageError(f"{clash} is given as an example and with --not; choose one")
    background = embed_background(embedder, [one.column.name for one in given])
    beside = [*_neighbours(given)[:MOST_NEIGHBOURS], *counter]
    fitted = fit_head(_read(parts, embedder), _others(background, beside, embedder))
    so_far = _answers(given, annotator)
    report = _report(given, parts, background, len(beside), fitted, so_far)
    learnt = CustomType(
        name=name,
        head=fitted.head,
        fingerprint=embedder.fingerprint,
        examples=tuple(examples),
        counter_examples=tuple(against),
        columns=len(given),
        personal=personal,
        about=about,
        figures=report.as_dict(),
    )
    return Learnt(learnt, report)


def _enough(name: str, parts: list[Example]) -> list[Example]:
    if len(parts) < FEWEST:
        raise UsageError(
            f"{name} has {amount(len(parts), 'example')}, and {FEWEST} are needed; give more columns, or "
            f"longer ones: {LEAST_CELLS} cells that are not empty make an example"
        )
    return parts


def _both(examples: Sequence[Example], counter: Sequence[Example]) -> str | None:
    places = {(one.table.source, one.table.name, one.index) for one in examples}
    for one in counter:
        if (one.table.source, one.table.name, one.index) in places:
            return f"{one.table.name}:{one.column.name or one.index + 1}"
    return None


def _neighbours(examples: Sequence[Example]) -> list[Example]:
    """The other columns of the examples' tables."""
    tables = {(one.table.source, one.table.name): one.table for one in examples}
    chosen = {(one.table.source, one.table.name, one.index) for one in examples}
    return [
        Example(table, i, number)
        for number, (place, table) in enumerate(tables.items())
        for i, column in enumerate(table.columns)
        if (*place, i) not in chosen and column.present
    ]


def _read(parts: Sequence[Example], embedder: Embedder) -> Examples:
    groups = [one.group for one in parts]
    if len(set(groups)) == 1:  # one column: its parts are all there is to hold out
        groups = list(range(len(parts)))
    return Examples(
        _rows(embedder.embed([one.table for one in parts]), parts),
        np.concatenate(embedder.embed([alone(one) for one in parts])),
        _rows(embedder.embed([without_header(one) for one in parts]), parts),
        groups,
    )


def _others(background: Background, beside: Sequence[Example], embedder: Embedder) -> Others:
    """Known columns, known ones disguised, and those beside the examples: in their tables, then alone."""
    embeddings = [background.embeddings, background.disguised]
    if beside:
        embeddings.append(_rows(embedder.embed([one.table for one in beside]), beside))
        embeddings.append(np.concatenate(embedder.embed([alone(one) for one in beside])))
    known = [*background.groups, *range(len(background.disguised))]
    own = list(range(len(beside)))
    weights = np.concatenate([np.ones(len(known)), np.full(2 * len(own), CLOSE / 2)])
    return Others(np.concatenate(embeddings), weights, [*known, *own, *own])


def _rows(embedded: Sequence[Embeddings], examples: Sequence[Example]) -> Embeddings:
    """(N, D) the row of each example's column among those of its table."""
    return np.stack([rows[one.index] for rows, one in zip(embedded, examples, strict=True)])


def _answers(examples: Sequence[Example], annotator: Annotator) -> dict[str, int]:
    """The annotator's best guesses for the examples, and how often each."""
    scored = annotator.score([one.table for one in examples])
    best = (
        best_guesses(scores.types[one.index], TYPE_NAMES)
        for one, scores in zip(examples, scored, strict=True)
    )
    return dict(Counter(guesses[0].label for guesses in best if guesses).most_common())


def _report(
    given: Sequence[Example],
    parts: Sequence[Example],
    background: Background,
    beside: int,
    fitted: Fitted,
    so_far: Mapping[str, int],
) -> Report:
    known, disguised = len(background.groups), len(background.disguised)
    claimed = fitted.others >= 0
    own = claimed[known + disguised :]
    lost = Counter(
        label
        for label, is_taken in zip(background.labels, claimed[:known], strict=True)
        if is_taken and label is not None
    )
    return Report(
        columns=len(given),
        files=len({one.table.source or one.table.name for one in given}),
        parts=len(parts),
        recognised=int((fitted.examples >= 0).sum()),
        recognised_without_header=int((fitted.headless >= 0).sum()),
        known=known,
        taken=int(claimed[:known].sum()),
        taken_of=dict(lost.most_common()),
        disguised=disguised,
        disguised_taken=int(claimed[known : known + disguised].sum()),
        neighbours=beside,
        neighbours_taken=int(own[:beside].sum()),
        so_far=so_far,
    )
