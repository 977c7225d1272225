"""The effect of a taught type on labelled tables: which columns it gains, and which it takes from other types."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from aegir.answers.annotation import ColumnAnnotation
from aegir.pipeline.custom_types.examples import names_of
from aegir.pipeline.custom_types.reader import Reader
from aegir.pipeline.custom_types.recognising import WithCustomTypes
from aegir.pipeline.custom_types.store import CustomType
from aegir.pipeline.decide import decide
from aegir.pipeline.judged_columns import JudgedColumn
from aegir.readers.scores import Annotator
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir_rl.base.errors import UsageError

TABLES_AT_ONCE = 128
NO_NAME = "no type"
"""Stands for the labels of a column that none of the vocabulary's names fits."""


@dataclass(frozen=True, slots=True)
class TypeValidation:
    """Answers to labelled columns before and after a type was learnt."""

    columns: int
    """Columns that are labelled with another type or fine type, or with none."""
    right_before: int
    right_after: int
    of_type: int
    """Columns that are labelled with the type."""
    recognised: int
    """Of these, the columns it claimed."""
    taken_of: Mapping[str, int]
    """Columns it claimed although labelled with another type, by label."""

    @property
    def taken(self) -> int:
        """The number of columns it claimed wrongly."""
        return sum(self.taken_of.values())

    def as_dict(self) -> dict[str, object]:
        """Return a JSON-ready object."""
        return asdict(self) | {"taken": self.taken}


def validate_type(
    custom_type: CustomType,
    tables: Sequence[LabelledTable],
    annotator: Annotator,
    reader: Reader,
) -> TypeValidation:
    """Annotate labelled tables with and without the type."""
    both = WithCustomTypes(annotator, [custom_type], reader)
    counts: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for at in range(0, len(tables), TABLES_AT_ONCE):
        batch = tables[at : at + TABLES_AT_ONCE]
        scored = annotator.score([labelled.table for labelled in batch])
        read = reader.read([labelled.table for labelled in batch])
        for labelled, scores, readings in zip(batch, scored, read, strict=True):
            claimed = both.claim(labelled.table, scores, readings)
            before, after = (decide(labelled.table, s, "") for s in (scores, claimed))
            answers = zip(labelled.labels, before.columns, after.columns, strict=True)
            for labels, was, now in answers:
                names = names_of(labels)
                if custom_type.name in names:
                    counts.update(of_type=1, recognised=int(now.type == custom_type.name))
                elif labels.types is not None or names:
                    counts.update(columns=1, before=_is_right(labels, was))
                    counts.update(after=_is_right(labels, now))
                    wrong = now.type == custom_type.name
                    taken.update((names or (NO_NAME,))[:1] if wrong else ())
    if not counts["columns"]:
        raise UsageError("no column of the validation tables is labelled with another name")
    return TypeValidation(
        columns=counts["columns"],
        right_before=counts["before"],
        right_after=counts["after"],
        of_type=counts["of_type"],
        recognised=counts["recognised"],
        taken_of=dict(taken.most_common()),
    )


def _is_right(labels: ColumnLabels, answer: ColumnAnnotation) -> bool:
    """Return whether the type is acceptable; of a column that is labelled with fine types alone, whether that is."""
    right = JudgedColumn(labels, answer).type_right
    return answer.fine_type in (labels.fine or ()) if right is None else right
