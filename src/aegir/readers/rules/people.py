"""People, their telephones and their addresses; places on a map.

Almost everything about people (names, forms of address, gender, age, documents) depends on the header: "Paris" is a first name under `first_name` and a city under `city`.
From values alone the rules name only full names and given names that are mostly in the list, and words for gender and
marital status. Identity numbers with check digits are in numbers.py.

Telephone and fax numbers are checked against the world's numbering plans, international numbers (+43 …) as they are. National ones are checked against the plan of one country
for the whole column: the one of a short list in which most values are valid. North American numbers have a pattern
of their own and need no library. Under a header that names telephones a possible number is enough: films and
handbooks use numbers that nobody has. 123-4567 (a Japanese postal code, a local number) and 850312-1234567 (a Korean
identity number) are telephones only under such a header. The library is not imported until a column looks like digits with the
separators of phone numbers; at most `_MAX_VALUES` values are parsed.

Places are countries, regions, postal codes, airports, addresses, coordinates, cells and geometries. US ZIP codes are five-digit numbers, so alone they support postalCode without naming the fine type; British,
Canadian and Dutch codes, and Japanese ones after their sign 〒, have a pattern of their own. Two-letter codes that are also US states support the state.
Most numbers between -90 and 90 are no latitudes: a latitude or longitude needs a header, or at least three decimals
to support CoordinateAT without one.
"""

import json
import re
from functools import lru_cache

from aegir.readers.rules.column_summary import MIN_SHARE, ColumnSummary, evenly_spaced
from aegir.readers.rules.gazetteers import (
    country_alpha2,
    country_alpha3,
    country_names,
    first_names,
    word_set,
)
from aegir.readers.rules.headers import named_types, names_a_key, possible_types
from aegir.readers.rules.rule import PATTERNS, read_rules

_DEMONYMS = word_set("demonyms")
_GENDERS = word_set("genders")
_UNAMBIGUOUS_GENDERS = word_set("unambiguous_genders")
_MARITAL_STATUSES = word_set("marital_statuses")
_TITLES = word_set("titles")


def is_name_word(value: str) -> bool:
    """Return whether a value is one to three words of letters, as given and family names are."""
    return bool(PATTERNS["one_name"].fullmatch(value))


def is_known_first_name(value: str) -> bool:
    return value.casefold() in first_names()


def is_full_name(value: str) -> bool:
    """Return whether a value is two to five words of letters, capitalised."""
    return value[0].isupper() and bool(PATTERNS["full_name"].fullmatch(value))


def share_of_known_people(summary: ColumnSummary) -> float:
    """Return the share of full names; 0 where fewer than half begin with a known given name.

    The given name is the first word, or the second after a comma. The list holds only some names, so half of the
    values are enough for all.
    """
    names = first_names()
    known = shaped = others = 0
    for value, count in zip(summary.values, summary.counts, strict=True):
        if others * 2 > summary.total:
            return 0.0
        if not is_full_name(value):
            others += count
            continue
        shaped += count
        words = value.casefold().replace(".", " ").split()
        if words[0] in _TITLES and len(words) > 2:
            words = words[1:]
        first = words[1] if words[0].endswith(",") else words[0]
        if first.split("-")[0] in names:
            known += count
        else:
            others += count
    if known * 2 < summary.total:
        return 0.0
    return shaped / summary.total


def is_title(value: str) -> bool:
    return _TITLES.issuperset(value.casefold().replace(".", " ").split())


def is_gender(value: str) -> bool:
    return value.casefold() in _GENDERS


def is_unambiguous_gender(value: str) -> bool:
    return (
        value.casefold().removeprefix("http://schema.org/").removeprefix("https://schema.org/")
        in _UNAMBIGUOUS_GENDERS
    )


def is_nationality(value: str) -> bool:
    word = value.casefold()
    return (
        word in _DEMONYMS or word in country_names() or (len(value) in (2, 3) and value.isupper())
    )


def is_marital_status(value: str) -> bool:
    return value.casefold() in _MARITAL_STATUSES


PEOPLE_RULES = read_rules("people", globals())


_MAX_VALUES = 12
_REGIONS = (
    *("GB", "FR", "DE", "ES", "IT", "AU", "NZ", "IN", "NL"),
    *("BE", "CH", "AT", "BR", "JP", "PL", "SE", "ZA"),
)
_EXTENSION = re.compile(r"\s*(?:,|;)?\s*(?:ext|extn|x|app|dw)\.?\s?\d{1,6}$", re.I)
_PREFIX = re.compile(r"(?:tel|phone|fax|ph|t|f|telefon|fon|mobile?)\s?[.:]\s*", re.I)


def stripped(value: str) -> str:
    """Return a number without a leading "Tel.:" and a trailing extension."""
    return _EXTENSION.sub("", _PREFIX.sub("", value, count=1)).replace("\u00a0", " ").strip()


@lru_cache(maxsize=4096)
def is_valid_number(value: str, region: str | None) -> bool:
    """Return whether the number is valid in a numbering plan; `region` None needs a leading +."""
    import phonenumbers

    try:
        number = phonenumbers.parse(value, region)
    except phonenumbers.NumberParseException:
        return False
    return bool(phonenumbers.is_valid_number(number))


@lru_cache(maxsize=4096)
def is_possible_number(value: str) -> bool:
    """Return whether an international number has a length that its country uses, assigned or not."""
    import phonenumbers

    try:
        return bool(phonenumbers.is_possible_number(phonenumbers.parse(value, None)))
    except phonenumbers.NumberParseException:
        return False


def can_be_dialled(value: str) -> bool:
    """Return whether a value under a header for telephones is one: usual separators, a possible length."""
    number = stripped(value)
    if number.startswith("+"):
        return bool(PATTERNS["dialled"].fullmatch(number)) and is_possible_number(number)
    if PATTERNS["north_american"].fullmatch(number) or is_bare_number(number):
        return True
    # Nine digits or more in three groups are no date.
    return looks_like_phone(number) or (
        bool(PATTERNS["dialled"].fullmatch(number)) and 9 <= sum(c.isdigit() for c in number) <= 15
    )


def looks_like_phone(value: str) -> bool:
    """Return whether a value is seven to fifteen digits with separators and no date, decimal or range of years."""
    return _is_national(stripped(value))


def _is_national(value: str) -> bool:
    if not PATTERNS["dialled"].fullmatch(value) or (
        value[0] != "+" and PATTERNS["number_or_date"].fullmatch(value)
    ):
        return False
    return 7 <= sum(c.isdigit() for c in value) <= 15


def share_of_phones(summary: ColumnSummary) -> float:
    """Return the share of cells with a valid telephone number, at most `_MAX_VALUES` values being tested.

    National numbers count if they are valid in the one country in which most are. The result is 0 as soon as less than
    half of the cells can be telephones: a share below `MIN_SHARE` matches no rule, whatever it is.
    """
    chosen = list(summary.values)
    if len(chosen) > _MAX_VALUES:
        chosen = evenly_spaced(chosen, _MAX_VALUES)
    count_of = dict(zip(summary.values, summary.counts, strict=True))
    total = sum(count_of[value] for value in chosen)
    good, missed, national = 0, 0, []
    for value in chosen:
        number = stripped(value)
        if PATTERNS["north_american"].fullmatch(number):
            good += count_of[value]
        elif number.startswith("+") and PATTERNS["dialled"].fullmatch(number):
            good += count_of[value] * is_valid_number(number, None)
        elif _is_national(number):
            national.append(value)
        else:
            missed += count_of[value]
            if missed > total * (1 - MIN_SHARE):
                return 0.0
    national = _allowed_by_header(national, summary.header)
    if national and (good + sum(count_of[value] for value in national)) * 2 >= total:
        good += _best_national(national, count_of)
    return good / total


def _allowed_by_header(national: list[str], header: str | None) -> list[str]:
    """Return the national numbers that a header allows: case 1946-001 fits some country's plan."""
    if "telephone" in named_types(header):
        return national
    national = [
        v for v in national if not PATTERNS["postal_code_or_identity"].fullmatch(stripped(v))
    ]
    if header is None or "telephone" in possible_types(header):
        return national
    return [] if names_a_key(header) else [v for v in national if stripped(v)[0] in "0("]


def _best_national(values: list[str], count_of: dict[str, int]) -> int:
    """Return the number of cells valid in the best country; countries are tried on one value first."""
    best = 0
    probe = stripped(values[len(values) // 2])
    for region in _REGIONS:
        if is_valid_number(probe, region):
            good = sum(count_of[v] for v in values if is_valid_number(stripped(v), region))
            best = max(best, good)
            if good == sum(count_of[v] for v in values):
                break
    return best


def is_bare_number(value: str) -> bool:
    """Return whether a value is seven to fifteen digits: a telephone only if the header says so."""
    digits = value.removesuffix(".0")
    return digits.isascii() and digits.isdigit() and 7 <= len(digits) <= 15


PHONES_RULES = read_rules("phones", globals())


_AIRPORTS = word_set("airports")
_CONTINENTS = word_set("continents")
_STATE_NAMES = word_set("us_state_names")
_STATES = word_set("us_states")
_UNIT_CODES = word_set("unit_codes")


def is_country_name(value: str) -> bool:
    """Return whether a value names a country; two small letters, such as "us", are a code of anything."""
    return value.casefold() in country_names() and not (len(value) == 2 and value.islower())


def is_street(value: str) -> bool:
    """Return whether a value has a house number and a word for street, but no town or postal code."""
    return (
        any(c.isdigit() for c in value)
        and bool(PATTERNS["street_words"].search(value))
        and not is_full_address(value)
    )


def is_full_address(value: str) -> bool:
    """Return whether a value has street and town: it ends in a postal code with its place, or in a country."""
    if "," not in value and " " not in value:
        return False
    last = value.rpartition(",")[2].strip().casefold()
    return bool(PATTERNS["address_end"].search(value)) or (
        value.count(",") >= 2 and last in country_names() and any(c.isdigit() for c in value)
    )


def is_place(value: str) -> bool:
    """Return whether a value can name a place; `yes` and `no` cannot."""
    return bool(PATTERNS["place_words"].fullmatch(value)) and value.casefold() not in ("yes", "no")


def is_us_state(value: str) -> bool:
    return value in _STATES or value.casefold() in _STATE_NAMES


def is_locode(value: str) -> bool:
    match = PATTERNS["locode"].fullmatch(value)
    return match is not None and match[1] in country_alpha2()


def is_country_alpha3(value: str) -> bool:
    return value in country_alpha3() and value not in _UNIT_CODES


def is_country_alpha2(value: str) -> bool:
    return value in country_alpha2()


def is_foreign_country(value: str) -> bool:
    return value in country_alpha2() and value not in _STATES


def is_continent(value: str) -> bool:
    return value.casefold() in _CONTINENTS


def is_pair(value: str) -> bool:
    """Return whether a value is a latitude and a longitude, in either order."""
    match = PATTERNS["pair"].fullmatch(value)
    return (
        match is not None
        and abs(float(match[1])) <= 180
        and abs(float(match[2])) <= 180
        and min(abs(float(match[1])), abs(float(match[2]))) <= 90
    )


def is_geometry(value: str) -> bool:
    """Return whether a value is a geometry as WKT: `POINT (16.4 48.2)`, `POLYGON EMPTY`."""
    return ("(" in value or value[-1] in "Yy") and bool(PATTERNS["wkt"].fullmatch(value))


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


PLACES_RULES = read_rules("places", globals())
