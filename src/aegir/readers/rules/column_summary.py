"""A column as the rules see it: its distinct values, their counts, and which characters occur.

    Column --summarise_column--> ColumnSummary(values, counts, traits, shortest, longest, header)

`traits` and the two lengths keep the rules fast: a rule names the traits that it needs and excludes, so most rules
are never applied to most columns.

Promises
  - HTML entities are decoded, spaces trimmed, cells cut to `LONGEST_CELL` characters;
  - cells that stand for a missing value (N/A, null, nan …) count as missing;
  - values are sorted, so nothing depends on the order of rows; at most `MAX_DISTINCT` remain, evenly spaced
    through the sorted list.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

from aegir.readers.rules.gazetteers import word_set
from aegir.tables.contents import contents_of
from aegir.tables.table import Column

Item = TypeVar("Item")
LONGEST_CELL = 512
MAX_DISTINCT = 100
MIN_SHARE = 0.5
"""A rule that matches less than this share of the cells finds nothing."""
PROBES = 10
"""Cells on which a rule is tried first."""

_TRAIT_NAMES = (
    "DIGIT LETTER SPACE DOT COMMA DASH COLON SLASH AT PLUS PERCENT HASH BRACE ANGLE EQUALS UNDERSCORE MONEY"
    " UPPER LOWER NON_ASCII NUMERIC BACKSLASH SEMICOLON"
)
TRAITS = {name: 1 << bit for bit, name in enumerate(_TRAIT_NAMES.split())}
"""The bit of each kind of characters that may occur in a column; tables/*.tsv use these names."""
DIGIT, LETTER, SPACE, DOT, COMMA, DASH, COLON, SLASH, AT = list(TRAITS.values())[:9]
PLUS, PERCENT, HASH, BRACE, ANGLE, EQUALS, UNDERSCORE, MONEY = list(TRAITS.values())[9:17]
UPPER, LOWER, NON_ASCII, NUMERIC, BACKSLASH, SEMICOLON = list(TRAITS.values())[17:]

_TRAIT_OF: dict[str, int] = {
    **dict.fromkeys("0123456789", DIGIT),
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", LETTER | LOWER),
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", LETTER | UPPER),
    **dict.fromkeys("{[", BRACE),
    **dict.fromkeys("$€£¥₹₽₩₺₴₪฿¢", MONEY),
    " ": SPACE,
    ".": DOT,
    ",": COMMA,
    "-": DASH,
    ":": COLON,
    "/": SLASH,
    "@": AT,
    "+": PLUS,
    "%": PERCENT,
    "#": HASH,
    "<": ANGLE,
    "=": EQUALS,
    "_": UNDERSCORE,
    "\\": BACKSLASH,
    ";": SEMICOLON,
}
_NUMERIC_CHARACTERS = frozenset("0123456789.,+-eE \u00a0'\u2212")
_MISSING = word_set("missing")
_UNTOLD = word_set("untold")
_LONGEST = max(map(len, _MISSING | _UNTOLD))
"""Values that say nothing about the others beside them."""


@dataclass(frozen=True)
class ColumnSummary:
    """The distinct values of a column, sorted, with how often each occurs."""

    values: tuple[str, ...]
    counts: tuple[int, ...]
    traits: int
    """The kinds of characters that occur anywhere in the column, as bits."""
    shortest: int
    longest: int
    header: str | None
    repeats: bool
    """Whether any value occurs more than once."""

    @cached_property
    def total(self) -> int:
        """The number of present cells with one of `values`."""
        return sum(self.counts)

    @cached_property
    def probes(self) -> tuple[str, ...]:
        """The values of at most PROBES cells, evenly spread over the sorted cells."""
        ends = list(accumulate(self.counts))
        middles = ((2 * probe + 1) * self.total // (2 * PROBES) for probe in range(PROBES))
        return tuple(dict.fromkeys(self.values[bisect_right(ends, middle)] for middle in middles))

    def share_of(self, accepts: Callable[[str], object]) -> float:
        """Return the share of the present cells whose value is accepted; 0 once it is sure to be below MIN_SHARE.

        Several rules and vetoes ask the same: the answer is kept by `accepts`, which should live as long as its module.
        """
        share = self._shares.get(accepts)
        if share is None:
            share = self._shares[accepts] = self._measure(accepts)
        return share

    @cached_property
    def _shares(self) -> dict[Callable[[str], object], float]:
        return {}

    def _measure(self, accepts: Callable[[str], object]) -> float:
        failed, may_fail = 0, self.total * (1 - MIN_SHARE)
        for value, count in zip(self.values, self.counts, strict=True):
            if not accepts(value):
                failed += count
                if failed > may_fail:
                    return 0.0
        return (self.total - failed) / self.total

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The values that are plain numbers such as 12, -3.5 or 1e6 (decimal point, no grouping)."""
        return tuple(
            float(v) for v in self.values if len(v) < 25 and v.isascii() and _is_plain_number(v)
        )


def summarise_column(column: Column) -> ColumnSummary:
    """Return the distinct values of a column with their counts, characters and lengths."""
    contents = contents_of(column)
    texts = contents.cleaned(LONGEST_CELL)
    cleaned: dict[str, int] = {}
    untold: dict[str, int] = {}
    for value, count in contents.counts.items():
        cell = texts[value]
        folded = cell.casefold() if len(cell) <= _LONGEST else cell
        if cell and folded not in _MISSING:
            some = untold if folded in _UNTOLD else cleaned
            some[cell] = some.get(cell, 0) + count
    cleaned = cleaned or untold
    values = sorted(cleaned)
    if len(values) > MAX_DISTINCT:
        values = evenly_spaced(values, MAX_DISTINCT)
    counts = tuple(cleaned[value] for value in values)
    lengths = [len(value) for value in values]
    return ColumnSummary(
        values=tuple(values),
        counts=counts,
        traits=_traits_of(set("".join(values))),
        shortest=min(lengths, default=0),
        longest=max(lengths, default=0),
        header=column.name.strip()[:LONGEST_CELL] if column.name else None,
        repeats=len(cleaned) < sum(cleaned.values()),
    )


def evenly_spaced(items: Sequence[Item], count: int) -> list[Item]:
    """Return `count` items spread over the whole sequence: a sorted prefix would all look alike."""
    step = len(items) / count
    return [items[int(index * step)] for index in range(count)]


def _traits_of(characters: set[str]) -> int:
    traits = 0
    for character in characters:
        trait = _TRAIT_OF.get(character)
        if trait is None:
            trait = NON_ASCII if character > "\x7f" else 0
            if trait and character.isalpha():
                trait |= LETTER | (UPPER if character.isupper() else LOWER)
            elif trait and character.isdigit():
                trait |= DIGIT
        traits |= trait
    if traits & DIGIT and characters <= _NUMERIC_CHARACTERS:
        traits |= NUMERIC
    return traits


def _is_plain_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return value[-1].isdigit() and "_" not in value
