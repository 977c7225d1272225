"""Places on a map: coordinates, cells and geometries.

Most numbers between -90 and 90 are no latitudes: a latitude or longitude needs a header, or at least three decimals
to support CoordinateAT without one.
"""

import json
import re

from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import (
    BRACE,
    DIGIT,
    DOT,
    LETTER,
    LOWER,
    NUMERIC,
    PLUS,
    SPACE,
    UPPER,
)
from aegir.readers.rules.rule import Rule

_A = re.ASCII
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


RULES = (
    Rule(
        "latitude",
        "numbers from -90 to 90",
        _LATITUDE.fullmatch,
        needs=DIGIT,
        length=(1, 22),
        confidence_with_header=0.95,
    ),
    Rule(
        "longitude",
        "numbers from -180 to 180",
        _LONGITUDE.fullmatch,
        needs=DIGIT,
        length=(1, 22),
        confidence_with_header=0.95,
    ),
    Rule(
        "degrees",
        "numbers like degrees on a map",
        _DEGREES.fullmatch,
        needs=NUMERIC | DOT,
        length=(5, 24),
        support=(("CoordinateAT", 0.94),),  # 30 of 31 labelled columns
    ),
    Rule(
        "coordinate_pair",
        "pairs of coordinates",
        is_pair,
        confidence=0.93,
        needs=DIGIT | DOT,
        excludes=LETTER,
        length=(9, 60),
        support=(("CoordinateAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "coordinate_dms",
        "coordinates in degrees and minutes",
        _DMS.fullmatch,
        confidence=0.95,
        needs=DIGIT,
        length=(5, 60),
        support=(("CoordinateAT", 0.5),),  # no labelled column to measure on: a cautious guess
    ),
    Rule(
        "geohash",
        "geohashes",
        _GEOHASH.fullmatch,
        needs=DIGIT | LOWER,
        excludes=UPPER | SPACE,
        length=(5, 12),
        confidence_with_header=0.92,
    ),
    Rule(
        "wkt_geometry",
        "WKT geometries",
        _WKT.fullmatch,
        confidence=0.98,
        needs=LETTER,
        length=(9, 512),
    ),
    Rule("geojson", "GeoJSON objects", is_geojson, confidence=0.97, needs=BRACE, length=(20, 512)),
    Rule(
        "plus_code", "plus codes", _PLUS_CODE.fullmatch, confidence=0.95, needs=PLUS, length=(7, 60)
    ),
)
