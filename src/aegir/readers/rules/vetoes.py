"""Which column types the values of a column, its header or its fine type rule out.

A veto is only for what is impossible: there is no review without a letter, no date-time without a digit. Vetoes
come from five sources:

  - characters and lengths. Apart from _NEED_DIGITS, no type is ruled out on any of its columns among 7,271
    distinct labelled web columns (9 to 408 of each type). Types with an exception are left out, however odd the
    exception; so are types whose meaning allows one that the sample merely lacks. So few columns cannot prove a
    rate below 3 in 1,000: for the rare types it is the meaning of the type that makes the veto safe.
  - numbers alone: too few digits for a telephone number, more or fewer than any postal code has, beyond 180
    degrees. On the same columns, which have no headers, this rules out no telephone, fax number, postal code or
    coordinate on a column that holds one.
  - numbers under a header. The learnt model saw web pages, where five digits are mostly a postal code and long
    decimals mostly a coordinate; tables of measurements are full of both. Under a header that says something,
    plain numbers are telephones, postal codes, coordinates or (when only 0 and 1) ratings only where the header
    allows it. What is left is a plain number, which is no country, language or brand.
  - a fine type on which header and values agree: what is measured in kilometres is no postal code, yes and no are
    nobody's names, and a `customer_id` is no telephone number. The labelled columns have no headers to count this.
  - any named fine type, which supports its column type but may not outweigh a model that is confident of another: a UUID
    is no telephone, a `GET` no country. It vetoes the *narrow* types, those with a meaning of their own (a country, a
    currency), except its parent and the types whose values look like those of the parent, such as Mass and weight
    (tables/allowed_types.tsv). Fine types that say nothing about a kind of thing (a constant, a JSON object, free text,
    a key or code, a link) veto nothing. On 3,213 labelled web columns no column loses its type by these vetoes.
"""

from collections.abc import Callable
from functools import lru_cache

from aegir.readers.rules.column_summary import (
    AT,
    COMMA,
    DIGIT,
    DOT,
    LETTER,
    NUMERIC,
    SLASH,
    SPACE,
    ColumnSummary,
)
from aegir.readers.rules.gazetteers import word_set, words
from aegir.readers.rules.headers import (
    HEADER_DEPENDENT,
    TELEPHONES,
    is_informative,
    named_types,
    possible_types,
)
from aegir.readers.rules.rule import PATTERNS, read_rows
from aegir.vocabulary.terms import FINE_TYPES, TYPE_NAMES

_PROSE = word_set("prose")
_LONG_NAMES = word_set("long_names")
_ENUMERATIONS = word_set("enumerations")
_MEASURES = words("CoordinateAT DateTime Duration Energy Mass QuantitativeValue faxNumber")
_NEED_DIGITS = words("IdentifierAT Number Time postalCode price telephone")
"""Of 1,084 labelled columns of these types 11 hold no digit; those hold no value of the type either."""
_NEED_LETTERS = _PROSE | _LONG_NAMES | _ENUMERATIONS | word_set("need_letters")
_NEVER_SHORT = (
    _PROSE
    | _LONG_NAMES
    | words("DateTime ItemList Photograph PostalAddress RestrictedDiet faxNumber")
)
_NEVER_LONG = word_set("never_long")
_NEVER_VERY_LONG = _NEVER_LONG | word_set("never_very_long")
_NEVER_LINKS = _PROSE | _LONG_NAMES | word_set("never_links")
_NOT_MEASURED = word_set("not_measured")
_NAMES = frozenset(name for name in TYPE_NAMES if name.endswith("/name"))
_NOT_A_KEY = _NAMES | words("telephone faxNumber postalCode price CoordinateAT Time")
_NOT_A_NUMBERED_KEY = _NOT_A_KEY | word_set("not_a_numbered_key")
_NOT_A_FLAG = _NAMES | word_set("not_a_flag")
_IN_WORDS = word_set("in_words")
"""Types whose values are words, never plain numbers."""
NARROW = word_set("narrow")
"""Types that a fine type of another kind vetoes."""
_ALLOWED = {
    (scope, name): words(types)
    for scope, name, types in read_rows("allowed_types", "scope name allowed")
}
"""Narrow types that are not vetoed: those whose values look like those of a column type, and those that a fine type
without a parent, or narrower than it, allows."""
_VAGUE = word_set("vague")
"""Recognised by the header more than by the values: `country_id` may hold countries, a `city` states; and a link
may be any kind of thing."""

_WRITTEN_FOR_MACHINES = word_set("written_for_machines")
"""Fine types that veto names as well: `GET` is no brand and `Mozilla/5.0` no product."""
_NAMES_OF_THINGS = _NAMES | word_set("names_of_things")

_MIN_PHONE_DIGITS, _MAX_PHONE_LENGTH = 5, 40
"""Digits of a telephone number, and characters of a cell that may hold one."""
_POSTAL_CODE_DIGITS = range(3, 11)
"""Iceland writes three digits, Iran ten; plain integers outside are no postal codes."""
_MAX_DEGREES = 180.0
_ZERO_OR_ONE = frozenset(("0", "1", "0.0", "1.0"))
_NONE: frozenset[str] = frozenset()


def vetoes_by_form(summary: ColumnSummary) -> frozenset[str]:
    """Return the types ruled out by the column's characters and lengths."""
    vetoes = _vetoes_by_traits(summary.traits)
    if summary.longest <= 6:
        vetoes |= _NEVER_SHORT
    elif summary.shortest >= 40:
        vetoes |= _NEVER_VERY_LONG if summary.shortest >= 70 else _NEVER_LONG
    if summary.traits & SLASH and all("://" in value[:8] for value in summary.values):
        vetoes |= _NEVER_LINKS
    return vetoes


def vetoes_by_numbers(summary: ColumnSummary) -> frozenset[str]:
    """Return the types of `HEADER_DEPENDENT` that these numbers, under this header, cannot be."""
    if not summary.traits & DIGIT:
        return _NONE
    named = named_types(summary.header)
    vetoes = _NONE
    if not named & TELEPHONES and _cannot_be_telephone(summary):
        vetoes |= TELEPHONES
    if not summary.traits & NUMERIC:
        return vetoes
    if "postalCode" not in named and _cannot_be_postal_code(summary):
        vetoes |= {"postalCode"}
    if "CoordinateAT" not in named and _cannot_be_coordinate(summary):
        vetoes |= {"CoordinateAT"}
    return vetoes | _vetoes_by_header(summary)


def is_plain_number(summary: ColumnSummary) -> bool:
    """Return whether these are plain numbers under a header that names none of `HEADER_DEPENDENT`."""
    return (
        bool(summary.traits & NUMERIC)
        and is_informative(summary.header)
        and not named_types(summary.header)
        and (
            _mostly(summary, PATTERNS["whole_number"].fullmatch)
            or _mostly_decimals(summary, PATTERNS["decimal_number"].fullmatch)
        )
    )


def vetoes_by_plain_number(summary: ColumnSummary) -> frozenset[str]:
    """Return the types that plain numbers are not; fractions are no identifiers either."""
    return _IN_WORDS | {"IdentifierAT"} if _mostly_decimals(summary, _is_fraction) else _IN_WORDS


def vetoes_by_meaning(summary: ColumnSummary, fine_type: str, measured: bool) -> frozenset[str]:
    """Return the types ruled out by a fine type on which header and values agree.

    `measured` says that the values are bare numbers whose unit stands in the header.
    """
    if measured:
        return _NOT_MEASURED
    if fine_type in ("primary_key", "foreign_key"):
        numbered = all(any(c.isdigit() for c in value) for value in summary.values)
        return _NOT_A_NUMBERED_KEY if numbered else _NOT_A_KEY
    return _NOT_A_FLAG if fine_type == "boolean_flag" else _NONE


@lru_cache(maxsize=512)
def vetoes_by_fine_type(fine_type: str, parent: str | None) -> frozenset[str]:
    """Return the narrow types that a column of this fine type is not; `parent` is the type it supports."""
    if fine_type in _VAGUE:
        return _NONE
    allowed = _ALLOWED.get(("fine_type", fine_type))
    if allowed is None:
        if parent is None:
            return _NONE
        # A price, a year or a GTIN is a number as well.
        allowed = _ALLOWED.get(("column_type", parent), _NONE) | {"Number"}
    vetoes = NARROW | _NAMES_OF_THINGS if fine_type in _WRITTEN_FOR_MACHINES else NARROW
    return vetoes - allowed - {parent, FINE_TYPES[fine_type].parent}


@lru_cache(maxsize=4096)
def _vetoes_by_traits(traits: int) -> frozenset[str]:
    vetoes = _NONE
    # One publisher of 93 put numbers under "email"; such columns are left to the model.
    if not traits & AT and not traits & NUMERIC:
        vetoes |= {"email"}
    if not traits & DIGIT:
        vetoes |= _MEASURES | _NEED_DIGITS
    if not traits & LETTER:
        vetoes |= _NEED_LETTERS
    if not traits & SPACE:
        vetoes |= _PROSE | {"ItemList"}
    if not traits & (SLASH | DOT):
        vetoes |= {"Photograph"}
    return vetoes


def _vetoes_by_header(summary: ColumnSummary) -> frozenset[str]:
    """Return what the header excludes; numbers in a format of their own are left to the rules."""
    if not is_informative(summary.header):
        return _NONE
    whole = _mostly(summary, PATTERNS["whole_number"].fullmatch)
    if not whole and not _mostly_decimals(summary, PATTERNS["decimal_number"].fullmatch):
        return _NONE
    vetoes = HEADER_DEPENDENT - possible_types(summary.header)
    if whole and summary.shortest > _MIN_PHONE_DIGITS and summary.values[-1][0] == "+":
        vetoes -= TELEPHONES  # all begin like +4315885801
    return vetoes if _ZERO_OR_ONE.issuperset(summary.values) else vetoes - {"Rating"}


def _cannot_be_telephone(summary: ColumnSummary) -> bool:
    """Return whether most cells have too few digits; a column of 0 alone may be one without values."""
    return summary.values != ("0",) and _mostly(summary, _has_few_digits)


def _cannot_be_postal_code(summary: ColumnSummary) -> bool:
    """Return whether there are signs, decimals, or integers of lengths that no country uses."""
    if summary.values[0][0] in "+-" or _mostly_decimals(summary, _is_fraction):
        return True
    lengths = [len(value) for value in summary.values if value.isdigit()]
    if not lengths:
        return False
    if max(lengths) >= _POSTAL_CODE_DIGITS.stop or (min(lengths) < 3 and max(lengths) > 4):
        return True
    return _mostly(summary, _is_short_integer)


def _cannot_be_coordinate(summary: ColumnSummary) -> bool:
    """Return whether a value is beyond 180 degrees, or most are given to a tenth (11 km) at best."""
    if any(abs(number) > _MAX_DEGREES for number in summary.numbers):
        return True
    # A whole number has one decimal at most, and what share is whole is asked below anyway.
    return _mostly(summary, PATTERNS["whole_number"].fullmatch) or _mostly(
        summary, PATTERNS["one_decimal_at_most"].fullmatch
    )


def _is_short_integer(value: str) -> bool:
    return value.isdigit() and len(value) < _POSTAL_CODE_DIGITS.start


def _has_few_digits(value: str) -> bool:
    return len(value) <= _MAX_PHONE_LENGTH and sum(map(str.isdigit, value)) < _MIN_PHONE_DIGITS


def _is_fraction(value: str) -> bool:
    return bool(PATTERNS["decimal_number"].fullmatch(value)) and not value.endswith(".0")


def _mostly_decimals(summary: ColumnSummary, accepts: Callable[[str], object]) -> bool:
    """Return whether more than half of the cells are accepted by a test that asks for a decimal sign."""
    return bool(summary.traits & (DOT | COMMA)) and _mostly(summary, accepts)


def _mostly(summary: ColumnSummary, accepts: Callable[[str], object]) -> bool:
    """Return whether more than half of the cells are accepted."""
    return summary.share_of(accepts) > 0.5
