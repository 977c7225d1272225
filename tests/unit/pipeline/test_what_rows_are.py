"""What one row is: the likeliest class, the noun that the table shows, and whether it is a person."""

import numpy as np
import pytest

from aegir.answers.annotation import ColumnAnnotation, RowAnnotation
from aegir.pipeline.rows import AGREES, LIKELY_CLASS, RAISED, describe_rows, find_nouns
from aegir.readers.scores import TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import PERSON_STATES, ROW_NAMES

TEN = tuple(map(str, range(10)))
SAME = ("x",) * 10


def answers(table: Table, labels: dict[str, str] | None = None) -> list[ColumnAnnotation]:
    return [
        ColumnAnnotation(
            index=index,
            name=column.name,
            label=(labels or {}).get(column.name or ""),
            confidence=0.9,
            kind=None,
            type=None,
            type_confidence=0.9,
            fine_type=None,
            datatype="string",
            personal=False,
        )
        for index, column in enumerate(table.columns)
    ]


def table_of(name: str, *columns: tuple[str | None, tuple[str, ...]]) -> Table:
    return Table(name, tuple(Column(*column) for column in columns))


def nouns_of(name: str, *columns: tuple[str | None, tuple[str, ...]]) -> list[str]:
    table = table_of(name, *columns)
    return [each.noun for each in find_nouns(table, answers(table))]


def row_of(
    table: Table, classes: dict[str, float], person: tuple[float, float, float] = (0.8, 0.1, 0.1)
) -> RowAnnotation | None:
    rows = np.array([classes.get(name, 0.0) for name in ROW_NAMES], np.float32)
    empty = np.zeros((len(table.columns), 0), np.float32)
    scores = TableScores(
        empty, empty, None, (), rows=rows, person=np.array(person, np.float32), web=0.0
    )
    return describe_rows(table, scores, answers(table))


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("data/customers.csv", "customer"),
        ("shop/customer_orders_2024_final.csv", "customer order"),
        ("tbl_Invoices.xlsx", "invoice"),
        ("exports/sensorReadings-2024-03.json", "sensor reading"),
        ("order_items_export.csv", "order item"),
        ("raw/clientes.csv", "cliente"),
        ("Kundenliste.csv", None),
        ("sales_by_country.csv", "sale"),
        ("data_final.csv", None),
        ("2024-03-01.csv", None),
        ("x1z.csv", None),
        ("", None),
    ],
)
def test_the_name_of_a_table_shows_the_noun(name: str, noun: str | None):
    assert nouns_of(name, ("value", SAME)) == ([noun] if noun else [])


@pytest.mark.parametrize(
    ("header", "noun"),
    [
        ("customer_id", "customer"),
        ("Customer Name", "customer"),
        ("order no", "order"),
        ("orderID", "order"),
        ("id_cliente", "cliente"),
        ("numero_facture", "facture"),
        ("Species", "species"),
        ("id", None),
        ("measured value", None),
        ("comment about customer", None),
        (None, None),
    ],
)
def test_a_column_that_names_every_row_shows_the_noun(header: str | None, noun: str | None):
    assert nouns_of("data.csv", (header, TEN)) == ([noun] if noun else [])


def test_columns_that_repeat_or_stand_further_right_say_less():
    repeated = ("a", *TEN[1:-1], "a")
    assert nouns_of("data.csv", ("customer_id", repeated)) == []
    assert nouns_of("data.csv", ("customer_id", ("", *TEN[1:]))) == []
    columns = (("size", repeated), ("Country", TEN), ("author", TEN), ("order_id", TEN))
    assert nouns_of("data.csv", *columns) == ["order"]  # the bare words are attributes here
    few = tuple((name, values[:3]) for name, values in columns)
    assert nouns_of("data.csv", *few) == []


def test_the_name_goes_first_and_each_noun_is_given_once():
    columns = (("kunde_id", TEN), ("order_id", TEN))
    assert nouns_of("customers.csv", *columns) == ["customer", "order"]


def test_the_class_is_named_where_it_is_likely_enough():
    table = table_of("data.csv", ("v", SAME))
    assert row_of(table, {"event": 0.6, "place": 0.4}) == RowAnnotation(
        "event", None, pytest.approx(0.6), "none", pytest.approx(0.8)
    )
    likely = row_of(table, {"event": LIKELY_CLASS, "place": 0.3})
    assert likely is not None
    assert (likely.name, likely.confidence) == ("event", pytest.approx(LIKELY_CLASS))
    unsure = row_of(table, {"event": LIKELY_CLASS - 0.05, "place": 0.3})
    assert unsure is not None
    assert (unsure.name, unsure.confidence) == (None, pytest.approx(LIKELY_CLASS - 0.05))


def test_a_person_state_comes_with_its_probability():
    row = row_of(table_of("patients", ("v", SAME)), {"person": 0.9}, (0.05, 0.15, 0.8))
    assert row is not None
    assert (row.person, row.noun) == ("self", "patient")
    assert PERSON_STATES[2] == "self"
    assert row.person_confidence == pytest.approx(0.8)


def test_a_noun_raises_its_class_and_must_agree_with_the_answer():
    table = table_of("patients.csv", ("v", SAME))
    raised = row_of(table, {"person": 0.4, "case": 0.6})
    assert raised is not None
    # 0.4 * 2 / (0.4 * 2 + 0.6): the noun stands for persons.
    assert raised.name == "person"
    assert raised.confidence == pytest.approx(0.4 * RAISED / (0.4 * RAISED + 0.6), abs=1e-5)
    other = row_of(table, {"person": 0.1, "statistic": 0.9})
    assert other is not None
    assert (other.name, other.noun) == ("statistic", None)


def test_where_no_class_is_likely_a_noun_of_an_unlikely_one_is_left_out():
    table = table_of("patients.csv", ("v", SAME))
    unlikely = row_of(table, {"person": AGREES / 3, "event": 0.3, "place": 0.3, "code": 0.3})
    assert unlikely is not None
    assert (unlikely.name, unlikely.noun) == (None, None)
    likely = row_of(table, {"person": 0.2, "event": 0.3, "place": 0.3, "code": 0.2})
    assert likely is not None
    assert (likely.name, likely.noun) == (None, "patient")


def test_an_annotator_that_does_not_say_what_rows_are_gets_no_answer():
    table = table_of("patients.csv", ("v", SAME))
    empty = np.zeros((1, 0), np.float32)
    assert describe_rows(table, TableScores(empty, empty, None, ()), answers(table)) is None


def test_a_table_without_columns_or_rows_is_described_by_its_name():
    assert nouns_of("customers.csv") == ["customer"]
    assert nouns_of("customers.csv", ("order_id", ())) == ["customer"]
