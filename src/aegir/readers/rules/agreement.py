"""Which column types a fine type rules out: a UUID is no telephone, a `GET` no country.

A named fine type supports its column type, which is not always enough against a model that is confident of another.
So it also vetoes the *narrow* types, those with a meaning of their own (a country, a currency, a telephone), except
its parent and the types whose values look like those of the parent, such as Mass and weight.

Fine types that say nothing about a kind of thing (a constant, a JSON object, free text, a key or code, a link) veto
nothing here. On 3,213 labelled web columns no column loses its type by these vetoes.
"""

from functools import lru_cache

from aegir.readers.rules.gazetteers import words
from aegir.vocabulary.terms import FINE_TYPES, TYPE_NAMES

_CONTACTS = words("telephone faxNumber email postalCode CoordinateAT")
_PLACES = words("Country addressRegion addressLocality streetAddress PostalAddress")
_TIMES = words("Date DateTime Time Duration openingHours workHours DayOfWeek")
_AMOUNTS = words(
    "price priceRange MonetaryAmount Distance Mass weight Energy QuantitativeValue Duration"
)
_CODES = words("currency Language GenderType unitCode unitText Boolean Rating paymentAccepted")
NARROW = _CONTACTS | _PLACES | _TIMES | _AMOUNTS | _CODES | words("Person/name IdentifierAT Number")
"""Types that a fine type of another kind vetoes."""

_SIMILAR = {
    "Country": _PLACES,
    "addressRegion": _PLACES,
    "addressLocality": _PLACES,
    "streetAddress": _PLACES,
    "PostalAddress": _PLACES,
    "Place/name": _PLACES,
    "telephone": words("faxNumber"),
    "faxNumber": words("telephone"),
    "Date": _TIMES,
    "DateTime": _TIMES,
    "Time": _TIMES,
    "Duration": _TIMES | _AMOUNTS,
    "DayOfWeek": _TIMES,
    "openingHours": _TIMES,
    "workHours": _TIMES,
    "Number": _AMOUNTS | words("Rating Boolean"),
    "price": _AMOUNTS | words("currency"),
    "priceRange": _AMOUNTS | words("currency"),
    "MonetaryAmount": _AMOUNTS,
    "Distance": _AMOUNTS,
    "Mass": _AMOUNTS,
    "weight": _AMOUNTS,
    "Energy": _AMOUNTS,
    "QuantitativeValue": _AMOUNTS | words("Rating"),
    "unitCode": words("unitText"),
    "unitText": words("unitCode"),
    "currency": words("priceRange unitText"),
}
"""Narrow types whose values look like those of this column type."""

_COMPATIBLE = {
    "age": words("Duration QuantitativeValue"),
    "percentage": words("QuantitativeValue Rating"),
    "port": words("IdentifierAT"),
    "row_number": words("IdentifierAT QuantitativeValue"),
    "airport_code": words("IdentifierAT addressLocality"),
    "un_locode": words("IdentifierAT addressLocality"),
    "wkt_geometry": words("CoordinateAT"),
    "geojson": words("CoordinateAT"),
    "time_range": _TIMES,
    "month_number": _TIMES | {"Number"},
    "month_name": _TIMES,
    "quarter": _TIMES | {"Number"},
    "week": _TIMES | {"Number"},
    "utc_offset": _TIMES | {"Number"},
    "time_zone": frozenset(),
    "http_method": frozenset(),
    "user_agent": frozenset(),
    "mime_type": frozenset(),
    "colour_name": frozenset(),
    "colour_code": frozenset(),
    "ordinal": words("Date Number"),
    "roman_numeral": words("Number"),
    "blood_type": frozenset(),
    "honorific": words("Person/name"),
    "chemical_formula": frozenset(),
    "card_security_code": words("IdentifierAT Number"),
    "ip_network": words("IdentifierAT"),
    "semantic_version": words("IdentifierAT Number"),
    "file_path": words("IdentifierAT"),
    "file_name": words("IdentifierAT"),
    "cloud_resource_name": words("IdentifierAT"),
    "jwt": words("IdentifierAT"),
    "base64_data": words("IdentifierAT"),
    "hashtag": words("IdentifierAT"),
}
"""Narrow types that these fine types allow: they have no parent, or are narrower than it."""

_VAGUE = words(
    "primary_key foreign_key category_code sku user_name account_number social_handle ticker region city url"
)
"""Recognised by the header more than by the values: `country_id` may hold countries, a `city` states; and a link
may be any kind of thing."""

_WRITTEN_FOR_MACHINES = words(
    "http_method user_agent mime_type time_zone colour_code month_name ip_network semantic_version jwt base64_data uuid"
    " ipv4_address ipv6_address mac_address md5_hash sha1_hash sha256_hash git_commit ulid"
)
"""Fine types that veto names as well: `GET` is no brand and `Mozilla/5.0` no product."""
_NAMES = frozenset(name for name in TYPE_NAMES if name.endswith("/name")) | words(
    "Brand Organization MusicArtistAT SportsTeam CreativeWork BookFormatType"
)


@lru_cache(maxsize=512)
def vetoes_by_fine_type(fine_type: str, parent: str | None) -> frozenset[str]:
    """Return the narrow types that a column of this fine type is not; `parent` is the type it supports."""
    if fine_type in _VAGUE:
        return frozenset()
    allowed = _COMPATIBLE.get(fine_type)
    if allowed is None:
        if parent is None:
            return frozenset()
        # A price, a year or a GTIN is a number as well.
        allowed = _SIMILAR.get(parent, frozenset()) | {"Number"}
    vetoes = NARROW | _NAMES if fine_type in _WRITTEN_FOR_MACHINES else NARROW
    return vetoes - allowed - {parent, FINE_TYPES[fine_type].parent}
