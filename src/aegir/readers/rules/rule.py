"""A rule: one kind of value, how to recognise it, which column types it supports, and how much to trust it.

    Rule --apply--> Finding(share of the present cells that match, an example, …)

A rule is data plus one small function of a value (`accepts`) or of the whole column (`measure`). `support` holds
strengths for column types, counted on 3,284 labelled web columns of five cells ("30 of 32": matched at least 80 %
of the cells of 32 columns, of which 30 had that type) and smoothed to (hits + 1) / (columns + 2). The rules were
written with these columns in view, so the counts are a little optimistic; on 4,032 other columns, whose labels are
derived from properties, the rules gave a support of 0.5 or more to 37 %, and the first type was right for 91 % of
those.

`confidence` is that of the fine type from values alone, `confidence_with_header` with a header that suggests it;
both are estimates, not counts. A rule without `confidence` needs the header (an age is just a number).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aegir.readers.rules.reading import MIN_SHARE, PROBES, Reading, evenly_spaced


@dataclass(frozen=True, slots=True)
class Rule:
    """A recogniser of one kind of value."""

    name: str
    """The fine type it finds or, where it only supports a column type, a name of its own."""
    noun: str
    """Plural, for sentences: "e-mail addresses"."""
    accepts: Callable[[str], object] | None = None
    """Truthy for a value of this kind."""
    measure: Callable[[Reading], float] | None = None
    """Share of the column that is of this kind, where a single value does not show it."""
    support: tuple[tuple[str, float], ...] = ()
    """Column types and strengths 0..1."""
    confidence: float = 0.0
    confidence_with_header: float = 0.95
    needs: int = 0
    """Traits that every column of this kind has."""
    needs_one: int = 0
    """Traits of which every column of this kind has one at least, if there are any."""
    excludes: int = 0
    """Traits that no column of this kind has."""
    length: tuple[int, int] = (1, 512)
    """Fewest and most characters of a value."""
    min_distinct: int = 1
    """Fewest distinct matching values to name the fine type without a header: weak checksums match by chance."""
    support_when_few: float = 0.0
    """Factor on the support with fewer distinct values and no header."""
    max_values: int = 100
    """Most distinct values tried; small for slow validators."""
    weak: bool = False
    """Whether the rule is not applied under a header that suggests something else."""
    by_chance: bool = False
    """Whether any short word or number may match: a column of one constant value then needs a header that
    agrees, or one that says nothing."""
    column_type: str | None = None
    """The column type of such values, where it is not the parent of the fine type: a bare 4012 under `length_mm`
    is a length written as a Number."""

    def passes(self, traits: int) -> bool:
        """Return whether a column of these traits can match."""
        return (
            traits & self.needs == self.needs
            and not traits & self.excludes
            and bool(not self.needs_one or traits & self.needs_one)
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in a column."""

    rule: Rule
    share: float
    matched: int
    checked: int
    distinct: int
    example: str


def apply(rule: Rule, reading: Reading) -> Finding | None:
    """Apply a rule to a column; return None when less than MIN_SHARE of the cells match."""
    if rule.measure is not None:
        share = rule.measure(reading)
        if share < MIN_SHARE:
            return None
        matched = round(share * reading.total)
        return Finding(rule, share, matched, reading.total, len(reading.values), reading.values[0])
    assert rule.accepts is not None, f"rule {rule.name} has neither accepts nor measure"
    return _apply_to_values(rule, rule.accepts, reading)


def _apply_to_values(
    rule: Rule, accepts: Callable[[str], object], reading: Reading
) -> Finding | None:
    """Give a rule up early if none of the probes matches: one that fits half of the cells is missed once in 2^PROBES."""
    values: Sequence[str] = reading.values
    counts: Sequence[int] = reading.counts
    checked = reading.total
    if len(values) > rule.max_values:
        chosen = evenly_spaced(range(len(values)), rule.max_values)
        values = [values[index] for index in chosen]
        counts = [counts[index] for index in chosen]
        checked = sum(counts)
    shortest, longest = rule.length
    if len(values) > 2 * PROBES:
        for value in reading.probes:
            if shortest <= len(value) <= longest and accepts(value):
                break
        else:
            return None
    failed = distinct = 0
    example = ""
    may_fail = checked * (1 - MIN_SHARE)
    for value, count in zip(values, counts, strict=True):
        if shortest <= len(value) <= longest and accepts(value):
            distinct += 1
            example = example or value
        else:
            failed += count
            if failed > may_fail:
                return None
    matched = checked - failed
    return Finding(rule, matched / checked, matched, checked, distinct, example)
