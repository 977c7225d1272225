"""Vetoes by fine type: what a named fine type rules out, and what it leaves open."""

import pytest

from aegir.readers.rules.judge import judge
from aegir.readers.rules.vetoes import (
    _ALLOWED,
    _VAGUE,
    _WRITTEN_FOR_MACHINES,
    NARROW,
    vetoes_by_fine_type,
)
from aegir.tables.table import Column
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES


@pytest.mark.parametrize(
    ("header", "values", "fine_type", "wrong", "open_types"),
    [
        ("uid", "df71b994-4733-4d97-880f-73bbd42779f5", "uuid", "telephone", "IdentifierAT"),
        ("issn", "2049-3630 ¦ 1050-124X", "issn", "telephone", "IdentifierAT"),
        ("method", "GET ¦ POST ¦ PUT ¦ GET", "http_method", "Country currency Brand Product/name", "category"),
        ("last_name", "Adams ¦ Okafor ¦ Lincoln", "last_name", "addressLocality", "Person/name"),
        ("timezone", "Asia/Bangkok ¦ Europe/Vienna", "time_zone", "Country addressRegion", "category"),
        ("month", "June ¦ July ¦ May", "month_name", "Person/name Country", "Date"),
        ("fill", "#d74045 ¦ #cb2026", "colour_code", "Country telephone Number", "category"),
        ("ein", "12-3456789 ¦ 98-7654321", "tax_number", "telephone", "IdentifierAT"),
        (None, "yes ¦ no ¦ yes", "boolean_flag", "Country Person/name", "Boolean Organization"),
        (None, "+43 1 58858 0 ¦ +44 20 7946 0018", "telephone_number", "price", "faxNumber telephone"),
        ("city", "Salzburg ¦ Graz", "city", "", "addressLocality addressRegion Country"),
        ("place_id", "AUT ¦ PRT-1", "primary_key", "", "Country IdentifierAT"),
        ("weight", "12 kg ¦ 3 kg", "mass", "telephone", "Mass weight"),
    ],
)  # fmt: skip
def test_a_fine_type_rules_out_types_of_another_kind(
    header: str | None, values: str, fine_type: str, wrong: str, open_types: str
) -> None:
    verdict = judge(Column(header, tuple(values.split(" ¦ "))))
    assert verdict.fine_type == fine_type
    assert set(wrong.split()) <= verdict.vetoes
    assert not set(open_types.split()) & verdict.vetoes


@pytest.mark.parametrize("name", sorted(FINE_TYPES))
def test_no_fine_type_rules_out_its_own_column_type(name: str) -> None:
    assert FINE_TYPES[name].parent not in vetoes_by_fine_type(name, FINE_TYPES[name].parent)


def test_a_street_of_a_saint_weighs_nothing() -> None:
    assert judge(Column(None, ("27 St. Peters Street",))).fine_type != "mass"
    assert judge(Column(None, ("12 st", "11 st."))).fine_type == "mass"


def test_every_name_in_the_tables_is_known() -> None:
    known = {"column_type": set(COLUMN_TYPES), "fine_type": set(FINE_TYPES)}
    assert all(name in known[scope] for scope, name in _ALLOWED)
    assert NARROW.union(*_ALLOWED.values()) <= set(COLUMN_TYPES)
    assert set(FINE_TYPES) >= _VAGUE | _WRITTEN_FOR_MACHINES
