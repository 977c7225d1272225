"""The data files of the rules: every line can be used."""

from importlib.util import find_spec

from aegir.readers.rules.gazetteers import read_table, word_set
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES


def test_a_word_set_is_read_with_its_phrases():
    assert "new york" in word_set("us_state_names")
    assert len(word_set("us_states")) == 52  # fifty states, DC and PR


def test_enumerations_belong_to_column_types_with_a_strength():
    rows = read_table("enumerations.tsv", "column_type noun strength members")
    assert {column_type for column_type, *_ in rows} <= set(COLUMN_TYPES)
    assert all(0 < float(strength) < 1 for _, _, strength, _ in rows)


def test_national_numbers_belong_to_fine_types_and_validators():
    rows = read_table("national_ids.tsv", "fine_type country stdnum_module pattern strong")
    assert {fine_type for fine_type, *_ in rows} <= set(FINE_TYPES)
    assert {strong for *_, strong in rows} == {"yes", "no"}
    assert all(find_spec(f"stdnum.{module}") for _, _, module, _, _ in rows if module)


def test_units_in_headers_measure_fine_types():
    rows = read_table("header_units.tsv", "measure units short_units dimension_words")
    assert {measure for measure, *_ in rows} <= set(FINE_TYPES)
