"""Nouns for rows: looked up in the singular and plural of seven languages, and nothing else is a noun."""

from pathlib import Path

import pytest

from aegir.vocabulary.row_nouns import fold, load_row_nouns, noun_of
from aegir.vocabulary.terms import HERE, ROW_NAMES
from aegir_rl.base.errors import AegirError


@pytest.mark.parametrize(
    ("words", "noun", "english"),
    [
        ("customer", "customer", "customer"),
        ("Customers", "customer", "customer"),
        ("companies", "company", "company"),
        ("branches", "branch", "branch"),
        ("women", "woman", "woman"),
        ("children", "child", "child"),
        ("people", "person", "person"),
        ("species", "species", "species"),
        ("sensor readings", "sensor reading", "sensor reading"),
        ("Kunden", "kunde", "customer"),
        ("Verträge", "vertrag", "contract"),
        ("Häuser", "haus", "house"),
        ("employés", "employé", "employee"),
        ("bateaux", None, None),
        ("proveedores", "proveedor", "supplier"),
        ("mediciones", "medición", "measurement"),
        ("fatture", "fattura", "invoice"),
        ("prodotti", "prodotto", "product"),
        ("transações", "transação", "transaction"),
        ("imóveis", "imóvel", "property"),
        ("klanten", "klant", "customer"),
        ("bestellingen", "bestelling", "order"),
    ],
)
def test_a_noun_is_known_in_its_plural(words: str, noun: str | None, english: str | None):
    found = noun_of(words.split())
    assert (found.noun, found.english) == (noun, english) if found else noun is None


@pytest.mark.parametrize(
    "word", ["export", "final", "data", "rates", "xyz", "", "2024", "id", "no"]
)
def test_other_words_are_no_nouns(word: str):
    assert noun_of((word,)) is None


def test_every_noun_has_classes_and_an_english_word_that_has_the_same():
    nouns = load_row_nouns(HERE / "row_nouns.tsv")
    assert len(nouns) > 1000
    for each in nouns.values():
        assert set(each.classes) <= set(ROW_NAMES)
        assert each.noun == each.noun.lower().strip()
        assert noun_of(each.english.split()) is not None, each


def test_digits_and_accents_do_not_matter():
    assert fold("Employés_2024") == "employes"
    assert noun_of(("orders2024",)) == noun_of(("order",))


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("boat\tship\tboat", "line 2: 'ship' is no row class"),
        ("boat\tasset\tboat\nBoat\tasset\tboat", "line 3: 'Boat' is spelt like 'boat' above"),
    ],
)
def test_a_wrong_line_is_one_sentence(lines: str, sentence: str, tmp_path: Path):
    path = tmp_path / "nouns.tsv"
    path.write_text("noun\tclasses\tenglish\n" + lines + "\n", encoding="utf-8")
    with pytest.raises(AegirError, match=sentence):
        load_row_nouns(path)
