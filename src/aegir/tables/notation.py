"""How the values of a column are written, so that other programs can parse them: date formats, decimal signs, boolean words.

    find_notation(["14.03.2030", "02.03.2030"], "date")    format %d.%m.%Y
    find_notation(["1.234,50", "0,99", "n/a"], "number")   decimal ",", group ".", missing ("n/a",)
    find_notation(["ja", "nein"], "string")                 datatype boolean, true ("ja",), false ("nein",)

Promises
  - a notation is what most of the values agree with; `unparsed` counts those that do not, and `parses` decides for one;
  - a date whose day and month may be exchanged has no notation: its column stays text;
  - a number with leading zeros does not parse, because the zeros would be lost.

Formats are those of `strptime` (Python, DuckDB); `ISO` stands for ISO 8601 date-times that differ in seconds or fractions, `ISO_ZONE`
for those with a zone.
Names of months are English.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from aegir.tables.datatype import MISSING, cell_datatype, is_typed
from aegir.tables.table import Notation

ISO, ISO_ZONE = "iso", "iso_zone"
FORMATS_BY = 8
"""Distinct values from which formats are taken; all values decide between these."""
FEW_WORDS = 12
LONGEST_INTEGER = 38
BIGINT_DIGITS = 18

_DATES = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d.%m.%Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y"),
    *("%d %B %Y", "%d-%B-%Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y"),
)
_TIMES = (
    *("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I:%M:%S%p"),
)
_BETWEEN = ("T", " ", ", ")
_ZONES = ("", "%z", " %z")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
DIRECTIVES = {
    "%Y": "([0-9]{4})",
    "%y": "([0-9]{2})",
    "%m": "(0?[1-9]|1[0-2])",
    "%d": "(0?[1-9]|[12][0-9]|3[01])",
    "%H": "([01]?[0-9]|2[0-3])",
    "%I": "(0?[1-9]|1[0-2])",
    "%M": "([0-5][0-9])",
    "%S": "([0-5][0-9])",
    "%f": "([0-9]{1,6})",
    "%p": "([AaPp][Mm])",
    "%z": "(Z|[+-][0-9]{2}:?[0-9]{2})",
    "%b": "([A-Za-z]{3})",
    "%B": "([A-Za-z]{3,9})",
}
_ISO_MINUTE = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}"
ISO_SHAPES = {
    ISO: f"{_ISO_MINUTE}(:[0-9]{{2}}([.][0-9]{{1,6}})?)?",
    ISO_ZONE: f"{_ISO_MINUTE}:[0-9]{{2}}([.][0-9]{{1,6}})?(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)",
}
EXPONENT = "([eE][+-]?[0-9]{1,2})?"
_SEPARATORS = ((".", ""), (".", ","), (",", ""), (",", "."))
"""Decimal and group characters, the commonest first."""
BOOLEAN_WORDS = (
    *(("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("ja", "nein"), ("ja", "nej")),
    *(("ja", "nee"), ("oui", "non"), ("vrai", "faux"), ("wahr", "falsch"), ("sí", "no")),
    *(("si", "no"), ("sim", "não"), ("vero", "falso"), ("tak", "nie"), ("evet", "hayır")),
    ("да", "нет"),
)


def find_notation(values: Sequence[str], datatype: str, *, typed_source: bool = False) -> Notation:
    """Return the notation with which most of the present values agree; a typed source holds more than texts."""
    if datatype == "string":
        found = _boolean_notation(values, both=True) or Notation()
        return found._replace(plain_text=not typed_source or not any(map(_may_be_typed, values)))
    if datatype == "empty":
        return Notation("empty", missing=_missing_words(Counter(values)))
    counts = Counter(values)
    missing = _missing_words(counts)
    padded = any(value != value.strip() for value in counts)
    present: Counter[str] = Counter()
    for value, count in counts.items():
        if (text := value.strip()).lower() not in MISSING:
            present[text] += count
    if not present:
        return Notation("empty", missing=missing)
    agreed = _find(present, datatype)
    if agreed is None:
        return Notation(plain_text=not typed_source)
    return agreed._replace(missing=missing, padded=padded, plain_text=not typed_source)


def _may_be_typed(cell: str) -> bool:
    """Whether a cell may be the text of a number, boolean, date, list or object."""
    return is_typed(cell_datatype(cell)) or cell[:1] in ("[", "{", "0", "P")


def parses(notation: Notation, cell: str) -> bool:
    """Whether a cell that is not missing is written in this notation; blanks around it do not count."""
    text = cell.strip()
    if notation.datatype == "boolean":
        return text in notation.true or text in notation.false
    match = shape_pattern(notation).fullmatch(text)
    if match is None or notation.format is None:
        return match is not None
    return is_date(notation.format, text)


def is_missing(notation: Notation, cell: str) -> bool:
    """Whether a cell stands for no value."""
    return not cell or cell in notation.missing


@lru_cache(maxsize=256)
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape)


def shape_pattern(notation: Notation) -> re.Pattern[str]:
    """The pattern that `shape_of` gives, compiled."""
    return _compiled(shape_of(notation))


def shape_of(notation: Notation) -> str:
    """A regular expression for the values of a notation that Python, DuckDB and PostgreSQL read alike; `.*` for text."""
    if notation.datatype == "integer":
        return _integer_shape(notation.group, notation.digits)
    if notation.datatype == "number":
        return _number_shape(notation.decimal, notation.group)
    if notation.format is not None:
        return format_shape(notation.format)
    return ".*"


@lru_cache(maxsize=256)
def format_shape(format_: str) -> str:
    """A regular expression for the texts of a format, for `strptime` with a group per directive."""
    if format_ in ISO_SHAPES:
        return ISO_SHAPES[format_]
    parts = re.split("(%[A-Za-z])", format_)
    return "".join(DIRECTIVES.get(part) or re.sub("[.]", "[.]", part) for part in parts)


def is_date(format_: str, text: str) -> bool:
    """Whether a text of the shape of a format is a date or time of the calendar."""
    try:
        if format_ in ISO_SHAPES:
            datetime.fromisoformat(text)
        else:
            _check_date(format_, text)
    except ValueError:
        return False
    return True


def _check_date(format_: str, text: str) -> None:
    """Raise `ValueError` for a text that is no date; five times as fast as `strptime`."""
    match = _compiled(format_shape(format_)).fullmatch(text)
    if match is None:
        raise ValueError(text)
    parts: dict[str, str] = dict(
        zip(re.findall("%([A-Za-z])", format_), match.groups(), strict=True)
    )
    month = int(parts.get("m", 1))
    if "b" in parts or "B" in parts:
        month = _month(parts)
    hour = int(parts.get("H", parts.get("I", 0)))
    if "I" in parts and not 1 <= hour <= 12:
        raise ValueError(text)
    year = int(parts.get("Y", parts.get("y", 2000))) or 2000
    datetime(
        year, month, int(parts.get("d", 1)), hour, int(parts.get("M", 0)), int(parts.get("S", 0))
    )


def _month(parts: Mapping[str, str]) -> int:
    if "b" in parts:
        return [name[:3] for name in _MONTHS].index(parts["b"].lower()) + 1
    return _MONTHS.index(parts["B"].lower()) + 1


def _find(present: Mapping[str, int], datatype: str) -> Notation | None:
    if datatype in ("integer", "number"):
        return _number_notation(present, datatype)
    if datatype == "boolean":
        return _boolean_notation(list(present), both=False)
    return _date_notation(present)


def _number_notation(present: Mapping[str, int], datatype: str) -> Notation:
    """Integers if all values are; else the number notation that most values have."""
    if datatype == "integer":
        digits = max((sum(map(str.isdigit, text)) for text in present), default=1)
        limit = BIGINT_DIGITS if digits <= BIGINT_DIGITS else LONGEST_INTEGER
        for group in ("", ","):
            pattern = _compiled(_integer_shape(group, limit))
            if all(map(pattern.fullmatch, present)):
                return Notation("integer", group=group, digits=limit)
    best, fewest = Notation("number"), sum(present.values()) + 1
    for decimal, group in _SEPARATORS:
        pattern = _compiled(_number_shape(decimal, group))
        unparsed = sum(count for text, count in present.items() if not pattern.fullmatch(text))
        if unparsed < fewest:
            best = Notation("number", decimal=decimal, group=group, unparsed=unparsed)
            fewest = unparsed
    scale, exponent = _scale(present, best)
    return best._replace(scale=scale, exponent=exponent)


def _scale(present: Mapping[str, int], notation: Notation) -> tuple[int | None, bool]:
    """The number of decimals that at least 95 % of the values have, and whether any has an exponent."""
    scales: Counter[int] = Counter()
    exponent = False
    for text, count in present.items():
        exponent = exponent or "e" in text.lower()
        scales[len(text.partition(notation.decimal)[2])] += count
    if not scales or exponent:
        return None, exponent
    scale, count = scales.most_common(1)[0]
    return (scale if count >= 0.95 * scales.total() and scale == max(scales) else None), exponent


@lru_cache(maxsize=64)
def _integer_shape(group: str, digits: int) -> str:
    plain = f"[+-]?(0|[1-9][0-9]{{0,{max(digits, 1) - 1}}})"
    return f"{plain}|[+-]?[1-9][0-9]{{0,2}}({_literal(group)}[0-9]{{3}})+" if group else plain


@lru_cache(maxsize=64)
def _number_shape(decimal: str, group: str) -> str:
    whole = "0|[1-9][0-9]*"
    if group:
        whole += f"|[1-9][0-9]{{0,2}}({_literal(group)}[0-9]{{3}})+"
    point = _literal(decimal)
    return f"[+-]?(({whole})({point}[0-9]*)?|{point}[0-9]+){EXPONENT}"


def _literal(char: str) -> str:
    return "[.]" if char == "." else char


def _boolean_notation(values: Iterable[str], *, both: bool) -> Notation | None:
    """The words for true and false, those not seen among them; None if others occur. With `both`, one of each is seen."""
    words: set[str] = set()
    for value in values:
        if value not in words and (text := value.strip()):
            if len(text) > 6 or len(words) >= FEW_WORDS:
                return None
            words.add(value)
    known = {word.strip() for word in words if word.strip().lower() not in MISSING}
    lowered = {word.lower() for word in known}
    pairs = [pair for pair in BOOLEAN_WORDS if lowered.intersection(pair)]
    whole = [pair for pair in pairs if lowered.issuperset(pair)]
    pairs = (
        whole if whole and lowered.issubset({word for pair in whole for word in pair}) else pairs
    )
    if not pairs or not lowered.issubset({word for pair in pairs for word in pair}):
        return None
    if both and not whole:
        return None
    true = {_cased(pair[0], word) for pair in pairs for word in known if word.lower() in pair}
    false = {_cased(pair[1], word) for pair in pairs for word in known if word.lower() in pair}
    return Notation(
        "boolean",
        true=tuple(sorted(true)),
        false=tuple(sorted(false)),
        missing=tuple(sorted(word for word in words if word.strip().lower() in MISSING)),
        padded=any(word != word.strip() for word in words),
    )


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word


def _date_notation(present: Mapping[str, int]) -> Notation | None:
    """The format that parses most values; None if a format with day and month exchanged parses as many."""
    tried = dict.fromkeys(
        format_ for text in list(present)[:FORMATS_BY] for format_ in _formats_of(text)
    )
    for iso, shape in ISO_SHAPES.items():
        if any(map(_compiled(shape).fullmatch, list(present)[:FORMATS_BY])):
            tried[iso] = None
    best: Notation | None = None
    for format_ in tried:
        pattern = _compiled(format_shape(format_))
        unparsed = sum(
            count
            for text, count in present.items()
            if not (pattern.fullmatch(text) and is_date(format_, text))
        )
        if best is None or unparsed < best.unparsed:
            best = Notation(_datatype_of(format_), format_, unparsed=unparsed)
        elif unparsed == best.unparsed and _exchanged(format_) == best.format:
            return None
    if best is None:
        return None
    fraction = "[.][0-9]+$" if (best.format or "").endswith("%f") else "$"
    single = any(
        re.search("(?<![0-9])[0-9](?![0-9])", re.sub(fraction, "", text)) for text in present
    )
    return best._replace(two_digits=not single)


def _exchanged(format_: str) -> str:
    return format_.translate({ord("d"): "m", ord("m"): "d"})


def _datatype_of(format_: str) -> str:
    if format_ in ISO_SHAPES:
        return "datetime"
    has_date, has_time = "%d" in format_, "%M" in format_
    return "datetime" if has_date and has_time else "date" if has_date else "time"


@lru_cache(maxsize=1 << 12)
def _formats_of(text: str) -> tuple[str, ...]:
    """The formats of which a text is a date, a time or both."""
    formats = []
    for date in ("", *_DATES):
        start = _compiled(format_shape(date)).match(text)
        if start is None:
            continue
        if start.end() == len(text) and date:
            formats.append(date)
            continue
        rest = text[start.end() :]
        for between in _BETWEEN if date else ("",):
            if rest.startswith(between):
                formats += [
                    date + between + time
                    for time in _times_with_zone()
                    if _compiled(format_shape(time)).fullmatch(rest.removeprefix(between))
                ]
    return tuple(each for each in formats if is_date(each, text))


@lru_cache(maxsize=1)
def _times_with_zone() -> tuple[str, ...]:
    return tuple(time + zone for time in _TIMES for zone in _ZONES if "%p" not in time or not zone)


def _missing_words(counts: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(value for value in counts if value and value.strip().lower() in MISSING))
