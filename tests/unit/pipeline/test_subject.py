"""The subject: a column without gaps or repetition that names rows rather than describing them."""

import pytest

from aegir.answers.annotation import ColumnAnnotation, RowAnnotation
from aegir.pipeline.rows import KEY_ROWS, find_nouns
from aegir.pipeline.subject import find_subject
from aegir.tables.datatype import infer_datatype
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import COLUMN_TYPES

MANY, FEW = KEY_ROWS, 3
DATES = tuple(f"2031-04-{day:02}" for day in range(1, MANY + 1))
WORDS = tuple("abcdefgh")


def answer(
    index: int, label: str | None, values: tuple[str, ...], name: str | None = None
) -> ColumnAnnotation:
    return ColumnAnnotation(
        index=index,
        name=name,
        label=label,
        confidence=0.9,
        kind=kind_of(label) if label else None,
        type=label if label in COLUMN_TYPES else None,
        type_confidence=0.9,
        fine_type=None,
        datatype=infer_datatype(values),
        personal=False,
    )


def subject_of(*columns: tuple[str | None, tuple[str, ...]], rows: int = MANY) -> int | None:
    cells = [values[:rows] for _, values in columns]
    answers = [answer(i, label, cells[i]) for i, (label, _) in enumerate(columns)]
    return find_subject(Table("t", tuple(Column(None, values) for values in cells)), answers)


@pytest.mark.parametrize(
    "label",
    [
        *(
            "duration",
            "time_of_day",
            "salary",
            "Number",
            "temperature",
            "latitude",
            "free_text",
            "note",
        ),
        *("boolean_flag", "date_of_birth", "telephone_number", "age", "image_url", "json_object"),
        "Movie/description",
    ],
)
def test_what_describes_a_row_does_not_name_it(label: str):
    assert subject_of((label, WORDS)) is None
    assert subject_of((label, WORDS), ("thing_name", WORDS)) == 1


@pytest.mark.parametrize("label", ["primary_key", "title", "full_name", "city", "url", "taxon"])
def test_a_key_a_name_and_a_title_name_rows(label: str):
    assert subject_of((label, WORDS)) == 0
    assert subject_of((label, ("a", *WORDS[:-1]))) is None  # the first two are equal
    assert subject_of((label, ("", *WORDS[1:]))) is None  # a gap


@pytest.mark.parametrize("label", ["currency_code", "unit_name"])
def test_a_list_of_units_is_named_by_them(label: str):
    assert subject_of((label, WORDS), ("Number", DATES)) == 0


def test_a_time_series_is_named_by_its_dates():
    constant, varied = ("x",) * MANY, (*"xxyy",) * 2
    assert subject_of(("iso_date", DATES), ("Number", WORDS)) == 0
    assert subject_of(("ticker", constant), ("iso_date", DATES), ("url", WORDS)) == 1
    assert subject_of(("ticker", varied), ("iso_date", DATES), ("url", WORDS)) == 2
    assert subject_of(("ticker", varied), ("iso_date", DATES)) == 1  # nothing else differs


def test_a_key_goes_before_a_date_where_it_cannot_differ_by_chance():
    columns = (("iso_datetime", DATES), ("transaction_id", WORDS))
    assert subject_of(*columns) == 1
    assert subject_of(*columns, rows=FEW) == 0
    assert subject_of(("iso_datetime", DATES), ("foreign_key", WORDS)) == 0


def test_a_postal_code_names_the_rows_of_a_list_of_areas_only():
    assert subject_of(("postal_code", WORDS), ("city", WORDS)) == 0
    assert subject_of(("postal_code", WORDS), ("full_name", WORDS)) == 1
    assert subject_of(("full_name", ("a",) * 2 + WORDS[2:]), ("postal_code", WORDS)) == 1


def test_numbers_that_rise_in_the_first_column_are_the_last_resort():
    rising, falling = tuple("12345789"), tuple("98754321")
    assert subject_of(("Number", rising), ("salary", DATES)) == 0
    assert subject_of(("Number", rising), ("title", WORDS)) == 1
    assert subject_of(("Number", falling)) is subject_of(("salary", DATES), ("Number", rising))
    assert subject_of(("Number", ("7",))) is None
    assert find_subject(Table("t", ()), []) is None


def test_a_column_of_unknown_meaning_names_rows_unless_it_holds_decimal_numbers():
    assert subject_of((None, WORDS)) == 0
    assert subject_of((None, tuple("97531864"))) == 0
    assert subject_of((None, tuple(f"{digit}.5" for digit in "97531864"))) is None


NUMBERS = tuple(map(str, range(1, MANY + 1)))
ONE_EQUAL = ("a", *WORDS[:-1])
"""All but two differ, in the first two of MANY rows."""
MANY_WORDS = tuple(f"w{number}" for number in range(30))
NEARLY = ("w1", *MANY_WORDS[1:])
"""29 of 30 differ."""
PAIRS = tuple(f"w{number // 2}" for number in range(30))
TRIPLES = tuple(f"w{number // 3}" for number in range(30))


def named_subject(
    table_name: str, row_class: str | None, *columns: tuple[str | None, str | None, tuple[str, ...]]
) -> int | None:
    """Return the subject of a table of headers, labels and values, whose rows are of a class."""
    table = Table(table_name, tuple(Column(name, values) for name, _, values in columns))
    answers = [
        answer(index, label, values, name) for index, (name, label, values) in enumerate(columns)
    ]
    row = RowAnnotation(row_class, None, 0.9, "none", 0.9) if row_class else None
    return find_subject(table, answers, row, find_nouns(table, answers))


def test_the_key_of_the_noun_goes_before_other_keys():
    columns = (
        ("batch", "identifier", MANY_WORDS),
        ("customer_id", "identifier", MANY_WORDS),
    )
    assert named_subject("customers.csv", "person", *columns) == 1
    assert named_subject("kunden.csv", "person", *columns) == 1
    assert named_subject("customers.csv", None, *columns) == 1
    assert named_subject("customers.csv", "event", *columns) == 0  # the noun does not agree


def test_numbers_of_rows_go_behind_keys_and_names():
    rows = tuple(map(str, range(30)))
    name = ("name", "thing_name", MANY_WORDS)
    assert named_subject("x.csv", None, ("rownames", "row_number", rows), name) == 1
    assert named_subject("x.csv", None, (None, "identifier", rows), name) == 1
    assert named_subject("x.csv", None, ("plot_id", "row_number", rows), name) == 0
    assert (
        named_subject("x.csv", None, ("rownames", "row_number", rows), ("n", "Number", rows)) == 0
    )
    dated = ("t", "iso_date", tuple(f"2031-04-{day:02}" for day in range(1, 31)))
    assert named_subject("x.csv", None, ("rownames", "row_number", rows), dated) == 1


def test_a_name_of_which_nearly_all_values_differ_goes_before_what_leads_to_a_row():
    address = ("address", "street_address", MANY_WORDS)
    assert named_subject("x.csv", None, ("name", "full_name", NEARLY), address) == 0
    assert named_subject("x.csv", None, ("name", "full_name", PAIRS), address) == 1
    assert named_subject("x.csv", None, ("day", "iso_date", NEARLY), ("n", "Number", PAIRS)) == 0


def test_lines_of_an_order_are_named_by_its_key_though_it_repeats():
    columns = (
        ("order_id", "foreign_key", TRIPLES),
        ("product", "product_name", TRIPLES),
        ("quantity", "count", TRIPLES),
    )
    assert named_subject("order_items.csv", "transaction", *columns) == 0
    assert named_subject("order_items.csv", "statistic", *columns) is None
    assert named_subject("order_items.csv", None, *columns) is None


def test_a_log_is_named_by_its_time_or_key_and_readings_only_if_most_differ():
    most = (*MANY_WORDS[:20], *MANY_WORDS[:10])
    time, host = ("timestamp", "iso_datetime", most), ("host_id", "identifier", TRIPLES)
    assert named_subject("log.csv", "activity", host, time) == 1
    assert named_subject("log.csv", "measurement", host, time) == 1
    rare = ("timestamp", "iso_datetime", TRIPLES)
    assert named_subject("log.csv", "activity", host, rare) == 0
    assert named_subject("log.csv", "measurement", host, rare) is None


def test_several_rows_may_be_about_one_thing():
    shared = ("w0", *MANY_WORDS[:20], *MANY_WORDS[:9])
    columns = (("kind", "category", TRIPLES), ("species", "taxon", shared))
    assert named_subject("x.csv", "organism", *columns) == 1
    assert named_subject("x.csv", "organism", ("species", "taxon", TRIPLES)) is None
    assert named_subject("birds.csv", "organism", ("bird_name", "taxon", TRIPLES)) == 0


def test_those_who_take_part_do_not_name_an_event():
    columns = (("n", "Number", PAIRS), ("away_team", "sports_team", MANY_WORDS))
    assert named_subject("x.csv", "event", *columns) is None
    assert named_subject("x.csv", "organisation", *columns) == 1
    key = ("match_id", "identifier", MANY_WORDS)
    assert named_subject("matches.csv", "event", *columns, key) == 2


def test_statistics_by_several_dimensions_have_none():
    columns = (("country", "country_name", PAIRS), ("year", "year", TRIPLES))
    assert named_subject("rates.csv", "statistic", *columns, ("rate", "Number", MANY_WORDS)) is None
    single = ("country", "country_name", MANY_WORDS)
    assert named_subject("rates.csv", "statistic", single, ("rate", "Number", MANY_WORDS)) == 0


@pytest.mark.parametrize("row_class", [None, "product", "transaction", "activity"])
def test_a_column_of_one_repeated_word_is_never_the_subject(row_class: str | None):
    constant = ("product_name", "product_name", ("x",) * 30)
    assert named_subject("products.csv", row_class, constant) is None


@pytest.mark.parametrize("row_class", [None, "person", "measurement"])
def test_a_table_of_one_row_is_named_by_its_key_or_name(row_class: str | None):
    age, name = ("age", "age", ("41",)), ("name", "thing_name", ("Ann",))
    assert named_subject("x.csv", row_class, age, name) == 1
    assert named_subject("x.csv", row_class, age) is None


def test_a_table_of_one_column_is_named_by_it_if_it_names_anything():
    assert named_subject("x.csv", "person", ("name", "full_name", MANY_WORDS)) == 0
    assert named_subject("x.csv", "text", ("note", "free_text", MANY_WORDS)) is None
    assert named_subject("x.csv", "person", ("name", "full_name", ())) is None


def test_a_table_of_only_numbers_has_no_subject_unless_they_number_the_rows():
    decimals = tuple(f"{number}.5" for number in range(30))
    columns = (("x", "Number", decimals), ("y", "Number", decimals[::-1]))
    assert named_subject("x.csv", "measurement", *columns) is None
    numbered = ("no", "Number", tuple(map(str, range(30))))
    assert named_subject("x.csv", "measurement", numbered, *columns) == 0


def test_a_quantity_called_like_the_noun_does_not_name_rows():
    births = ("births", "count", tuple(str(900 + 7 * number % 31) for number in range(30)))
    assert named_subject("births.csv", "event", births) is None
    task = ("Task", "Number", tuple(f"Task {number}" for number in range(30)))
    assert named_subject("tasks.csv", "case", task) == 0
