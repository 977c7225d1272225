"""One look at a column, shared by all rules: its distinct values, their counts, and a signature.

    Column --read--> Reading(values, counts, traits, shortest, longest, header)

The signature (`traits` and the two lengths) is what keeps the rules fast: a rule names the traits it
cannot do without, and most rules are never run on most columns.

Promises
  - HTML entities are decoded, spaces trimmed, cells cut to `LONGEST_CELL` characters;
  - cells that only say "no value" (N/A, null, nan …) count as missing;
  - values are sorted, so nothing depends on the order of rows; at most `MOST_DISTINCT` are kept,
    evenly spaced through the sorted list.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.tables.table import Column, clean_cell

LONGEST_CELL = 512
MOST_DISTINCT = 100

DIGIT, LETTER, SPACE, DOT, COMMA, DASH, COLON, SLASH, AT = (1 << bit for bit in range(9))
PLUS, PERCENT, HASH, BRACE, ANGLE, EQUALS, UNDERSCORE, MONEY = (1 << bit for bit in range(9, 17))
UPPER, LOWER, NON_ASCII, NUMERIC, BACKSLASH, SEMICOLON = (1 << bit for bit in range(17, 23))

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
_NO_VALUE = words(
    "na n/a #n/a nan null none nil - -- --- – — ? . \\n undefined unknown (null) <na> nd n.a. nat"
)


@dataclass(frozen=True)
class Reading:
    """The distinct values of a column, sorted, with how often each occurs."""

    values: tuple[str, ...]
    counts: tuple[int, ...]
    traits: int
    """Which kinds of characters occur anywhere in the column."""
    shortest: int
    longest: int
    header: str | None
    repeats: bool
    """Whether any value occurs more than once."""

    @cached_property
    def total(self) -> int:
        """How many present cells the kept values stand for."""
        return sum(self.counts)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The values that are plain numbers such as 12, -3.5 or 1e6 (decimal point, no grouping)."""
        return tuple(
            float(v) for v in self.values if len(v) < 25 and v.isascii() and _is_plain_number(v)
        )


def read(column: Column) -> Reading:
    """Look at a column once."""
    counted = Counter(column.values)
    cleaned: Counter[str] = Counter()
    for value, count in counted.items():
        cell = clean_cell(value, LONGEST_CELL)
        if cell and cell.casefold() not in _NO_VALUE:
            cleaned[cell] += count
    values = sorted(cleaned)
    if len(values) > MOST_DISTINCT:
        values = evenly_spaced(values, MOST_DISTINCT)
    counts = tuple(cleaned[value] for value in values)
    lengths = [len(value) for value in values]
    return Reading(
        values=tuple(values),
        counts=counts,
        traits=_traits_of(set("".join(values))),
        shortest=min(lengths, default=0),
        longest=max(lengths, default=0),
        header=column.name.strip()[:LONGEST_CELL] if column.name else None,
        repeats=len(cleaned) < sum(cleaned.values()),
    )


def evenly_spaced(values: list[str], most: int) -> list[str]:
    """`most` of the values, spread over the whole list: a sorted prefix would all look alike."""
    step = len(values) / most
    return [values[int(index * step)] for index in range(most)]


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
