"""What masking does to one value: a token, a shifted date, a wider class, or the mark of redaction.

    Tokens(key)("ada@example.org")        ->  tok_9f2c61d07be84a5530c1     the same in every file masked with the key
    Shifts(key, 365).days_for("C-1001")   ->  -121                     the same for every date of that person
    generaliser("age", ...)("47")         ->  40-49

Every function returns None for a value that does not fit: the caller redacts it. Tokens are HMAC-SHA256 of the value without
outer blanks, cut to 80 bits: without the key, values cannot be tried out.
"""

import hmac
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from aegir.masking.dates import find_date_format, shorten_date
from aegir.masking.policy import Generalising

TOKEN_PREFIX = "tok_"  # noqa: S105
TOKEN_BYTES = 10
LEAST_KEY = 16
"""Bytes of the shortest key that is taken."""
OLDEST_BAND = 90
"""Ages from which there is one band: few people are older, and each stands out."""
REMEMBERED = 1 << 16
"""Values whose masks are remembered: most columns repeat themselves."""
Change = Callable[[str], str | None]

_WHOLE_FLOAT = re.compile(r"-?\d{1,15}\.0")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_YEAR = re.compile(r"[12]\d{3}", re.ASCII)
_AGE = re.compile(r"\d{1,3}(?:\.\d+)?", re.ASCII)
_COORDINATES = re.compile(r"[(\[]?\s*-?\d{1,3}\.\d+(?:\s*[,; ]\s*-?\d{1,3}\.\d+)?\s*[)\]]?", re.ASCII)  # fmt: skip


class Tokens:
    """Keyed tokens: equal values have equal tokens, and a token tells nothing without the key."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def __call__(self, value: str) -> str:
        """The token of a value; 42.0 is 42, as a key stored as a float was before."""
        text = value.strip()
        if text[-2:] == ".0" and _WHOLE_FLOAT.fullmatch(text):
            text = text[:-2]
        return TOKEN_PREFIX + _digest(self.key, b"token", text)[:TOKEN_BYTES].hex()


class Shifts:
    """Keyed shifts of whole days, never 0: one per subject."""

    def __init__(self, key: bytes, most: int) -> None:
        self.key, self.most = key, most
        self.days_for = lru_cache(REMEMBERED)(self._days_for)

    def _days_for(self, subject: str) -> int:
        number = int.from_bytes(_digest(self.key, b"shift", subject.strip())[:8], "big")
        days = 1 + (number >> 1) % self.most
        return days if number & 1 else -days


def _digest(key: bytes, purpose: bytes, text: str) -> bytes:
    return hmac.digest(key, purpose + b"\0" + text.encode("utf-8", "surrogatepass"), "sha256")


def choose_generaliser(names: Sequence[str | None], datatype: str, values: Sequence[str]) -> str | None:  # fmt: skip
    """How a column can be generalised by what it is (fine type, type, kind) and holds; None if it cannot."""
    if {"postal_code", "postalCode"} & {*names}:
        return "postcode"
    if {"latitude", "longitude", "coordinate_pair", "CoordinateAT"} & {*names}:
        return "coordinates"
    if "age" in names:
        return "age"
    years = sum(_YEAR.fullmatch(value.strip()) is not None for value in values)
    about_time = "time" in names or "date_of_birth" in names
    if about_time and years > len(values) / 2:
        return "decade"
    if about_time or datatype in ("date", "datetime"):
        return "date" if find_date_format(values) else None
    return "number" if datatype in ("integer", "number") else None


def generaliser(way: str, how_much: Generalising, values: Sequence[str]) -> Change:
    """The function of a way to generalise; `values` are a sample, from which the format of dates is found."""
    form = find_date_format(values) or "%Y-%m-%d"
    changes: dict[str, Change] = {
        "postcode": lambda value: _prefix(value.strip(), how_much.postcodes),
        "coordinates": lambda value: _fewer_decimals(value, how_much.coordinates),
        "age": lambda value: _age_band(value.strip(), how_much.ages),
        "decade": lambda value: _decade(value.strip()),
        "date": lambda value: shorten_date(value, form, how_much.dates),
        "number": lambda value: _number_band(value.strip(), how_much.numbers),
    }
    return changes[way]


def _prefix(text: str, length: int) -> str | None:
    """The first characters of a postcode, which holds letters, digits, blanks and hyphens; the last two never stay."""
    plain = text.replace(" ", "").replace("-", "")
    if not plain.isalnum() or not 3 <= len(plain) <= 10 or not any(map(str.isdigit, plain)):
        return None
    kept = min(length, len(plain) - 2)
    return text[:kept] + "*" * (len(text) - kept)


def _fewer_decimals(text: str, decimals: int) -> str | None:
    if not _COORDINATES.fullmatch(text.strip()):
        return None
    return _NUMBER.sub(lambda match: f"{float(match[0]):.{decimals}f}", text.strip())


def _age_band(text: str, width: int) -> str | None:
    if not _AGE.fullmatch(text) or float(text) > 150:
        return None
    low = int(float(text)) // width * width
    return f"{OLDEST_BAND}+" if low >= OLDEST_BAND else f"{low}-{low + width - 1}"


def _decade(text: str) -> str | None:
    return f"{text[:3]}0-{text[:3]}9" if _YEAR.fullmatch(text) else None


def _number_band(text: str, digits: int) -> str | None:
    """The band of numbers that begin with the same digits, ten wide at least: 52300 is in 50000-59999, 7 in 0-9."""
    plain = text.replace(",", "") if _GROUPED.fullmatch(text) else text
    if not _NUMBER.fullmatch(plain) or len(plain) > 15:
        return None
    number = float(plain)
    step = 10 ** max(1, math.floor(math.log10(abs(number))) - digits + 1) if number else 10
    low = math.floor(number / step) * step
    return f"{low}-{low + step - 1}"
