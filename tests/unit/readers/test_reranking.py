"""Reranking: quantities of cells, statistics of a table, and probabilities after their correction."""

from pathlib import Path

import numpy as np
import pytest

from aegir.readers.reranking import (
    FORMAT,
    HEADS,
    NEAREST,
    OF_COLUMN,
    OF_KIND,
    STATISTICS,
    SURE,
    HeadWeights,
    Reranking,
    column_statistics,
    read_clock,
    read_date,
    read_duration,
    read_quantities,
    sums,
)
from aegir.tables.table import Column, Table
from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import safetensors_bytes

TOTAL, PART, AT_LEAST = 7, 8, OF_KIND - 1
RECIPES = Table(
    "recipes",
    (
        Column(None, ("PT10M", "PT5M", "PT1H")),
        Column(None, ("PT20M", "PT30M", "PT15M")),
        Column(None, ("PT30M", "PT35M", "PT1H15M")),
        Column(None, ("Soup", "Cake", "Stew")),
    ),
)


def _weights(names: int, **raised: float) -> HeadWeights:
    weights = np.zeros((STATISTICS, names + 1), np.float32)
    for name, by in raised.items():
        weights[0, int(name[1:])] = by
    return HeadWeights(1.0, weights)


def _scaled(columns: int) -> F32:
    return np.ones((columns, STATISTICS), np.float32)


def test_a_later_date_is_a_larger_number_in_any_spelling() -> None:
    days = [read_date(cell) for cell in ("2020-01-30T11:00:00-05:00", "31.01.2020", "2021")]
    assert None not in days
    assert days == sorted(day for day in days if day is not None)
    assert [read_date(cell) for cell in ("2020-02-31", "soon", "12", "")] == [None] * 4


@pytest.mark.parametrize(
    ("cell", "minutes"),
    [("PT1H30M", 90), ("P1DT1M", 1441), ("PT30S", 0.5), ("P", None), ("x", None)],
)
def test_durations_are_minutes(cell: str, minutes: float | None) -> None:
    assert read_duration(cell) == minutes


@pytest.mark.parametrize(
    ("cell", "minutes"), [("9:30", 570), ("T15:00", 900), ("3:00 PM", 900), ("later", None)]
)
def test_times_of_day_are_minutes_since_midnight(cell: str, minutes: float | None) -> None:
    assert read_clock(cell) == minutes


def test_the_total_of_two_durations_is_found_with_its_parts() -> None:
    totals, parts = sums([read_quantities(column) for column in RECIPES.columns])
    assert totals.tolist() == [False, False, True, False]
    assert parts.tolist() == [True, True, False, False]
    statistics = column_statistics(RECIPES)
    assert statistics[2, TOTAL] == 1
    assert statistics[0, TOTAL] == 0
    assert statistics[0, PART] == 1


def test_an_end_is_at_least_its_start_in_every_row() -> None:
    start, end = ("2020-01-01", "2021-05-01"), ("2020-01-02", "2021-05-09")
    statistics = column_statistics(Table("t", (Column(None, start), Column(None, end))))
    assert statistics[:, OF_COLUMN + AT_LEAST].tolist() == [0, 1]


@pytest.mark.parametrize(
    "columns",
    [
        (),
        (Column(None, ()),),
        (Column("a", ("", " ")), Column("b", ("1", ""))),
        (Column("a", ("9" * 400,)), Column("b", ("-0", "1e308"))),
        (Column("a", ("0000-00-00", "P99999999999999999999D")),),
    ],
)
def test_any_table_has_finite_statistics(columns: tuple[Column, ...]) -> None:
    statistics = column_statistics(Table("t", columns))
    assert statistics.shape == (len(columns), STATISTICS)
    assert np.isfinite(statistics).all()


def test_a_column_of_a_wide_table_is_compared_with_those_near_it_only() -> None:
    narrow = tuple(Column(None, (str(i), str(i + 1))) for i in range(NEAREST + 1))
    far = Column(None, ("-5", "-6"))
    alone, beside = (
        column_statistics(Table("t", columns))[0, OF_COLUMN + 3 * OF_KIND + AT_LEAST]
        for columns in (narrow, (*narrow, far))
    )
    assert alone == beside == 0


def test_a_candidate_is_raised_and_what_candidates_had_together_stays() -> None:
    before = np.array([[0.4, 0.3, 0.1, 0.08, 0.05, 0.03, 0.02]], np.float32)
    after = _weights(7, _1=2.0).apply(_scaled(1), before)
    assert after.argmax() == 1
    assert after[0, :5].sum() == pytest.approx(before[0, :5].sum(), abs=1e-5)
    assert after[0, 5:].tolist() == before[0, 5:].tolist()


def test_an_answer_that_is_no_candidate_is_never_raised() -> None:
    before = np.array([[0.4, 0.3, 0.1, 0.08, 0.05, 0.03, 0.02]], np.float32)
    after = _weights(7, _6=50.0).apply(_scaled(1), before)
    assert after == pytest.approx(before, abs=1e-5)


def test_sure_and_empty_columns_keep_their_scores_bit_for_bit() -> None:
    before = np.array([[SURE + 0.01, 0.01], [0.0, 0.0], [0.5, 0.4]], np.float32)
    after = _weights(2, _1=3.0).apply(_scaled(3), before)
    assert after[:2].tobytes() == before[:2].tobytes()
    assert after[2].argmax() == 1


def test_a_table_without_columns_is_answered_with_nothing() -> None:
    reranking = Reranking(np.zeros(STATISTICS, np.float32), np.ones(STATISTICS, np.float32), {})
    none = np.zeros((0, 3), np.float32)
    types, relations = reranking.apply(Table("t", ()), none, none)
    assert types.shape == relations.shape == (0, 3)


def test_types_and_relations_of_a_table_are_weighed_by_its_statistics() -> None:
    first = np.zeros(STATISTICS, np.float32)
    reranking = Reranking(
        first, first + 1, {"types": _weights(3, _1=4.0), "relations": _weights(2, _0=4.0)}
    )
    table = Table("t", (Column(None, ("1", "2")),))
    types, relations = reranking.apply(
        table, np.array([[0.5, 0.3, 0.1]], np.float32), np.array([[0.2, 0.7]], np.float32)
    )
    assert types.argmax() == 1
    assert relations.argmax() == 0
    sure = np.array([[0.99, 0.0, 0.0]], np.float32)
    kept, _ = reranking.apply(table, sure, np.array([[0.99, 0.0]], np.float32))
    assert kept is sure
    named = Table("t", (Column("price", ("1", "2")),))
    before = np.array([[0.5, 0.3, 0.1]], np.float32)
    assert reranking.apply(named, before, np.array([[0.2, 0.7]], np.float32))[0] is before


def _file(path: Path, rows: int = STATISTICS, value: float = 0.0, format_: str = FORMAT) -> Path:
    tensors = {name: np.full(rows, value, np.float32) for name in ("mean", "scale")}
    for head in HEADS:
        tensors[f"{head}.sharpness"] = np.ones(1, np.float32)
        tensors[f"{head}.weights"] = np.full((rows, 4), value, np.float16)
    path.write_bytes(safetensors_bytes(tensors, {"format": format_}))
    return path


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"format_": "other"}, "has no weights of reranking"),
        ({"rows": 3}, "for other statistics"),
        ({"value": float("nan")}, "not finite"),
    ],
)
def test_other_or_damaged_weights_are_refused_with_one_sentence(
    tmp_path: Path, settings: dict[str, float], words: str
) -> None:
    path = _file(tmp_path / "weights.safetensors", **settings)
    with pytest.raises(UsageError, match=words):
        Reranking.load(path)


def test_weights_without_a_head_are_refused_with_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(
        safetensors_bytes({"mean": np.zeros(STATISTICS, np.float32)}, {"format": FORMAT})
    )
    with pytest.raises(UsageError, match="lacks weights"):
        Reranking.load(path)
