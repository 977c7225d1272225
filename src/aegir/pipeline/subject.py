"""Which column of a table names its rows, judged by what the columns were found to be, and which columns are its key.

    find_subject(table, answers)        the index of a column without gaps or repetition, or None
    find_keys(table, answers, profiles) the likely primary key, of one column or two, and sketches for foreign_keys.py

A name, a key or a title can name a row; a quantity, a flag, a duration, a coordinate or prose cannot, though all its
values may differ. Where nothing else does, a date can. What begins a table (only constant columns stand before it) may be
a date, as in a time series, or a postal code, as in a list of areas; a key or a name further right goes before these, in
a table of KEY_ROWS rows. Whole numbers that rise from row to row in the first column are the last resort.

A primary key has no gaps and no repetition in the sample, and is called like one: `id`, `order_id` in a table of orders,
any other `…_id`, or it is an identifier, or stands first. Two columns are a key where no single one is likely, both are called like
keys, and no pair of values repeats. A sample cannot prove a key, so a key has a confidence. A declared key is the key.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from struct import pack
from zlib import crc32

from aegir.answers.annotation import ColumnAnnotation
from aegir.answers.keys import KeySketch, PrimaryKey
from aegir.tables.datatype import MISSING, ColumnProfile
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import TYPE_NAMES

KEY_ROWS = 8
"""In fewer rows any column may differ by chance."""
_QUANTITIES = frozenset(("number", "money", "measure"))
_NAMES_OF_UNITS = frozenset(
    ("currency", "currency_code", "currency_name", "unitCode", "unitText", "unit_code", "unit_name")
)
"""Names of those kinds that are no quantities."""
_DESCRIPTIONS = frozenset(
    (
        *("Boolean", "boolean_flag", "Rating", "ml_feature"),
        *("Duration", "duration", "elapsed_time", "iso_duration", "time_range", "date_of_death"),
        *("Time", "time_of_day"),
        *("openingHours", "opening_hours", "workHours", "weekly_hours"),
        *("CoordinateAT", "latitude", "longitude", "coordinate_pair", "coordinate_dms"),
        *("coordinate_list", "cartesian_coordinate", "elevation", "direction", "geojson"),
        *("wkb_geometry", "wkt_geometry", "genomic_position", "dose", "physiological"),
        *("age", "blood_type", "body_height", "body_weight", "date_of_birth", "gender"),
        *("GenderType", "honorific", "name_suffix", "nationality", "telephone", "faxNumber"),
        *("telephone_number", "fax_number", "free_text", "note", "question_or_answer", "Review"),
        *(name for name in TYPE_NAMES if name.endswith("/description")),
        *("html_fragment", "list_of_items", "keyword_list", "ItemList", "emoji"),
        *("json_array", "json_object", "xml_fragment", "source_code", "sql", "command"),
        *("error_message", "user_agent", "base64_data", "hex_data", "jwt", "secret"),
        *("configuration_value", "Photograph", "image_url", "all_missing", "constant"),
    )
)
"""Names of other kinds that tell something about a row and do not name it."""
_LEADING = frozenset(("postalCode", "postal_code", "semantic_version", "text"))
"""Names that name rows only where a table begins with them; so do those of the kind `time`."""
_KEYS = frozenset(("identifier", "name", "person"))
_WHOLE = re.compile(r"\d{1,18}", re.ASCII).fullmatch


def find_subject(table: Table, answers: Sequence[ColumnAnnotation]) -> int | None:
    """Return the column that names every row, or None."""
    differ = [
        answer
        for column, answer in zip(table.columns, answers, strict=True)
        if _differs(column) and not describes(answer)
    ]
    if not differ:
        return _first_if_numbered(table)
    first = differ[0].index
    naming = [answer for answer in differ if not _leads(answer)]
    keys = [answer for answer in naming if _is_key(answer)]
    if not _leads(differ[0]) or not naming:
        return first
    if _begins(table, first):
        return keys[0].index if keys and len(table.columns[first].values) >= KEY_ROWS else first
    return (keys or naming)[0].index


def describes(answer: ColumnAnnotation) -> bool:
    """Return whether a column tells something about a row without naming it."""
    if answer.label is None:
        return answer.datatype == "number"
    return is_description(answer.kind, answer.label, answer.type)


def is_description(kind: str | None, *names: str | None) -> bool:
    """Return whether columns of this kind and of these names tell something about a row without naming it."""
    if kind in _QUANTITIES:
        return _NAMES_OF_UNITS.isdisjoint(names)
    return not _DESCRIPTIONS.isdisjoint(names)


def repeats(column: Column) -> bool:
    """Return whether fewer than half of a column's cells differ."""
    return 2 * len(set(column.present)) < len(column.present)


def _leads(answer: ColumnAnnotation) -> bool:
    return answer.kind == "time" or answer.label in _LEADING or answer.type in _LEADING


def _is_key(answer: ColumnAnnotation) -> bool:
    return answer.kind in _KEYS and answer.label != "foreign_key"


def _differs(column: Column) -> bool:
    """Return whether no cell is missing and no two are equal."""
    present = column.present
    return len(present) == len(column.values) == len(set(present)) > 0


def _first_if_numbered(table: Table) -> int | None:
    """Return the first column if it numbers the rows: whole numbers that only rise, in two rows or more."""
    values = table.columns[0].values if table.columns else ()
    if len(values) < 2 or not all(map(_WHOLE, values)):
        return None
    return 0 if all(int(a) < int(b) for a, b in pairwise(values)) else None


def _begins(table: Table, index: int) -> bool:
    """Return whether only columns of one value, or of none, stand before a column."""
    return all(len(set(column.present)) <= 1 for column in table.columns[:index])


LEAST_KEY = 0.5
"""Confidence from which a primary key is answered."""
LONGEST_KEY = 40
"""Mean length of the longest texts that are keys."""
MOST_HASHES = 256
"""Hashes that are kept of a column: the least of them, so that two columns keep the same ones."""
MOST_PAIRED = 6
"""Columns that are tried in pairs."""
PREFIXED = 0.8
"""Share of the headers of a table that begin with the same word, from which on it means nothing."""
KEY_WORDS = frozenset(
    (
        *("id", "key", "pk", "sk", "fk", "code", "cd", "no", "nr", "num", "number"),
        *("uuid", "guid", "uid", "ref", "ident", "identifier"),
    )
)
_KEY_ENDS = ("uuid", "guid", "code", "number", "key", "id")
"""Key words that end a header without a mark between the words (`albumid`)."""
_AFFIXES = frozenset(
    (
        *("dim", "fact", "fct", "stg", "tbl", "tb", "tab", "table", "raw", "src", "mart", "lkp"),
        *("ref", "data", "dataset", "t", "d", "f", "vw"),
    )
)
"""Words of table names that say what sort of table it is, not what its rows are."""
_BOUNDARY = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^0-9A-Za-z\u0080-\U0010ffff]+"
)
PARENTS = frozenset(("parent", "replyto", "previous", "predecessor", "successor", "replacedby"))
"""Headers, without a word for key, that refer to another row of the same table, …"""
SUPERIORS = frozenset(("reportto", "reportsto", "manager", "mgr", "supervisor", "boss", "superior"))
PEOPLE = frozenset(
    ("employee", "emp", "staff", "person", "people", "user", "member", "worker", "agent")
)
"""… and those that do so in tables of people."""
_POSITIONS = ("line", "seq", "position", "ordinal")
"""Beginnings of headers that number the parts of something."""
_PAIRED_KINDS = frozenset(("identifier", "name", "place", "category", "time", "person"))
_EXPECTED_COLLISIONS = 3.0
"""Pairs of equal rows that chance would give two columns of values, from which on their absence means something."""


Words = tuple[str, ...]


@lru_cache(maxsize=4096)
def words_of(name: str) -> Words:
    """Return the words of a header or the name of a table, in lower case and singular."""
    return tuple(_singular(word.lower()) for word in _BOUNDARY.split(name) if word)


def header_words(names: Sequence[str | None]) -> list[Words]:
    """Return the words of the headers of a table, without one that begins nearly all of them (`o` in `o_orderkey`)."""
    headers = [words_of(name or "") for name in names]
    firsts = Counter(words[0] for words in headers if len(words) > 1)
    word, count = firsts.most_common(1)[0] if firsts else ("", 0)
    if len(names) < 3 or count < PREFIXED * len(names):
        return headers
    return [words[1:] if words[:1] == (word,) and len(words) > 1 else words for words in headers]


def split_key_word(words: Words) -> tuple[Words, str | None]:
    """Return what a header names, and the word that says it is a key: `customer`, `id`; None without such a word."""
    if not words:
        return (), None
    if words[-1] in KEY_WORDS:
        return words[:-1], words[-1]
    if words[0] in ("id", "fk", "pk"):
        return words[1:], words[0]
    for end in _KEY_ENDS:
        if words[-1].endswith(end) and len(words[-1]) > len(end) + 2:
            return (*words[:-1], _singular(words[-1].removesuffix(end))), end
    return words, None


def table_words(name: str) -> Words:
    """Return the words of a table's name that say what its rows are."""
    words = words_of(name)
    return tuple(word for word in words if word not in _AFFIXES and not word.isdigit()) or words


def find_keys(
    table: Table, answers: Sequence[ColumnAnnotation], profiles: Sequence[ColumnProfile]
) -> tuple[PrimaryKey | None, tuple[KeySketch, ...]]:
    """Return the primary key, if one is likely, and sketches of the columns that may take part in keys."""
    named = table_words(_name_within(table))
    words = header_words([answer.name for answer in answers])
    among_keys = any(map(_is_repeated_key, words, profiles))
    chances = [
        _key_chance(answer, profile, words[answer.index], named, among_keys=among_keys)
        for answer, profile in zip(answers, profiles, strict=True)
    ]
    best = max(range(len(chances)), key=chances.__getitem__, default=None)
    key = None
    if declared := tuple(
        index
        for index, column in enumerate(table.columns)
        if column.declared and column.declared.primary_key
    ):
        key = PrimaryKey(declared, 1.0, holds=profiles[declared[0]].complete, declared=True)
        chances = [1.0 if declared == (index,) else each for index, each in enumerate(chances)]
    elif best is not None and chances[best] >= LEAST_KEY:
        key = PrimaryKey((best,), chances[best], holds=profiles[best].complete)
    if key is None or key.confidence < _OF_THIS_TABLE:
        pair = _paired_key(table, answers, profiles, words, named)
        key = pair if pair and (key is None or pair.confidence > key.confidence) else key
    sketches = tuple(
        _sketch(table.columns[answer.index], answer.index, chance)
        for answer, profile, chance in zip(answers, profiles, chances, strict=True)
        if chance >= LEAST_KEY or _may_refer(answer, profile, words[answer.index])
    )
    return key, sketches


_OF_THIS_TABLE, _PART_OF_NAME, _ANY_KEY, _IDENTIFIER, _FIRST = 0.97, 0.85, 0.75, 0.7, 0.6
_AMONG_KEYS = 0.7
"""What is left where rows were left out and another column, which repeats, is called like a key: values of a sample differ by chance."""
_DIFFER_BY_CHANCE = 0.9
"""What is left of two columns that a sample would not show to repeat."""
_BRIDGE, _NUMBERED, _TWO_KEYS, _TWO_NAMES = 0.9, 0.85, 0.8, 0.6
"""How often columns that are unique in the sample are keys, by what they are called (docs/answers.md has the measurement)."""


def _key_chance(
    answer: ColumnAnnotation,
    profile: ColumnProfile,
    words: Words,
    named: Words,
    *,
    among_keys: bool,
) -> float:
    """Return how likely a column is the key of its table; 0 where values repeat or are missing."""
    if profile.missing or profile.distinct != profile.rows or not profile.rows:
        return 0.0
    if not _can_be_key(answer, profile):
        return 0.0
    stem, key_word = split_key_word(words)
    first = 0.1 * (answer.index == 0)
    if key_word or (words and "".join(words) == "".join(named)):
        match = _match_table(stem, named)
        other = _ANY_KEY + first
        by_chance = among_keys and not profile.complete
        return max(match, _AMONG_KEYS * other if by_chance else other)
    if answer.kind == "identifier":
        return _IDENTIFIER + first
    if describes(answer) or profile.rows < KEY_ROWS:
        return 0.0
    return _FIRST if answer.index == 0 else 0.3


def _is_repeated_key(words: Words, profile: ColumnProfile) -> bool:
    """Return whether a column is called like a key and repeats."""
    repeated = 1 < profile.distinct < profile.rows - profile.missing
    return repeated and split_key_word(words)[1] is not None


def _match_table(stem: Words, named: Words) -> float:
    """Return how likely a key that names these things is that of a table of this name."""
    joined, table = "".join(stem), "".join(named)
    if not joined or joined == table:
        return _OF_THIS_TABLE
    return _PART_OF_NAME if stem[-1] in named or joined in table else 0.0


def _can_be_key(answer: ColumnAnnotation, profile: ColumnProfile) -> bool:
    if answer.datatype in ("boolean", "empty", "time", "number"):
        return False
    return profile.mean_length <= LONGEST_KEY


def _may_refer(answer: ColumnAnnotation, profile: ColumnProfile, words: Words) -> bool:
    """Return whether the values of a column may be keys of some table."""
    if profile.distinct == 0 or answer.datatype in ("boolean", "date", "datetime", "time"):
        return False
    if profile.mean_length > LONGEST_KEY or (profile.least or 0) < 0:
        return False
    if split_key_word(words)[1] or answer.kind == "identifier":
        return True
    if "".join(words) in PARENTS or "".join(words) in SUPERIORS:
        return True
    return answer.datatype != "number" and not describes(answer)


def _paired_key(
    table: Table,
    answers: Sequence[ColumnAnnotation],
    profiles: Sequence[ColumnProfile],
    words: Sequence[Words],
    named: Words,
) -> PrimaryKey | None:
    """Return the likeliest key of two columns."""
    keys = [
        each
        for each in answers
        if not profiles[each.index].missing
        and profiles[each.index].distinct > 1
        and each.datatype not in ("number", "boolean")
        and profiles[each.index].mean_length <= LONGEST_KEY
    ]
    stems = {each.index: split_key_word(words[each.index]) for each in keys}
    called = [each.index for each in keys if stems[each.index][1]][:MOST_PAIRED]
    best: PrimaryKey | None = None
    for first, second in combinations(called, 2):
        parts = ["".join(stems[index][0]) for index in (first, second)]
        is_bridge = all(part and part in "".join(named) for part in parts)
        chance = _BRIDGE if is_bridge and parts[0] != parts[1] else _TWO_KEYS
        if any(part.startswith(_POSITIONS) for part in parts):
            chance = max(chance, _NUMBERED)
        by_chance = _expected_collisions(profiles, first, second) < 1
        if chance == _TWO_KEYS and by_chance and not profiles[first].complete:
            chance *= _DIFFER_BY_CHANCE
        if (best is None or chance > best.confidence) and _together_unique(table, first, second):
            best = PrimaryKey((first, second), chance, holds=profiles[first].complete)
    if best is not None:
        return best
    begin = [each.index for each in keys if each.index < 3 and each.kind in _PAIRED_KINDS]
    for first, second in combinations(begin, 2):
        expected = _expected_collisions(profiles, first, second)
        if expected >= _EXPECTED_COLLISIONS and _together_unique(table, first, second):
            return PrimaryKey((first, second), _TWO_NAMES, holds=profiles[first].complete)
    return None


def _expected_collisions(profiles: Sequence[ColumnProfile], first: int, second: int) -> float:
    """Return how many pairs of rows would be equal in two columns whose values have nothing to do with each other."""
    ways = profiles[first].distinct * profiles[second].distinct
    return profiles[first].rows ** 2 / (2 * ways)


def _together_unique(table: Table, first: int, second: int) -> bool:
    pairs = list(zip(table.columns[first].values, table.columns[second].values, strict=True))
    return len(set(pairs)) == len(pairs) > 1


def _sketch(column: Column, index: int, chance: float) -> KeySketch:
    values = {cell.strip() for cell in column.present}
    values.difference_update(MISSING)
    texts = {value.removesuffix(".0") for value in values}
    numbers = [int(text) for text in texts if _WHOLE(text)]
    whole = bool(numbers) and len(numbers) == len(texts)
    joined = "\0".join(texts if whole else values).encode("utf-8", "surrogatepass")
    hashes = sorted(map(crc32, joined.split(b"\0")))[:MOST_HASHES] if values else []
    return KeySketch(
        column=index,
        unique=chance,
        whole=whole,
        least=min(numbers) if whole else 0,
        greatest=max(numbers) if whole else 0,
        hashes=pack(f">{len(hashes)}I", *hashes).hex(),
    )


def _name_within(table: Table) -> str:
    """Return what a table is called where it stands, without folder and suffix of its file."""
    return table.title or re.split(r"[/\\]", table.name)[-1].partition(".")[0]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "uses")):
        return word[:-2]
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
