"""What a header settles among names that values alone do not tell apart.

    province     over names of towns: what is likely a city is likely a region
    net          over "us", "us", …: a code, not a country
    VIXLow       over bare numbers: a number, since nothing names a temperature

Probabilities move between the names of one line of readers/rules/gazetteers/header_moves.tsv, and no further: a header
decides nothing that the values contradict. A line is meant where its words end the header; @ stands for a list of words.
A temperature is named over bare numbers only if the header has a word or a unit for it, or the reading is nearly sure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from aegir.readers.rules.gazetteers import read_table, word_set
from aegir.readers.rules.headers import hints_of, is_informative, names_measure, words_of
from aegir.readers.scores import LIKELY, Explanation, Probabilities, TableScores
from aegir.tables.contents import contents_of
from aegir.tables.datatype import NUMERIC
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import (
    FINE_INDEX,
    FINE_NAMES,
    TYPE_INDEX,
    TYPE_NAMES,
    plain_name,
)

BARE = 0.9
"""Probability from which bare numbers are called temperatures where the header does not say so: below it, all 5 such
columns of held-out tables were wrong; lengths were right more often than not."""
TEMPERATURE = "temperature"
READS = ("reads like ", "the values read like ")
"""How the reasons of readers begin."""


@dataclass(frozen=True, slots=True)
class Move:
    """Places of names and of the one that they become; empty where nothing moves."""

    names: tuple[int, ...]
    name: int | None
    types: tuple[int, ...]
    type: int | None


def read_headers(table: Table, scores: TableScores) -> TableScores:
    """Return the scores of a table after its headers were heard."""
    columns = range(len(table.columns))
    moves = {index: move for index in columns if (move := move_of(table.columns[index].name))}
    bare = []
    if scores.fine is not None:
        bare = [index for index in columns if _is_bare(table.columns[index], scores.fine[index])]
    if not moves and not bare:
        return scores
    types = scores.types.copy()
    fine = None if scores.fine is None else scores.fine.copy()
    for index, move in moves.items():
        _move(types[index], move.types, move.type)
        if fine is not None:
            _move(fine[index], move.names, move.name)
    if fine is not None:
        fine[bare, FINE_INDEX[TEMPERATURE]] = 0
    read = replace(scores, types=types, fine=fine)
    return replace(read, explanations=_explained(table, scores, read))


def _explained(table: Table, before: TableScores, after: TableScores) -> tuple[Explanation, ...]:
    """Return the reasons; of a column whose likeliest name changed, what its header says in place of the readers' first."""
    explanations = list(before.explanations)
    for index, column in enumerate(table.columns):
        names = zip(_likeliest(before, index), _likeliest(after, index), strict=True)
        for first, last in [pair for pair in names if pair[0] != pair[1]][:1]:
            kept = (each for each in explanations[index].evidence if not each.startswith(READS))
            said = f"header {column.name!r} speaks for {last} rather than {first}"
            explanations[index] = replace(explanations[index], evidence=(*kept, said))
    return tuple(explanations)


def _likeliest(scores: TableScores, index: int) -> tuple[str, str]:
    """Return the likeliest fine type, or the type where none is likely, and the likeliest type."""
    of_type = plain_name(TYPE_NAMES[int(scores.types[index].argmax())])
    if scores.fine is None or scores.fine[index].max() < LIKELY:
        return of_type, of_type
    return FINE_NAMES[int(scores.fine[index].argmax())], of_type


@lru_cache(maxsize=4096)
def move_of(header: str | None) -> Move | None:
    """Return what a header settles: the move of the longest words that end it."""
    words = words_of(header) if header else ()
    moves = _moves()
    for start in range(len(words)):
        if (move := moves.get("".join(words[start:]))) is not None:
            return move
    return None


@cache
def _moves() -> dict[str, Move]:
    """Return the moves by the words of headers, without blanks."""
    moves = {}
    for headers, names, name, types, kind in read_table(
        "header_moves.tsv", "headers from_names to_name from_types to_type"
    ):
        move = Move(
            tuple(FINE_INDEX[each] for each in names.split("|") if each),
            FINE_INDEX[name] if name else None,
            tuple(TYPE_INDEX[each] for each in types.split("|") if each),
            TYPE_INDEX[kind] if kind else None,
        )
        alternatives = word_set(headers[1:]) if headers[0] == "@" else headers.split("|")
        moves.update({each.casefold().replace(" ", ""): move for each in alternatives})
    return moves


def _move(row: Probabilities, places: Sequence[int], target: int | None) -> None:
    if target is not None:
        moved = row[list(places)].sum()
        row[list(places)] = 0
        row[target] += moved


def _is_bare(column: Column, fine: Probabilities) -> bool:
    """Return whether the likeliest name is a temperature that neither header nor values tell, and not nearly sure."""
    likeliest, header = int(fine.argmax()), column.name or ""
    if FINE_NAMES[likeliest] != TEMPERATURE or fine[likeliest] >= BARE:
        return False
    told = TEMPERATURE in hints_of(header) or names_measure(header, TEMPERATURE)
    return is_informative(header) and not told and contents_of(column).datatype in NUMERIC
