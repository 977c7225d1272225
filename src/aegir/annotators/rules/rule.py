"""A rule: one kind of value, how to recognise it, what it speaks for, and how much to trust it.

    Rule --apply--> Finding(share of the present cells that validate, an example, …)

A rule is data plus one small function over a value (`accepts`) or over the whole column (`measure`).
Trust is written beside each rule: `support` holds strengths for column types, counted on 3,284 labelled
web columns of five cells ("30 of 32": fired on at least 80 % of the cells of 32 columns, of which 30 had
that type) and shrunk to (hits + 1) / (columns + 2). The rules were written with these columns in view, so
the counts flatter them a little; on 4,032 other columns, whose labels are derived from properties, the
rules spoke with 0.5 or more on 37 % and their first choice was right for 91 % of those.

`sure` is the confidence in the finer type from values alone, `sure_with_header` with a header that names
it; both are judgements, not counts. A rule whose `sure` is 0 is a *role*: it needs the header (an age is just a number).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aegir.annotators.rules.reading import Reading

FEWEST_MATCHES = 0.5
"""Below this share a rule says nothing; applying it stops as soon as the share is out of reach."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One recogniser."""

    name: str
    """The fine type it finds, or, where it only speaks for a column type, a name for that."""
    noun: str
    """Plural, for sentences: "e-mail addresses"."""
    accepts: Callable[[str], object] | None = None
    """Truthy for a value of this kind."""
    measure: Callable[[Reading], float] | None = None
    """Share of the column that is of this kind, where one value alone cannot tell."""
    support: tuple[tuple[str, float], ...] = ()
    sure: float = 0.0
    sure_with_header: float = 0.95
    needs: int = 0
    """Traits without which no value can be of this kind."""
    bars: int = 0
    """Traits that rule it out."""
    shortest: int = 1
    longest: int = 512
    distinct: int = 1
    """Fewest distinct valid values to be believed without a header: weak checksums pass by chance."""
    few: float = 0.0
    """Share of the support that remains with fewer distinct values and no header."""
    most_values: int = 100
    """Most distinct values tried; small for slow validators."""
    shy: bool = False
    """A weak format: it says nothing under a header that names something else."""
    by_chance: bool = False
    """A list or format that any short word or number may meet: a column of one constant value needs a
    header that agrees, or one that says nothing."""
    coarse: str | None = None
    """The column type of such values, where it is not the fine type's parent: a bare 4012 under
    `length_mm` measures a length and is written as a Number."""

    def passes(self, traits: int) -> bool:
        """Whether a column of these traits is worth trying."""
        return traits & self.needs == self.needs and not traits & self.bars


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in a column."""

    rule: Rule
    share: float
    matched: int
    looked_at: int
    distinct: int
    example: str


def apply(rule: Rule, reading: Reading) -> Finding | None:
    """Try a rule on a column; None when fewer than half of the cells validate."""
    if rule.measure is not None:
        share = rule.measure(reading)
        if share < FEWEST_MATCHES:
            return None
        matched = round(share * reading.total)
        return Finding(rule, share, matched, reading.total, len(reading.values), reading.values[0])
    assert rule.accepts is not None, f"rule {rule.name} neither accepts nor measures"
    return _apply_to_values(rule, rule.accepts, reading)


def _apply_to_values(
    rule: Rule, accepts: Callable[[str], object], reading: Reading
) -> Finding | None:
    values: Sequence[str] = reading.values
    counts: Sequence[int] = reading.counts
    looked_at = reading.total
    if len(values) > rule.most_values:
        step = len(values) / rule.most_values
        chosen = [int(index * step) for index in range(rule.most_values)]
        values = [values[index] for index in chosen]
        counts = [counts[index] for index in chosen]
        looked_at = sum(counts)
    matched = failed = distinct = 0
    example = ""
    may_fail = looked_at * (1 - FEWEST_MATCHES)
    for value, count in zip(values, counts, strict=True):
        if rule.shortest <= len(value) <= rule.longest and accepts(value):
            matched += count
            distinct += 1
            example = example or value
        else:
            failed += count
            if failed > may_fail:
                return None
    return Finding(rule, matched / looked_at, matched, looked_at, distinct, example)
