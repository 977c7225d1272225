"""What one row of a table is: its class, the noun that the table itself uses, and whether it is a person.

    describe_rows(table, scores, columns)   RowAnnotation("person", "customer", 0.93, "self", 0.97), or None
    find_nouns(table, columns)              nouns that the table's name and its headers use for a row, the surest first

A noun comes from the name of the table (`data/customers_2024.csv`) or from the header of a column that names or numbers every
row (`customer_id`, `Customer Name`, `Species`). Only nouns of vocabulary/row_nouns.tsv count, and only one whose class is
likely by the scores is answered. A noun raises the probability of its class a little: names are read by the networks, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.answers.annotation import ColumnAnnotation, RowAnnotation
from aegir.pipeline.header_words import Words, name_within, split_key_word, split_words
from aegir.readers.scores import TableScores
from aegir.tables.contents import contents_of
from aegir.tables.table import Column, Table
from aegir.vocabulary.row_nouns import RowNoun, fold, noun_of
from aegir.vocabulary.terms import PERSON_STATES, ROW_NAMES
from aegir_rl.base.arrays import F32

LIKELY_CLASS = 0.4
"""Probability from which a class is answered: of 463 held-out tables with 0.4 to 0.5 it is right for 0.46, below for 0.31 of 531."""
AGREES = 0.15
"""Probability of the classes of a noun from which on it is answered where no class is likely."""
RAISED = 2.0
"""How many times likelier a noun makes the classes it stands for. The class of the surest noun is right for 0.47 of the everyday
tables that show one; but readers see the same names, so little of that is new. A plain model of headers that is right for 0.444 of
held-out tables becomes right for 0.469, and probabilities made up to be right for 0.893 for 0.897; with 5 these lose again."""
KEY_ROWS = 8
"""In fewer rows any column may differ by chance."""
ROW_NUMBER = "row_number"
"""The label of columns that number the rows."""
NAME_WORDS = frozenset(
    ("name", "title", "nombre", "nom", "nome", "naam", "navn", "bezeichnung", "titel", "titre")
)
"""Words of headers that say that a column holds names of what the other words say."""
_KEYS_BEFORE = frozenset(
    ("numero", "num", "nr", "no", "codigo", "code", "cod", "codice", "nombre", "nom", "nome")
)
"""Words for keys and names that stand before the noun (`numero_facture`), without accents."""
_NOISE = frozenset(
    (
        *("data", "dataset", "datasets", "daten", "datos", "dados", "dati", "donnees", "gegevens"),
        *(
            "export",
            "import",
            "final",
            "tbl",
            "tb",
            "tab",
            "table",
            "raw",
            "clean",
            "cleaned",
            "all",
        ),
        *(
            "full",
            "new",
            "old",
            "sample",
            "samples",
            "train",
            "training",
            "demo",
            "example",
            "mock",
        ),
        *("dummy", "fake", "synthetic", "synth", "copy", "backup", "tmp", "temp", "dump", "seed"),
        *(
            "master",
            "main",
            "sheet",
            "csv",
            "tsv",
            "xlsx",
            "json",
            "txt",
            "output",
            "input",
            "merged",
        ),
        *("processed", "combined", "base", "dim", "fact", "fct", "stg", "src", "mart", "lkp", "vw"),
        *(
            "list",
            "liste",
            "lista",
            "lijst",
            "details",
            "detail",
            "info",
            "information",
            "stammdaten",
        ),
        *("records", "record", "history", "historical", "latest", "current", "daily", "weekly"),
        *("monthly", "yearly", "annual", "quarterly", "tidy", "small", "large", "fixed", "updated"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
        *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
        *("october", "november", "december"),
    )
)
"""Words of names of tables that do not say what a row is, without accents."""
_PER = frozenset(("by", "per", "por", "par", "pro", "nach", "je", "vs"))
"""Words behind which the name of a table says how its rows are grouped."""


@dataclass(frozen=True, slots=True)
class ShownNoun:
    """A noun that a table uses for its rows."""

    noun: str
    """One word or two, lower case, singular."""
    head: RowNoun
    """The word that says what it is; `reading` of `sensor reading`."""


def describe_rows(
    table: Table, scores: TableScores, columns: Sequence[ColumnAnnotation]
) -> RowAnnotation | None:
    """Return what one row is, without a class where none is likely; None if the annotator does not say."""
    if scores.rows is None or scores.person is None:
        return None
    nouns = find_nouns(table, columns)
    classes = _raised(scores.rows, nouns[0]) if nouns else scores.rows
    best, state = int(np.argmax(classes)), int(np.argmax(scores.person))
    likely = float(classes[best]) >= LIKELY_CLASS
    name = ROW_NAMES[best]
    agreeing = (each for each in nouns if _chance(classes, each) >= AGREES)
    noun = next((each for each in agreeing if not likely or name in each.head.classes), None)
    return RowAnnotation(
        name=name if likely else None,
        noun=noun.noun if noun else None,
        confidence=round(float(classes[best]), 6),
        person=PERSON_STATES[state],
        person_confidence=round(float(scores.person[state]), 6),
    )


def find_nouns(table: Table, columns: Sequence[ColumnAnnotation]) -> list[ShownNoun]:
    """Return the nouns of the table's name and of headers, the surest first and each once."""
    nouns = [named] if (named := _noun_of_name(name_within(table))) else []
    begins = True
    for column, answer in zip(table.columns, columns, strict=True):
        if answer.name and differs(column) and (begins or len(column.values) >= KEY_ROWS):
            noun = _noun_of_header(split_words(answer.name), begins=begins)
            nouns += [noun] if noun else []
        begins = begins and (contents_of(column).distinct <= 1 or answer.label == ROW_NUMBER)
    return list({each.head.english: each for each in reversed(nouns)}.values())[::-1]


def _noun_of_name(name: str) -> ShownNoun | None:
    """Return the last noun of a table's name: `order` of `customer_orders_2024`."""
    words: list[str] = []
    for word in split_words(name):
        if (plain := fold(word)) in _PER:
            break
        if plain and plain not in _NOISE:
            words.append(word)
    return _last_noun(words)


def _last_noun(words: Sequence[str]) -> ShownNoun | None:
    for end in range(len(words), 0, -1):
        if found := _noun_at_end(words[:end]):
            return found
    return None


def _noun_at_end(words: Sequence[str]) -> ShownNoun | None:
    """Return the noun that ends some words, with an English noun before it that narrows it: `sensor reading`."""
    if len(words) > 1 and (both := noun_of(words[-2:])):
        return ShownNoun(both.noun, both)
    head = noun_of(words[-1:])
    if head is None:
        return None
    before = noun_of(words[-2:-1]) if len(words) > 1 else None
    if before and before != head and before.noun == before.english and head.noun == head.english:
        return ShownNoun(f"{before.noun} {head.noun}", head)
    return ShownNoun(head.noun, head)


def _noun_of_header(words: Words, *, begins: bool) -> ShownNoun | None:
    """Return the noun whose key or name a header says it is, or in the column that begins a table the header itself."""
    stem = stem_of(words)
    if not stem or (stem == words and not begins):
        return None
    found = _noun_at_end(stem)
    return found if found and len(found.noun.split()) == len(stem) else None


def noun_of_key(header: str) -> RowNoun | None:
    """Return the noun whose key or name a header says it is: `customer` of `customer_id`; None for other headers."""
    words = split_words(header)
    stem = stem_of(words)
    found = _noun_at_end(stem) if stem and stem != words else None
    return found.head if found else None


def stem_of(words: Words) -> Words:
    """Return the words of a header without that for a key or a name: `customer` of `customer_id` and of `Customer Name`."""
    stem, key = split_key_word(words)
    if key is None and words and fold(words[-1]) in NAME_WORDS:
        return words[:-1]
    if key is None and words and fold(words[0]) in _KEYS_BEFORE:
        return words[1:]
    return stem


def differs(column: Column) -> bool:
    """Return whether no cell is missing and no two are equal."""
    return len(column.present) == len(column.values) == contents_of(column).distinct > 0


def _chance(classes: F32, noun: ShownNoun) -> float:
    return float(sum(classes[ROW_NAMES.index(name)] for name in noun.head.classes))


def _raised(classes: F32, noun: ShownNoun) -> F32:
    """Return the probabilities after the evidence of a noun."""
    factors = np.ones(len(ROW_NAMES), np.float32)
    factors[[ROW_NAMES.index(name) for name in noun.head.classes]] = RAISED
    raised = classes * factors
    # What is left for none of the classes stays as likely as before beside those that the noun does not stand for.
    rest = max(1 - float(classes.sum()), 0.0)
    return np.asarray(raised / (raised.sum() + rest), np.float32)
