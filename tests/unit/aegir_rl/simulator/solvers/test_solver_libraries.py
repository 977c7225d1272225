"""Functions that solvers put into their proposals, worked by hand: they know the usual forms, not those of any task."""

import datetime

import pytest

from aegir_rl.simulator.solvers import table_library as tables
from aegir_rl.simulator.solvers import text_library as texts


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("9.3.2021", (2021, 3, 9)),
        ("3/9/2021", (2021, 3, 9)),  # after a slash the month comes first here
        ("2021/3/9", (2021, 3, 9)),  # four digits in front are a year
        ("20210309", (2021, 3, 9)),
        ("9 March 2021", (2021, 3, 9)),
        ("March 9, 2021", (2021, 3, 9)),
        ("9. März 2021", (2021, 3, 9)),
        ("1.1.29", (2029, 1, 1)),
        ("1.1.30", (1930, 1, 1)),
        ("30.2.2021", None),
        ("9 Brumaire 2021", None),
        ("soon", None),
        ("", None),
    ],
)
def test_days(text: str, date: tuple[int, int, int] | None):
    expected = None if date is None else datetime.date(*date)
    assert texts.read_day(text, "mdy", "dmy", 30) == expected


@pytest.mark.parametrize(
    ("form", "text"),
    [("%d.%m.%Y", "09.03.2021"), ("quarter", "2021-Q1"), ("plain", "3/9/2021")],
)
def test_days_are_written(form: str, text: str):
    assert texts.write_day(datetime.date(2021, 3, 9), form) == text


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,234.5", 1234.5),
        ("$ 12", 12.0),
        ("(5)", -5.0),
        ("5-", -5.0),
        ("-5", -5.0),
        ("2.5k", 2500.0),
        ("3 bn", 3e9),
        ("50%", 0.5),
        ("1.2.3", None),
        ("twelve", None),
    ],
)
def test_amounts(text: str, amount: float | None):
    assert texts.read_amount(text, ".", 0.01) == amount


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dr. maria berg", [["Maria"], "Berg"]),
        ("BERG, MARIA EVA", [["Maria", "Eva"], "Berg"]),
        ("ludwig van beethoven", [["Ludwig"], "van Beethoven"]),
        ("anna meier-schmidt", [["Anna"], "Meier-Schmidt"]),
        ("", None),
    ],
)
def test_persons(text: str, name: list | None):
    assert texts.read_person(text, True) == name


def test_persons_are_written():
    name = [["Maria", "Eva"], "Berg"]
    forms = ("{s}, {g}", "{g} {s}", "{i.} {s}", "{s}, {i}", "{f} {S}")
    assert [texts.write_person(name, form) for form in forms] == [
        "Berg, Maria Eva",
        "Maria Eva Berg",
        "M. E. Berg",
        "Berg, ME",
        "Maria BERG",
    ]
    assert texts.write_person(name, "parts") == {"given": "Maria Eva", "surname": "Berg"}
    assert texts.write_person([[], "Berg"], "{s}, {i}") == "Berg"


def test_places():
    layout = "number street, city, postcode"
    place = texts.read_place("12A  oak rd., port selby, ab1", layout, {"rd": "Road"})
    assert place == {"number": "12a", "street": "Oak Road", "city": "Port Selby", "postcode": "AB1"}
    assert texts.write_place(place, "list") == ["Oak Road", "12a", "AB1", "Port Selby"]
    assert texts.write_place(place, "line") == "Oak Road 12a, AB1 Port Selby"
    assert texts.write_place(place, "city") == "AB1 Port Selby"
    assert texts.read_place("oak rd", layout, {}) is None


def test_quantities():
    table = "unit,factor\nm,1.0\ncm,0.01\nft,0.3048\n"
    assert texts.read_quantity("1 m 50cm", table, "cm") == pytest.approx(150)
    assert texts.read_quantity("10 ft", table, "m") == pytest.approx(3.048)
    assert texts.read_quantity("10 yd", table, "m") is None
    assert texts.read_quantity("about 10 m", table, "m") is None
    assert texts.read_quantity("", table, "m") is None


@pytest.mark.parametrize(
    ("value", "kind", "cell"),
    [
        (" 7.0 ", "int", 7),
        ("2.5", "float", 2.5),
        ("TRUE", "flag", True),
        ("no", "flag", False),
        ("a; b;", "list", ["a", "b"]),
        (" x ", "text", "x"),
        ("x", "upper", "X"),
        ("aB", "title", "Ab"),
    ],
)
def test_cells(value: str, kind: str, cell: object):
    assert texts.convert_cell(value, kind) == cell


def test_columns_are_mapped_and_empty_values_take_the_default():
    columns = [("a", "x", "int", 0), ("b", "y", "text", None)]
    assert texts.map_columns({"a": "7", "b": "q"}, columns, keep=True) == {"x": 7, "y": "q"}
    assert texts.map_columns({"a": " "}, columns, keep=True) == {"x": 0, "y": None}
    assert texts.map_columns({}, columns, keep=False) == {"x": 0}


def test_a_chain_stops_at_the_first_step_that_reads_nothing():
    steps = [(texts.read_amount, (".", 1.0)), (texts.round_number, (1,))]
    assert texts.chain("2.25", steps, "?") == 2.2
    assert texts.chain("nothing", steps, "?") == "?"


def test_luhn_numbers():
    assert texts.is_luhn("7992-7398-713", "-", ["79"], 11)
    assert not texts.is_luhn("7992-7398-714", "-", ["79"], 11)
    assert not texts.is_luhn("79927398713", "", ["1"], 11)


ROWS = [
    {"k": "A b", "n": 1, "v": None},
    {"k": "ab", "n": 3, "v": 2},
    {"k": None, "n": 9, "v": 1},
]


@pytest.mark.parametrize(
    ("loose", "keep", "by", "kept"),
    [
        ([], "first", "", [0, 1, 2]),
        (["k"], "first", "", [0, 2]),
        (["k"], "last", "", [1, 2]),
        (["k"], "most", "n", [1, 2]),
        (["k"], "filled", "", [1, 2]),
    ],
)
def test_unique_rows(loose: list[str], keep: str, by: str, kept: list[int]):
    found = tables.unique_rows(ROWS, ["k"], loose, keep, by)
    assert found == [ROWS[number] for number in kept]


def test_joined_ids():
    left = [{"id": 1, "a": "eu:É-1"}, {"id": 2, "a": "x"}, {"id": 3, "a": None}]
    right = [{"id": "r", "b": "e1"}]
    steps = ["prefix", "accents", "case", "signs"]
    assert tables.joined_ids(left, right, ("a", "b"), steps, "inner") == [[1, "r"]]
    assert tables.joined_ids(left, right, ("a", "b"), steps, "left")[1:] == [[2, None], [3, None]]
    assert tables.joined_ids(left, right, ("a", "b"), steps, "anti") == [2, 3]
    assert tables.joined_ids(left, right, ("a", "b"), [], "inner") == []


def test_tables_are_reshaped():
    rows = [
        {"i": "b", "c": "y", "v": 2},
        {"i": "a", "c": "x", "v": 1},
        {"i": "b", "c": "y", "v": 5},
    ]
    wide = tables.wide_table(rows, ("i", "c", "v"), "sum", 0, "c_")
    assert wide == [{"i": "a", "c_x": 1, "c_y": 0}, {"i": "b", "c_x": 0, "c_y": 7}]
    assert tables.long_table(wide, ["i"], ("c", "v"), False, "c_")[0] == {
        "i": "a",
        "c": "x",
        "v": 1,
    }
    assert len(tables.long_table([{"i": 1, "a": None}], ["i"], ("c", "v"), True, "")) == 0


@pytest.mark.parametrize(
    ("method", "k", "flagged"),
    [
        ("pstdev", 2, [30]),
        ("stdev", 2, [30]),
        ("quartiles", 1.5, [30]),
        ("mad", 1, [1, 30]),
        ("steps", 3, [30]),
    ],
)
def test_far_values(method: str, k: float, flagged: list[int]):
    values = [1, 2, 3, 4, 5, 30]
    flags = tables.far_values(values, method, k, 2, "both")
    assert [value for value, flag in zip(values, flags, strict=True) if flag] == flagged
    assert not any(tables.far_values(values, method, k, 7, "both"))


@pytest.mark.parametrize(
    ("options", "again", "result"),
    [
        ("", "last", {"A": "2", "b": "true"}),
        ("l", "first", {"a": "1", "b": "true"}),
        ("tl", "list", {"a": [1, 2], "b": True}),
    ],
)
def test_keys_and_values(options: str, again: str, result: dict):
    assert tables.key_values("A=1;A=2;b=true;c #=", ";", "=", "#", options, again) == result


def test_checks_ranges_means_and_bounds():
    assert tables.weighted_check("A-12", "A", [1, 2], 5, "-")  # 1 · 1 + 2 · 2
    assert not tables.weighted_check("A13", "A", [1, 2], 5, "")
    assert not tables.weighted_check("B12", "A", [1, 2], 5, "")
    assert tables.numbers_in_ranges("07:30", [(0, 23), (0, 59)], ":", padded=True)
    assert not tables.numbers_in_ranges("7:30", [(0, 23), (0, 59)], ":", padded=True)
    assert not tables.numbers_in_ranges("07:60", [(0, 23), (0, 59)], ":", padded=True)
    assert tables.rolling_mean([1, 2, 6], 2, 1) == [1.0, 1.5, 4.0]
    assert tables.clipped([None, -5, 3, 99], 0, 10) == [0, 3, 10]
