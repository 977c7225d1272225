"""The lists of known headers and typical values: complete, in our vocabulary, and marked as made up."""

from pathlib import Path

import pytest

from aegir.lab.data.known_names import (
    ANY_LANGUAGE,
    COLUMNS_PER_LINE,
    HEADER_NAMES,
    MOST_CELLS,
    TYPICAL_VALUES,
    ByLanguage,
    all_headers,
    made_up_tables,
    read_names,
)
from aegir.tables.labelled import ColumnLabels
from aegir.vocabulary.terms import FINE_NAMES
from aegir_rl.base.errors import AegirError

HEADERS: ByLanguage = {"status": {"en": ("state", "status"), "de": ("Zustand",)}}
VALUES: ByLanguage = {
    "status": {"de": ("offen", "zu", "wartend"), "pl": ("otwarte",)},
    "gene": {ANY_LANGUAGE: ("TP53", "BRCA1")},
}


def test_every_fine_type_has_headers_in_several_languages():
    headers = read_names(HEADER_NAMES)
    assert set(headers) == set(FINE_NAMES)
    assert min(map(len, all_headers(headers).values())) >= 5
    assert all("en" in languages for languages in headers.values())
    assert len({language for languages in headers.values() for language in languages}) >= 20


def test_typical_values_are_of_fine_types_and_have_no_blank_cell():
    values = read_names(TYPICAL_VALUES)
    assert set(values) <= set(FINE_NAMES)
    cells = [
        cell for languages in values.values() for given in languages.values() for cell in given
    ]
    assert len(cells) > 10_000
    assert all(cell == cell.strip() != "" for cell in cells)


def test_headers_of_all_languages_are_joined_each_once():
    joined = all_headers({"status": {"en": ("status", "state"), "sv": ("status",)}})
    assert joined == {"status": ("status", "state")}


def test_names_outside_the_vocabulary_are_refused_with_their_line(tmp_path: Path):
    path = tmp_path / "names.tsv"
    path.write_text("name\tlanguage\talternatives\nstatus\ten\tstate | | state \nwage\ten\tpay\n")
    with pytest.raises(AegirError, match="line 3: 'wage' is not a fine type"):
        read_names(path)
    path.write_text("name\tlanguage\talternatives\nstatus\ten\tstate | | state \n")
    assert read_names(path) == {"status": {"en": ("state",)}}


def test_made_up_tables_hold_typical_values_under_a_header_of_the_language():
    tables = list(made_up_tables(HEADERS, VALUES, seed=0))
    assert len(tables) == 3 * COLUMNS_PER_LINE
    for training in tables:
        (column,) = training.labelled.table.columns
        (labels,) = training.labelled.labels
        name, language, _ = training.labelled.table.name.split()
        assert labels == ColumnLabels(fine=(name,))
        assert set(column.values) <= set(VALUES[name][language])
        assert 4 <= len(column.values) <= MOST_CELLS
        if language == "de":
            assert column.name in (None, "Zustand")
        elif name == "gene":
            assert column.name is None
        else:
            assert column.name in (None, "state", "status", "Zustand")
    assert {t.labelled.table.columns[0].name is None for t in tables} == {True, False}


def test_made_up_tables_are_marked_and_teach_neither_types_nor_relations():
    for training in made_up_tables(HEADERS, VALUES, seed=0):
        source = training.source
        assert source.synthetic
        assert (source.web, source.everyday, source.raw, source.is_validation) == (False,) * 4
        assert (source.cta_weight, source.cpa_weight) == (0, 0)


def test_made_up_tables_depend_on_the_seed_alone():
    first, again, other = (list(made_up_tables(HEADERS, VALUES, seed)) for seed in (3, 3, 4))
    assert first == again
    assert first != other
