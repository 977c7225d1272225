"""Which columns of a table are likely to be its primary key, and sketches of values by which foreign keys are found.

    find_keys(table, answers, profiles)     the likely primary key, of one column or two, and sketches for foreign_keys.py

A primary key has no gaps and no repetition in the sample, and is called like one: `id`, `order_id` in a table of orders,
any other `…_id`, or it is an identifier, or stands first. Two columns are a key where no single one is likely, both are called like
keys, and no pair of values repeats. A sample cannot prove a key, so a key has a confidence. A declared key is the key.
"""

import re
from collections.abc import Sequence
from itertools import combinations
from struct import pack
from zlib import crc32

from aegir.answers.annotation import ColumnAnnotation
from aegir.answers.keys import KeySketch, PrimaryKey
from aegir.pipeline.header_words import (
    Words,
    header_words,
    name_within,
    split_key_word,
    table_words,
)
from aegir.pipeline.rows import KEY_ROWS
from aegir.pipeline.subject import describes
from aegir.tables.datatype import MISSING, ColumnProfile
from aegir.tables.table import Column, Table

LEAST_KEY = 0.5
"""Confidence from which a primary key is answered."""
LONGEST_KEY = 40
"""Mean length of the longest texts that are keys."""
MOST_HASHES = 256
"""Hashes that are kept of a column: the least of them, so that two columns keep the same ones."""
MOST_PAIRED = 6
"""Columns that are tried in pairs."""
_WHOLE = re.compile(r"\d{1,18}", re.ASCII).fullmatch
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


def find_keys(
    table: Table, answers: Sequence[ColumnAnnotation], profiles: Sequence[ColumnProfile]
) -> tuple[PrimaryKey | None, tuple[KeySketch, ...]]:
    """Return the primary key, if one is likely, and sketches of the columns that may take part in keys."""
    named = table_words(name_within(table))
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
