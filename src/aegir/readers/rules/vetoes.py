"""Which column types the values of a column, its header or its fine type rule out.

A veto is only for what is impossible: there is no review without a letter, no date-time without a digit. Vetoes
come from four places:

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
"""

import re
from collections.abc import Callable
from functools import lru_cache

from aegir.readers.rules.gazetteers import words
from aegir.readers.rules.headers import (
    HEADER_DEPENDENT,
    TELEPHONES,
    is_informative,
    named_types,
    possible_types,
)
from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import AT, DIGIT, DOT, LETTER, NUMERIC, SLASH, SPACE, Reading
from aegir.vocabulary.terms import TYPE_NAMES

_PROSE = words(
    "Event/description Hotel/description JobPosting/description Movie/description Product/description Recipe/description"
)
_LONG_NAMES = words(
    "Event/name Hotel/name LocalBusiness/name Museum/name Product/name Recipe/name Restaurant/name SportsEvent/name TVEpisode/name"
)
_ENUMERATIONS = words(
    "BookFormatType DayOfWeek DeliveryMethod EventAttendanceModeEnumeration EventStatusType GenderType ItemAvailability"
    " OfferItemCondition RestrictedDiet paymentAccepted"
)
_MEASURES = words("CoordinateAT DateTime Duration Energy Mass QuantitativeValue faxNumber")
_NEED_DIGITS = words("IdentifierAT Number Time postalCode price telephone")
"""Of 1,084 labelled columns of these types 11 hold no digit; those hold no value of the type either."""
_NEED_LETTERS = (
    _PROSE
    | _LONG_NAMES
    | _ENUMERATIONS
    | words(
        "Review ItemList Language LocationFeatureSpecification JobPosting/name Person/name Photograph PostalAddress"
        " SportsTeam URL addressRegion streetAddress unitCode unitText MusicRecording/name CreativeWork/name"
    )
)
_NEVER_SHORT = (
    _PROSE
    | _LONG_NAMES
    | words("DateTime ItemList Photograph PostalAddress RestrictedDiet faxNumber")
)
_NEVER_LONG = words(
    "CoordinateAT Country GenderType Number Rating addressRegion faxNumber postalCode telephone unitCode unitText Mass"
    " QuantitativeValue BookFormatType"
)
_NEVER_VERY_LONG = _NEVER_LONG | words(
    "Date Distance Energy Time addressLocality email price priceRange weight SportsTeam"
)
_NEVER_LINKS = (
    _PROSE
    | _LONG_NAMES
    | words(
        "Book/description Book/name Boolean CoordinateAT Country Date DateTime Distance Duration Energy JobPosting/name Language"
        " Mass MonetaryAmount Movie/name MusicAlbum/name MusicRecording/name Number QuantitativeValue Rating Review Time"
        " addressLocality addressRegion currency email postalCode price priceRange streetAddress telephone unitCode unitText"
        " weight workHours"
    )
)
_NOT_MEASURED = words(
    "postalCode telephone faxNumber CoordinateAT IdentifierAT Date DateTime Time price CategoryCode"
)
_NAMES = frozenset(name for name in TYPE_NAMES if name.endswith("/name"))
_NOT_A_KEY = _NAMES | words("telephone faxNumber postalCode price CoordinateAT Time")
_NOT_A_NUMBERED_KEY = _NOT_A_KEY | words(
    "Country addressRegion addressLocality Language Organization Brand"
)
_NOT_A_FLAG = _NAMES | words(
    "addressRegion addressLocality Country Organization Brand MusicArtistAT SportsTeam Language unitText IdentifierAT"
)
_IN_WORDS = words(
    "Country Language currency addressLocality addressRegion Brand Organization MusicArtistAT SportsTeam DayOfWeek GenderType unitText"
)
"""Types whose values are words, never plain numbers."""

_MIN_PHONE_DIGITS, _MAX_PHONE_LENGTH = 5, 40
"""Digits of a telephone number, and characters of a cell that may hold one."""
_POSTAL_CODE_DIGITS = range(3, 11)
"""Iceland writes three digits, Iran ten; plain integers outside are no postal codes."""
_MAX_DEGREES = 180.0
_WHOLE = Pattern(r"[-+−]?\d+(?:\.0)?", re.ASCII)
_DECIMAL = Pattern(r"[-+−]?\d*[.,]\d+(?:e[-+]?\d+)?", re.I | re.ASCII)
_ONE_DECIMAL_AT_MOST = Pattern(r"[-+−]?\d+(?:[.,]\d?)?", re.ASCII)
_ZERO_OR_ONE = frozenset(("0", "1", "0.0", "1.0"))
_NONE: frozenset[str] = frozenset()


def vetoes_by_form(reading: Reading) -> frozenset[str]:
    """Return the types ruled out by the column's characters and lengths."""
    vetoes = _vetoes_by_traits(reading.traits)
    if reading.longest <= 6:
        vetoes |= _NEVER_SHORT
    elif reading.shortest >= 40:
        vetoes |= _NEVER_VERY_LONG if reading.shortest >= 70 else _NEVER_LONG
    if reading.traits & SLASH and all("://" in value[:8] for value in reading.values):
        vetoes |= _NEVER_LINKS
    return vetoes


def vetoes_by_numbers(reading: Reading) -> frozenset[str]:
    """Return the types of `HEADER_DEPENDENT` that these numbers, under this header, cannot be."""
    if not reading.traits & DIGIT:
        return _NONE
    named = named_types(reading.header)
    vetoes = _NONE
    if not named & TELEPHONES and _cannot_be_telephone(reading):
        vetoes |= TELEPHONES
    if not reading.traits & NUMERIC:
        return vetoes
    if "postalCode" not in named and _cannot_be_postal_code(reading):
        vetoes |= {"postalCode"}
    if "CoordinateAT" not in named and _cannot_be_coordinate(reading):
        vetoes |= {"CoordinateAT"}
    return vetoes | _vetoes_by_header(reading)


def is_plain_number(reading: Reading) -> bool:
    """Return whether these are plain numbers under a header that names none of `HEADER_DEPENDENT`."""
    return (
        bool(reading.traits & NUMERIC)
        and is_informative(reading.header)
        and not named_types(reading.header)
        and (_mostly(reading, _WHOLE.fullmatch) or _mostly(reading, _DECIMAL.fullmatch))
    )


def vetoes_by_plain_number(reading: Reading) -> frozenset[str]:
    """Return the types that plain numbers are not; fractions are no identifiers either."""
    return _IN_WORDS | {"IdentifierAT"} if _mostly(reading, _is_fraction) else _IN_WORDS


def vetoes_by_meaning(reading: Reading, fine_type: str, measured: bool) -> frozenset[str]:
    """Return the types ruled out by a fine type on which header and values agree.

    `measured` says that the values are bare numbers whose unit stands in the header.
    """
    if measured:
        return _NOT_MEASURED
    if fine_type in ("primary_key", "foreign_key"):
        numbered = all(any(c.isdigit() for c in value) for value in reading.values)
        return _NOT_A_NUMBERED_KEY if numbered else _NOT_A_KEY
    return _NOT_A_FLAG if fine_type == "boolean_flag" else _NONE


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


def _vetoes_by_header(reading: Reading) -> frozenset[str]:
    """Return what the header excludes; numbers in a format of their own are left to the rules."""
    if not is_informative(reading.header):
        return _NONE
    whole = _mostly(reading, _WHOLE.fullmatch)
    if not whole and not _mostly(reading, _DECIMAL.fullmatch):
        return _NONE
    vetoes = HEADER_DEPENDENT - possible_types(reading.header)
    if whole and reading.shortest > _MIN_PHONE_DIGITS and reading.values[-1][0] == "+":
        vetoes -= TELEPHONES  # all begin like +4315885801
    return vetoes if _ZERO_OR_ONE.issuperset(reading.values) else vetoes - {"Rating"}


def _cannot_be_telephone(reading: Reading) -> bool:
    """Return whether most cells have too few digits; a column of 0 alone may be one without values."""
    return reading.values != ("0",) and _mostly(reading, _has_few_digits)


def _cannot_be_postal_code(reading: Reading) -> bool:
    """Return whether there are signs, decimals, or integers of lengths that no country uses."""
    if reading.values[0][0] in "+-" or _mostly(reading, _is_fraction):
        return True
    lengths = [len(value) for value in reading.values if value.isdigit()]
    if not lengths:
        return False
    if max(lengths) >= _POSTAL_CODE_DIGITS.stop or (min(lengths) < 3 and max(lengths) > 4):
        return True
    return _mostly(
        reading, lambda value: value.isdigit() and len(value) < _POSTAL_CODE_DIGITS.start
    )


def _cannot_be_coordinate(reading: Reading) -> bool:
    """Return whether a value is beyond 180 degrees, or most are given to a tenth (11 km) at best."""
    if any(abs(number) > _MAX_DEGREES for number in reading.numbers):
        return True
    return _mostly(reading, _ONE_DECIMAL_AT_MOST.fullmatch)


def _has_few_digits(value: str) -> bool:
    return len(value) <= _MAX_PHONE_LENGTH and sum(map(str.isdigit, value)) < _MIN_PHONE_DIGITS


def _is_fraction(value: str) -> bool:
    return bool(_DECIMAL.fullmatch(value)) and not value.endswith(".0")


def _mostly(reading: Reading, accepts: Callable[[str], object]) -> bool:
    """Return whether more than half of the cells are accepted."""
    return reading.share_of(accepts) > 0.5
