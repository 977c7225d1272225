"""What headers settle among names that values do not tell apart, and what they do not."""

import numpy as np
import pytest

from aegir.pipeline.by_header import move_of, read_headers
from aegir.pipeline.correct import SETTLED, name_settled
from aegir.pipeline.decide import decide
from aegir.readers.rules.judge import RuleVerdict, judge
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, RELATION_NAMES, TYPE_NAMES

TOWNS = ("Toledo", "Burgos", "Cuenca", "Huelva")
NUMBERS = ("12.1", "13.4", "14.9", "13.3")


def row(names, known):
    return np.array([known.get(name, 0) for name in names], np.float32)


def scored(types: dict[str, float], fine: dict[str, float], *reasons: str) -> TableScores:
    return TableScores(
        row(TYPE_NAMES, types)[None],
        np.zeros((1, len(RELATION_NAMES)), np.float32),
        None,
        (Explanation(evidence=reasons),),
        fine=row(FINE_NAMES, fine)[None],
        web=0.1,
    )


def answer(header, cells, types, fine, *reasons):
    return decide(Table("t", (Column(header, cells),)), scored(types, fine, *reasons), "x").columns[
        0
    ]


@pytest.mark.parametrize(
    ("header", "cells", "types", "fine", "label", "type_name"),
    [
        ("province", TOWNS, {"addressLocality": 0.94}, {"city": 0.94}, "region", "addressRegion"),
        ("home_province", TOWNS, {"Place/name": 0.9}, {"city": 0.9}, "region", "addressRegion"),
        ("district", TOWNS, {"addressLocality": 0.9}, {"city": 0.9}, "county", "addressLocality"),
        ("town_type", TOWNS, {"addressLocality": 0.9}, {"city": 0.8}, "category_label", "category"),
        ("band", TOWNS, {"Person/name": 0.9}, {"full_name": 0.9}, "thing_name", "MusicArtistAT"),
        ("studio", TOWNS, {"Movie/name": 0.9}, {"title": 0.9}, "organisation_name", "Organization"),
        ("organizer", TOWNS, {"Place/name": 0.9}, {}, "Organization", "Organization"),
        ("net", ("us",) * 4, {"Country": 0.99}, {}, "CategoryCode", "CategoryCode"),
        ("units", ("50.000",) * 4, {"price": 0.9}, {"currency_amount": 0.9}, "count", "Number"),
        ("Brand", TOWNS, {"Organization": 0.9}, {"company": 0.9}, "brand", "Brand"),
        (
            "岗位",
            ("工程师", "会计"),
            {"category": 0.9},
            {"department": 0.9},
            "job_title",
            "category",
        ),
        ("ssn", ("", ""), {"Person/name": 0.9}, {"last_name": 0.9}, "us_ssn", "IdentifierAT"),
        ("precipitation", NUMBERS, {"Number": 0.9}, {"temperature": 0.8}, "length", "Number"),
    ],
)
def test_a_header_moves_names_that_values_do_not_tell_apart(
    header, cells, types, fine, label, type_name
):
    column = answer(header, cells, types, fine)
    assert (column.label, column.type) == (label, type_name)


@pytest.mark.parametrize(
    ("header", "types", "fine", "label"),
    [
        ("province", {"Date": 0.9}, {"iso_date": 0.9}, "iso_date"),  # values win
        ("net", {"MonetaryAmount": 0.9}, {"currency_amount": 0.9}, "currency_amount"),
        ("city", {"addressLocality": 0.9}, {"city": 0.9}, "city"),
        ("province name", {"addressLocality": 0.9}, {"city": 0.9}, "city"),  # not its last word
    ],
)
def test_a_header_decides_nothing_else(header, types, fine, label):
    assert answer(header, TOWNS, types, fine).label == label


def test_bare_numbers_are_temperatures_where_something_says_so():
    said = ({"Number": 0.9}, {"temperature": 0.83})
    assert answer("VIXLow", NUMBERS, *said).label == "Number"
    assert answer(None, NUMBERS, *said).label == "temperature"  # nothing speaks against it
    for header in ("air_temp", "Temperatur", "tmax", "melting point", "T (°C)"):
        assert answer(header, NUMBERS, *said).label == "temperature"
    assert answer("VIXLow", tuple(f"{n} °C" for n in NUMBERS), *said).label == "temperature"
    assert answer("sst", NUMBERS, {"Number": 0.9}, {"temperature": 0.95}).label == "temperature"


def test_the_reason_says_what_the_header_speaks_for():
    column = answer("studio", TOWNS, {"Movie/name": 0.9}, {}, "reads like Movie/name by values")
    assert column.reasons == ("header 'studio' speaks for Organization rather than Movie/name",)


def test_scores_without_such_headers_are_left_alone():
    scores = scored({"Date": 0.9}, {"iso_date": 0.9})
    assert read_headers(Table("t", (Column("day", TOWNS),)), scores) is scores
    assert move_of(None) is None


@pytest.mark.parametrize(
    ("header", "cells", "name"),
    [
        ("isrc", ("USRC17607839", "GBAYE0601498", "FRZ039800212"), "isrc"),
        ("issn", ("0317-8471", "1050-124X", "2434-561X"), "issn"),
        ("orcid", ("0000-0002-1825-0097", "0000-0001-5109-3700"), "orcid"),
        ("Fax", ("+43 1 5550191", "+43 316 555019"), "fax_number"),
        ("ticker", ("AAPL", "MSFT", "IBM"), "ticker"),
    ],
)
def test_a_code_that_header_and_every_value_name_is_named(header, cells, name):
    verdict = judge(Column(header, cells))
    assert (verdict.fine_type, verdict.is_settled) == (name, True)
    fine = row(FINE_NAMES, {"primary_key": 0.6, name: 0.3})[None]
    settled = name_settled(fine, [verdict])
    assert settled[0, FINE_INDEX[name]] == pytest.approx(SETTLED)
    assert settled.sum() <= 1
    assert name_settled(fine, [RuleVerdict()]) == pytest.approx(fine)


def test_one_value_that_does_not_fit_or_another_header_settles_nothing():
    cells = ("USRC17607839", "GBAYE0601498", "FRZ039800212", "DEA450200345", "USUM71703861", "n.n.")
    assert not judge(Column("isrc", cells)).is_settled
    assert not judge(Column("code", cells[:-1])).is_settled
    assert not judge(Column("id", ("1", "2", "3"))).is_settled  # a key may be anything's
