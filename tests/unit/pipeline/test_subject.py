"""The subject: a column without gaps or repetition that names rows rather than describing them."""

import pytest

from aegir.answers.annotation import ColumnAnnotation
from aegir.pipeline.rows import KEY_ROWS
from aegir.pipeline.subject import find_subject
from aegir.tables.datatype import infer_datatype
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import COLUMN_TYPES

MANY, FEW = KEY_ROWS, 3
DATES = tuple(f"2031-04-{day:02}" for day in range(1, MANY + 1))
WORDS = tuple("abcdefgh")


def answer(index: int, label: str | None, values: tuple[str, ...]) -> ColumnAnnotation:
    return ColumnAnnotation(
        index=index,
        name=None,
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
