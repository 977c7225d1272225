"""Nouns that tables call their rows by, what sort of thing each stands for, and its English word, from row_nouns.tsv.

    noun_of(("customers",)).noun            "customer"
    noun_of(("Kunden",)).english            "customer"      German, French, Spanish, Italian, Portuguese and Dutch
    noun_of(("sensor", "readings")).noun    "sensor reading"
    noun_of(("export",))                    None            no word that is not in the file is ever called a noun

The file has one noun per line, in the singular, with the row classes it may stand for, the most typical first, separated by |.
Accents and capitals do not matter when a word is looked up, and common plurals of these languages are tried.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from aegir.vocabulary.terms import HERE, ROW_CLASSES
from aegir_rl.base.errors import AegirError
from aegir_rl.base.text import read_tsv

_PLURALS = (
    *(
        ("ies", "y"),
        ("ves", "f"),
        ("men", "man"),
        ("people", "person"),
        ("ren", ""),
        ("s", ""),
    ),  # English, and most others
    *(("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x"), ("zes", "z")),
    *(
        ("res", "r"),
        ("nes", "n"),
        ("les", "l"),
        ("des", "d"),
        ("ces", "z"),
        ("ses", "s"),
    ),  # Spanish
    *(("aux", "al"), ("eaux", "eau")),  # French
    *(("oes", "ao"), ("ais", "al"), ("eis", "el"), ("ns", "m")),  # Portuguese
    *(("en", ""), ("n", ""), ("er", ""), ("e", "")),  # German and Dutch
    *(("che", "ca"), ("i", "o"), ("i", "e"), ("i", "a"), ("e", "a")),  # Italian
)
"""Endings of plurals, without accents, and of the singular."""
SHORTEST, SHORTEST_STEM = 3, 4
"""Letters of the shortest noun, and of the shortest one whose plural has an ending other than s."""
_NO_LETTERS = re.compile(r"[\W\d_]+")


@dataclass(frozen=True, slots=True)
class RowNoun:
    """A word for what a row is."""

    noun: str
    """Lower case, singular."""
    classes: tuple[str, ...]
    """The row classes it may stand for, the most typical first."""
    english: str
    """The English word of the same meaning; the noun itself if it is English."""


def load_row_nouns(path: Path) -> dict[str, RowNoun]:
    """Return the nouns of a file by their spelling without accents."""
    nouns: dict[str, RowNoun] = {}
    for location, (noun, classes, english) in read_tsv(path, "noun classes english"):
        names = tuple(classes.split("|"))
        if unknown := [name for name in names if name not in ROW_CLASSES]:
            raise AegirError(f"{location}: {unknown[0]!r} is no row class; rows.tsv has them")
        if (spelling := fold(noun)) in nouns:
            raise AegirError(
                f"{location}: {noun!r} is spelt like {nouns[spelling].noun!r} above; keep one"
            )
        nouns[spelling] = RowNoun(noun, names, english)
    return nouns


def noun_of(words: Sequence[str]) -> RowNoun | None:
    """Return the noun that some words are together, in the singular or plural; None for other words."""
    return _look_up(fold(" ".join(words)))


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return text in lower case, without accents and with blanks for all that is no letter."""
    letters = text.casefold()
    if not letters.isascii():
        plain = unicodedata.normalize("NFKD", letters)
        letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return _NO_LETTERS.sub(" ", letters).strip()


@lru_cache(maxsize=4096)
def _look_up(spelling: str) -> RowNoun | None:
    if len(spelling) < SHORTEST:
        return None
    nouns = _nouns()
    if spelling in nouns:
        return nouns[spelling]
    for plural, singular in _PLURALS:
        if spelling.endswith(plural):
            stem = spelling.removesuffix(plural) + singular
            if len(stem) >= (SHORTEST if plural == "s" else SHORTEST_STEM) and stem in nouns:
                return nouns[stem]
    return None


@cache
def _nouns() -> dict[str, RowNoun]:
    return load_row_nouns(HERE / "row_nouns.tsv")
