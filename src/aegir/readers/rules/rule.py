"""A rule: one kind of value, how to recognise it, which column types it supports, and how much to trust it.

    tables/dates.tsv --read_rules--> ValueRule --apply_rule--> RuleMatch(share of the present cells that match, an example, …)

A rule is a line of a table plus one small function of a value (`accepts`) or of the whole column (`measure`), which
the table names under `test`. `support` holds strengths for column types, counted on 3,284 labelled web columns of five cells ("30 of 32": matched at least 80 %
of the cells of 32 columns, of which 30 had that type) and smoothed to (hits + 1) / (columns + 2). The rules were
written with these columns in view, so the counts are a little optimistic; on 4,032 other columns, whose labels are
derived from properties, the rules gave a support of 0.5 or more to 37 %, and the first type was right for 91 % of
those.

`confidence` is that of the fine type from values alone, `confidence_with_header` with a header that suggests it;
both are estimates, not counts. A rule without `confidence` needs the header (an age is just a number).

Patterns are compiled, and python-stdnum is imported, on first use: most columns meet few of the rules, and compiling every
pattern at import would cost each start of the program 30 ms. Callers of python-stdnum test a pattern first, so that only
plausible ASCII text gets there.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from aegir.readers.rules.column_summary import (
    MIN_SHARE,
    PROBES,
    TRAITS,
    ColumnSummary,
    evenly_spaced,
)
from aegir_rl.base.text import read_tsv

TABLES = Path(__file__).parent / "tables"
COLUMNS = (
    "name noun test needs excludes length confidence with_header distinct support options note"
)
MEASURES = "share_of_"
"""What the names of tests begin with that measure a whole column."""


@dataclass(frozen=True, slots=True)
class Family:
    """Rules of many look-alikes: a column of which most values match no pattern of the family meets none of its rules."""

    matches: Callable[[str], object]
    """Truthy for every value that a rule of the family accepts."""
    max_values: int
    length: tuple[int, int]
    """Those of every rule of the family."""

    def may_hold(self, summary: ColumnSummary) -> bool:
        """Return False if less than MIN_SHARE of the cells that its rules try can be accepted."""
        least, most = self.length
        chosen: Sequence[int] = range(len(summary.values))
        if len(chosen) > self.max_values:
            chosen = evenly_spaced(chosen, self.max_values)
        may_fail = sum([summary.counts[index] for index in chosen]) * (1 - MIN_SHARE)
        for index in chosen:
            value = summary.values[index]
            if not (least <= len(value) <= most and self.matches(value)):
                may_fail -= summary.counts[index]
                if may_fail < 0:
                    return False
        return True


@dataclass(frozen=True, slots=True)
class ValueRule:
    """A recogniser of one kind of value."""

    name: str
    """The fine type it finds or, where it only supports a column type, a name of its own."""
    noun: str
    """Plural, for sentences: "e-mail addresses"."""
    accepts: Callable[[str], object] | None = None
    """Truthy for a value of this kind."""
    measure: Callable[[ColumnSummary], float] | None = None
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
    check: Callable[[str], object] | None = None
    """Truthy for values with a valid check digit, where `accepts` looks at their form alone: numbers for tests fail."""
    enumeration: str | None = None
    """The enumeration of whose members the rule measures the share."""
    family: Family | None = None
    """A test that stands before the rule and others like it."""

    def passes(self, traits: int) -> bool:
        """Return whether a column of these traits can match."""
        return (
            traits & self.needs == self.needs
            and not traits & self.excludes
            and bool(not self.needs_one or traits & self.needs_one)
        )


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """What a rule found in a column."""

    rule: ValueRule
    share: float
    matched: int
    checked: int
    distinct: int
    example: str
    failing: int = 0
    """Matching cells that fail the `check` of the rule."""


def read_rules(theme: str, tests: Mapping[str, Any]) -> tuple[ValueRule, ...]:
    """Return the rules of a table in `TABLES`; `tests` holds what it names under `test`, by name.

    A test is a function, or a method of a pattern or a set such as `isbn.fullmatch`. Empty fields stand for the defaults of `ValueRule`, `length`
    is `least-most`, several traits are joined by |, and `options` are its other fields: `weak by_chance max_values=30`, where
    `check` names another test.
    """
    return tuple(
        _read_rule(dict(zip(COLUMNS.split(), fields, strict=True)), tests)
        for fields in read_rows(theme, COLUMNS)
    )


def read_rows(table: str, columns: str) -> list[list[str]]:
    """Return the records of a table in `TABLES`."""
    return [fields for _, fields in read_tsv(TABLES / f"{table}.tsv", columns)]


def _read_rule(row: dict[str, str], tests: Mapping[str, Any]) -> ValueRule:
    name, _, method = row["test"].partition(".")
    test = getattr(tests.get(name) or PATTERNS[name], method) if method else tests[name]
    fields: dict[str, Any] = {"measure" if name.startswith(MEASURES) else "accepts": test}
    for option in row["options"].split():
        key, _, value = option.partition("=")
        fields[key] = tests[value] if key == "check" else _OPTIONS[key](value)
    for key, (column, read) in _FIELDS.items():
        if row[column]:
            fields[key] = read(row[column])
    return ValueRule(row["name"], row["noun"], **fields)


def _read_traits(text: str) -> int:
    return sum(TRAITS[name] for name in text.split("|"))


def _read_length(text: str) -> tuple[int, int]:
    least, most = map(int, text.split("-"))
    return least, most


def _read_support(text: str) -> tuple[tuple[str, float], ...]:
    pairs = (pair.split(" ") for pair in text.split("|"))
    return tuple((column_type, float(strength)) for column_type, strength in pairs)


_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "needs": ("needs", _read_traits),
    "excludes": ("excludes", _read_traits),
    "length": ("length", _read_length),
    "confidence": ("confidence", float),
    "confidence_with_header": ("with_header", float),
    "min_distinct": ("distinct", int),
    "support": ("support", _read_support),
}
"""Field of a rule to its column in the tables and how that is read."""
_FLAGS = {"a": re.ASCII, "i": re.IGNORECASE, "s": re.DOTALL}
_OPTIONS: dict[str, Callable[[str], Any]] = {
    "weak": lambda _: True,
    "by_chance": lambda _: True,
    "support_when_few": float,
    "max_values": int,
    "needs_one": _read_traits,
    "column_type": str,
}


def apply_rule(rule: ValueRule, summary: ColumnSummary) -> RuleMatch | None:
    """Apply a rule to a column; return None when less than MIN_SHARE of the cells match."""
    if rule.measure is not None:
        share = rule.measure(summary)
        if share < MIN_SHARE:
            return None
        matched = round(share * summary.total)
        return RuleMatch(
            rule=rule,
            share=share,
            matched=matched,
            checked=summary.total,
            distinct=len(summary.values),
            example=summary.values[0],
        )
    assert rule.accepts is not None, f"rule {rule.name} has neither accepts nor measure"
    return _apply_to_values(rule, rule.accepts, summary)


def _apply_to_values(
    rule: ValueRule, accepts: Callable[[str], object], summary: ColumnSummary
) -> RuleMatch | None:
    """Give a rule up early if none of the probes matches: one that fits half of the cells is missed once in 2^PROBES."""
    values: Sequence[str] = summary.values
    counts: Sequence[int] = summary.counts
    checked = summary.total
    if len(values) > rule.max_values:
        chosen = evenly_spaced(range(len(values)), rule.max_values)
        values = [values[index] for index in chosen]
        counts = [counts[index] for index in chosen]
        checked = sum(counts)
    shortest, longest = rule.length
    if len(values) > 2 * PROBES:
        for value in summary.probes:
            if shortest <= len(value) <= longest and accepts(value):
                break
        else:
            return None
    failed = failing = distinct = 0
    example = ""
    may_fail = checked * (1 - MIN_SHARE)
    for value, count in zip(values, counts, strict=True):
        if shortest <= len(value) <= longest and accepts(value):
            distinct += 1
            example = example or value
            failing += count if rule.check and not rule.check(value) else 0
        else:
            failed += count
            if failed > may_fail:
                return None
    matched = checked - failed
    return RuleMatch(
        rule=rule,
        share=matched / checked,
        matched=matched,
        checked=checked,
        distinct=distinct,
        example=example,
        failing=failing,
    )


class Pattern:
    """A regular expression that is compiled on its first use."""

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def fullmatch(self, value: str) -> re.Match[str] | None:
        """Return the match if the whole value has this pattern."""
        return (self._compiled or self._compile()).fullmatch(value)

    def search(self, value: str) -> re.Match[str] | None:
        """Return the first match anywhere in the value."""
        return (self._compiled or self._compile()).search(value)

    def _compile(self) -> re.Pattern[str]:
        self._compiled = re.compile(self._expanded(), self._flags)
        return self._compiled

    def _expanded(self) -> str:
        """Return the source, with the sources of the patterns that it names in their stead."""
        return _REFERENCE.sub(lambda name: PATTERNS[name[1]]._expanded(), self._source)


_REFERENCE = re.compile(r"\(\?&(\w+)\)")
PATTERNS = {
    name: Pattern(source, sum(_FLAGS[flag] for flag in flags))
    for name, flags, source, _ in read_rows("patterns", "name flags pattern note")
}
"""The patterns of patterns.tsv by name; `(?&name)` in one stands for the source of another."""


def checked_by(module: str) -> Callable[[str], bool]:
    """Return the validator of `stdnum.<module>`; it is False for anything it cannot parse."""

    def is_valid(value: str) -> bool:
        try:
            return bool(_validator(module)(value))
        except (ValueError, LookupError):  # stdnum indexes into text without checking its length
            return False

    return is_valid


def matched_and_checked(pattern: Pattern, module: str) -> Callable[[str], bool]:
    """Return a test for values that match the pattern and have the check digits of `stdnum.<module>`."""
    check = checked_by(module)
    return lambda value: bool(pattern.fullmatch(value)) and check(value)


def has_luhn_digit(digits: str) -> bool:
    """Return whether the last digit is the check digit of payment cards, IMEI and SIM numbers."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + position % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


@cache
def _validator(module: str) -> Callable[[str], bool]:
    validator: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return validator
