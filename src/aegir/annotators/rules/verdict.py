"""What the rules say about one column: a noun without behaviour.

`support` is what the values speak for, `vetoes` what they rule out, `evidence` why, in sentences
for people. Nothing here is a probability; the model above the rules weighs these strengths.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rules' opinion of one column."""

    support: tuple[tuple[str, float], ...] = ()
    """Column types (of the 82) and strengths 0..1, strongest first."""
    vetoes: frozenset[str] = frozenset()
    """Column types that these values make impossible."""
    fine_type: str | None = None
    """A key of `aegir.vocabulary.terms.FINE_TYPES`; None when not sure."""
    fine_confidence: float = 0.0
    """At least 0.8 when `fine_type` is set, 0 otherwise."""
    evidence: tuple[str, ...] = ()
    """Short sentences: which values, which header."""
