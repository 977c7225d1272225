"""What numbers rule out: telephones of two digits, postal codes with decimals, a longitude of 1,478.

The learnt model saw web pages, where five digits are mostly a postal code and long decimals mostly a
coordinate; tables of measurements are full of both. Here the values speak first, then the header:

  - values alone: too few digits to dial, more or less than any post office writes, off the map;
  - values under a header that says something: plain numbers are telephones, postal codes, coordinates or
    (when only 0 and 1) ratings where `header_topics` finds that the header leaves it open;
  - what is then left is a mere number, which no country, language or brand is.

On 7,271 labelled web columns, which have no headers, the first kind rules out no telephone, fax number,
postal code or coordinate that holds one.
"""

import re
from collections.abc import Callable

from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.annotators.rules.header_topics import (
    OPEN_TO_NUMBERS,
    TELEPHONES,
    left_open,
    named_by,
    says_something,
)
from aegir.annotators.rules.reading import DIGIT, NUMERIC, Reading
from aegir.annotators.rules.shapes import Shape

_FEWEST_DIALLED, _LONGEST_DIALLED = 5, 40
"""Digits of a telephone number, and characters of a cell that may hold one."""
_POSTAL_DIGITS = range(3, 11)
"""Iceland writes three digits, Iran ten; plain integers outside are no postal codes."""
_FARTHEST = 180.0
_WHOLE = Shape(r"[-+−]?\d+(?:\.0)?", re.ASCII)
_DECIMAL = Shape(r"[-+−]?\d*[.,]\d+(?:e[-+]?\d+)?", re.I | re.ASCII)
_COARSE = Shape(r"[-+−]?\d+(?:[.,]\d?)?", re.ASCII)
_ZERO_OR_ONE = frozenset(("0", "1", "0.0", "1.0"))
IN_WORDS = words(
    "Country Language currency addressLocality addressRegion Brand Organization MusicArtistAT SportsTeam DayOfWeek GenderType unitText"
)
_NONE: frozenset[str] = frozenset()


def vetoes_of_numbers(reading: Reading) -> frozenset[str]:
    """Types of `OPEN_TO_NUMBERS` that these numbers, under this header, cannot be."""
    if not reading.traits & DIGIT:
        return _NONE
    named = named_by(reading.header)
    out = _NONE
    if not named & TELEPHONES and _cannot_be_dialled(reading):
        out |= TELEPHONES
    if not reading.traits & NUMERIC:
        return out
    if "postalCode" not in named and _is_never_posted(reading):
        out |= {"postalCode"}
    if "CoordinateAT" not in named and _is_off_the_map(reading):
        out |= {"CoordinateAT"}
    return out | _closed_by_header(reading)


def is_mere_number(reading: Reading) -> bool:
    """Plain numbers under a header that names nothing they could reach or find: they count something."""
    return (
        bool(reading.traits & NUMERIC)
        and says_something(reading.header)
        and not named_by(reading.header)
        and (_mostly(reading, _WHOLE.fullmatch) or _mostly(reading, _DECIMAL.fullmatch))
    )


def vetoes_of_mere_numbers(reading: Reading) -> frozenset[str]:
    """What is written in words, and, for fractions, what is never divided."""
    return IN_WORDS | {"IdentifierAT"} if _mostly(reading, _is_fraction) else IN_WORDS


def _closed_by_header(reading: Reading) -> frozenset[str]:
    """What the header does not leave open; numbers in a format of their own are left to the rules."""
    if not says_something(reading.header):
        return _NONE
    whole = _mostly(reading, _WHOLE.fullmatch)
    if not whole and not _mostly(reading, _DECIMAL.fullmatch):
        return _NONE
    closed = OPEN_TO_NUMBERS - left_open(reading.header)
    if whole and reading.shortest > _FEWEST_DIALLED and reading.values[-1][0] == "+":
        closed -= TELEPHONES  # all begin like +4315885801
    return closed if _ZERO_OR_ONE.issuperset(reading.values) else closed - {"Rating"}


def _cannot_be_dialled(reading: Reading) -> bool:
    """Too few digits in most cells. A column of nothing but 0 was left empty, and says nothing."""
    return reading.values != ("0",) and _mostly(reading, _has_few_digits)


def _is_never_posted(reading: Reading) -> bool:
    """Signs, decimals, or plain integers of such lengths that no post office wrote them."""
    if reading.values[0][0] in "+-" or _mostly(reading, _is_fraction):
        return True
    lengths = [len(value) for value in reading.values if value.isdigit()]
    if not lengths:
        return False
    if max(lengths) >= _POSTAL_DIGITS.stop or (min(lengths) < 3 and max(lengths) > 4):
        return True
    return _mostly(reading, lambda value: value.isdigit() and len(value) < _POSTAL_DIGITS.start)


def _is_off_the_map(reading: Reading) -> bool:
    """Beyond 180 degrees, or given to a tenth of a degree (11 km) at best."""
    if any(abs(number) > _FARTHEST for number in reading.numbers):
        return True
    return _mostly(reading, _COARSE.fullmatch)


def _has_few_digits(value: str) -> bool:
    return len(value) <= _LONGEST_DIALLED and sum(map(str.isdigit, value)) < _FEWEST_DIALLED


def _is_fraction(value: str) -> bool:
    return bool(_DECIMAL.fullmatch(value)) and not value.endswith(".0")


def _mostly(reading: Reading, accepts: Callable[[str], object]) -> bool:
    """Whether more than half of the cells are accepted."""
    good = sum(
        count for value, count in zip(reading.values, reading.counts, strict=True) if accepts(value)
    )
    return good * 2 > reading.total
