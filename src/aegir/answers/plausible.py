"""Is an earlier answer still plausible for a column that is answered anew? The hysteresis of `aegir diff` and of `--previous`.

    stays(old, new, evidence)           whether nothing but the wording has changed

A type changes only where the values say something else, not where a narrow name gives way to a wide one or two near guesses change
places (hysteresis). It does not change
  - while one name stands above the other: `Number` and `count`, `name` and `Organization`;
  - while the old name is still a near guess, or the new one was: a runner-up with NEAR of the confidence of the answer;
  - while one side is unsure (below SURE_BOTH), has no values, or, where both tables are read, the content is the same.
What is stored as another sort (texts where numbers were) has changed whatever it is called, unless it is only written otherwise: codes with a
leading zero, numbers with a unit. A column becomes personal, or ceases to be, if its probability moves by a margin, which is wider where its type
stays, and never while the content is alike; its level changes only with its type, or if it is CERTAIN to identify persons now.

Limits: of an answer that an earlier version wrote the probability of personal data and the statistics are not known; then every
personal change counts, and every change between texts and numbers.
"""

from dataclasses import dataclass

from aegir.answers.annotation import ColumnAnnotation
from aegir.answers.wording import SURE
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, KINDS

SAME_CONTENT, LIKE_CONTENT = 0.9, 0.6
"""Similarity from which two columns hold the same, and from which they hold the like, so that none can have become personal."""
NEAR = 0.2
"""Share of the confidence of an answer from which a runner-up is near it."""
SURE_BOTH = 0.6
PERSONAL_MARGIN, SAME_TYPE_MARGIN = 0.3, 0.75
"""By how much the probability of personal data moves where the type changes, and where it does not."""
CERTAIN = 0.99
"""Probability from which a personal column that becomes `direct` is reported without another type: e-mail addresses among notes."""
QUANTITIES = ("number", "money", "measure", "time")
"""Kinds whose values are numbers or times by their meaning, however they are written."""
QUANTITIES = ("number", "money", "measure", "time")
"""Kinds whose values are numbers or times by their meaning, however they are written."""
NO_VALUES = ("all_missing", "constant")
"""Labels of columns that tell nothing; that values come or go is no change of type."""
SAME_DIGITS = 0.5
"""Largest difference of the shares of cells of digits between codes that are only stored otherwise: 02139 and 94103."""
_KNOWN = frozenset((*COLUMN_TYPES, *FINE_TYPES, *KINDS))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the values of a column on both sides."""

    digits: tuple[float, float] | None = None
    """Shares of the cells of nothing but digits, old and new; None where one is not known."""
    content: float | None = None
    """How alike the contents are, where both tables were read."""


def stays(old: ColumnAnnotation, new: ColumnAnnotation, evidence: Evidence | None = None) -> bool:
    """Return whether an old answer is still plausible for a column that is answered anew: nothing but its wording has changed."""
    if "empty" in (old.datatype, new.datatype) or {old.label, new.label} & set(NO_VALUES):
        return True
    evidence = evidence or Evidence()
    is_named_alike = old.label == new.label or _are_nested(old, new)
    if not _stored_alike(old, new, is_named_alike, evidence):
        return False
    if is_named_alike or (evidence.content or 0) >= SAME_CONTENT:
        return True
    if old.label is None or new.label is None or min(old.confidence, new.confidence) < SURE_BOTH:
        return True
    return _is_near(old, new) or _is_near(new, old)


def _stored_alike(
    old: ColumnAnnotation, new: ColumnAnnotation, is_named_alike: bool, evidence: Evidence
) -> bool:
    """Return whether the values are stored alike, or otherwise only because of gaps and of how some of them are written."""
    kinds = {_stored(old), _stored(new)}
    if len(kinds) == 1 or kinds == {"integer", "number"}:
        return True
    if kinds == {"integer", "string"} and is_named_alike and evidence.digits:
        return abs(evidence.digits[0] - evidence.digits[1]) < SAME_DIGITS
    is_sure = min(old.confidence, new.confidence) >= SURE
    return is_sure and old.label == new.label and old.kind in QUANTITIES


def _are_nested(old: ColumnAnnotation, new: ColumnAnnotation) -> bool:
    """Return whether one label is a wider name of the other."""
    return old.label in (new.type, new.fine_type, new.kind) or new.label in (
        old.type,
        old.fine_type,
        old.kind,
    )


def _stored(column: ColumnAnnotation) -> str:
    return "date" if column.datatype in ("datetime", "time") else column.datatype


def _is_near(answer: ColumnAnnotation, other: ColumnAnnotation) -> bool:
    """Return whether the label of another answer, or its type, is a near guess of this one."""
    least = NEAR * answer.confidence
    guesses = (*answer.runners_up, *answer.type_runners_up)
    near = {guess.label for guess in guesses if guess.confidence >= least}
    if other.label == other.kind:  # a wide name is as near as any narrower one
        near |= {kind_of(label) for label in near if label in _KNOWN}
    return not near.isdisjoint({other.label, other.type, other.fine_type} - {None})


def personal_moved(old: ColumnAnnotation, new: ColumnAnnotation, evidence: Evidence) -> bool:
    """Return whether a column became personal, or ceased to be, by a clear margin, or is now certain to identify persons."""
    if old.personal_confidence is None or new.personal_confidence is None:
        return True
    if new.personal_level == "direct" != old.personal_level and _is_certain(new):
        return True
    if old.personal == new.personal:
        return False
    same_type = stays(old, new, evidence)
    if same_type and (evidence.content or 0) >= LIKE_CONTENT:
        return False
    margin = SAME_TYPE_MARGIN if same_type else PERSONAL_MARGIN
    return abs(old.personal_confidence - new.personal_confidence) >= margin


def _is_certain(column: ColumnAnnotation) -> bool:
    return (column.personal_confidence or 0) >= CERTAIN
