"""The words of headers and of names of tables, and which of them say that a column is a key.

split_words("CustomerIds")              ("customer", "ids")
words_of("CustomerIds")                 ("customer", "id")
split_key_word(("customer", "id"))      ("customer",), "id"
table_words("dim_customers_2024")       ("customer",)
name_within(table)                      "orders" for data/orders.csv
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from aegir.tables.table import Table

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

Words = tuple[str, ...]


@lru_cache(maxsize=4096)
def words_of(name: str) -> Words:
    """Return the words of a header or the name of a table, in lower case and singular."""
    return tuple(map(_singular, split_words(name)))


def split_words(name: str) -> Words:
    """Return the words of a header or the name of a table, in lower case."""
    return tuple(word.lower() for word in _BOUNDARY.split(name) if word)


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


def name_within(table: Table) -> str:
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
