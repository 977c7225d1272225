"""The rules of families about rows and series, worked by hand, and cleaning functions with their bugs."""

import pytest

from aegir_rl.simulator.families.family import options
from aegir_rl.simulator.families.outliers import flag_outliers
from aegir_rl.simulator.families.records import drop_duplicates, match_rows, plain_key
from aegir_rl.simulator.families.repair import (
    FUNCTIONS,
    bucket,
    count_words,
    decode,
    fill_gaps,
    mask,
    moving_mean,
    percent_change,
    read_flag,
    shorten,
    within,
)
from aegir_rl.simulator.families.reshaping import lengthen, map_row, widen
from aegir_rl.simulator.source import function_source

ROWS = [
    {"name": "Ada", "city": "Kelso", "note": None, "version": 2},
    {"name": "ada ", "city": "Kelso", "note": "x", "version": 5},
    {"name": None, "city": "Kelso", "note": "y", "version": 1},
    {"name": None, "city": "Kelso", "note": "z", "version": 1},
]


@pytest.mark.parametrize(
    ("keep", "row"),
    [
        ("first", ROWS[0]),
        ("last", ROWS[1]),
        ("largest", ROWS[1]),
        ("fullest", ROWS[1]),
        ("merge", {**ROWS[0], "note": "x"}),
    ],
)
def test_one_row_of_a_record_is_kept_and_rows_without_a_key_are_records(keep: str, row: dict):
    kept = drop_duplicates(ROWS, ["name", "city"], ["name"], keep)
    assert kept == [row, ROWS[2], ROWS[3]]


def test_exact_keys_tell_case_and_blanks_apart():
    assert drop_duplicates(ROWS, ["name"], [], "first") == ROWS


@pytest.mark.parametrize(
    ("value", "steps", "key"),
    [
        ("  Ab c ", [], "Ab c"),
        ("Ab c", ["case"], "ab c"),
        ("A b c", ["blanks"], "Abc"),
        ("A-b.c", ["signs"], "Abc"),
        ("007", ["zeros"], "7"),
        ("Café", ["accents"], "Cafe"),
        ("eu:x:1", ["prefix"], "x:1"),
        ("eu:00-É 1", ["accents", "case", "prefix", "signs", "zeros"], "e1"),
        (None, ["case"], ""),
    ],
)
def test_what_does_not_count_in_a_key(value: str | None, steps: list[str], key: str):
    assert plain_key(value, steps) == key


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("inner", [[1, "r2"], [1, "r3"]]),
        ("left", [[1, "r2"], [1, "r3"], [2, None], [3, None]]),
        ("anti", [2, 3]),
    ],
)
def test_rows_of_two_tables_are_matched_by_their_keys(kind: str, result: list):
    left = [{"id": 1, "a": "X"}, {"id": 2, "a": "y"}, {"id": 3, "a": None}]
    right = [{"id": "r1", "b": "z"}, {"id": "r2", "b": "x"}, {"id": "r3", "b": " X"}]
    right.append({"id": "r4", "b": ""})  # an empty key matches nothing, not even None
    assert match_rows(left, right, "a", "b", ["case"], kind) == result


@pytest.mark.parametrize(
    ("method", "k", "flagged"),
    [
        # 1 to 5 and 30: mean 7.5, population deviation 10.2, sample deviation 11.2
        ("deviation", 2, [30]),
        ("deviation", 2.5, []),
        ("sample", 2, [30]),
        # quartiles 2.25 and 4.75 (inclusive): above 4.75 + 1.5 · 2.5 = 8.5
        ("quartile", 1.5, [30]),
        # median 3.5, distances 2.5 1.5 0.5 0.5 1.5 26.5, of which the median is 1.5
        ("median", 1, [1, 30]),
        ("ratio", 8, [30]),  # above 8 · 3.5 = 28
        # steps 1 1 1 1 25: mean 5.8
        ("jump", 3, [30]),
    ],
)
def test_outliers_by_each_method(method: str, k: float, flagged: list[int]):
    values = [1, 2, 3, 4, 5, 30]
    flags = flag_outliers(values, method, k, "both", 2)
    assert [value for value, flag in zip(values, flags, strict=True) if flag] == flagged


def test_outliers_of_one_side_of_missing_values_and_of_short_series():
    values = [1, None, 1, 1, 1, -40, 40, None]
    both = flag_outliers(values, "median", 3, "both", 3)
    assert both == [False] * 5 + [True, True, False]
    assert flag_outliers(values, "median", 3, "high", 3).index(True) == 6
    assert flag_outliers(values, "median", 3, "low", 3).index(True) == 5
    assert flag_outliers([1, None, 99], "median", 1, "both", 3) == [False] * 3  # two known values
    assert flag_outliers([], "deviation", 1, "both", 2) == []


def test_a_long_table_becomes_wide_and_back():
    long = [
        {"city": "Kelso", "year": "b", "sold": 3},
        {"city": "Kelso", "year": "b", "sold": 4},
        {"city": "Aldford", "year": "a", "sold": 1},
        {"city": "Aldford", "year": "b", "sold": None},
    ]
    wide = widen(long, "city", "year", "sold", "sum", 0, "y_")
    assert wide == [{"city": "Aldford", "y_a": 1, "y_b": 0}, {"city": "Kelso", "y_a": 0, "y_b": 7}]
    for aggregate, value in [("max", 4), ("min", 3), ("last", 4), ("count", 2)]:
        assert widen(long, "city", "year", "sold", aggregate, None, "")[1]["b"] == value
    assert lengthen(wide, ["city"], "year", "sold", False, "y_")[2:] == [
        {"city": "Kelso", "year": "a", "sold": 0},
        {"city": "Kelso", "year": "b", "sold": 7},
    ]
    gaps = [{"id": 1, "a": None, "b": 2}]
    assert lengthen(gaps, ["id"], "name", "n", True, "") == [{"id": 1, "name": "b", "n": 2}]
    assert len(lengthen(gaps, ["id"], "name", "n", False, "")) == 2


def test_a_row_of_one_schema_becomes_one_of_another():
    mapping = [
        ("a", "text", "text", None),
        ("b", "upper", "upper", "unknown"),
        ("c", "whole", "whole", 0),
        ("d", "number", "number", None),
        ("e", "flag", "flag", None),
        ("f", "list", "list", None),
    ]
    row = {"a": " x ", "b": "kelso", "c": "7.0", "d": "2.5", "e": "YES", "f": "p; q;;", "g": 1}
    assert map_row(row, mapping, True) == {
        "text": "x",
        "upper": "KELSO",
        "whole": 7,
        "number": 2.5,
        "flag": True,
        "list": ["p", "q"],
    }
    assert map_row({"a": " ", "e": "maybe"}, mapping, True) == {
        "upper": "unknown",
        "whole": 0,
        "flag": False,
    }
    assert map_row({}, mapping, False)["text"] is None


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (shorten, ("one two three", 8, "…"), "one two…"),
        (shorten, ("one  two", 7, "…"), "one two"),  # runs of blanks become one first
        (mask, ("12-3456", 4, "*"), "**3456"),
        (mask, ("123", 4, "*"), "123"),
        (read_flag, (" JA ", ["ja"], ["nein"]), True),
        (read_flag, ("nein", ["ja"], ["nein"]), False),
        (read_flag, ("?", ["ja"], ["nein"]), None),
        (read_flag, (None, ["ja"], ["nein"]), None),
        (decode, ("4dfc6c6c6572", "latin-1", "-"), "Müller"),
        (decode, ("", "utf-8", "-"), "-"),
        (moving_mean, ([1, 2, 6], 2, 1), [1.0, 1.5, 4.0]),
        (percent_change, ([4, 5, 0, 3], 1), [25.0, -100.0, None]),
        (percent_change, ([-4, -5], 1), [-25.0]),  # of the absolute value
        (fill_gaps, ([None, 1, None, None, 2], 0, 1), [0, 1, 1, None, 2]),
        (bucket, (10, [5, 10, 20]), 2),
        (bucket, (None, [5]), None),
        (count_words, ("Cup, cup! of lamp", 3, ["lamp"]), {"cup": 2}),
        (within, ([None, -5, 3, 99], 0, 10), [0, 3, 10]),
    ],
)
def test_cleaning_functions(function, arguments: tuple, result: object):
    assert function(*arguments) == result


@pytest.mark.parametrize("name", [each.function.__name__ for each in FUNCTIONS])
def test_every_bug_of_a_cleaning_function_changes_some_answer(name: str):
    """A bug that no input shows could not be repaired by tests."""
    from random import Random

    chosen = next(each for each in FUNCTIONS if each.function.__name__ == name)
    for right, wrong in options("repair", "bugs")[name]:
        shown = False
        for seed in range(8):
            random = Random(seed)
            parameters = chosen.parameters(random)
            names: dict = {}
            source = "from __future__ import annotations\n" + function_source(chosen.function)
            exec(source.replace(right, wrong), names)
            for value in chosen.inputs(random, parameters):
                try:
                    answer = names[name](value, *parameters)
                except Exception:
                    answer = "raised"
                shown = shown or answer != chosen.function(value, *parameters)
        assert shown, (right, wrong)
