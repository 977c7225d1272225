"""What a header says about its column, in English and the main European languages.

    hints_of("customerDOB")          ->  {"date_of_birth": "dob"}       fine types that the header suggests
    hints_of("Humidity (%)")         ->  {"percentage": "%"}            a unit says what is measured
    possible_types("Home phone")     ->  {telephone, faxNumber}         what plain numbers below it can be
    possible_types("population")     ->  {}
    possible_types("column_3")       ->  all of HEADER_DEPENDENT

Case, snake_case, camelCase, dots and dashes do not matter. Of two overlapping phrases the longer one wins
("date of birth" does not suggest a plain date). A unit wins against a word of another dimension: "length_mm" is
no duration. Short units are words of their own ("min" is a minimum, "in" a direction, "C" a class), so they count
only in brackets or after a word of their dimension. A hint is evidence, not proof: the judge uses it only where
the values agree.

A bare 31094 fits a postal code, a population and a key alike, so for plain numbers the header decides. Numbers
that are telephones, postal codes or coordinates nearly always stand under a header that says so; a header that
names something else excludes them, and one that says nothing (a letter, `column_3`, a script without a word list
here) excludes nothing.

The phrases are in gazetteers/header_phrases.tsv. They are matched whole; one that begins with = must be the whole
header ("length" is a duration, "petal length" is not). A header that ends in a word for classes ("region type") suggests
nothing that its other words name. A word such as "name", which products, people and streets
all have, is not listed. The units are in gazetteers/header_units.tsv.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from aegir.readers.rules.gazetteers import header_phrases, read_table, word_set, words
from aegir.readers.rules.rule import PATTERNS

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"[(\[]([^)\]]*)[)\]]")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_LATIN = re.compile("[a-zµßà-ɏ]")
_LONGEST_PHRASE = 4
_LONG_WORD = 4
"""Letters from which a word is found inside another."""
_QUALIFIERS = words("usd eur gbp cm mm km kg lbs celsius fahrenheit approx utc")
_KEY_WORDS = word_set("key_words")
_FLAG_OPENINGS = words("is has was can did does should are ist hat est")

_UNIT_ROWS = read_table("header_units.tsv", "measure units short_units dimension_words")
_UNITS = {unit: measure for measure, units, _, _ in _UNIT_ROWS for unit in units.split("|")}
"""What is measured, by unit."""
_SHORT_UNITS = {
    unit: measure for measure, _, units, _ in _UNIT_ROWS for unit in units.split("|") if unit
}
_DIMENSION_WORDS = {measure: frozenset(names.split("|")) for measure, _, _, names in _UNIT_ROWS}
MEASURES = frozenset(_DIMENSION_WORDS) | words("count time_of_day rating age currency_amount")
"""Fine types that a unit of another dimension rules out."""

TELEPHONES = words("telephone faxNumber")
HEADER_DEPENDENT = TELEPHONES | words("postalCode CoordinateAT Rating")
"""Column types that plain numbers have only where the header allows it."""
_PLACE_WORDS = word_set("place_words")
_CODE_WORDS = words("code codes codigo código codice kod kód")
"""`city code` and `location` may hold postal codes, though they do not name them; `code` alone is any code."""
_CLASS_WORDS = word_set("class_words")
"""Last words of headers over classes of what the words before name: `region_type`."""
_COUNT_WORDS = word_set("count_words")
"""`zip_population` and `Telephone lines` are counts: as first or last word these outweigh the rest."""
_UNINFORMATIVE = word_set("uninformative")


def words_of(header: str) -> tuple[str, ...]:
    """Return the lower-case words of a header, without brackets and without a unit at the end."""
    parts = _split(header)[0]
    while len(parts) > 1 and (parts[-1] in _QUALIFIERS or parts[-1].isdigit()):
        parts.pop()
    return tuple(parts)


@lru_cache(maxsize=4096)
def hints_of(header: str) -> dict[str, str]:
    """Return the fine types that a header suggests, each with the phrase that suggests it."""
    parts, bracketed = _split(header)
    measure = _measure_in(parts, bracketed or ("%" if "%" in header else ""))
    header_words = words_of(header)
    if measure and len(header_words) > 1 and header_words[-1] == measure[1]:
        header_words = header_words[:-1]
    hints = _match_phrases(header_words)
    if len(header_words) > 1 and header_words[0] in _FLAG_OPENINGS:
        hints.setdefault("boolean_flag", header_words[0])
    elif header.rstrip().endswith("?"):
        hints.setdefault("boolean_flag", "?")
    if measure:
        name, unit = measure
        hints = {other: phrase for other, phrase in hints.items() if other not in MEASURES}
        hints[name] = unit
    return hints


@lru_cache(maxsize=4096)
def names_a_key(header: str) -> bool:
    """Return whether the header ends in a word for keys and numbers: `order`, `customer_no`, `ref`."""
    header_words = words_of(header)
    return bool(header_words) and header_words[-1] in _KEY_WORDS


def names_a_dimension(header_words: Iterable[str]) -> bool:
    """Return whether a word stands for a length, a mass, a duration or the like."""
    return any(word in names for word in header_words for names in _DIMENSION_WORDS.values())


def names_measure(header: str, measure: str) -> bool:
    """Return whether a word for a measure stands anywhere in a header, long ones also inside another: `airtemperature`."""
    parts, bracketed = _split(header)
    text = f"{''.join(parts)} {bracketed.casefold()}"
    return any(
        word in parts or (len(word) >= _LONG_WORD and word in text)
        for word in _DIMENSION_WORDS[measure]
    )


def possible_types(header: str | None) -> frozenset[str]:
    """Return the types of `HEADER_DEPENDENT` that plain numbers under this header can have."""
    return named_types(header) if is_informative(header) else HEADER_DEPENDENT


@lru_cache(maxsize=4096)
def named_types(header: str | None) -> frozenset[str]:
    """Return the types of `HEADER_DEPENDENT` that the header names."""
    return _match_types(words_of(header)) if header and is_informative(header) else frozenset()


@lru_cache(maxsize=4096)
def is_informative(header: str | None) -> bool:
    """Return whether a header names anything: not `column_3`, `x`, `0`, nor scripts without word lists."""
    header_words = words_of(header) if header else ()
    if any(word.isalpha() and not _LATIN.match(word) for word in header_words):
        return bool(_match_types(header_words))
    return any(map(_is_informative_word, header_words))


@cache
def _phrase_table() -> dict[str, tuple[str, ...]]:
    """Return the fine types by phrase without spaces, in the order of the file."""
    table: dict[str, tuple[str, ...]] = {}
    for name, phrases in header_phrases().items():
        for phrase in phrases.casefold().split("|"):
            key = phrase.replace(" ", "")
            table[key] = (*table.get(key, ()), name)
    return table


def _split(header: str) -> tuple[list[str], str]:
    """Return the words outside brackets and the text of the last bracket."""
    text, bracketed = header[:200], ""
    if "(" in text or "[" in text:
        bracketed = ["", *_BRACKETS.findall(text)][-1]
        text = _BRACKETS.sub(" ", text)
    return _WORD.findall(_BOUNDARY.sub(" ", text).casefold()), bracketed


def _match_phrases(header_words: tuple[str, ...]) -> dict[str, str]:
    hints: dict[str, str] = {}
    taken: set[int] = set()
    table = _phrase_table()
    any_place = len(header_words) <= 2 and not _CLASS_WORDS.intersection(header_words[-1:])
    for name in table.get("=" + "".join(header_words), ()):
        hints[name] = " ".join(header_words)
    for length in range(min(_LONGEST_PHRASE, len(header_words)), 0, -1):
        for start in range(len(header_words) - length + 1):
            span = range(start, start + length)
            # The last words say what the column holds ("customer city"); earlier ones only qualify.
            key = "".join(header_words[start : start + length])
            names = table.get(key) or table.get(key.rstrip("0123456789"))  # email2
            if names and not taken.intersection(span):
                taken.update(span)
                if span.stop == len(header_words) or any_place:
                    for name in names:
                        hints.setdefault(name, " ".join(header_words[start : start + length]))
    return hints


def _measure_in(header_words: list[str], bracketed: str) -> tuple[str, str] | None:
    """Return what the bracket or the last word measures, and its unit; None without a unit."""
    bracketed = bracketed.casefold().strip()
    if "%" in bracketed:
        return "percentage", "%"
    last = header_words[-1] if len(header_words) > 1 else ""
    for unit in (bracketed, last):
        if unit in _UNITS:
            return _UNITS[unit], unit
    for unit, others in ((bracketed, header_words), (last, header_words[:-1])):
        measure = _SHORT_UNITS.get(unit)
        in_brackets = unit == bracketed and unit != "s"  # `Month(s)` is a plural
        if measure and (in_brackets or not _DIMENSION_WORDS[measure].isdisjoint(others)):
            return measure, unit
    return None


def _match_types(header_words: tuple[str, ...]) -> frozenset[str]:
    types: set[str] = set()
    if _COUNT_WORDS.isdisjoint((*header_words[:1], *header_words[-1:])):
        if any(map(PATTERNS["header_telephone"].search, header_words)):
            types |= TELEPHONES
        if any(map(PATTERNS["header_postal_code"].search, header_words)) or _is_place_code(
            header_words
        ):
            types.add("postalCode")
    if any(map(PATTERNS["header_coordinate"].search, header_words)):
        types.add("CoordinateAT")
    if any(map(PATTERNS["header_rating"].search, header_words)):
        types.add("Rating")
    return frozenset(types)


def _is_place_code(header_words: tuple[str, ...]) -> bool:
    return not _PLACE_WORDS.isdisjoint(header_words) and (_PLACE_WORDS | _CODE_WORDS).issuperset(
        header_words
    )


def _is_informative_word(word: str) -> bool:
    """Return False for fillers and single letters; a column headed 1998 holds what was counted then."""
    if word.isdigit():
        return bool(_YEAR.fullmatch(word))
    return len(word) > 1 and word.rstrip("0123456789") not in _UNINFORMATIVE
