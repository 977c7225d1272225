"""Places: countries, regions, postal codes, airports, addresses; coordinates, cells and geometries on a map.

US ZIP codes are five-digit numbers, so alone they support postalCode without naming the fine type; British,
Canadian and Dutch codes, and Japanese ones after their sign 〒, have a pattern of their own. Two-letter codes that are also US states support the state.
Most numbers between -90 and 90 are no latitudes: a latitude or longitude needs a header, or at least three decimals
to support CoordinateAT without one.
"""

import json
import re

from aegir.readers.rules.gazetteers import (
    country_alpha2,
    country_alpha3,
    country_names,
    word_set,
)
from aegir.readers.rules.rule import Pattern, read_rules

_AIRPORTS = word_set("airports")
_CONTINENTS = word_set("continents")
_STATE_NAMES = word_set("us_state_names")
_STATES = word_set("us_states")
_UNIT_CODES = word_set("unit_codes")
_A = re.ASCII
_UK_CODE = r"(?:GIR 0AA|[A-PR-UWYZ](?:\d{1,2}|[A-HK-Y]\d|[A-HK-Y]\d\d|\d[A-HJKS-UW]|[A-HK-Y]\d[ABEHMNPRV-Y])\s?\d[ABD-HJLNP-UW-Z]{2})"
_CANADA = r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d"
_NETHERLANDS = r"[1-9]\d{3}\s?(?!BC|AD|SA|SD|SS)[A-Z]{2}"
_IRELAND = r"(?:[AC-FHKNPRTV-Y]\d\d|D6W)\s[0-9AC-FHKNPRTV-Y]{4}"
_PREFIXED = r"(?:A|CH|DK|FL|L|LV|MD|SI)-\d{4}|(?:D|DE|FIN|HR|LT)-\d{5}"
# One letter and a number is more often a code of another kind: these need a header.
_PREFIXED_WITH_HEADER = r"(?:B|H|N|AT|BE|BG)-\d{4}|(?:E|F|FI|FR|I|IT|ES|UA)-\d{5}|(?:S|SE|CZ|SK)-\d{3}\s?\d{2}|PL-\d{2}-\d{3}"
_POSTCODE_WITH_LETTERS = Pattern(
    rf"{_UK_CODE}|{_CANADA}|{_NETHERLANDS}|{_IRELAND}|{_PREFIXED}|NL-{_NETHERLANDS}", _A
)
_JAPAN_WITH_SIGN = r"〒\s?\d{3}[-‐–ー−]?\d{4}"
_JAPANESE_POSTCODE = Pattern(_JAPAN_WITH_SIGN, _A)
_WITH_SEPARATOR = r"\d{5}-\d{4}|\d{2}-\d{3}|\d{5}-\d{3}|\d{4}-\d{3}|\d{3}-\d{4}|\d{3}\s\d{2}"
_POSTCODE_WITH_SEPARATOR = Pattern(_WITH_SEPARATOR, _A)
_ANY_POSTCODE = Pattern(
    rf"\d{{3,7}}(?:\.0)?|{_WITH_SEPARATOR}|{_JAPAN_WITH_SIGN}|{_UK_CODE}|{_CANADA}|[1-9]\d{{3}}\s?[A-Z]{{2}}|(?:[A-Z]\d\d|D6W)\s?[A-Z0-9]{{4}}|{_PREFIXED}"
    rf"|{_PREFIXED_WITH_HEADER}|[A-Z]\d{{4}}[A-Z]{{3}}|[A-Z]{{2}}\d{{3,4}}|[A-Z]{{1,2}}\d{{1,2}}[A-Z]?",
    re.I | _A,
)
_FIVE_DIGITS = Pattern(r"\d{5}(?:-\d{4})?", _A)
_LOCODE = Pattern(r"([A-Z]{2}) ?[A-Z2-9]{3}")
_STREET = Pattern(
    r"\d+[\w/-]*,?\s+\S.*|.*\S,?\s+\d+\s?[a-zA-Z]?(?:[-/]\d+\s?[a-zA-Z]?)?|.*\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|blvd|rue|via|calle|straße|strasse|platz|weg)\b.*",
    re.I,
)
_STREET_WORDS = Pattern(
    r"\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|blvd|boulevard|highway|hwy|way|court|ct|place|pl|parkway|pkwy|suite|p\.?o\.? box"
    r"|rue|avenida|avda|av|via|viale|calle|carrer|rua|plaza|platz|weg|allee|gasse|\w+stra(?:ß|ss)e|\w+weg|\w+str\.)(?=\W|$)",
    re.I,
)
_ADDRESS_END = Pattern(
    r"\b[A-Z]{2},?\s\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[\dA-Z]?\s?\d[A-Z]{2}\b|,\s?\d{4,5}\s[^\W\d]|\b[A-Z]\d[A-Z]\s?\d[A-Z]\d\b"
)
_PLACE_WORDS = Pattern(r"[^\W\d_][^\d@/\\<>{}]{1,60}")


def is_country_name(value: str) -> bool:
    return value.casefold() in country_names()


def is_street(value: str) -> bool:
    """Return whether a value has a house number and a word for street, but no town or postal code."""
    return (
        any(c.isdigit() for c in value)
        and bool(_STREET_WORDS.search(value))
        and not is_full_address(value)
    )


def is_full_address(value: str) -> bool:
    """Return whether a value has street and town: it ends in a postal code with its place, or in a country."""
    if "," not in value and " " not in value:
        return False
    last = value.rpartition(",")[2].strip().casefold()
    return bool(_ADDRESS_END.search(value)) or (
        value.count(",") >= 2 and last in country_names() and any(c.isdigit() for c in value)
    )


def is_place(value: str) -> bool:
    """Return whether a value can name a place; `yes` and `no` cannot."""
    return bool(_PLACE_WORDS.fullmatch(value)) and value.casefold() not in ("yes", "no")


def is_us_state(value: str) -> bool:
    return value in _STATES or value.casefold() in _STATE_NAMES


def is_locode(value: str) -> bool:
    match = _LOCODE.fullmatch(value)
    return match is not None and match[1] in country_alpha2()


def is_country_alpha3(value: str) -> bool:
    return value in country_alpha3() and value not in _UNIT_CODES


def is_country_alpha2(value: str) -> bool:
    return value in country_alpha2()


def is_foreign_country(value: str) -> bool:
    return value in country_alpha2() and value not in _STATES


def is_continent(value: str) -> bool:
    return value.casefold() in _CONTINENTS


_DEGREES = Pattern(r"[-+]?(?:1[0-7]\d|\d{1,2}|180)\.\d{3,}", _A)
_LATITUDE = Pattern(r"[-+]?(?:[0-8]?\d(?:[.,]\d+)?|90(?:[.,]0+)?)(?:\s?°?\s?[NS])?", re.I | _A)
_LONGITUDE = Pattern(
    r"[-+]?(?:1[0-7]\d|\d{1,2})(?:[.,]\d+)?(?:\s?°?\s?[EWO])?|[-+]?180(?:[.,]0+)?", re.I | _A
)
_PAIR = Pattern(
    r"[(\[]?([-+]?\d{1,3}\.\d{2,})\s*(?:[,;]\s*|\s(?=\S*\.\d{4}))([-+]?\d{1,3}\.\d{2,})[)\]]?", _A
)
_DMS = Pattern(
    r"""\d{1,3}\s?[°º]\s?\d{1,2}(?:[.,]\d+)?\s?['′’](?:\s?\d{1,2}(?:[.,]\d+)?\s?(?:"|″|''|”))?\s?[NSEWO]?(?:[,\s]+\d{1,3}\s?[°º].*)?""",
    re.I,
)
_GEOHASH = Pattern(r"(?=.*\d)(?=.*[b-hj-np-z])[0-9b-hjkmnp-z]{5,12}", _A)
_WKT = Pattern(
    r"(?:SRID=\d+;)?(?:MULTI)?(?:POINT|LINESTRING|POLYGON)\s?(?:Z|M|ZM)?\s?(?:\(.*|EMPTY)|GEOMETRYCOLLECTION\s?\(.*",
    re.I | re.S,
)
_PLUS_CODE = Pattern(
    r"(?:[23456789CFGHJMPQRVWX]{8}|[23456789CFGHJMPQRVWX]{4})\+[23456789CFGHJMPQRVWX]{2,3}(?:\s.+)?"
)


def is_pair(value: str) -> bool:
    """Return whether a value is a latitude and a longitude, in either order."""
    match = _PAIR.fullmatch(value)
    return (
        match is not None
        and abs(float(match[1])) <= 180
        and abs(float(match[2])) <= 180
        and min(abs(float(match[1])), abs(float(match[2]))) <= 90
    )


def is_geojson(value: str) -> bool:
    """Return whether a value is a GeoJSON object; a long cell is cut, so its beginning is enough."""
    if not value.startswith("{") or '"type"' not in value:
        return False
    if '"coordinates"' in value and re.search(
        r'"type"\s*:\s*"(?:Multi)?(?:Point|LineString|Polygon)"', value
    ):
        return True
    try:
        return json.loads(value).get("type") in (
            "Feature",
            "FeatureCollection",
            "GeometryCollection",
        )
    except (ValueError, AttributeError, RecursionError):
        return False


RULES = read_rules("places", globals())
