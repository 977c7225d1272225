"""Special categories of personal data (GDPR, articles 9 and 10): which terms and which words of headers tell them.

    special_term("disease")                     ->  "health"
    special_words(("smoker", "since"))          ->  "health", for `smok*` is among its words
    special_words(("trade", "union", "fee"))    ->  "union"
    special_header(("religion",))               ->  "religion", for that is the whole header

special.tsv has a line per category and sort of names, separated by |: `terms` are fine types and relations, `words` are
words or phrases of headers in several languages. A `*` at the end stands for any ending. Words of scripts without spaces
are found within other words. `headers` are whole headers that leave no doubt. A header that fits several categories has the first in the order of the file.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from aegir.vocabulary.terms import FINE_TYPES, HERE, RELATIONS, SPECIAL_CATEGORIES
from aegir_rl.base.errors import AegirError
from aegir_rl.base.text import read_tsv

PATH = HERE / "special.tsv"
SORTS = ("terms", "words", "headers")
_ANY_ENDING = "*"
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Kana, Chinese characters and Hangul."""


class SpecialNames(NamedTuple):
    """What tells special categories."""

    terms: Mapping[str, str]
    """The category of every term."""
    words: Mapping[str, tuple["HeaderWord", ...]]
    """The words of every category."""
    headers: Mapping[str, str]
    """The category of every whole header."""


class HeaderWord(NamedTuple):
    """A word or phrase of headers; few are ever found, so the pattern of one is compiled when its letters are."""

    letters: str
    pattern: str

    def is_in(self, text: str) -> bool:
        """Return whether it stands among the words of a header."""
        return self.letters in text and _compiled(self.pattern).search(text) is not None


def special_term(fine_type: str | None, relation: str | None = None) -> str | None:
    """Return the special category that a fine type or a relation belongs to by itself."""
    terms = load_special(PATH).terms
    return terms.get(fine_type or "") or terms.get(relation or "")


def special_words(header: Iterable[str]) -> str | None:
    """Return the special category that the lower-case words of a header tell."""
    text = " ".join(header)
    return next(
        (
            name
            for name, words in load_special(PATH).words.items()
            if any(word.is_in(text) for word in words)
        ),
        None,
    )


def special_header(header: Iterable[str]) -> str | None:
    """Return the special category of which the lower-case words of a header are the name."""
    return load_special(PATH).headers.get(" ".join(header))


@cache
def load_special(path: Path) -> SpecialNames:
    """Return what a file says of terms, words and headers."""
    terms: dict[str, str] = {}
    headers: dict[str, str] = {}
    words: dict[str, tuple[HeaderWord, ...]] = {}
    for location, (category, sort, names) in read_tsv(path, "category of names"):
        if category not in SPECIAL_CATEGORIES or sort not in SORTS:
            raise AegirError(
                f"{location}: {category!r} of {sort!r}; expected {', '.join(SORTS)} of one of "
                f"{', '.join(SPECIAL_CATEGORIES)}"
            )
        if sort == "words":
            words[category] = (*words.get(category, ()), *map(_header_word, names.split("|")))
            continue
        if sort == "headers":
            headers.update(dict.fromkeys(names.split("|"), category))
            continue
        for name in names.split("|"):
            if name not in FINE_TYPES and name not in RELATIONS:
                raise AegirError(f"{location}: {name!r} is neither a fine type nor a relation")
            terms[name] = category
    return SpecialNames(terms, words, headers)


def _header_word(word: str) -> HeaderWord:
    if _UNSPACED.search(word):
        return HeaderWord(word, re.escape(word))
    letters = word.removesuffix(_ANY_ENDING)
    end = "" if word.endswith(_ANY_ENDING) else r"(?!\w)"
    return HeaderWord(letters, rf"(?<!\w){re.escape(letters)}{end}")


_compiled = cache(re.compile)
