"""What holds of the rules for any text: they never raise, repeat themselves, and ignore row order.

A named fine type lends its column type nine tenths of its confidence: for any text, and by every rule.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.readers.rules.column_summary import NUMERIC
from aegir.readers.rules.gazetteers import header_phrases, words
from aegir.readers.rules.judge import MIN_CONFIDENCE, PARENT_STRENGTH, RULES, judge
from aegir.tables.table import Column
from aegir.vocabulary.terms import FINE_TYPES

ODD = [
    "²",
    "٣٤",
    "NaN",
    "\x00",
    "𝟙",
    "1e999",
    "９",
    "&#x110000;",
    "&#64;",
    "Ⅷ",
    "🇦🇹",
    "-",
    "+",
    "İ",
    "1²",
    "+²²²²²²²²",
    "http://[",
    "٠:٠:٠",
]
PIECES = st.sampled_from(
    [
        "1",
        "12",
        "2021-03-07",
        "a@b.org",
        "https://",
        "/",
        "+43 1 ",
        "EUR",
        "$",
        "978",
        "-",
        ".",
        ":",
        " ",
        "Ann",
        "²",
        "٣",
        "{",
        "[",
        "<p>",
        "#",
        "'",
        "PT1H",
    ]
)
CELLS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(ODD),
    st.lists(PIECES, max_size=8).map("".join),
    st.from_regex(r"[0-9+(). /-]{5,20}", fullmatch=True),
)
HEADERS = st.one_of(
    st.none(),
    st.text(max_size=20),
    st.sampled_from(
        [
            "dob",
            "phone",
            "fax",
            "id",
            "ssn",
            "price",
            "lat",
            "address",
            "imei",
            "vin",
            "loinc",
            "port",
            "rating",
            "cvv",
        ]
    ),
)
COLUMNS = st.builds(Column, HEADERS, st.lists(CELLS, max_size=8).map(tuple))


@settings(max_examples=400, deadline=None)
@given(COLUMNS)
def test_any_text_gets_a_well_formed_verdict(column: Column) -> None:
    verdict = judge(column)
    assert all(0 < strength <= 1 for _, strength in verdict.support)
    assert [s for _, s in verdict.support] == sorted((s for _, s in verdict.support), reverse=True)
    assert (verdict.fine_type is None) == (verdict.fine_confidence == 0)
    if verdict.fine_type is not None:
        assert verdict.fine_type in FINE_TYPES
        assert MIN_CONFIDENCE <= verdict.fine_confidence <= 1
    assert verdict == judge(column)


@settings(max_examples=150, deadline=None)
@given(COLUMNS, st.integers(0, 10))
def test_the_order_of_rows_does_not_matter(column: Column, seed: int) -> None:
    shuffled = list(column.values)
    random.Random(seed).shuffle(shuffled)
    assert judge(Column(column.name, tuple(shuffled))) == judge(column)


@settings(max_examples=100, deadline=None)
@given(COLUMNS)
def test_missing_cells_change_nothing(column: Column) -> None:
    padded = Column(column.name, ("", *column.values, "  ", "N/A"))
    if any(value.strip() for value in column.values):
        assert judge(padded) == judge(column)


@settings(max_examples=100, deadline=None)
@given(COLUMNS)
def test_no_type_is_supported_and_vetoed_at_once(column: Column) -> None:
    verdict = judge(column)
    assert not {label for label, _ in verdict.support} & verdict.vetoes


def parents_of(fine_type: str) -> set[str | None]:
    """Its column type, or the one a rule of that name writes its values as."""
    written_as = {rule.column_type for rule in RULES if rule.name == fine_type and rule.column_type}
    return {FINE_TYPES[fine_type].parent, *written_as}


@settings(max_examples=400, deadline=None)
@given(COLUMNS)
def test_a_named_fine_type_supports_its_column_type(column: Column) -> None:
    verdict = judge(column)
    if verdict.fine_type is not None and FINE_TYPES[verdict.fine_type].parent is not None:
        strength = max(
            dict(verdict.support).get(p or "", 0.0) for p in parents_of(verdict.fine_type)
        )
        assert strength >= PARENT_STRENGTH * verdict.fine_confidence - 1e-4


FOUND_BY_RULES = {rule.name for rule in RULES} & set(FINE_TYPES)
NEED_SEVERAL_ROWS = words(
    "measurement ordinal roman_numeral category_code row_number foreign_key constant"
)


@pytest.mark.parametrize("name", sorted(FOUND_BY_RULES - NEED_SEVERAL_ROWS))
def test_the_example_of_every_fine_type_of_a_rule_is_found_and_supports_its_column_type(
    name: str,
) -> None:
    fine_type = FINE_TYPES[name]
    header = header_phrases().get(name, name.replace("_", " ")).split("|")[0].removeprefix("=")
    verdict = judge(Column(header, (fine_type.example,)))
    assert verdict.fine_type == name
    if fine_type.parent is not None:
        strength = max(dict(verdict.support).get(p or "", 0.0) for p in parents_of(name))
        assert strength >= PARENT_STRENGTH * verdict.fine_confidence - 1e-4


def test_only_bare_numbers_support_another_type_than_the_parent() -> None:
    assert {rule.column_type for rule in RULES} == {None, "Number"}
    assert {rule.noun for rule in RULES if rule.column_type} == {"numbers", "heights"}
    assert all(rule.needs & NUMERIC for rule in RULES if rule.column_type)
