"""What values rule out: column types that no column of such characters and lengths can be.

A veto is only for the really impossible: there is no review without a letter, no date-time without a
digit. Apart from _WRITTEN_IN_DIGITS, no type is ruled out here on any of its columns among 7,271 distinct
labelled web columns (9 to 408 of each type). Types with an exception are left out, however odd the exception; so are those
where meaning allows one that the sample merely lacks. So few columns cannot prove a rate below 3 in
1,000: for the rare types it is the meaning of the type that makes the veto safe, not the count.

Three kinds of columns are known by their meaning once header and values agree: what is measured in
kilometres is no postal code, yes and no are nobody's names, and a `customer_id` is not dialled. The labelled columns have no headers to count these on.
"""

from functools import lru_cache

from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.annotators.rules.reading import AT, DIGIT, DOT, LETTER, NUMERIC, SLASH, SPACE, Reading
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
_WRITTEN_IN_DIGITS = words("IdentifierAT Number Time postalCode price telephone")
"""Of 1,084 labelled columns of these types 11 hold no digit; those hold no value of the type either."""
_WITHOUT_LETTERS = (
    _PROSE
    | _LONG_NAMES
    | _ENUMERATIONS
    | words(
        "Review ItemList Language LocationFeatureSpecification JobPosting/name Person/name Photograph PostalAddress"
        " SportsTeam URL addressRegion streetAddress unitCode unitText MusicRecording/name CreativeWork/name"
    )
)
_SHORT = (
    _PROSE
    | _LONG_NAMES
    | words("DateTime ItemList Photograph PostalAddress RestrictedDiet faxNumber")
)
_LONG = words(
    "CoordinateAT Country GenderType Number Rating addressRegion faxNumber postalCode telephone unitCode unitText Mass"
    " QuantitativeValue BookFormatType"
)
_VERY_LONG = _LONG | words(
    "Date Distance Energy Time addressLocality email price priceRange weight SportsTeam"
)
_LINKS = (
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
_NOT_ANSWERED = _NAMES | words(
    "addressRegion addressLocality Country Organization Brand MusicArtistAT SportsTeam Language unitText IdentifierAT"
)


def vetoes_by_meaning(reading: Reading, fine_type: str, measured: bool) -> frozenset[str]:
    """Types ruled out by a fine type that header and values agree on; `measured`: a bare number of a unit."""
    if measured:
        return _NOT_MEASURED
    if fine_type in ("primary_key", "foreign_key"):
        numbered = all(any(c.isdigit() for c in value) for value in reading.values)
        return _NOT_A_NUMBERED_KEY if numbered else _NOT_A_KEY
    return _NOT_ANSWERED if fine_type == "boolean_flag" else frozenset()


@lru_cache(maxsize=4096)
def vetoes_by_traits(traits: int) -> frozenset[str]:
    """Types ruled out by the kinds of characters in the column."""
    out: frozenset[str] = frozenset()
    # One publisher of 93 put numbers under "email"; such columns are left to the model.
    if not traits & AT and not traits & NUMERIC:
        out |= {"email"}
    if not traits & DIGIT:
        out |= _MEASURES | _WRITTEN_IN_DIGITS
    if not traits & LETTER:
        out |= _WITHOUT_LETTERS
    if not traits & SPACE:
        out |= _PROSE | {"ItemList"}
    if not traits & (SLASH | DOT):
        out |= {"Photograph"}
    return out


def vetoes_of(reading: Reading) -> frozenset[str]:
    """Types ruled out by the column's characters and lengths."""
    out = vetoes_by_traits(reading.traits)
    if reading.longest <= 6:
        out |= _SHORT
    elif reading.shortest >= 40:
        out |= _VERY_LONG if reading.shortest >= 70 else _LONG
    if reading.traits & SLASH and all("://" in value[:8] for value in reading.values):
        out |= _LINKS
    return out
