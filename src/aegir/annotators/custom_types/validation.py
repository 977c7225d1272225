"""What a taught type does on labelled tables of the user's: answers before and after it was learnt."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from aegir.annotators.custom_types.embedder import Embedder
from aegir.annotators.custom_types.recognising import WithCustomTypes
from aegir.annotators.custom_types.store import CustomType
from aegir.annotators.decide import decide
from aegir.annotators.scores import Annotator
from aegir.errors import UsageError
from aegir.tables.labelled import LabelledTable

TABLES_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Validation:
    """Figures on labelled columns."""

    columns: int
    right_before: int
    right_after: int
    """Of the columns that are labelled otherwise."""
    of_type: int
    recognised: int
    """Columns labelled with the type, and those it claimed."""
    taken_of: Mapping[str, int]
    """Columns it claimed though labelled otherwise, by label."""

    @property
    def taken(self) -> int:
        """How many columns it claimed wrongly."""
        return sum(self.taken_of.values())

    def as_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return asdict(self) | {"taken": self.taken}


def validate_type(
    one: CustomType, tables: Sequence[LabelledTable], annotator: Annotator, embedder: Embedder
) -> Validation:
    """Annotate labelled tables with and without the type."""
    both = WithCustomTypes(annotator, [one], embedder)
    counts: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for at in range(0, len(tables), TABLES_AT_ONCE):
        batch = tables[at : at + TABLES_AT_ONCE]
        scored = annotator.score([labelled.table for labelled in batch])
        embedded = embedder.embed([labelled.table for labelled in batch])
        for labelled, scores, embeddings in zip(batch, scored, embedded, strict=True):
            claimed = both.claim(labelled.table, scores, embeddings)
            before, after = (decide(labelled.table, s, "") for s in (scores, claimed))
            for accepted, was, now in zip(labelled.cta, before.columns, after.columns, strict=True):
                if one.name in accepted:
                    counts.update(of_type=1, recognised=int(now.type == one.name))
                elif accepted:
                    counts.update(columns=1, before=int(was.type in accepted))
                    counts.update(after=int(now.type in accepted))
                    taken.update(accepted[:1] if now.type == one.name else ())
    if not counts["columns"]:
        raise UsageError("no column of the validation tables is labelled with another type")
    return Validation(
        columns=counts["columns"],
        right_before=counts["before"],
        right_after=counts["after"],
        of_type=counts["of_type"],
        recognised=counts["recognised"],
        taken_of=dict(taken.most_common()),
    )
