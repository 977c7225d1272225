"""The noun of the finer vocabulary: a type more exact than the 82 column types, and what is known of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FineType:
    """A finer type, found by a rule rather than learnt."""

    name: str
    """snake_case, as it appears in output."""
    parent: str | None
    """The column type (one of the 82) it refines; None where none fits."""
    definition: str
    """One sentence."""
    example: str
    """One typical, invented value."""
    personal: bool = False
    """Whether such a column is likely to describe a person."""
    iri: str | None = None
    """The vocabulary term with the same meaning, where there is one."""
